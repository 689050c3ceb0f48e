//! What can be declared one by one.

pub use declare::entry::Kind;
