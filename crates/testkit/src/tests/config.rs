//! The config that comes with the town.

use super::*;

#[test]
fn i3_the_config_is_sound_and_quick() {
    let declared = declare::parse("demo.yaml", crate::config().as_bytes()).unwrap();
    let collections: Vec<&str> =
        declared.collections.iter().map(|collection| collection.name.as_str()).collect();
    assert_eq!(collections, ["open", "members", "seen"]);
    let cookies = &declared.collections[1].cookies;
    assert_eq!(
        (cookies[0].host.as_str(), cookies[0].name.as_str(), cookies[0].value.as_str()),
        ("privat.test", "medlem", "kari-aare")
    );
    let endless: Vec<&str> = declared
        .profiles
        .iter()
        .filter(|profile| profile.length.is_none())
        .map(|profile| profile.name.as_str())
        .collect();
    assert_eq!(endless, ["front"]);
    assert!(declared.profiles.iter().all(|profile| profile.length.is_none_or(|length| length <= 2)));
    assert!(declared.profiles.iter().any(|profile| profile.length == Some(2) && profile.every.0 <= 5000));
    assert!(declared.settings.politeness.min.0 <= 20);
    assert_eq!(declared.groups[0].hosts.len(), 2);
    for seed in &declared.seeds {
        let host = seed.url.strip_prefix("http://").and_then(|rest| rest.split('/').next()).unwrap();
        assert!(HOSTS.contains(&host), "{host}");
    }
    let unseeded = HOSTS.iter().filter(|host| !declared.seeds.iter().any(|seed| seed.url.contains(**host)));
    assert_eq!(unseeded.collect::<Vec<_>>(), [&"bilder.avis.test", &"www.butikk.test"], "linked, not seeded");
}
