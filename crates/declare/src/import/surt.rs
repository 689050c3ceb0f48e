//! SURT prefixes (`http://(no,vg,)/sport`) as patterns of a scope.

/// The pattern that says the same, in YAML; none if this is no SURT prefix and no URL.
///
/// An open host (`http://(no,vg,`) takes its subdomains along, a closed one (`http://(no,vg,)`)
/// does not. A plain URL or host is its own prefix, as Heritrix reads it: without a path,
/// subdomains come along.
pub(super) fn include_of(directive: &str) -> Option<String> {
    let directive = directive.trim();
    let rest = directive.split_once("://").map_or(directive, |(_, rest)| rest);
    match rest.strip_prefix('(') {
        Some(surt) => of_surt(surt),
        None => of_plain(rest),
    }
}

fn of_surt(surt: &str) -> Option<String> {
    let (labels, path) = match surt.split_once(')') {
        Some((labels, path)) => (labels, Some(path)),
        None => (surt, None),
    };
    let labels: Vec<&str> = labels.split(',').filter(|label| !label.is_empty()).rev().collect();
    let host = labels.join(".");
    match path {
        None => host_pattern(&format!("*.{host}")),
        Some("" | "/") => host_pattern(&host),
        Some(path) => prefix_pattern(&host, path),
    }
}

fn of_plain(rest: &str) -> Option<String> {
    match rest.split_once('/') {
        None | Some((_, "")) => host_pattern(&format!("*.{}", rest.trim_end_matches('/'))),
        Some((host, path)) => prefix_pattern(host, &format!("/{path}")),
    }
}

fn host_pattern(host: &str) -> Option<String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    let name = host.strip_prefix("*.").unwrap_or(host);
    (!name.is_empty() && name.chars().all(plain)).then(|| format!("{{host: \"{host}\"}}"))
}

fn prefix_pattern(host: &str, path: &str) -> Option<String> {
    host_pattern(host)?;
    let safe = path.starts_with('/') && !path.contains(['"', '\\']) && !path.chars().any(char::is_control);
    (safe && path.len() <= 200).then(|| format!("{{prefix: \"{host}{path}\"}}"))
}
