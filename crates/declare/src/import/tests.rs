//! Lists as they come, and lists that nobody should send.

use proptest::prelude::*;

use super::*;

/// Seeds as `url`, with `off` and labels where there are any; then what was skipped.
fn told(imported: &Imported) -> String {
    let seeds = imported.seeds.iter().map(|seed| {
        let labels: String = seed.labels.iter().map(|(key, value)| format!(" {key}={value}")).collect();
        format!("{}{}{labels}", seed.url, if seed.active { "" } else { " off" })
    });
    let skipped = imported.skipped.iter().map(|(line, reason)| format!("{line}: {reason}"));
    seeds.chain(skipped).collect::<Vec<String>>().join("\n")
}

fn lines_of(text: &str) -> String {
    text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<&str>>().join("\n")
}

#[test]
fn i1_plain_lists() {
    let list = "\u{feff}# the big ones\r\n\r\n  https://www.vg.no/  \r\nvg.no\r\nNRK.no/nyheter # news\r\nhttps://vg.no\r\n\
        localhost:8080\nblåbær.no\tberries\tand more\n1,google.com\nnonsense\nftp://a.no/\nhttps://\nhttps://a.no/#top\n# end";
    let expected = "
        https://www.vg.no/
        https://vg.no/
        https://nrk.no/nyheter note=news
        https://localhost:8080/
        https://xn--blbr-roah.no/ note=berries and more
        https://a.no/
        6: `https://vg.no/` is on line 4 already
        9: `1,google.com` is neither URL nor domain; a table wants its URLs in the first column, then a tab
        10: `nonsense` is neither URL nor domain
        11: `ftp://a.no/`: scheme `ftp` is not harvested, only http and https
        12: `https://`: not a URL: empty host";
    assert_eq!(told(&urls(list.as_bytes()).unwrap()), lines_of(expected));
}

#[test]
fn i1_heritrix_seeds() {
    let list = "# seeds\nhttp://vg.no/\nnrk.no   # comment\n+http://(no,vg,\n+http://(no,vg,)\n+http://(no,vg,www,)/sport\n\
        + nrk.no\n-http://(no,ads,\n+http://vg.no/a/b\n+\nmailto:a@b.no\n";
    let expected = "
        http://vg.no/
        http://nrk.no/ note=comment
        4: a SURT directive, no seed; the profile's scope says it with `include: [{host: \"*.vg.no\"}]`
        5: a SURT directive, no seed; the profile's scope says it with `include: [{host: \"vg.no\"}]`
        6: a SURT directive, no seed; the profile's scope says it with `include: [{prefix: \"www.vg.no/sport\"}]`
        7: a SURT directive, no seed; the profile's scope says it with `include: [{host: \"*.nrk.no\"}]`
        8: a SURT directive, no seed; the profile's scope says it with `exclude: [{host: \"*.ads.no\"}]`
        9: a SURT directive, no seed; the profile's scope says it with `include: [{prefix: \"vg.no/a/b\"}]`
        10: a SURT directive, no seed; say it with `include` in the profile's scope
        11: `mailto:a@b.no` is neither URL nor host";
    assert_eq!(told(&heritrix(list.as_bytes()).unwrap()), lines_of(expected));
}

const BEANS: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE beans [<!ENTITY lol "lol">]>
<beans xmlns="http://www.springframework.org/schema/beans">
 <bean id="simpleOverrides"><property name="properties"><value>
metadata.jobName=basic
 </value></property></bean>
 OVERRIDES
 <bean id="seeds" class="org.archive.modules.seeds.TextSeedModule">
  <property name="textSource">
   <bean class="org.archive.spring.ConfigString">
    <property name="value">
     <value>
