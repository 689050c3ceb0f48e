//! The commented example: every key of the description once, with its sentence, its default and a
//! value.

use crate::keys::{Key, Kind, Need, Table};
use crate::tables::ROOT;

const WIDTH: usize = 100;

const HEAD: &str = "\
# A config for Skurd with every key there is. Most can be left out: each comment says what then holds.
# Where the default is none, `none` can be written too, say to undo what a profile inherits.
# Durations are written 1d12h, 90m or 500ms (w, d, h, m, s, ms), sizes 64KiB, 10MB or a number of bytes.
# Check it with `skurd config check FILE`; `skurd config schema` prints the JSON Schema for your editor.
";

/// Further entries of a section, which the first one refers to or which show the short form.
const FURTHER: [(&str, &str); 3] = [
    (
        "profiles",
        "  # All that must be there:\n  - name: base\n    collection: news\n    every: 1d\n  \
         # What is not given here is as in base:\n  - name: weekly\n    extends: base\n    every: 1w\n",
    ),
    ("seeds", "  # All that must be there:\n  - url: https://faktisk.no/\n    profiles: [weekly]\n"),
    ("collections", "  # All that must be there:\n  - name: elections\n"),
];

pub fn example() -> String {
    let mut text = HEAD.to_owned();
    for key in ROOT.keys {
        text.push('\n');
        write_key(&mut text, &ROOT, key, 0, "");
        let further = FURTHER.iter().find(|(section, _)| *section == key.name);
        text.push_str(further.map_or("", |(_, further)| further));
    }
    text
}

/// `bullet` is `- ` for the first key of a list's entry.
fn write_key(text: &mut String, of: &Table, key: &Key, indent: usize, bullet: &str) {
    let after = " ".repeat(indent);
    let before = " ".repeat(indent - bullet.len());
    comment(text, &before, &about(of, key));
    text.push_str(&format!("{before}{bullet}{}:", key.name));
    match (key.example, &key.kind) {
        ("", Kind::Table(table)) => {
            text.push('\n');
            table.keys.iter().for_each(|key| write_key(text, table, key, indent + 2, ""));
        }
        ("", Kind::List { of: Kind::Table(table), .. }) => {
            text.push('\n');
            write_entry(text, table, after.len() + 4);
        }
        (example, _) => text.push_str(&format!(" {example}\n")),
    }
}

fn write_entry(text: &mut String, table: &Table, indent: usize) {
    for (place, key) in table.keys.iter().enumerate() {
        write_key(text, table, key, indent, if place == 0 { "- " } else { "" });
    }
}

fn about(of: &Table, key: &Key) -> String {
    let doc = key.doc;
    match key.need {
        Need::Default => format!("{doc} Default: {}", of.default_text(key).unwrap_or_default()),
        Need::Required => format!("{doc} Required."),
        Need::RequiredUnless(other) => format!("{doc} Required, unless it comes with `{other}`."),
        Need::Optional => format!("{doc} Default: none"),
        Need::Empty => doc.to_owned(),
    }
}

fn comment(text: &mut String, before: &str, about: &str) {
    let mut line = format!("{before}#");
    for word in about.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            text.push_str(&line);
            text.push('\n');
            line = format!("{before}#");
        }
        line.push(' ');
        line.push_str(word);
    }
    text.push_str(&line);
    text.push('\n');
}
