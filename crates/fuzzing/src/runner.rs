//! Fuzzing without a fuzzer: a seeded loop over mutated seeds, on a stable toolchain, for the
//! ordinary tests.
//!
//! The same numbers give the same inputs, so a test that passed passes again. Variables for who
//! wants more:
//!
//! | variable | does |
//! |---|---|
//! | `SKURD_FUZZ_RUNS=n` | n inputs per target instead of its share |
//! | `SKURD_FUZZ_SEED=n` | begins with input n (with `SKURD_FUZZ_RUNS=1`, it is the only one) |
//! | `SKURD_FUZZ_INPUT=file` | runs this input and nothing else |
//! | `SKURD_FUZZ_CORPUS=dir` | also writes the seeds to `dir/TARGET`, for libFuzzer |
//! | `SKURD_SHARED_DATA=dir` | where the shared test data is, if not beside the repository |

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::{env, fs};

use crate::{Seeds, Target, mutate};

/// As much of a failing input as is printed; all of it is in a file.
const SHOWN_BYTES_MAX: usize = 2000;

/// Runs a target over its seeds and its share of mutated ones; `kept` is where inputs lie that once
/// failed, by target. Says how many inputs there were.
pub fn run(target: &Target, kept: &Path) -> u64 {
    if let Some(file) = env::var_os("SKURD_FUZZ_INPUT") {
        let input = fs::read(&file).expect("SKURD_FUZZ_INPUT names a file");
        attempt(target, &file.to_string_lossy(), &input);
        return 1;
    }
    let seeds = Seeds::of(target, kept).inputs;
    if let Some(dir) = env::var_os("SKURD_FUZZ_CORPUS") {
        export(&seeds, &PathBuf::from(dir).join(target.name));
    }
    let first = number("SKURD_FUZZ_SEED");
    let runs = number("SKURD_FUZZ_RUNS").unwrap_or(target.runs);
    let mut inputs = 0;
    if first.is_none() {
        for (at, seed) in seeds.iter().enumerate() {
            attempt(target, &format!("its seed {at}, as it is"), seed);
            inputs += 1;
        }
    }
    let first = first.unwrap_or(0);
    for seed in first..first.saturating_add(runs) {
        attempt(target, &format!("SKURD_FUZZ_SEED={seed}"), &mutate::input(&seeds, target.words, seed));
        inputs += 1;
    }
    inputs
}

fn number(variable: &str) -> Option<u64> {
    let text = env::var(variable).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{variable} is a number, not {text:?}")))
}

fn attempt(target: &Target, which: &str, input: &[u8]) {
    let Err(panic) = catch_unwind(AssertUnwindSafe(|| (target.run)(input))) else { return };
    let name = target.name;
    let file = env::temp_dir().join(format!("skurd-fuzz-{name}-{}", std::process::id()));
    let kept = match fs::write(&file, input) {
        Ok(()) => format!("all of it is in {}", file.display()),
        Err(error) => format!("it could not be written to {}: {error}", file.display()),
    };
    eprintln!(
        "target `{name}` failed on {which}, an input of {} bytes; {kept}\n\
         again: SKURD_FUZZ_INPUT={} cargo test -p CRATE {name}, or: cargo fuzz run {name} {}\n{}",
        input.len(),
        file.display(),
        file.display(),
        input[..input.len().min(SHOWN_BYTES_MAX)].escape_ascii(),
    );
    resume_unwind(panic);
}

fn export(seeds: &[Vec<u8>], dir: &Path) {
    fs::create_dir_all(dir).expect("a directory for seeds");
    for (at, seed) in seeds.iter().enumerate() {
        fs::write(dir.join(format!("seed-{at:04}")), seed).expect("a seed is written");
    }
}
