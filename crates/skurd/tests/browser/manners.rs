//! What pages would do to the one who looks at them (B14): asked, saved, opened, allowed.

use testkit::web::{Answer, Ask};
use testkit::world::World;

use crate::{config, harvest, has_browser, page_info, times};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    browser:\n      behaviours: {click: 'button.more'}\n      limits: {quiet: 500ms, load: 30s}\n";

const PAGE: &str = r"<!DOCTYPE html><title>manners</title>
<button class=more onclick=fetch('/more')>more</button>
<form action=/form method=post><input name=q value=x><input type=file id=file><button>send</button></form>
<iframe src=/attached></iframe><iframe src=https://framed.test/dialogs></iframe>
<script>
  (async () => {
    const said = [confirm('sure?'), prompt('name?', 'kari'), alert('so')];
    print();
    const save = document.createElement('a');
    save.href = '/saved.bin'; save.download = 'saved.bin'; document.body.append(save); save.click();
    said.push(window.open('/popup') === null, window.open('https://other.test/popup', '_blank', 'noopener'));
    file.click();
    location.href = 'mailto:somebody@example.org';
    location.href = 'skurd-unknown:thing';
    said.push(await new Promise(done => navigator.geolocation.getCurrentPosition(() => done('found'), () => done('denied'))));
    said.push(await Notification.requestPermission() !== 'granted');
    await fetch('/said', {method: 'POST', body: JSON.stringify(said)});
    setTimeout(() => { location.assign('/elsewhere?by=script'); }, 100);
  })();
</script>";

fn site(ask: &Ask) -> Answer {
    let attached =
        [("Content-Type", "application/octet-stream"), ("Content-Disposition", "attachment; filename=a")];
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("manners.test", "/") => Answer::html(PAGE),
        ("framed.test", "/dialogs") => {
            Answer::html("<script>alert('framed'); print(); fetch('/past-dialogs')</script>")
        }
        (_, "/attached" | "/saved.bin") => Answer::of(200, &attached, "bytes"),
        _ => Answer::text("a leaf"),
    }
}

#[test]
fn b14_b17_dialogs_downloads_popups_and_permissions_are_answered_and_nothing_is_filled_in() {
    if !has_browser() {
        return;
    }
    let world = World::secure(crate::SKURD, site);
    harvest(&world, &config(COLLECTION, &[("web", "https://manners.test/")]));
    let info = page_info(&world, "https://manners.test/");
    assert_eq!(info["ending"], "ok", "{info:#}");
    assert_eq!(info["dialogs"], 4, "{info:#}");
    let said = world.web().seen().into_iter().find(|seen| seen.ask.path == "/said");
    let said = String::from_utf8(said.unwrap_or_else(|| panic!("{info:#}")).ask.body).unwrap();
    // Not sure, no name, nothing; no window opens, as without a user; nothing is allowed.
    assert_eq!(said, r#"[false,null,null,true,null,"denied",true]"#);
    for once in [
        "GET manners.test/more",
        "GET manners.test/attached",
        "GET framed.test/past-dialogs",
        // Where it would have led is harvested in its own time.
        "GET manners.test/saved.bin",
        "GET manners.test/popup",
        "GET manners.test/elsewhere",
    ] {
        assert_eq!(times(&world, once), 1, "{once}: {info:#}");
    }
    // Out of scope, or never sent.
    for none in ["GET other.test/popup", "POST manners.test/form", "GET manners.test/form"] {
        assert_eq!(times(&world, none), 0, "{none}: {info:#}");
    }
    assert!(info["popups"].as_array().unwrap().contains(&"https://other.test/popup".into()), "{info:#}");
    let redirects = info["redirects"].as_array().unwrap();
    assert!(redirects.contains(&"https://manners.test/elsewhere?by=script".into()), "{info:#}");
    // Nothing was saved anywhere.
    world.check();
}

/// What a page does while a frame of it is on its way.
const MEANWHILE: &[(&str, &str)] = &[
    ("nothing", ""),
    ("asks", "confirm('sure?'); prompt('name?'); alert('so')"),
    ("prints", "print()"),
    ("opens", "window.open('/popup')"),
    ("opens-apart", "window.open('/popup', '_blank', 'noopener')"),
    ("opens-both", "window.open('/popup'); window.open('/popup', '_blank', 'noopener')"),
    ("links-out", "link.target = '_blank'; link.href = '/popup'; link.click()"),
    ("saves", "link.download = 's'; link.href = '/saved.bin'; link.click()"),
    ("saves-itself", "location.href = '/attached'"),
    ("mails", "location.href = 'mailto:somebody@example.org'"),
    ("unknown", "location.href = 'skurd-unknown:thing'"),
    ("leads", "location.assign('/elsewhere')"),
    ("replaces", "location.replace('/elsewhere')"),
    ("submits", "form.submit()"),
];

fn with_a_frame(ask: &Ask) -> Answer {
    let name = ask.host.strip_suffix(".test").unwrap_or_default();
    match (MEANWHILE.iter().find(|(row, _)| *row == name), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        (Some((_, script)), "/") => Answer::html(format!(
            "<!DOCTYPE html><title>x</title><body><a id=link></a><form id=form action=/form></form>\
             <iframe src=https://framed.test/of></iframe><script>{script}</script>"
        )),
        (_, "/of") => Answer::html("<script>fetch('/runs')</script>"),
        _ => site(ask),
    }
}

#[test]
fn b11_b14_b17_whatever_a_page_tries_its_frames_are_loaded_and_it_ends_in_time() {
    if !has_browser() {
        return;
    }
    let world = World::secure(crate::SKURD, with_a_frame);
    let url = |name: &str| format!("https://{name}.test/");
    let seeds: Vec<String> = MEANWHILE.iter().map(|(name, _)| url(name)).collect();
    let seeds: Vec<(&str, &str)> = seeds.iter().map(|url| ("web", url.as_str())).collect();
    harvest(&world, &config(COLLECTION, &seeds));
    let mut wrong = Vec::new();
    for (name, _) in MEANWHILE {
        let info = page_info(&world, &url(name));
        let asked = |path: &str| {
            let url = format!("https://framed.test{path}");
            info["requests"].as_array().unwrap().iter().filter(|request| request["url"] == url).count()
        };
        let went = (info["ending"].as_str().unwrap(), asked("/of"), asked("/runs"));
        if went != ("ok", 1, 1) {
            wrong.push(format!("{name}: {went:?} {}", info["phases"]));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // Windows that would have opened are told, and harvested in their own time.
    for name in ["opens", "opens-apart", "opens-both", "links-out"] {
        assert_eq!(times(&world, &format!("GET {name}.test/popup")), 1, "{name}");
    }
    world.check();
}
