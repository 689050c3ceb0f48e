//! L3: what an answer means.

use policy::walk::{Existence, ExistenceDraft, Expression, Outcome, Seen, StatusRange};

use crate::world::rows;

fn outcome(text: &str) -> Outcome {
    serde_json::from_str(&format!("\"{text}\"")).unwrap()
}

/// `200`, `none`; `body` is empty for `-`.
fn judge(rules: &Existence, status: &str, location: &str, body: &str) -> Outcome {
    let body = if body == "-" { "" } else { body };
    rules.judge(&Seen {
        status: status.parse().ok(),
        location: (location != "-").then_some(location),
        body_is_empty: body.is_empty(),
        body: Some(body.as_bytes()),
    })
}

#[test]
fn l3_the_defaults() {
    let table = "
        status | body | outcome
        200    | page | exists
        200    | -    | absent
        404    | page | absent
        410    | page | absent
        none   | -    | failed
        500    | page | failed
        503    | page | failed
        599    | -    | failed
        429    | page | failed
        403    | page | failed
        401    | page | failed
        408    | -    | failed
        425    | -    | failed
        204    | -    | absent
        206    | part | absent
        301    | -    | absent
        302    | page | absent
        304    | -    | absent
        400    | page | absent
        451    | page | absent
        100    | -    | absent
        0      | -    | absent
        999    | -    | failed";
    for row in rows(table) {
        assert_eq!(judge(&Existence::default(), row[0], "/login", row[1]), outcome(row[2]), "{row:?}");
    }
    assert!(!Existence::default().needs_body());
}

#[test]
fn l3_a_walk_may_say_otherwise() {
    let table = r#"
        rules                                                        | status | location | body      | outcome
        {"exists": ["2xx", "403"]}                                   | 403    | -        | -         | exists
        {"exists": ["2xx", "403"]}                                   | 204    | -        | -         | exists
        {"exists": ["2xx", "403"]}                                   | 401    | -        | -         | failed
        {"absent": ["500-502"]}                                      | 501    | -        | -         | absent
        {"absent": ["500-502"]}                                      | 503    | -        | -         | failed
        {"failed": ["200"]}                                          | 200    | -        | page      | failed
        {"redirect_exists": ["/doc/\\d+$"]}                          | 302    | /doc/17  | -         | exists
        {"redirect_exists": ["/doc/\\d+$"]}                          | 302    | /doc     | -         | absent
        {"redirect_exists": ["/doc/\\d+$"]}                          | 404    | /doc/17  | -         | absent
        {"redirect_exists": ["."], "redirect_absent": ["/missing"]}  | 301    | /missing | -         | absent
        {"redirect_absent": ["/missing"], "failed": ["3xx"]}         | 301    | /missing | -         | absent
        {"redirect_absent": ["/missing"], "failed": ["3xx"]}         | 301    | /busy    | -         | failed
        {"body_has": ["<article"]}                                   | 200    | -        | <article> | exists
        {"body_has": ["<article"]}                                   | 200    | -        | nothing   | absent
        {"body_has": ["(?i)title", "x"]}                             | 200    | -        | TITLE     | absent
        {"body_lacks": ["not found"]}                                | 200    | -        | not found | absent
        {"body_lacks": ["not found"]}                                | 200    | -        | here      | exists
        {"body_lacks": ["not found"]}                                | 500    | -        | here      | failed
        {"body_lacks": ["not found"], "exists": ["404"]}             | 404    | -        | not found | absent"#;
    for row in rows(table) {
        let rules: Existence = serde_json::from_str(row[0]).unwrap();
        assert_eq!(judge(&rules, row[1], row[2], row[3]), outcome(row[4]), "{row:?}");
        assert_eq!(rules.needs_body(), row[0].contains("body_"), "{row:?}");
        let stored = serde_json::to_string(&rules).unwrap();
        assert_eq!(serde_json::from_str::<Existence>(&stored).unwrap(), rules);
    }
}

#[test]
fn l3_patterns_look_at_bytes() {
    let rules: Existence = serde_json::from_str(r#"{"body_has": ["found"]}"#).unwrap();
    let body = Some(b"\xff\xfe found \x00".as_slice());
    assert_eq!(rules.judge(&Seen { status: Some(200), body, ..Seen::default() }), Outcome::Exists);
    assert_eq!(
        rules.judge(&Seen { status: Some(200), ..Seen::default() }),
        Outcome::Absent,
        "no body was kept"
    );
}

#[test]
fn l14_bad_rules_have_their_sentences() {
    let table = r#"
        rules                                       | sentence
        {"exists": ["2x"]}                          | status: `2x` is no status; it takes one from 100 to 599, a range (`500-599`) or a class (`5xx`)
        {"exists": ["6xx"]}                         | status: `6xx` is no status; it takes one from 100 to 599, a range (`500-599`) or a class (`5xx`)
        {"exists": ["300-200"]}                     | status: `300-200` is no status; it takes one from 100 to 599, a range (`500-599`) or a class (`5xx`)
        {"exists": ["200"], "failed": ["2xx"]}      | failed: status 200 is in `exists` too; it takes statuses of its own
        {"absent": ["404-410"], "failed": ["4xx"]}  | failed: status 404 is in `absent` too; it takes statuses of its own
        {"body_has": ["("]}                         | pattern: `(` is no pattern, it takes a regular expression: regex parse error:"#;
    for row in rows(table) {
        let error = serde_json::from_str::<Existence>(row[0]).unwrap_err().to_string();
        assert!(error.starts_with(row[1]), "{error}");
    }
    assert!(Expression::new("((a{100}){100}){100}").is_err(), "a pattern is bounded");
    let many: Vec<StatusRange> = vec!["200".parse().unwrap(); 65];
    let problem = Existence::new(ExistenceDraft { exists: many, ..ExistenceDraft::default() }).unwrap_err();
    assert_eq!(problem.to_string(), "exists: 65 entries are too many; it takes at most 64");
}
