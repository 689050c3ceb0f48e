# The everyday commands: `just` lists them. What must pass before a change lands is `just ci`.

_list:
    @just --list --unsorted

# All tests; `just test NAME` those with NAME in their name
test *ARGS:
    cargo test --workspace --locked {{ ARGS }}

# Format, and see what clippy says
lint:
    cargo fmt
    cargo clippy --workspace --all-targets --locked -- -D warnings

# Everything that must pass: formatting, clippy, tests, simulations, kills, demo, interop, API
ci:
    .ci/run

# The store's contract on a small TiKV cluster on this machine (builds its servers the first time: some minutes)
cluster DIR="target/cluster":
    tests/cluster/cluster start {{ DIR }}
    SKURD_TEST_PD=127.0.0.1:23790 cargo test --package skurd-store --features tikv --test tikv --locked; passed=$?; tests/cluster/cluster stop {{ DIR }}; exit $passed

# Licences, advisories, duplicates, sources (needs `cargo install cargo-deny --locked`)
deny:
    cargo deny --workspace --locked check

# Does it build with the oldest Rust that is promised?
oldest:
    cargo +{{ `sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml` }} check --workspace --all-targets --locked

# A small web on loopback, harvested, with the dashboard on
demo *ARGS:
    cargo run --release --locked -- demo {{ ARGS }}

# The month that the example would bring
simulate CONFIG="examples/news.yaml" SPAN="30d":
    cargo run --release --locked -- simulate {{ CONFIG }} --for {{ SPAN }}

# One of the measurements of bench/RESULTS.md: store, frontier, index, linear, crawl, serve
bench NAME *ARGS:
    cargo build --profile dist --locked --package skurd --package skurd-bench
    target/dist/{{ NAME }} {{ ARGS }}

# The binary with line tables, for perf
profiling:
    cargo build --profile profiling --locked --package skurd

# The binary as it is given to others
dist:
    cargo build --profile dist --locked --package skurd

# libFuzzer on every target, or on those that are named (needs nightly and cargo-fuzz)
fuzz SECONDS="60" *TARGETS:
    fuzz/run {{ SECONDS }} {{ TARGETS }}

# More of the fuzzing that runs with the tests
fuzz-stable RUNS="100000":
    SKURD_FUZZ_RUNS={{ RUNS }} cargo test --workspace --locked --test targets

# More seeds of the simulated faults
storms RUNS="1000":
    SKURD_SIM_RUNS={{ RUNS }} cargo test --workspace --locked --test faults

# The server, killed again and again
chaos KILLS="200" SEED="1":
    SKURD_CHAOS_KILLS={{ KILLS }} SKURD_CHAOS_SEED={{ SEED }} cargo test --workspace --locked --test chaos -- --nocapture

# Are the rows of the store written as they were?
golden:
    cargo test --workspace --locked golden

# Write the rows down as they are now: only for a format that nobody was given yet
golden-write:
    SKURD_GOLDEN=write cargo test --workspace --locked golden

# The pictures of every page of the dashboard, into DIR
screenshots DIR:
    SKURD_BROWSER_TESTS=1 SKURD_SCREENSHOTS={{ absolute_path(DIR) }} cargo test --workspace --locked --test dashboard
