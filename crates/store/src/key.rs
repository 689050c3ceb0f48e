//! Order-preserving tuple keys: the bytes of two keys compare as their parts do.
//!
//! | part | bytes |
//! |---|---|
//! | `u8`, `u32`, `u64` | big-endian |
//! | `i64` | big-endian with the sign bit flipped (timestamps are `i64` milliseconds) |
//! | `String`, `Vec<u8>` | `00` becomes `00 FF`, the end is `00 01`: any byte may occur, and `"a"` sorts before `"a\0"` before `"ab"` |
//! | `Desc<T>` | the bytes of `T`, all inverted: the highest comes first |
//!
//! A part never is a prefix of another of its type, so parts can be concatenated and a tuple's
//! first parts are a range of it. [`Key::Ref`] is the borrowed form in which keys are passed, so
//! that looking up `(&str, i64)` in a table of `(String, i64)` copies nothing.

/// The bytes are not a key of the expected shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("malformed key: {0}")]
pub struct KeyError(&'static str);

pub trait Encode {
    fn encode(&self, out: &mut Vec<u8>);
}

/// A type that can be (part of) a key.
pub trait Key: Sized {
    type Ref<'a>: Encode + Copy
    where
        Self: 'a;

    fn decode(input: &mut &[u8]) -> Result<Self, KeyError>;

    fn as_key(&self) -> Self::Ref<'_>;

    /// Reads a whole key; bytes left over are an error.
    fn decode_all(mut input: &[u8]) -> Result<Self, KeyError> {
        let key = Self::decode(&mut input)?;
        if input.is_empty() { Ok(key) } else { Err(KeyError("bytes after the last part")) }
    }
}

/// The first parts of a key `K`: what a range of `K` is given by.
pub trait Prefix<K>: Encode {}

/// Sorts in descending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Desc<T>(pub T);

fn take<const N: usize>(input: &mut &[u8]) -> Result<[u8; N], KeyError> {
    let (head, rest) = input.split_first_chunk::<N>().ok_or(KeyError("cut short"))?;
    *input = rest;
    Ok(*head)
}

macro_rules! unsigned_key {
    ($($t:ty),*) => {$(
        impl Encode for $t {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }
        }
        impl Key for $t {
            type Ref<'a> = $t;
            fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
                Ok(<$t>::from_be_bytes(take(input)?))
            }
            fn as_key(&self) -> $t {
                *self
            }
        }
    )*};
}
unsigned_key!(u8, u32, u64);

const SIGN: u64 = 1 << 63;

impl Encode for i64 {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.cast_unsigned() ^ SIGN).encode(out);
    }
}

impl Key for i64 {
    type Ref<'a> = i64;
    fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
        Ok((u64::decode(input)? ^ SIGN).cast_signed())
    }
    fn as_key(&self) -> i64 {
        *self
    }
}

impl Encode for &[u8] {
    fn encode(&self, out: &mut Vec<u8>) {
        // Runs without a zero byte, which is nearly always the whole of it, are copied at once.
        let mut rest = *self;
        while let Some(zero) = rest.iter().position(|&b| b == 0) {
            out.extend_from_slice(&rest[..=zero]);
            out.push(0xFF);
            rest = &rest[zero + 1..];
        }
        out.extend_from_slice(rest);
        out.extend_from_slice(&[0, 1]);
    }
}

impl Key for Vec<u8> {
    type Ref<'a> = &'a [u8];
    fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
        let mut bytes = Vec::new();
        loop {
            let zero = input.iter().position(|&b| b == 0).ok_or(KeyError("string without end"))?;
            bytes.extend_from_slice(&input[..zero]);
            let mark = *input.get(zero + 1).ok_or(KeyError("string cut short"))?;
            *input = &input[zero + 2..];
            match mark {
                0x01 => return Ok(bytes),
                0xFF => bytes.push(0),
                _ => return Err(KeyError("bad escape in string")),
            }
        }
    }
    fn as_key(&self) -> &[u8] {
        self
    }
}

impl Encode for &str {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_bytes().encode(out);
    }
}

impl Key for String {
    type Ref<'a> = &'a str;
    fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
        String::from_utf8(Vec::<u8>::decode(input)?).map_err(|_| KeyError("string is not UTF-8"))
    }
    fn as_key(&self) -> &str {
        self
    }
}

impl<T: Encode> Encode for Desc<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        let start = out.len();
        self.0.encode(out);
        for byte in &mut out[start..] {
            *byte = !*byte;
        }
    }
}

