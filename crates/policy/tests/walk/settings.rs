//! L1, L2, L7 and L14: what a walk may be told.

use policy::walk::{Draft, ID_MAX, Problem, Template, Walk, WalkSettings, parse_id};
use proptest::prelude::*;

use crate::world::{Web, draft, first_attempts, rows, run, settings, walk};

#[test]
fn l14_bad_input_is_refused_with_its_field_and_what_it_takes() {
    let table = "
        settings                              | sentence
        template https://a.test/ min 1 max 2  | template: `https://a.test/` has no `{id}`; it takes a URL with exactly one
        template http://a/{id}/{id} min 1 max 2 | template: `http://a/{id}/{id}` has `{id}` more than once; it takes a URL with exactly one
        template http://a/{id:8} min 1 max 2  | template: `{id:8}` is no placeholder; it takes `{id}`, or `{id:08}` for eight digits, with a width from 1 to 20
        template http://a/{id:021} min 1 max 2 | template: `{id:021}` is no placeholder; it takes `{id}`, or `{id:08}` for eight digits, with a width from 1 to 20
        template http://a/{id min 1 max 2     | template: `{id` is no placeholder; it takes `{id}`, or `{id:08}` for eight digits, with a width from 1 to 20
        template ftp://a/{id} min 1 max 2     | template: `ftp://a/1` cannot be harvested, it takes an http or https URL: scheme `ftp` is not harvested, only http and https
        template {id} min 1 max 2             | template: `1` cannot be harvested, it takes an http or https URL: not a URL: relative URL without a base
        template http://a/#{id} min 1 max 2   | template: every id gives the same URL http://a/; the id must stand in host, path or query
        template http://a:{id}/ min 1 max 70000 | template: `http://a:70000/` cannot be harvested, it takes an http or https URL: not a URL: invalid port number
        min 3 max 2                           | min: the lower bound 3 is above the upper bound 2; it takes an id up to that
        min 1 max 2 margin 0                  | margin: 0 would stop before the first id; it takes 1 or more misses in a row
        min 1 max 2 attempts 0                | attempts: 0 would fetch nothing; it takes from 1 to 1000 attempts an id
        min 1 max 2 attempts 1001             | attempts: 1001 is too many; it takes from 1 to 1000 attempts an id
        min 1 max 2 rate 0                    | rate: 0 would never take a turn; it takes 1 or more fetches a turn
        min 1 max 2 step 0                    | step: 0 goes nowhere; it takes 1 or more
        min 1 max 9223372036854775808         | max: the id 9223372036854775808 is too large: it takes a whole number from 0 to 9223372036854775807
        min 5 max 9 from 4                    | from: 4 is out of bounds; it takes an id from 5 to 9
        min 5 max 9 from 10 dir down          | from: 10 is out of bounds; it takes an id from 5 to 9
        min 5 from 4 margin 1                 | from: 4 is out of bounds; it takes an id from 5 to 9223372036854775807
        min 5                                 | max: a walk up without an end would never stop; give `max`, or a `margin` of misses
        from 5                                | max: a walk up without an end would never stop; give `max`, or a `margin` of misses
        max 5                                 | min: a walk up needs an id to begin with; give `min` or `from`
        min 5 dir down                        | max: a walk down needs an id to begin with; give `max` or `from`
        min 5 max 9 dir both                  | from: a walk both ways needs a known id to begin with; give `from`";
    for row in rows(table) {
        let problem = WalkSettings::new(draft(row[0])).expect_err(row[0]);
        assert_eq!(problem.to_string(), row[1], "{}", row[0]);
        assert!(row[1].starts_with(problem.field));
    }
}

#[test]
fn l14_an_id_is_read_from_text() {
    let table = "
        text                 | id
        0                    | 0
        0042                 | 42
        9223372036854775807  | 9223372036854775807
        9223372036854775808  | min: the id 9223372036854775808 is too large: it takes a whole number from 0 to 9223372036854775807
        18446744073709551616 | min: the id 18446744073709551616 is too large: it takes a whole number from 0 to 9223372036854775807
        -1                   | min: `-1` is no id: it takes a whole number from 0 to 9223372036854775807
        +1                   | min: `+1` is no id: it takes a whole number from 0 to 9223372036854775807
        1e3                  | min: `1e3` is no id: it takes a whole number from 0 to 9223372036854775807
                             | min: `` is no id: it takes a whole number from 0 to 9223372036854775807";
    for row in rows(table) {
        let read = parse_id("min", row[0]).map_or_else(|problem| problem.to_string(), |id| id.to_string());
        assert_eq!(read, row[1]);
    }
    let monster = parse_id("min", &"9".repeat(10_000)).unwrap_err();
    assert!(monster.to_string().len() < 300, "a sentence repeats no monster");
}

#[test]
fn l1_a_template_is_filled() {
    let table = "
        template           | id                  | url
        http://a/{id}      | 7                   | http://a/7
        http://a/{id:08}.x | 7                   | http://a/00000007.x
        http://a/{id:02}   | 123                 | http://a/123
        http://a/?{x}={id} | 9223372036854775807 | http://a/?{x}=9223372036854775807
        http://{id:020}.a/ | 1                   | http://00000000000000000001.a/";
    for row in rows(table) {
        let template = Template::parse(row[0]).unwrap();
        assert_eq!(template.url(row[1].parse().unwrap()), row[2]);
        assert_eq!(template.to_string(), row[0]);
    }
    assert!(Template::parse(&format!("http://a/{{id}}{}", "x".repeat(3000))).is_err());
}

