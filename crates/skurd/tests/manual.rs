//! Completions and manual pages (I9): they are of the commands there are, and bash takes them.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::process::Command;

use testkit::world::World;

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");

/// The commands that `--help` lists.
fn commands(world: &World) -> Vec<String> {
    let help = world.good(&["--help"]);
    let listed = help.split_once("\nCommands:\n").unwrap().1;
    let names = listed.lines().take_while(|line| !line.is_empty());
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn i9_every_command_has_a_manual_page_with_its_examples() {
    let world = World::empty(SKURD);
    std::fs::create_dir(world.dir.path().join("man")).unwrap();
    world.good(&["man", "man"]);
    for command in commands(&world) {
        let page = std::fs::read_to_string(world.dir.path().join(format!("man/skurd-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME") && page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    let check = std::fs::read_to_string(world.dir.path().join("man/skurd-config-check.1")).unwrap();
    assert!(check.contains("skurd config check config.yaml"), "with its examples: {check}");
    let refused = world.skurd(&["man", "no/where"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.err.contains("cannot write manual pages into no/where"), "{}", refused.err);
}

#[test]
fn i9_bash_completes_commands_and_flags() {
    let world = World::empty(SKURD);
    let ask = |words: &str, last: usize| {
        let script = world.good(&["completions", "bash"]);
        world.write("skurd.bash", &script);
        let script = format!(
            "source ./skurd.bash; COMP_WORDS=({words}); COMP_CWORD={last}; _skurd skurd \"${{COMP_WORDS[{last}]}}\" x; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let told = Command::new("bash").args(["-c", &script]).current_dir(world.dir.path()).output().unwrap();
        assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
        let told = String::from_utf8(told.stdout).unwrap();
        told.lines().map(str::to_owned).collect::<Vec<String>>()
    };
    assert!(ask("skurd ca", 1).contains(&"captures".to_owned()));
    assert!(ask("skurd config e", 2).contains(&"export".to_owned()));
    assert!(ask("skurd crawl --disk", 2).contains(&"--disk-floor".to_owned()));
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        let script = world.good(&["completions", shell]);
        assert!(commands(&world).iter().all(|command| script.contains(command.as_str())), "{shell}");
    }
}

#[test]
fn i9_the_service_of_systemd_starts_what_there_is_and_is_locked_in() {
    let unit = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/skurd.service");
    let text = std::fs::read_to_string(&unit).unwrap();
    let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=/usr/bin/skurd ")).unwrap();
    let words: Vec<&str> = start.split_whitespace().collect();
    let help = World::empty(SKURD).good(&[words[0], "--help"]);
    let flags: Vec<&&str> = words.iter().filter(|word| word.starts_with("--")).collect();
    assert!(!flags.is_empty() && flags.iter().all(|flag| help.contains(**flag)), "{flags:?}");
    // It judges the unit without a running systemd.
    let judged = Command::new("systemd-analyze")
        .args(["security", "--offline=true", "--threshold=30", "--no-pager"])
        .arg(&unit)
        .output();
    match judged {
        Ok(judged) if String::from_utf8_lossy(&judged.stderr).contains("option") => {
            eprintln!("skipped in part: this systemd-analyze is too old");
        }
        Ok(judged) => assert!(judged.status.success(), "{}", String::from_utf8_lossy(&judged.stdout)),
        Err(_) => eprintln!("skipped in part: there is no systemd-analyze"),
    }
}
