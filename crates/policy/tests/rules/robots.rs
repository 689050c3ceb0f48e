//! A3: robots.txt by RFC 9309.

use std::path::Path;

use policy::robots::{
    Answer, COPY_HOLDS, CRAWL_DELAY_MAX, RETRY, ROBOTS_BYTES_MAX, Robots, SITEMAPS_MAX, Says, Standing,
    Verdict,
};
use policy::time::{Span, Time};
use proptest::prelude::*;

use crate::world::{day, rows};

fn verdict(text: &str, agent: &str, path: &str) -> String {
    match Robots::parse(text.as_bytes(), agent).verdict(path) {
        Verdict::Allowed(None) => "allowed".to_owned(),
        Verdict::Allowed(Some(rule)) => format!("allowed by {}", rule.number),
        Verdict::Denied(rule) => format!("denied by {}", rule.number),
    }
}

/// The examples of RFC 9309, 2.2.2, 2.2.3 and 5.2, and of Google's description where the RFC has
/// none: one rule, some paths.
#[test]
fn a3_patterns_match_as_the_rfc_says() {
    let table = "
        rule                        | path                         | denied
        /                           | /                            | yes
        /                           | /a?b                         | yes
        /fish                       | /fish                        | yes
        /fish                       | /fish.html                   | yes
        /fish                       | /fishheads/yummy.html        | yes
        /fish                       | /fish.php?id=anything        | yes
        /fish                       | /Fish.asp                    | no
        /fish                       | /catfish                     | no
        /fish                       | /?id=fish                    | no
        /fish*                      | /fishheads                   | yes
        /fish/                      | /fish/salmon.htm             | yes
        /fish/                      | /fish                        | no
        /*.php                      | /folder/filename.php?param   | yes
        /*.php                      | /folder/any.php.file.html    | yes
        /*.php                      | /                            | no
        /*.php                      | /windows.PHP                 | no
        /*.php$                     | /folder/filename.php         | yes
        /*.php$                     | /filename.php?param          | no
        /*.php$                     | /filename.php5               | no
        /fish*.php                  | /fishheads/catfish.php?p=1   | yes
        /fish*.php                  | /Fish.PHP                    | no
        *.gif$                      | /a/b.gif                     | yes
        *.gif$                      | /a/b.gifx                    | no
        /a*b*c$                     | /axbxbxc                     | yes
        /a*b*c$                     | /axbxbxcx                    | no
        /a*b*c$                     | /ac                          | no
        /a*a                        | /a                           | no
        /a*a$                       | /aa                          | yes
        /$                          | /                            | yes
        /$                          | /a                           | no
        /a$b                        | /a$b                         | yes
        /a$b                        | /a                           | no
        /path/file-with-a-%2A.html  | /path/file-with-a-*.html     | yes
        /path/file-with-a-%2A.html  | /path/file-with-a-b.html     | no
        /path/foo-%24               | /path/foo-$                  | yes
        /path/foo-%24               | /path/foo-                   | no
        /foo/bar?baz=https%3A%2F%2Ffoo.bar | /foo/bar?baz=https%3A%2F%2Ffoo.bar | yes
        /foo/bar/\u{30C4}           | /foo/bar/%E3%83%84           | yes
        /foo/bar/%E3%83%84          | /foo/bar/%e3%83%84           | yes
        /foo/bar/%62%61%7A          | /foo/bar/baz                 | yes
        /foo/bar/baz                | /foo/bar/%62%61%7a           | yes
        /a%2Fb                      | /a/b                         | no
        /a b                        | /a%20b                       | yes
        /100%                       | /100%                        | yes
        /%3M                        | /%3M                         | yes
        secret                      | /secret                      | no
        ***                         | /anything                    | yes";
    for row in rows(table) {
        let text = format!("User-agent: *\nDisallow: {}\n", row[0]);
        let expected = if row[2] == "yes" { "denied by 2" } else { "allowed" };
        assert_eq!(verdict(&text, "skurd", row[1]), expected, "{row:?}");
    }
}

#[test]
fn a3_the_longest_match_decides_and_allow_wins_a_tie() {
    let table = "
        rules                                        | path             | verdict
        Allow: /p, Disallow: /                       | /page            | allowed by 2
        Disallow: /, Allow: /p                       | /page            | allowed by 3
        Allow: /folder, Disallow: /folder            | /folder/page     | allowed by 2
        Disallow: /folder, Allow: /folder            | /folder/page     | allowed by 3
        Allow: /page, Disallow: /*.htm               | /page.htm        | denied by 3
        Allow: /page, Disallow: /*.ph                | /page.php5       | allowed by 2
        Allow: /$, Disallow: /                       | /                | allowed by 2
        Allow: /$, Disallow: /                       | /page.htm        | denied by 3
        Disallow: , Allow:                           | /                | allowed
        Disallow: /                                  | /robots.txt      | allowed
        Allow: /example/page/, Disallow: /example/page/disallowed.gif | /example/page/disallowed.gif | denied by 3
        Allow: /example/page/, Disallow: /example/page/disallowed.gif | /example/page/x  | allowed by 2";
    for row in rows(table) {
        let text = format!("User-agent: *\n{}\n", row[0].replace(", ", "\n"));
        assert_eq!(verdict(&text, "skurd", row[1]), row[2], "{row:?}");
    }
}

#[test]
fn a3_groups_are_found_by_product_token_and_merged() {
    let table = "
        file                                                        | agent   | path | verdict
        User-agent: skurd;Disallow: /a;User-agent: *;Disallow: /b   | skurd   | /a   | denied by 2
        User-agent: skurd;Disallow: /a;User-agent: *;Disallow: /b   | Skurd/1.0 (+https://a.no) | /a | denied by 2
        User-agent: skurd;Disallow: /a;User-agent: *;Disallow: /b   | skurd   | /b   | allowed
        User-agent: skurd;Disallow: /a;User-agent: *;Disallow: /b   | other   | /b   | denied by 4
        User-agent: SKURD/2.0;Disallow: /a                          | skurd   | /a   | denied by 2
        User-agent: skurd-x;Disallow: /a                            | skurd   | /a   | allowed
        User-agent: sku;Disallow: /a                                | skurd   | /a   | allowed
        User-agent: a;User-agent: skurd;Disallow: /a                | skurd   | /a   | denied by 3
        User-agent: skurd;Disallow: /a;User-agent: b;Disallow: /b;User-agent: skurd;Disallow: /c | skurd | /c | denied by 6
        User-agent: skurd;Disallow: /a;User-agent: b;Disallow: /b;User-agent: skurd;Disallow: /c | skurd | /b | allowed
        User-agent: skurd;User-agent: *;Disallow: /a                | other   | /a   | denied by 3
        User-agent: skurd;Sitemap: /s;User-agent: b;Disallow: /a    | skurd   | /a   | denied by 4
        User-agent: skurd;Disallow:;User-agent: b;Disallow: /a      | skurd   | /a   | allowed
        User-agent: *;Crawl-delay: 10;User-agent: b;Disallow: /     | skurd   | /a   | allowed
        User-agent: *;Crawl-delay: soon;User-agent: b;Disallow: /   | skurd   | /a   | allowed
        User-agent: *;Crawl-delay: 10;User-agent: b;Disallow: /     | b       | /a   | denied by 4
        User-agent: *;Crawl-delay: 10;Disallow: /a                  | skurd   | /a   | denied by 3
        User-agent: b;User-agent: *;Crawl-delay: 10;Disallow: /a    | skurd   | /a   | denied by 4
        User-agent: *;Request-rate: 1/1m;User-agent: b;Disallow: /  | skurd   | /a   | denied by 4
        User-agent: skurd;;;Disallow: /a                            | skurd   | /a   | denied by 4
        User-agent: skurd                                           | skurd   | /a   | allowed
        Disallow: /a                                                | skurd   | /a   | allowed
        User-agent: *;Disallow: /a                                  |         | /a   | denied by 2";
    for row in rows(table) {
        assert_eq!(verdict(&row[0].replace(';', "\n"), row[1], row[2]), row[3], "{row:?}");
    }
}

#[test]
fn a3_files_as_they_are_in_the_wild() {
    let rule = "User-agent: *\r\rDISALLOW:/a#b";
    assert_eq!(verdict(rule, "skurd", "/a"), "denied by 3");
    assert_eq!(verdict(&format!("\u{FEFF}{rule}"), "skurd", "/a"), "denied by 3");
    let wide = |bytes: fn(u16) -> [u8; 2]| rule.encode_utf16().flat_map(bytes).collect::<Vec<u8>>();
    let little = [vec![0xFF, 0xFE], wide(u16::to_le_bytes)].concat();
    let big = [vec![0xFE, 0xFF], wide(u16::to_be_bytes)].concat();
    for bytes in [little, big] {
        assert!(!Robots::parse(&bytes, "skurd").verdict("/a").is_allowed());
    }
    let latin = b"User-agent: *\nDisallow: /caf\xE9\n";
    assert!(!Robots::parse(latin, "skurd").verdict("/caf%E9").is_allowed());
    let said = Robots::parse(rule.as_bytes(), "skurd").verdict("/a").to_string();
    assert_eq!(said, "denied by robots.txt, line 3: DISALLOW:/a");
}

#[test]
fn a3_only_500_kib_count_and_no_line_that_is_cut() {
    let head = "User-agent: *\nDisallow: /a\n";
    let filler = "#".repeat(ROBOTS_BYTES_MAX - head.len() - "\nDisallow: /".len());
    let text = format!("{head}{filler}\nDisallow: /secret\nDisallow: /b\n");
    assert_eq!(verdict(&text, "skurd", "/a"), "denied by 2");
    assert_eq!(verdict(&text, "skurd", "/"), "allowed", "`Disallow: /` is half a line");
    assert_eq!(verdict(&text, "skurd", "/b"), "allowed");
}

#[test]
fn a3_crawl_delay_and_sitemaps() {
    let table = "
        lines                                                       | ms
        User-agent: *;Crawl-delay: 5                                | 5000
        User-agent: *;Crawl-delay: 0.5 # half                       | 500
        User-agent: *;Crawl-delay: 2;User-agent: *;crawl-delay: 9   | 9000
        User-agent: *;Crawl-delay: 100000000000000000000            | 300000
        User-agent: *;Crawl-delay: -1                               | -
        User-agent: *;Crawl-delay: NaN                              | -
        User-agent: *;Crawl-delay: soon                             | -
        User-agent: a;Crawl-delay: 5                                | -
        User-agent: *;Crawl-delay: 5;User-agent: skurd;Allow: /     | -
        Crawl-delay: 5;User-agent: *;Allow: /                       | -";
    for row in rows(table) {
        let robots = Robots::parse(row[0].replace(';', "\n").as_bytes(), "skurd");
        let expected = row[1].parse().ok().map(Span);
        assert_eq!(robots.crawl_delay(), expected, "{row:?}");
    }
    assert_eq!(CRAWL_DELAY_MAX, Span(300_000));
    let text = "Sitemap: https://a.no/1\nUser-agent: x\nsitemap:/2\nDisallow: /\nSITEMAP : https://a.no/1\nSitemap:\n";
    assert_eq!(Robots::parse(text.as_bytes(), "skurd").sitemaps(), ["https://a.no/1", "/2"]);
}

#[test]
fn a11_sitemaps_are_bounded() {
    let text: String = (0..40_000).map(|n| format!("Sitemap: {n}\n")).collect();
    let robots = Robots::parse(text.as_bytes(), "skurd");
    let first: Vec<String> = (0..SITEMAPS_MAX).map(|n| n.to_string()).collect();
    assert_eq!(robots.sitemaps(), first);
}

/// Files of crawler-commons, where they are at hand; what is expected was read out of them by eye
/// and RFC 9309, but that a crawl-delay ends a run of agents.
#[test]
fn a3_agrees_with_the_files_of_crawler_commons() {
    let dir = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/robots-crawler-commons"));
    if !dir.exists() {
        eprintln!("skipped: no {}", dir.display());
        return;
    }
    let table = "
        file                                  | agent      | path                        | allowed
        rfc9309-example-simple-robots         | foobot     | /example/page.html          | yes
        rfc9309-example-simple-robots         | foobot     | /other                      | no
        rfc9309-example-simple-robots         | barbot     | /example/page.html          | no
        rfc9309-example-simple-robots         | bazbot     | /example/page.html          | no
        rfc9309-example-simple-robots         | bazbot     | /example/other              | yes
        rfc9309-example-simple-robots         | quxbot     | /example/page.html          | yes
        rfc9309-example-simple-robots         | other      | /example/x                  | no
        rfc9309-example-simple-robots         | other      | /a.gif                      | no
        rfc9309-example-simple-robots         | other      | /publications/              | yes
        rfc9309-example-longest-match-robots  | foobot     | /example/page/              | yes
        rfc9309-example-longest-match-robots  | foobot     | /example/page/disallowed.gif | no
        rfc9309-example-rule-group-merging    | ExampleBot | /foo                        | no
        rfc9309-example-rule-group-merging    | ExampleBot | /baz                        | no
        rfc9309-example-rule-group-merging    | BazBot     | /foo                        | yes
        rfc9309-example-rule-group-merging    | BazBot     | /baz                        | no
        rfc9309-example-rule-group-merging    | other      | /baz                        | yes
        crawl-delay-group-merging             | mybot      | /private/                   | yes
        crawl-delay-group-merging             | yourbot    | /private/                   | no
        crawl-delay-group-merging             | yourbot    | /login/                     | no
        crawl-delay-group-merging             | mybot      | /login/                     | yes
        crawl-delay-group-merging             | other      | /private/                   | yes
        extensions-group-merging              | mybot      | /private/                   | no
        extensions-group-merging              | mybot      | /login/                     | no
        extensions-group-merging              | other      | /x                          | no
        extensions-group-merging              | other      | /llms.txt                   | yes
        directive-typos-robots                | bot1       | /desallow/                  | no
        directive-typos-robots                | bot1       | /dissalow/                  | no
        directive-typos-robots                | bot2       | /useragent/                 | no
        directive-typos-robots                | bot3       | /useg-agent/                | no
        directive-typos-robots                | bot4       | /useragent-no-colon/        | no
        format-errors-robots                  | bot1       | /whitespace-before-colon/   | no
        format-errors-robots                  | bot1       | /no-colon/                  | no
        format-errors-robots                  | bot2       | /no-colon-useragent/        | no
        format-errors-robots                  | bot3       | /whitespace-before-colon    | yes
        format-errors-robots                  | bot3       | /                           | no
        malformed-path                        | x          | /wiki/Wikipedia_talk:Mediation_Committee/ | no
        malformed-path                        | x          | /wiki/Wikipedia_talk:Other  | yes
        many-user-agents                      | wget       | /                           | no
        many-user-agents                      | BlowFish   | /                           | no
        merge-rules                           | testy      | /                           | no
        merge-rules                           | wget       | /foo/bar                    | yes
        merge-rules                           | wget       | /tmp/bar                    | no
        merge-rules                           | other      | /foo/bar                    | no
        precedence-of-rules                   | wget       | /foo                        | yes
        precedence-of-rules                   | testy      | /foo                        | no
        precedence-of-rules                   | testy      | /foo/bar                    | yes
        precedence-of-rules                   | testy      | /foo/bla                    | no
        precedence-of-rules                   | wget       | /index.html                 | yes
        robots-with-utf16be-bom               | x          | /profile                    | no
        robots-with-utf16le-bom               | x          | /a/output/print             | no
        robots-with-utf8-bom                  | x          | /profile                    | no
        robots-with-utf8-bom                  | Googlebot  | /x                          | yes
        twitter.com-robots                    | Slurp      | /a?b                        | no
        twitter.com-robots                    | x          | /a/with_friends             | no
        twitter.com-robots                    | x          | /a                          | yes
        wildcards                             | x          | /gp/cart/x                  | no
        www.flot.com-robots                   | x          | /img/a.gif                  | no";
    let read = |file: &str| std::fs::read(dir.join(format!("{file}.txt"))).unwrap();
    for row in rows(table) {
        let robots = Robots::parse(&read(row[0]), row[1]);
        assert_eq!(robots.verdict(row[2]).is_allowed(), row[3] == "yes", "{row:?}");
    }
    let delays = "
        file                          | agent   | seconds
        astore.amazon.com-robots      | x       | 5
        crawl-delay-group-merging     | mybot   | 10
        crawl-delay-group-merging     | yourbot | -
        crawl-delay-group-merging     | other   | 30
        dos-line-endings              | x       | 1
        twitter.com-robots            | msnbot  | 10
        twitter.com-robots            | x       | -";
    for row in rows(delays) {
        let robots = Robots::parse(&read(row[0]), row[1]);
        assert_eq!(robots.crawl_delay(), row[2].parse().ok().map(Span::seconds), "{row:?}");
    }
    let sitemaps = "
        file                    | sitemaps
        sitemap-robots          | http://domain.com/sitemap.xml http://domain.com/dir/MixedCased-sitemap.xml
        sitemap-robots-dedup    | http://example.org/sitemap.xml
        relative-sitemap-robots | /sitemap.xml
        format-errors-robots    | /sitemap.xml
        robots-with-utf16le-bom | http://www.newsweek.com/sitemap_index.xml";
    for row in rows(sitemaps) {
        assert_eq!(Robots::parse(&read(row[0]), "x").sitemaps().join(" "), row[1], "{row:?}");
    }
}

#[test]
fn a3_what_an_answer_means_and_when_to_ask_again() {
    let table = "
        before    | answered | answer   | says     | answered | next read
        -         |          | 200      | Rules    | 0h       | 24h
        -         |          | 204      | Rules    | 0h       | 24h
        -         |          | 404      | AllowAll | 0h       | 24h
        -         |          | 403      | AllowAll | 0h       | 24h
        -         |          | 302      | AllowAll | 0h       | 24h
        -         |          | lost     | AllowAll | 0h       | 24h
        -         |          | 304      | AllowAll | 0h       | 24h
        -         |          | 500      | DenyAll  | -        | 1h
        -         |          | 999      | DenyAll  | -        | 1h
        -         |          | none     | DenyAll  | -        | 1h
        Rules     | -48h     | 304      | Rules    | 0h       | 24h
        Rules     | -48h     | 404      | AllowAll | 0h       | 24h
        Rules     | -48h     | 503      | Rules    | -48h     | 1h
        Rules     | -48h     | none     | Rules    | -48h     | 1h
        AllowAll  | -48h     | none     | AllowAll | -48h     | 1h
        Rules     | -719h    | none     | Rules    | -719h    | 1h
        Rules     | -720h    | none     | DenyAll  | -        | 1h
        DenyAll   | -        | 503      | DenyAll  | -        | 1h
        DenyAll   | -        | 200      | Rules    | 0h       | 24h";
    let at = |cell: &str| {
        cell.strip_suffix('h').map(|hours| Time(day(50).0 + hours.parse::<i64>().unwrap() * 3_600_000))
    };
    let says = |cell: &str| match cell {
        "Rules" => Some(Says::Rules),
        "AllowAll" => Some(Says::AllowAll),
        "DenyAll" => Some(Says::DenyAll),
        _ => None,
    };
    for row in rows(table) {
        // As it came to be: an answer then, or none.
        let before = says(row[0]).map(|says| standing(says, at(row[1])));
        let answer = match row[2] {
            "lost" => Answer::LostInRedirects,
            "none" => Answer::None,
            status => Answer::Status(status.parse().unwrap()),
        };
        let found = Standing::after(answer, day(50), before, CACHE);
        let expected = (says(row[3]), at(row[4]), at(row[5]));
        assert_eq!((Some(found.says), found.answered, Some(found.next_read(CACHE))), expected, "{row:?}");
        assert!(found.is_due(found.next_read(CACHE), CACHE) && !found.is_due(day(50), CACHE));
    }
    assert_eq!((COPY_HOLDS, RETRY), (Span::days(30), Span::hours(1)));
}

const CACHE: Span = Span::hours(24);

/// A server that said so then; none: it never said anything.
fn standing(says: Says, answered: Option<Time>) -> Standing {
    let answer = match says {
        Says::Rules => Answer::Status(200),
        Says::AllowAll => Answer::Status(404),
        Says::DenyAll => Answer::None,
    };
    Standing::after(answer, answered.unwrap_or(day(49)), None, CACHE)
}

#[test]
fn a3_f40_how_long_it_is_cached_is_a_setting_and_nothing_is_read_ahead_of_time() {
    let read = |answer, cache| Standing::after(answer, day(50), None, cache);
    let hour = Span::hours(1);
    // What came, how long it was cached then, how long it is now, and when it is read again.
    for (answer, then, now, next) in [
        (Answer::Status(200), Span::days(7), Span::days(7), Span::days(7)),
        (Answer::Status(404), Span::minutes(1), Span::minutes(1), Span::minutes(1)),
        (Answer::Status(200), Span::days(1), hour, hour),
        (Answer::Status(200), hour, Span::days(1), hour),
        (Answer::None, Span::days(1), Span::days(1), RETRY),
        (Answer::None, Span::minutes(5), Span::minutes(5), Span::minutes(5)),
    ] {
        let standing = read(answer, then);
        let next = day(50).plus(next);
        assert_eq!(standing.next_read(now), next, "{answer:?} {then} {now}");
        assert!(!standing.is_due(Time(next.0 - 1), now) && standing.is_due(next, now));
        // F40: the clock went back since.
        assert!(standing.is_due(Time(day(50).0 - 1), now), "{answer:?}");
    }
}

/// A copy whose 30 days end before the next try is given up when they end.
#[test]
fn a3_a_copy_is_not_relied_on_after_30_days() {
    let answered = day(0);
    let before = standing(Says::Rules, Some(answered));
    let almost = Time(answered.plus(COPY_HOLDS).0 - 1000);
    let found = Standing::after(Answer::None, almost, Some(before), CACHE);
    let next = answered.plus(COPY_HOLDS);
    assert_eq!((found.says, found.next_read(CACHE)), (Says::Rules, next));
    assert_eq!(Standing::after(Answer::None, next, Some(found), CACHE).says, Says::DenyAll);
}

/// Were matching to go back and forth, each of these would take longer than the sun has.
#[test]
fn a11_hostile_files_are_matched_in_linear_time() {
    let path = format!("/{}", "a".repeat(2900));
    let long = format!("User-agent: *\nDisallow: /{}b$\n", "*a".repeat(1 << 19));
    let many = format!("User-agent: *\n{}", format!("Disallow: /{}b$\n", "*a".repeat(40)).repeat(5000));
    let short = format!("User-agent: *\n{}", "Disallow: *a*b\n".repeat(30_000));
    for text in [long, many, short] {
        let robots = Robots::parse(text.as_bytes(), "skurd");
        assert!(robots.verdict(&path).is_allowed());
    }
}

proptest! {
    #[test]
    fn a11_no_file_makes_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), agent in ".{0,8}", path in "/.{0,30}") {
        let robots = Robots::parse(&bytes, &agent);
        let _ = robots.verdict(&path).to_string();
    }

    #[test]
    fn a3_a_rule_denies_the_path_it_spells(path in "/[a-zA-Z0-9%é$*?=&/. -]{0,20}", tail in "[a-z]{0,5}") {
        let rule: String = path.chars().map(|c| match c { '*' => "%2A".into(), '$' => "%24".into(), c => c.to_string() }).collect();
        let text = format!("User-agent: *\nDisallow: {rule}\n");
        let trimmed = path.trim_end();
        // What follows must not complete an escape.
        let tail = if trimmed.chars().rev().take(2).any(|c| c == '%') { "" } else { &tail };
        let longer = format!("{trimmed}{tail}");
        prop_assert!(!Robots::parse(text.as_bytes(), "x").verdict(&longer).is_allowed());
    }
}
