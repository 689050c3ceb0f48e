#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| (skurd::fuzzing::CONFIG.run)(input));
