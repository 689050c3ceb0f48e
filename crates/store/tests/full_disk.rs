//! A disk that is really full: a small tmpfs in a mount namespace of its own. Needs the right to
//! mount (root does).

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::process::Command;

/// Runs a shell script with a fresh tmpfs of 24 MiB at `$DISK`; `None` where mounting is not
/// allowed.
fn on_small_disk(script: &str) -> Option<Vec<String>> {
    let disk = tempfile::TempDir::new().unwrap();
    let output = Command::new("unshare")
        .args(["--mount", "sh", "-c"])
        .arg(format!("mount -t tmpfs -o size=24m none \"$DISK\" || exit 77\n{script}"))
        .env("DISK", disk.path())
        .env("WRITER", env!("CARGO_BIN_EXE_store-crash-writer"))
        .output()
        .ok()?;
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.code() == Some(77) || errors.contains("unshare") {
        eprintln!("skipped: cannot mount a small disk here: {errors}");
        return None;
    }
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
}

fn acked(line: &str) -> (u64, &str) {
    let (count, refusal) = line.split_once(' ').unwrap();
    (count.parse().unwrap(), refusal)
}

#[test]
fn with_a_reserve_the_commit_is_refused_and_all_goes_on_once_there_is_room() {
    let script = r#"
        head -c 6M /dev/zero > "$DISK/ballast"
        "$WRITER" fill "$DISK/data" 4000000
        "$WRITER" count "$DISK/data"
        rm "$DISK/ballast"
        "$WRITER" fill "$DISK/data" 4000000
        "$WRITER" count "$DISK/data""#;
    let Some(lines) = on_small_disk(script) else { return };
    let (first, refusal) = acked(&lines[0]);
    assert!(refusal.contains("is full") && refusal.contains("kept in reserve"), "{refusal}");
    assert_eq!(lines[1], first.to_string());
    let (second, _) = acked(&lines[2]);
    assert!(first > 0 && second > first, "{first} rows, then {second}");
    assert_eq!(lines[3], second.to_string());
}

#[test]
fn without_a_reserve_the_write_fails_loses_nothing_and_the_next_start_works() {
    let script = r#"
        head -c 6M /dev/zero > "$DISK/ballast"
        "$WRITER" fill "$DISK/data" 0
        rm "$DISK/ballast"
        "$WRITER" count "$DISK/data"
        "$WRITER" fill "$DISK/data" 4000000"#;
    let Some(lines) = on_small_disk(script) else { return };
    let (first, refusal) = acked(&lines[0]);
    // Either the commit met the full disk itself, or the engine's writing of tables in the background
    // did.
    assert!(
        refusal.contains("No space left on device") || refusal.contains("is the disk full?"),
        "{refusal}"
    );
    let found: u64 = lines[1].parse().unwrap();
    assert!(found == first || found == first + 1, "{first} acknowledged, {found} found");
    assert!(acked(&lines[2]).0 > found, "the next start goes on");
}