macro_rules! descending_key {
    ($($t:ty),*) => {$(
        impl Key for Desc<$t> {
            type Ref<'a> = Desc<$t>;
            fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
                let inverted = take::<{ size_of::<$t>() }>(input)?.map(|b| !b);
                Ok(Desc(<$t>::decode(&mut inverted.as_slice())?))
            }
            fn as_key(&self) -> Desc<$t> {
                *self
            }
        }
    )*};
}
descending_key!(u32, u64, i64);

impl Encode for () {
    fn encode(&self, _: &mut Vec<u8>) {}
}

impl Key for () {
    type Ref<'a> = ();
    fn decode(_: &mut &[u8]) -> Result<(), KeyError> {
        Ok(())
    }
    fn as_key(&self) {}
}

macro_rules! tuple_key {
    ($($t:ident $i:tt),*) => {
        impl<$($t: Encode),*> Encode for ($($t,)*) {
            fn encode(&self, out: &mut Vec<u8>) {
                $(self.$i.encode(out);)*
            }
        }
        impl<$($t: Key),*> Key for ($($t,)*) {
            type Ref<'a>
                = ($($t::Ref<'a>,)*)
            where
                Self: 'a;
            fn decode(input: &mut &[u8]) -> Result<Self, KeyError> {
                Ok(($($t::decode(input)?,)*))
            }
            fn as_key(&self) -> Self::Ref<'_> {
                ($(self.$i.as_key(),)*)
            }
        }
    };
}
tuple_key!(A 0);
tuple_key!(A 0, B 1);
tuple_key!(A 0, B 1, C 2);
tuple_key!(A 0, B 1, C 2, D 3);
tuple_key!(A 0, B 1, C 2, D 3, E 4);

macro_rules! tuple_prefix {
    ($($whole:ident),* : $($part:ident),*) => {
        impl<'a, $($whole: Key + 'a),*> Prefix<($($whole,)*)> for ($($part::Ref<'a>,)*) {}
    };
}
tuple_prefix!(A: A);
tuple_prefix!(A, B: A);
tuple_prefix!(A, B: A, B);
tuple_prefix!(A, B, C: A);
tuple_prefix!(A, B, C: A, B);
tuple_prefix!(A, B, C: A, B, C);
tuple_prefix!(A, B, C, D: A);
tuple_prefix!(A, B, C, D: A, B);
tuple_prefix!(A, B, C, D: A, B, C);
tuple_prefix!(A, B, C, D: A, B, C, D);
tuple_prefix!(A, B, C, D, E: A);
tuple_prefix!(A, B, C, D, E: A, B);
tuple_prefix!(A, B, C, D, E: A, B, C);
tuple_prefix!(A, B, C, D, E: A, B, C, D);
impl<K> Prefix<K> for () {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[allow(clippy::needless_pass_by_value, reason = "reads better where it is called")]
    fn bytes(key: impl Encode) -> Vec<u8> {
        let mut out = Vec::new();
        key.encode(&mut out);
        out
    }

    type Sample = (String, i64, Vec<u8>, Desc<u64>);

    fn sample() -> impl Strategy<Value = Sample> {
        // Few letters, zero bytes among them, so that equal prefixes and escapes are common.
        let text = proptest::collection::vec(prop_oneof![Just(0u8), Just(1), Just(255), any::<u8>()], 0..6);
        ("[\0a\u{1}b]{0,4}", any::<i64>(), text, any::<u64>().prop_map(Desc))
    }

    proptest! {
        #[test]
        fn keys_read_back(key in sample()) {
            prop_assert_eq!(Sample::decode_all(&bytes(key.as_key())), Ok(key));
        }

        #[test]
        fn bytes_sort_as_parts(a in sample(), b in sample()) {
            let parts = |k: &Sample| (k.0.clone(), k.1, k.2.clone(), std::cmp::Reverse(k.3.0));
            prop_assert_eq!(bytes(a.as_key()).cmp(&bytes(b.as_key())), parts(&a).cmp(&parts(&b)));
        }

        #[test]
        fn a_prefix_is_the_start_of_its_keys(key in sample()) {
            let prefix: (&str, i64) = (&key.0, key.1);
            prop_assert!(bytes(key.as_key()).starts_with(&bytes(prefix)));
        }

        #[test]
        fn arbitrary_bytes_never_panic(input in proptest::collection::vec(any::<u8>(), 0..40)) {
            if let Ok(key) = Sample::decode_all(&input) {
                prop_assert_eq!(bytes(key.as_key()), input);
            }
        }
    }
}
