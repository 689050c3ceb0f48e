//! Rule A8: archive files, written, kept over a crash, and read back; rule A11 for what others
//! wrote.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

mod cdx;
mod files;
mod make;
mod pack;
mod reading;
mod walk;
