//! robots.txt (A3): what decided decides alone too, and spelling does not matter. The first line
//! names the agent.

use policy::robots::{CRAWL_DELAY_MAX, Robots, Verdict};
use policy::url::{CrawlUrl, UrlRules, normalise};

use crate::{Seeds, Target, first_line};

pub const ROBOTS: Target = Target {
    name: "robots",
    run: robots,
    seeds,
    words: &[
        "User-agent: *\n",
        "User-agent: skurd\n",
        "Disallow: ",
        "Allow: ",
        "Crawl-delay: ",
        "Sitemap: ",
        "*",
        "$",
        "/",
        "/*/",
        "/*.html$",
        "%2A",
        "%24",
        "%61",
        "%",
        "#",
        "\r",
        "\u{feff}",
        "é",
    ],
    runs: 8000,
};

fn seeds(seeds: &mut Seeds) {
    seeds.each(&[
        "skurd\nUser-agent: *\nDisallow: /a*b*c$\nAllow: /a/b\nCrawl-delay: 1.5\nSitemap: /s.xml\n",
        "Skurd/1.0 (+x)\nUser-agent: skurd\nUser-agent: other\nDisallow: /%61/é?q=*\nDisallow:\n\nUser-agent: *\nDisallow: /\n",
        "x\nuser agent *\ndissallow /p q\n",
    ]);
    seeds.shared("robots-crawler-commons", &["txt"], "skurd\n");
}

fn robots(input: &[u8]) {
    let (agent, file) = first_line(input);
    let agent = String::from_utf8_lossy(agent).into_owned();
    let rules = Robots::parse(file, &agent);
    assert_eq!(Robots::parse(file, &agent), rules);
    assert!(rules.crawl_delay().is_none_or(|delay| delay <= CRAWL_DELAY_MAX));
    for sitemap in rules.sitemaps() {
        let _ = normalise(sitemap, None, &UrlRules::default());
    }
    let lines = file.split(|byte| matches!(byte, b'\n' | b'\r')).count();
    let mut denied = 0;
    for path in paths(file) {
        let verdict = rules.verdict(&path);
        let (Verdict::Allowed(Some(line)) | Verdict::Denied(line)) = verdict else { continue };
        denied += usize::from(!verdict.is_allowed());
        // UTF-16 has other line ends than its bytes have.
        assert!(line.number as usize <= lines.max(file.len()), "line {} of {lines}", line.number);
        assert!(!verdict.to_string().contains('\n'));
        if line.text.contains(char::REPLACEMENT_CHARACTER) {
            continue;
        }
        let alone = format!("User-agent: *\n{}\n", line.text);
        let again = Robots::parse(alone.as_bytes(), "skurd");
        let decided = again.verdict(&path);
        assert_eq!(decided.is_allowed(), verdict.is_allowed(), "{path:?} by {:?} alone", line.text);
        assert!(!matches!(decided, Verdict::Allowed(None)), "{path:?} is not matched by {:?}", line.text);
        // Every letter escaped, the same path.
        let escaped: String = path
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' => format!("%{byte:02x}"),
                _ => char::from(byte).to_string(),
            })
            .collect();
        let is_plain = path.is_ascii() && !path.contains('%') && path != "/robots.txt";
        if is_plain {
            assert_eq!(rules.verdict(&escaped).is_allowed(), verdict.is_allowed(), "{path:?} as {escaped:?}");
        }
    }
    if denied > 0 {
        assert!(Robots::parse(b"", &agent).verdict("/").is_allowed());
    }
}

/// Paths that the file itself speaks of, and some more, as they stand in URLs.
fn paths(file: &[u8]) -> Vec<String> {
    let mut found = vec!["/".to_owned(), "/robots.txt".to_owned(), "/a/b/c.html?q=1".to_owned()];
    for word in file
        .split(|byte| byte.is_ascii_whitespace() || *byte == b':')
        .filter(|word| word.contains(&b'/'))
        .take(30)
    {
        let word = String::from_utf8_lossy(word).replace('*', "x").replace('$', "");
        let url =
            normalise(&format!("http://a.no/{}", word.trim_start_matches('/')), None, &UrlRules::default());
        found.extend(url.ok().map(|url: CrawlUrl| url.path_and_query().to_owned()));
    }
    found
}
