//! Whose turn it is, as the server's log shows it (L8).

use crate::walker::{Walker, existing};

const ONE_AT_A_TIME: [&str; 4] = ["--parallel", "1", "--robots", "ignore"];

#[test]
fn l8_rates_one_and_two_go_a_b_b() {
    let world = existing(|_| true);
    let walks = ["http://a.test/{id}", "http://b.test/{id}", "--min", "1", "--max", "4", "--max", "8"];
    world.walk(&[&walks[..], &["--rate", "1", "--rate", "2"], &ONE_AT_A_TIME].concat());
    let expected: Vec<String> = (0..4)
        .flat_map(|n| {
            [format!("a.test/{}", n + 1), format!("b.test/{}", 2 * n + 1), format!("b.test/{}", 2 * n + 2)]
        })
        .collect();
    assert_eq!(world.asked(), expected);
}

#[test]
fn l8_two_walks_both_ways_go_up_down_up_down() {
    let world = existing(|_| true);
    let walks = ["http://a.test/{id}", "http://b.test/{id}", "--from", "10", "--min", "7", "--max", "12"];
    world.walk(&[&walks[..], &ONE_AT_A_TIME].concat());
    let expected: Vec<String> = (0..3u64)
        .flat_map(|n| {
            ["a", "b"].map(|host| [format!("{host}.test/{}", 10 + n), format!("{host}.test/{}", 9 - n)])
        })
        .flatten()
        .collect();
    assert_eq!(world.asked(), expected);
}

#[test]
fn l8_turns_go_in_the_order_of_the_command_and_skip_who_has_ended() {
    let world = existing(|_| true);
    let walks = ["http://z.test/{id}", "http://a.test/{id}", "http://m.test/{id}"];
    let bounds = ["--min", "1", "--max", "2", "--max", "4", "--max", "3"];
    world.walk(&[&walks[..], &bounds, &ONE_AT_A_TIME].concat());
    let expected = ["z1", "a1", "m1", "z2", "a2", "m2", "a3", "m3", "a4"]
        .map(|turn| format!("{}.test/{}", &turn[..1], &turn[1..]));
    assert_eq!(world.asked(), expected);
}

#[test]
fn l8_a_walk_of_an_earlier_command_stands_still() {
    let world = existing(|_| true);
    let run = world.start_linear(&["http://a.test/{id}", "--min", "1", "--max", "5000", "--delay", "20ms"]);
    world.web().wait_for(5);
    run.interrupt();
    assert_eq!(run.end().code, Some(0));
    let before = world.asked().len();
    let walked = world.walk(&["http://b.test/{id}", "--min", "1", "--max", "20"]);
    assert_eq!(walked.walks.len(), 1);
    assert!(world.asked()[before..].iter().all(|url| url.starts_with("b.test/")));
    assert_eq!(world.asked().len(), before + 20);
}