# [see override above]
http://bean.no/?a=1&amp;b=&#50;
<!-- http://comment.no/ -->
<![CDATA[http://cdata.no/]]>
     </value>
    </property>
   </bean>
  </property>
 </bean>
 <bean id="acceptSurts"><property name="surtsSource"><bean class="org.archive.spring.ConfigString">
   <property name="value"><value>http://surt.no/</value></property></bean></property></bean>
</beans>
"#;

#[test]
fn i1_heritrix_job_files() {
    let plain = heritrix(BEANS.as_bytes()).unwrap();
    assert_eq!(told(&plain), "http://bean.no/?a=1&b=2\nhttp://cdata.no/");
    let overrides = "<bean id=\"longerOverrides\"><property name=\"properties\"><props>
    <prop key=\"seeds.textSource.value\">

# URLS HERE
http://over.no/
over.no/b
+http://(no,over,
    </prop>
    <prop key=\"other\">http://other.no/</prop></props></property></bean>";
    let both = heritrix(BEANS.replace("OVERRIDES", overrides).as_bytes()).unwrap();
    let expected = "
        http://over.no/
        http://over.no/b
        13: a SURT directive, no seed; the profile's scope says it with `include: [{host: \"*.over.no\"}]`";
    assert_eq!(told(&both), lines_of(expected));
    let file = "<beans><property name='textSource'><bean class='x.ConfigFile'>\n<property name='path' value='seeds.txt'/></bean></property></beans>";
    assert_eq!(
        told(&heritrix(file.as_bytes()).unwrap()),
        "2: the seeds are in the file `seeds.txt`: import that"
    );
    let short = "<beans><property name='textSource'><bean class='x.ConfigString'><property name='value' value='http://a.no/'/></bean></property></beans>";
    assert_eq!(told(&heritrix(short.as_bytes()).unwrap()), "http://a.no/");
}

#[test]
fn i1_heritrix_job_files_that_are_broken() {
    let table = [
        (
            BEANS.replace("&amp;", "&lol;"),
            "the entity `lol` on line 14 is not XML's own, and others are not expanded",
        ),
        (BEANS.replace("</beans>", ""), "this XML ends in the middle of an element"),
        (BEANS.replace("</value>", "</valu>"), "this is no XML on line 6"),
        ("<a>".repeat(100_000), "this XML is nested more than 100 deep on line 1"),
        ("<".to_owned(), "this is no XML on line 1"),
    ];
    for (xml, expected) in table {
        assert_eq!(heritrix(xml.as_bytes()).unwrap_err().to_string(), expected);
    }
}

const VEIDEMANN: &str = r#"---
apiVersion: v1
kind: seed
id: "s1"
meta:
  name: https://www.vg.no/
  description: Verdens
    Gang
  label: [{key: type, value: news}, {key: year, value: 2024}]
seed: {entityRef: {kind: crawlEntity, id: e1}, jobRef: [{kind: crawlJob, id: j1}]}
---
apiVersion: v1
kind: crawlEntity
id: e1
meta: {name: "VG AS"}
---
{kind: seed, meta: {name: nrk.no, description: ~}, seed: {disabled: true, entityRef: {id: e9}}}
---
kind: crawlJob
meta: {name: daily}
---
kind: seed
meta: {name: not a url}
---
kind: seed
meta: 1
---
- kind: seed
  meta: {name: "https://list.no/"}
"#;

#[test]
fn i1_veidemann_yaml() {
    let expected = "
        https://www.vg.no/ entity=VG AS description=Verdens Gang type=news year=2024 job=j1
        https://nrk.no/ off entity=e9
        https://list.no/
        19: an object of kind `crawlJob`
        22: a seed whose name `not a url` is no URL
        25: not a config object: `invalid type: integer `1`, expected struct Meta`";
    let imported = veidemann(VEIDEMANN.as_bytes()).unwrap();
    assert_eq!(told(&imported), lines_of(expected));
    assert!(veidemann(b"kind: seed\nmeta: {a").unwrap_err().to_string().starts_with("line 3: "));
}

#[test]
fn i1_veidemann_json() {
    let one =
        r#"{"kind":"seed","id":"s","meta":{"name":"https://vg.no/\u00e5"},"seed":{"entityRef":{"id":"e"}}}"#;
    let two = r#"{"kind":"crawlEntity","id":"e","meta":{"name":"VG"}}"#;
    let bad = r#"{"kind":7,"meta":null,"seed":null}"#;
    let expected = "https://vg.no/%C3%A5 entity=VG";
    let table = [
        (format!("{one}\n{two}\n"), expected.to_owned()),
        (format!("[{one},\n{two},\n{bad}]"), format!("{expected}\n3: an object of kind `7`")),
        (format!("\n{one}\n\n{bad}\n{two}"), format!("{expected}\n4: an object of kind `7`")),
        (
            format!("[{two}, 5, \"x\"]\n{one}"),
            format!(
                "{expected}\n1: not a config object: `invalid type: integer `5`, expected struct Object`"
            ),
        ),
    ];
    for (text, expected) in table {
        assert!(told(&veidemann(text.as_bytes()).unwrap()).starts_with(&expected), "{text}");
    }
    for text in ["{", "[{]", "{}}", "[[[", &"[".repeat(1 << 20), &"{\"a\":".repeat(1 << 20)] {
        assert!(veidemann(text.as_bytes()).is_err());
    }
    assert!(veidemann("[".repeat(1000).as_bytes()).is_err());
}

#[test]
fn i1_what_is_printed_is_good_config() {
    let odd = [
        "https://vg.no/",
        "https://vg.no/?a=[1]&b={2}",
        "https://vg.no/a,b;c'd!$*()",
        "http://[::1]:81/%20",
        "https://a.no/@x",
    ];
    let mut imported = Imported::default();
    for url in odd {
        let mut seed = ImportedSeed {
            name: Some(format!("no: #{url}\"")),
            active: url.len() > 14,
            ..ImportedSeed::new(url)
        };
        seed.label("note", "two\nlines: - {");
        imported.take(1, seed).unwrap();
    }
    let mut text = b"collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d}, {name: 'a, b', extends: p}]\n".to_vec();
    to_yaml(&mut text, &imported.seeds, &["p".to_owned(), "a, b".to_owned()]).unwrap();
    let declared = crate::parse("c", &text).unwrap();
    assert_eq!(declared.seeds.len(), odd.len());
    for (seed, given) in declared.seeds.iter().zip(&imported.seeds) {
        assert_eq!(
            (&seed.url, &seed.name, seed.active),
            (&given.url, given.name.as_ref().unwrap(), given.active)
        );
        assert_eq!(seed.profiles, ["p", "a, b"]);
    }
}

#[test]
fn i1_what_is_skipped_is_bounded() {
    let imported = urls("x\n".repeat(20_000).as_bytes()).unwrap();
    assert_eq!((imported.skipped.len(), imported.skipped_more), (10_000, 10_000));
    assert!(urls(&[b'a', 0xff]).unwrap_err().to_string().contains("line 1 is not UTF-8"));
}

proptest! {
    #[test]
    fn i1_no_bytes_are_too_much(bytes: Vec<u8>, text: String) {
        for read in [urls, heritrix, veidemann] {
            let _ = (read(&bytes), read(text.as_bytes()), read(format!("<{text}").as_bytes()), read(format!("{{{text}").as_bytes()));
        }
    }

    #[test]
    fn i1_what_is_imported_can_be_declared(text in "([a-z.:/#?&\"'{}\\[\\], \\t-]{0,30}\n){0,8}") {
        let imported = urls(text.as_bytes()).unwrap();
        let mut yaml = b"collections: [{name: c}]\nprofiles: [{name: p, collection: c, every: 1d}]\n".to_vec();
        to_yaml(&mut yaml, &imported.seeds, &["p".to_owned()]).unwrap();
        let declared = crate::parse("c", &yaml).unwrap();
        let given: Vec<&str> = imported.seeds.iter().map(|seed| seed.url.as_str()).collect();
        let read: Vec<&str> = declared.seeds.iter().map(|seed| seed.url.as_str()).collect();
        prop_assert_eq!(given, read);
    }
}
