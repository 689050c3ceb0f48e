//! The book (I11): its pages lead somewhere, its commands work as they stand against a small web, and its
//! reference is what the program says.
//!
//! Of a page, blocks of `yaml` that begin with `# NAME.yaml` are written to that file, blocks of `sh` are run by
//! bash in the order of the page, and a block of `sh serve` is a server that the rest of the page asks. What
//! cannot be run here (clusters, installations) is in blocks of `console`. Names below `.test` are the web of this file.
//!
//! `SKURD_BOOK=write` writes the reference anew.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::web::{Answer, Ask};
use testkit::world::{Run, Served, World};

const SKURD: &str = env!("CARGO_BIN_EXE_skurd");
const IDS: u32 = 44;

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src")
}

/// Every page, by its path in the book.
fn pages() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut places = vec![book()];
    while let Some(place) = places.pop() {
        for entry in std::fs::read_dir(place).unwrap().flatten() {
            let path = entry.path();
            if path.is_dir() {
                places.push(path);
            } else if path.extension().is_some_and(|end| end == "md") {
                let name = path.strip_prefix(book()).unwrap().to_str().unwrap().to_owned();
                found.push((name, std::fs::read_to_string(path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Where the links and pictures of a page lead.
fn targets(text: &str) -> impl Iterator<Item = &str> {
    text.split("](").skip(1).filter_map(|rest| Some(rest.split_once(')')?.0))
}

#[test]
fn i11_every_page_is_in_the_summary_and_every_link_leads_somewhere() {
    let pages = pages();
    let summary = &pages.iter().find(|(name, _)| name == "SUMMARY.md").unwrap().1;
    let listed: BTreeSet<&str> = targets(summary).collect();
    let there: BTreeSet<&str> =
        pages.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "SUMMARY.md").collect();
    assert_eq!(listed, there);
    let mut seen = 0;
    for (name, text) in &pages {
        let dir = book().join(name).parent().unwrap().to_owned();
        for target in targets(text).filter(|target| !target.contains("://")) {
            let file = target.split('#').next().unwrap();
            assert!(file.is_empty() || dir.join(file).is_file(), "{name} leads to {target}");
            seen += 1;
        }
    }
    assert!(seen > 40, "only {seen} links");
}

/// A block between fences: what the opening one says, and what stands in it.
fn blocks(text: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(kind), None) => open = Some((kind.to_owned(), String::new())),
            (None, Some((_, block))) => writeln!(block, "{line}").unwrap(),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block without end");
    blocks
}

fn site(ask: &Ask) -> Answer {
    let number = |path: &str| ask.path.strip_prefix(path).and_then(|rest| rest.parse::<u32>().ok());
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("avisen.test", "/") => {
            let links: String = (1..=30).map(|n| format!("<li><a href=/nyheter/{n}>sak {n}</a>")).collect();
            Answer::html(format!(
                "<title>Avisen</title><h1>Nyheter</h1><ul>{links}</ul><a href=https://posten.test/>Posten</a>"
            ))
        }
        ("avisen.test", _) if number("/nyheter/").is_some() => {
            Answer::html(format!("<title>Sak</title><p>{}</p><a href=/>tilbake</a>", ask.path))
        }
        ("members.test", "/") if ask.header("cookie").is_some_and(|own| own.contains("open-sesame")) => {
            Answer::html("<title>Members</title><p>Welcome back")
        }
        ("members.test", "/") => Answer::html("<title>Members</title><p>Please log in"),
        ("register.test", _) if number("/notice/").is_some_and(|id| (1..=IDS).contains(&id) && id != 7) => {
            Answer::html(format!("notice {}", ask.path))
        }
        ("posten.test" | "www.ministry.test", "/") => Answer::html("<title>Brev</title>"),
        _ => Answer::not_found(),
    }
}

/// `skurd` as the book calls it: what harvests finds the web of this file, which needs no rest.
fn wrapper(world: &World) -> String {
    let way = world.way().map(|part| format!("'{part}'")).join(" ");
    format!(
        "#!/bin/sh\ncase \"$1\" in crawl) set -- \"$@\" {way} --delay 5ms ;; linear) [ \"$2\" = show ] || set -- \"$@\" {way} ;; esac\nexec {SKURD} \"$@\"\n"
    )
}

/// Runs what can be run of a page; says how many blocks that were.
fn run(name: &str, text: &str) -> usize {
    let world = World::secure(SKURD, site);
    std::fs::create_dir(world.dir.path().join("bin")).unwrap();
    world.write("bin/skurd", &wrapper(&world));
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(world.dir.path().join("bin/skurd"), executable).unwrap();
    let path = format!("{}:{}", world.dir.path().join("bin").display(), std::env::var("PATH").unwrap());
    let mut served: Option<Served> = None;
    let mut runs = 0;
    for (kind, block) in blocks(text) {
        match kind.as_str() {
            "yaml" => {
                let file = block.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap();
                assert!(file.ends_with(".yaml"), "{name}: a config without a name: {file}");
                world.write(file, &block);
            }
            "sh serve" => {
                let args: Vec<&str> = block.split_whitespace().collect();
                let at = args.iter().position(|arg| *arg == "--listen").unwrap();
                let args: Vec<&str> = [&args[2..at], &args[at + 2..]].concat();
                served = Some(Served::with(&world, &args, None));
                runs += 1;
            }
            "sh" => {
                let address = served.as_ref().map(|served| served.address.to_string());
                let script = match address {
                    Some(address) => block.replace("127.0.0.1:8642", &address),
                    None => block.clone(),
                };
                // A pipe into `head` ends whoever writes into it.
                let mut command = Command::new("bash");
                command.args(["-eu", "-c", &script]).current_dir(world.dir.path()).env("PATH", &path);
                let told = Run::spawn(command).end();
                assert_eq!(told.code, Some(0), "{name}:\n{block}\n{}\n{}", told.out, told.err);
                assert!(
                    !told.out.trim().is_empty() || !told.err.trim().is_empty(),
                    "{name} says nothing:\n{block}"
                );
                runs += 1;
            }
            "console" => assert!(block.lines().all(|line| line.starts_with("$ ")), "{name}:\n{block}"),
            kind => assert_eq!(kind, "", "{name}: nobody knows what to do with this block"),
        }
    }
    if let Some(served) = served {
        served.stop();
    }
    runs
}

#[test]
fn i11_the_commands_of_the_book_work_as_they_stand() {
    let reference = |name: &str| name.starts_with("reference/") || name == "url-frontier.md";
    let pages: Vec<_> = pages().into_iter().filter(|(name, _)| !reference(name)).collect();
    let has_curl = Command::new("curl").arg("--version").output().is_ok_and(|told| told.status.success());
    assert!(has_curl || std::env::var_os("SKURD_BROWSER_TESTS").is_none(), "there is no curl");
    let can_run = |text: &str| {
        let can = has_curl || !text.contains("curl ");
        can.then_some(()).or_else(|| {
            eprintln!("skipped: a page that asks with curl, which is not there");
            None
        })
    };
    let runs: usize = std::thread::scope(|scope| {
        let pages: Vec<_> = pages.iter().filter(|(_, text)| can_run(text).is_some()).collect();
        let at_work: Vec<_> = pages.iter().map(|(name, text)| scope.spawn(|| run(name, text))).collect();
        at_work.into_iter().map(|page| page.join().unwrap()).sum()
    });
    assert!(runs >= 20, "only {runs} blocks were run");
}

/// A page of the reference.
fn is_as_written(name: &str, text: &str) {
    let path = book().join(name);
    if std::env::var_os("SKURD_BOOK").is_some_and(|what| what == "write") {
        std::fs::write(&path, text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = written.lines().zip(text.lines()).position(|(a, b)| a != b);
    assert!(
        written == text,
        "docs/book/src/{name} is not what the program says (line {:?}); SKURD_BOOK=write cargo test --test book writes it anew",
        differs.map(|at| at + 1)
    );
}

/// A command and those below it.
fn describe(out: &mut String, path: &[String]) {
    let args: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
    let help = World::empty(SKURD).good(&args);
    let title = [&["skurd".to_owned()], path].concat().join(" ");
    // What is said of all commands is said once.
    let general = ["  -v, --verbose...", "  -h, --help", "  -V, --version"];
    let mut shown = String::new();
    let mut skipped = false;
    for line in help.lines() {
        let is_option = line.trim_start().starts_with('-') || !line.starts_with(' ');
        skipped =
            general.iter().any(|own| line.starts_with(own)) && !path.is_empty() || (skipped && !is_option);
        if !skipped {
            writeln!(shown, "{}", line.trim_end()).unwrap();
        }
    }
    let level = "#".repeat((path.len() + 1).min(4));
    writeln!(out, "\n{level} {title}\n\n```text\n{}\n```", shown.trim_end()).unwrap();
    let listed = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    for name in names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help") {
        describe(out, &[path, &[name.to_owned()]].concat());
    }
}

#[test]
fn i11_the_reference_is_what_the_program_says() {
    let mut commands = "# Commands\n\nEverything `skurd` can be told, as `--help` says it.\n".to_owned();
    describe(&mut commands, &[]);
    is_as_written("reference/commands.md", &commands.replacen("\n# skurd\n", "\n## skurd\n", 1));
    let example = World::empty(SKURD).good(&["config", "example"]);
    let config = format!(
        "# Every key of the config\n\nWhat `skurd config example` prints.\n\n```text\n{}\n```\n",
        example.trim_end()
    );
    is_as_written("reference/config.md", &config);
}
