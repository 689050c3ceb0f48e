//! Choices made by the bytes of an input, for targets that read no bytes but do things in some
//! order.

/// Takes an input apart. Where it has ended, everything is 0.
#[derive(Debug)]
pub struct Draw<'a> {
    rest: &'a [u8],
}

impl<'a> Draw<'a> {
    pub fn new(input: &'a [u8]) -> Draw<'a> {
        Draw { rest: input }
    }

    pub fn is_over(&self) -> bool {
        self.rest.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else { return 0 };
        self.rest = rest;
        *first
    }

    /// Below `bound`, which is not 0.
    pub fn below(&mut self, bound: usize) -> usize {
        let wide = usize::from(self.byte()) << 8 | usize::from(self.byte());
        // The first byte alone decides between few.
        if bound <= 256 { (wide >> 8) % bound } else { wide % bound }
    }

    pub fn flag(&mut self) -> bool {
        self.byte() & 1 == 1
    }

    pub fn choice<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}
