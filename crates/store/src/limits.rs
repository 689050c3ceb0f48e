//! Every limit of the store, in one place. They hold on all engines, so that data moves between
//! them.

/// TiKV's limit, and the tightest of all engines.
pub const KEY_BYTES_MAX: usize = 4 << 10;
/// Beside it, the byte of its version.
pub const VALUE_BYTES_MAX: usize = (4 << 20) + 1;
/// Keys and values a transaction may write, together.
pub const TXN_BYTES_MAX: usize = 64 << 20;
/// A scan page ends at whichever comes first, and says how to go on.
pub const SCAN_ITEMS_MAX: usize = 16 << 10;
pub const SCAN_BYTES_MAX: usize = 16 << 20;
/// Runs of one `transact` call before it gives up with the last error.
pub const CONFLICT_ATTEMPTS_MAX: u32 = 100;
pub const UNAVAILABLE_ATTEMPTS_MAX: u32 = 5;
pub const RETRY_PAUSE_MS_MAX: u64 = 100;
