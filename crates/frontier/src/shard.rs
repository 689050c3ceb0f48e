//! Shares of the hosts (M4): which of the 256 shards a politeness unit falls into.
//!
//! The host queue, leases and arrivals carry the shard first in their keys. So those who work on
//! different shards never meet at one head, and a shard can change hands without a row being moved.

/// There are as many as a byte has values. Never to be changed: it stands in keys.
pub(crate) type Shard = u8;

pub(crate) const SHARDS: usize = 256;

/// The shard of a host, a group or whatever else has a name: FNV-1a, the same in every process.
pub(crate) fn shard_of(name: &str) -> Shard {
    let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let [a, b, c, d] = name.bytes().fold(0x811C_9DC5, step).to_be_bytes();
    a ^ b ^ c ^ d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn m4_hosts_are_spread_evenly_and_for_good() {
        let mut counts = [0u32; SHARDS];
        for n in 0..256_000u32 {
            counts[usize::from(shard_of(&format!("host-{n}.example.no")))] += 1;
        }
        let (least, most) = (counts.iter().min().unwrap(), counts.iter().max().unwrap());
        assert!(*least > 850 && *most < 1150, "{least} to {most}");
        // What stands in the keys of stores.
        let known = ["nb.no", "vg.no", "group slow", ""].map(shard_of);
        assert_eq!(known, [173, 183, 60, 197]);
    }
}
