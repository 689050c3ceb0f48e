# The everyday commands: `just` lists them. What must pass before a change lands is `just ci`.

_list:
    @just --list --unsorted

# All tests; `just test NAME` those with NAME in their name
test *ARGS:
    cargo test --workspace --features skurd/tikv --locked {{ ARGS }}

# Format, and see what clippy says
lint:
    cargo fmt
    cargo clippy --workspace --all-targets --features skurd/tikv --locked -- -D warnings

# Everything that must pass: formatting, clippy, tests, simulations, kills, a small cluster, demo, interop, API
ci:
    .ci/run

# A small TiKV cluster on this machine (builds its servers the first time: some minutes), and on it the tests with NAME in theirs: `just cluster tikv`, `cluster`, `rules`
cluster TEST="tikv" SERVERS="3" DIR="target/cluster":
    tests/cluster/cluster start {{ DIR }} {{ SERVERS }}
    SKURD_TEST_PD=127.0.0.1:23790 SKURD_TEST_CLUSTER={{ absolute_path(DIR) }} cargo test --workspace --features skurd/tikv --locked --test {{ TEST }} -- --test-threads=1; passed=$?; tests/cluster/cluster stop {{ DIR }}; exit $passed

# Licences, advisories, duplicates, sources (needs `cargo install cargo-deny --locked`)
deny:
    cargo deny --workspace --locked check

# Does it build with the oldest Rust that is promised?
oldest:
    cargo +{{ `sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml` }} check --workspace --all-targets --features skurd/tikv --locked

# A small web on loopback, harvested, with the dashboard on
demo *ARGS:
    cargo run --release --locked -- demo {{ ARGS }}

# The month that the example would bring
simulate CONFIG="examples/news.yaml" SPAN="30d":
    cargo run --release --locked -- simulate {{ CONFIG }} --for {{ SPAN }}

# One of the measurements of bench/RESULTS.md: store, frontier, index, linear, crawl, serve, cluster
bench NAME *ARGS:
    cargo build --profile dist --locked --package skurd --package skurd-bench --features skurd/tikv
    target/dist/{{ NAME }} {{ ARGS }}

# The binary with line tables, for perf
profiling:
    cargo build --profile profiling --locked --package skurd

# The binary as it is given to others
dist:
    cargo build --profile dist --locked --package skurd --features tikv

# libFuzzer on every target, or on those that are named (needs nightly and cargo-fuzz)
fuzz SECONDS="60" *TARGETS:
    fuzz/run {{ SECONDS }} {{ TARGETS }}

# More of the fuzzing that runs with the tests
fuzz-stable RUNS="100000":
    SKURD_FUZZ_RUNS={{ RUNS }} cargo test --workspace --features skurd/tikv --locked --test targets

# More seeds of the simulated faults
storms RUNS="1000":
    SKURD_SIM_RUNS={{ RUNS }} cargo test --workspace --features skurd/tikv --locked --test faults

# The server, killed again and again
chaos KILLS="200" SEED="1":
    SKURD_CHAOS_KILLS={{ KILLS }} SKURD_CHAOS_SEED={{ SEED }} cargo test --workspace --features skurd/tikv --locked --test chaos -- --nocapture

# Are the rows of the store written as they were?
golden:
    cargo test --workspace --features skurd/tikv --locked golden

# Write the rows down as they are now: only for a format that nobody was given yet
golden-write:
    SKURD_GOLDEN=write cargo test --workspace --features skurd/tikv --locked golden

# The pictures of every page of the dashboard, into DIR
screenshots DIR:
    SKURD_BROWSER_TESTS=1 SKURD_SCREENSHOTS={{ absolute_path(DIR) }} cargo test --workspace --features skurd/tikv --locked --test dashboard
