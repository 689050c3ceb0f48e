//! How much more several nodes do than one.
