//! Documents name files that exist.

use std::path::Path;

const DOCUMENTS: [&str; 6] =
    ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md", "fuzz/README.md", "bench/RESULTS.md"];

/// What stands in backticks and looks like a path of the repository.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let quoted = text.split('`').skip(1).step_by(2);
    quoted.filter(|words| {
        let is_path = words.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
        let in_crates = words.contains("/src/") || words.contains("/tests/");
        is_path && (in_crates || words.starts_with("crates/"))
    })
}

#[test]
fn documents_name_files_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut named = 0;
    for document in DOCUMENTS {
        let text = std::fs::read_to_string(root.join(document)).unwrap();
        for path in paths(&text) {
            let found = root.join(path).exists() || root.join("crates").join(path).exists();
            assert!(found, "{document} names {path}, and there is none");
            named += 1;
        }
    }
    assert!(named > 20, "only {named} files are named");
}