#[test]
fn l1_bounds_are_inclusive_and_steps_keep_to_them() {
    let table = "
        settings                       | ids in order         | both legs
        min 3 max 6                    | 3 4 5 6              |
        min 3 max 6 dir down           | 6 5 4 3              |
        min 3 max 10 step 3            | 3 6 9                |
        min 3 max 10 step 3 dir down   | 10 7 4               |
        max 4 dir down step 2          | 4 2 0                |
        min 3 max 3                    | 3                    |
        from 4 max 5 dir up            | 4 5                  |
        min 3 from 5 max 9 dir down    | 5 4 3                |
        min 3 from 6 max 8             | 6 5 7 4 8 3          | L7
        from 1 max 3                   | 1 0 2 3              | L7
        min 3 from 3 max 4             | 3 4                  | L7
        min 0 from 6 max 13 step 4     | 6 2 10               | L7
        min 7 max 8 step 9223372036854775808 | 7              |
        min 9223372036854775805 max 9223372036854775807 | 9223372036854775805 9223372036854775806 9223372036854775807 |";
    for row in rows(table) {
        let (fetched, _) = run(&mut walk(row[0]), &Web::default());
        let ids: Vec<String> = fetched.iter().map(|(id, _)| id.to_string()).collect();
        assert_eq!(ids.join(" "), row[1], "{}", row[0]);
    }
}

#[test]
fn l2_whichever_comes_first_ends_the_walk() {
    let table = "
        settings                 | last id | why
        min 1 max 9 margin 3     | 8       | Margin
        min 1 max 7 margin 3     | 7       | Bound
        min 1 max 8 margin 3     | 8       | Bound
        min 1 margin 3           | 8       | Margin
        min 1 margin 9           | 14      | Margin
        min 1 max 20             | 20      | Bound";
    for row in rows(table) {
        let (fetched, why) = run(&mut walk(row[0]), &Web::new(1, "ooooo xxxx"));
        assert_eq!(first_attempts(&fetched).last().unwrap().to_string(), row[1], "{}", row[0]);
        assert_eq!(format!("{why:?}"), row[2], "{}", row[0]);
    }
}

#[test]
fn settings_are_stored_as_drafts_and_checked_again() {
    let one = settings("min 1 max 9 margin 3 attempts 2 cooldown 10 retry failed rate 2");
    let stored = serde_json::to_string(&one).unwrap();
    assert_eq!(serde_json::from_str::<WalkSettings>(&stored).unwrap(), one);
    let bad = stored.replace("\"margin\":3", "\"margin\":0");
    assert!(serde_json::from_str::<WalkSettings>(&bad).unwrap_err().to_string().starts_with("margin: 0"));
    assert!(serde_json::from_str::<Draft>(r#"{"marign":1}"#).is_err());
}

/// Numbers where arithmetic goes wrong, and others.
fn edges() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), 0..3u64, ID_MAX - 3..ID_MAX + 3, u64::MAX - 3..u64::MAX, any::<u64>()]
}

proptest! {
    #[test]
    fn l14_no_setting_makes_a_walk_panic(
        (min, max, from, step) in (prop::option::of(edges()), prop::option::of(edges()), prop::option::of(edges()), prop::option::of(edges())),
        (direction, margin) in (prop::option::of(0..3usize), prop::option::of(edges())),
        view in (edges(), edges()),
    ) {
        use policy::walk::Direction::{Both, Down, Up};
        let draft = Draft {
            min, max, from, step,
            margin: margin.map(|margin| u32::try_from(margin).unwrap_or(u32::MAX)),
            direction: direction.map(|at| [Up, Down, Both][at]),
            ..draft("")
        };
        let made: Result<WalkSettings, Problem> = WalkSettings::new(draft);
        if let Ok(settings) = made {
            let mut walk = Walk::new(settings);
            some_steps(&mut walk);
            let split = walk.split(10);
            let cells = walk.cells(view.0, view.1, 7);
            prop_assert!(cells.len() <= 7 && split.remaining.len() <= 3);
            prop_assert!(walk.heads().len() == walk.legs().len());
            prop_assert_eq!(walk.counts().content + walk.counts().holes, split.content.iter().chain(&split.holes)
                .map(|range| (range.end() - range.start()) / walk.settings().step() + 1).sum::<u64>());
        }
    }
}

fn some_steps(walk: &mut Walk) {
    use policy::time::Time;
    use policy::walk::{Outcome, Step};
    for at in 0..8 {
        for leg in walk.legs() {
            if let Step::Fetch { id, .. } = walk.next(*leg, Time(at)) {
                let outcome = if at % 3 == 0 { Outcome::Exists } else { Outcome::Failed };
                assert!(at == 5 && walk.give_back(id) || walk.result(id, outcome, Time(at)));
            }
        }
    }
}
