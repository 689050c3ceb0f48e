//! What goes over the wire for a page (B4–B7): TLS, websockets, workers, parts of media, and every
//! byte kept as it came.

use serde_json::Value;
use testkit::web::{Answer, Ask, Step, Then};
use testkit::world::World;

use crate::{config, find_request, harvest, has_browser, page_info, record, requests_of, times};

const COLLECTION: &str = "  - name: web\n    engine: browser\n    browser:\n      language: nb-NO,nb\n      fresh: 0s\n      limits: {quiet: 700ms, load: 30s, total: 60s, media_bytes: 1MB}\n";

const SAFE: &str = r#"<!DOCTYPE html><title>safe</title><iframe src=https://inner.test/frame></iframe>
<script>
  const say = what => { document.title += ' ' + what; };
  say(isSecureContext ? 'secure' : 'open');
  const text = (url, how) => fetch(url, how).then(answer => answer.text());
  (async () => {
    const sw = navigator.serviceWorker;
    const claimed = new Promise(done => sw.addEventListener('controllerchange', done));
    await sw.register('/sw.js');
    await claimed;
    say(await text('/asked-of-worker'));
  })().catch(problem => say('sw: ' + problem));
  const shared = new SharedWorker('/shared.js');
  shared.port.onmessage = event => say(event.data);
  new Worker('/worker.js').onmessage = event => say(event.data);
  const socket = new WebSocket('wss://safe.test/socket');
  socket.onopen = () => { for (let i = 0; i < 3; i++) socket.send('hello'); };
  socket.onmessage = event => say(event.data);
  text('https://api.test/json', {headers: {'X-Own': '1'}}).then(say);
  fetch('/head', {method: 'HEAD'}).then(answer => say('head-' + answer.status));
  navigator.sendBeacon('/beacon', 'x');
</script>"#;

/// Claims the page, and answers for one URL by asking for another.
const SERVICE_WORKER: &str = "
  oninstall = event => { skipWaiting(); event.waitUntil(fetch('/from-install')); };
  onactivate = event => event.waitUntil(clients.claim());
  onfetch = event => {
    if (event.request.url.endsWith('/asked-of-worker')) event.respondWith(fetch('/asked-by-worker'));
  };";

fn script(text: &str) -> Answer {
    Answer::of(200, &[("Content-Type", "text/javascript")], text)
}

/// The server's side of the handshake (RFC 6455), then a message, and another one when three came.
fn socket(ask: &Ask) -> Answer {
    let key = format!("{}258EAFA5-E914-47DA-95CA-C5AB0DC85B11", ask.header("sec-websocket-key").unwrap());
    let sum = ring::digest::digest(&ring::digest::SHA1_FOR_LEGACY_USE_ONLY, key.as_bytes());
    let accept = data_encoding::BASE64.encode(sum.as_ref());
    let head = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    let message = |text: &str| [&[0x81, u8::try_from(text.len()).unwrap()][..], text.as_bytes()].concat();
    // Two bytes, a mask and the text, three times.
    Answer::bytes(101, head, Then::Hang)
        .and(Step::Send(message("ws1")))
        .and(Step::Hear(3 * (2 + 4 + "hello".len())))
        .and(Step::Send(message("ws2")))
}

fn safe(ask: &Ask) -> Answer {
    let cors = [("Access-Control-Allow-Origin", "*"), ("Access-Control-Allow-Headers", "X-Own")];
    match (ask.host.as_str(), ask.path.as_str()) {
        (_, "/robots.txt") => Answer::not_found(),
        ("safe.test", "/") => Answer::html(SAFE),
        ("plain.test", "/") => Answer::html(SAFE.replace("wss://safe.test", "ws://plain.test")),
        (_, "/sw.js") => script(SERVICE_WORKER),
        (_, "/shared.js") => script(
            "onconnect = e => fetch('/from-shared').then(r => r.text()).then(t => e.ports[0].postMessage(t))",
        ),
        (_, "/worker.js") => script("fetch('/from-worker').then(r => r.text()).then(t => postMessage(t))"),
        (_, "/socket") => socket(ask),
        ("api.test", "/json") => Answer::of(200, &cors, "cors"),
        (_, "/frame") => Answer::html("<script>fetch('/from-frame')</script>"),
        (_, "/asked-of-worker") => Answer::text("past-the-worker"),
        (_, path) => Answer::text(path.trim_start_matches('/')),
    }
}

#[test]
fn b4_b5_b7_encrypted_pages_with_workers_and_sockets_are_recorded_whole() {
    if !has_browser() {
        return;
    }
    let world = World::secure(crate::SKURD, safe);
    let urls = ["https://safe.test/", "http://plain.test/"];
    harvest(&world, &config(COLLECTION, &urls.map(|url| ("web", url))));
    let info = page_info(&world, urls[0]);
    assert_eq!(info["ending"], "ok", "{info:#}");
    assert_eq!(info["truncated"], Value::Null, "{info:#}");

    // What the page had of all that, by its own account. A page that was not encrypted has no
    // service workers, there as everywhere.
    let mut said: Vec<&str> = info["title"].as_str().unwrap().split(' ').collect();
    said.sort_unstable();
    let expected =
        ["asked-by-worker", "cors", "from-shared", "from-worker", "head-200", "safe", "secure", "ws1", "ws2"];
    assert_eq!(said, expected, "{info:#}");
    let plain = page_info(&world, urls[1]);
    assert_eq!(plain["ending"], "ok", "{plain:#}");
    for word in ["open", "from-shared", "from-worker", "ws1", "ws2"] {
        assert!(plain["title"].as_str().unwrap().contains(word), "{word}: {plain:#}");
    }

    // Each was asked for once, by the web's own log: encrypted where the page was, by whom we say
    // we are and in the language we said (A1, B2), whoever of the page it was that asked.
    for one in [
        "GET safe.test/",
        "GET safe.test/sw.js",
        "GET safe.test/from-install",
        "GET safe.test/asked-by-worker",
        "GET safe.test/shared.js",
        "GET safe.test/from-shared",
        "GET safe.test/worker.js",
        "GET safe.test/from-worker",
        "GET safe.test/socket",
        "HEAD safe.test/head",
        "GET inner.test/frame",
        "GET inner.test/from-frame",
        "OPTIONS api.test/json",
        "GET api.test/json",
    ] {
        let expected = if one.contains("api.test") || one.contains("inner.test") { 2 } else { 1 };
        assert_eq!(times(&world, one), expected, "{one}: {info:#}");
    }
    for none in ["GET safe.test/asked-of-worker", "POST safe.test/beacon", "GET safe.test/beacon"] {
        assert_eq!(times(&world, none), 0, "{none}");
    }
    for seen in world.web().seen() {
        let ask = &seen.ask;
        assert_eq!(ask.encrypted, ask.host != "plain.test", "{ask:?}");
        let agent = ask.header("user-agent").unwrap_or_default();
        assert!(agent.contains("skurd") && agent.contains("test@example.org"), "{}: {agent}", ask.path);
        if ask.path != "/robots.txt" {
            assert!(!agent.contains("Headless"), "{}: {agent}", ask.path);
            let language = ask.header("accept-language").unwrap_or_default();
            // Who only asks whether it may ask, or for a websocket, may say none.
            assert!(
                language.starts_with("nb-NO") || ask.path == "/socket" || ask.method == "OPTIONS",
                "{}: {language}",
                ask.path
            );
        }
    }

    // B7: the handshake as it came, frames counted; B5: what is passed and not kept, or refused.
    for (url, info) in [("https://safe.test/socket", &info), ("http://plain.test/socket", &plain)] {
        let request = find_request(info, url);
        assert_eq!(request["status"], 101, "{request:#}");
        assert_eq!(request["type"], "websocket");
        // Three of the page and two of the server; and the browser's farewell of 8 bytes, if the page's
        // end leaves it the time.
        let told = ["3 frames sent, 2 received, 43 bytes", "4 frames sent, 2 received, 51 bytes"];
        assert!(told.contains(&request["reason"].as_str().unwrap()), "{request:#}");
        let host = url.split('/').nth(2).unwrap();
        let ask =
            world.web().seen().into_iter().find(|seen| seen.ask.host == host && seen.ask.path == "/socket");
        let Step::Send(head) = socket(&ask.unwrap().ask).steps.remove(0) else { panic!("a head") };
        assert_eq!(record(&world, url), head);
    }
    assert_eq!(find_request(&info, "https://safe.test/beacon")["from"], "refused");
    for url in ["https://safe.test/head", "https://safe.test/beacon"] {
        assert!(world.captures_of(url).is_empty(), "{url}");
    }
    // Of both pages, and not of who asked whether they may.
    assert_eq!(world.captures_of("https://api.test/json").len(), 2);
    // A4: that nobody known signed for the certificate is noted.
    let files = world.warc_files();
    let records = files.iter().flat_map(|file| testkit::gzip::members(&std::fs::read(file).unwrap()));
    let noted = records.filter(|record| String::from_utf8_lossy(&record.bytes).contains("\r\ncertificate: "));
    assert!(noted.count() > 0);
    world.check();
}

/// Answers in every shape that HTTP/1.1 has, odd ones too.
fn shaped(path: &str) -> Option<Answer> {
    let json = testkit::coding::gzip(br#"{"a": "gzip"}"#);
    let length = json.len();
    let gzip = [
        &b"HTTP/1.1 200 Fine\r\ncontent-TYPE:application/json\r\nContent-Encoding: gzip\r\nX-Twice: 1\r\nX-Twice: 2\r\nX-Odd:  \xe5\r\n"[..],
        format!("Content-Length: {length}\r\n\r\n").as_bytes(),
        &json,
    ]
    .concat();
    let coded = testkit::coding::gzip(b"coded and in chunks");
    let chunks = coded
        .chunks(7)
        .flat_map(|chunk| [format!("{:x}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    let both = [
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec(),
        chunks.collect(),
        b"0\r\n\r\n".to_vec(),
    ]
    .concat();
    let (bytes, then) = match path {
        "/gzip" => (gzip, Then::Stay),
        "/chunked" => (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n5;name=value\r\nchunk\r\n0003\r\ned!\r\n0\r\nX-End: yes\r\n\r\n".to_vec(),
            Then::Stay,
        ),
        "/both" => (both, Then::Stay),
        "/until-closed" => (b"HTTP/1.1 200 OK\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\n\r\nuntil the end".to_vec(), Then::Close),
        "/nothing" => (b"HTTP/1.1 204 No Content\r\nX-Twice: a\r\nX-Twice: b\r\n\r\n".to_vec(), Then::Stay),
        "/missing" => (b"HTTP/1.1 404 Not Here\r\nContent-Length: 4\r\n\r\ngone".to_vec(), Then::Stay),
        "/moved" => (b"HTTP/1.1 307 Elsewhere\r\nLocation: /gzip2\r\nContent-Length: 5\r\n\r\nmoved".to_vec(), Then::Stay),
        "/gzip2" => (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nbehind".to_vec(), Then::Stay),
        "/posted" => (b"HTTP/1.1 201 Made\r\nTransfer-Encoding: chunked\r\n\r\n6\r\nposted\r\n0\r\n\r\n".to_vec(), Then::Stay),
        _ => return None,
    };
    Some(Answer::bytes(200, bytes, then))
}

#[test]
fn b5_bodies_and_headers_are_kept_byte_for_byte_and_understood_by_the_page() {
    if !has_browser() {
        return;
    }
    const PATHS: [&str; 7] =
        ["/gzip", "/chunked", "/both", "/until-closed", "/nothing", "/missing", "/moved"];
    let page = format!(
        "<!DOCTYPE html><title>shapes</title><script>
           const get = (path, how) => fetch(path, how).then(async answer => answer.status + ':' + await answer.text());
           Promise.all([...{PATHS:?}.map(path => get(path)), get('/posted', {{method: 'POST', body: 'x=1'}})])
             .then(all => fetch('/said', {{method: 'POST', body: all.join('|')}}));
         </script>"
    );
    // The document itself: coded and in chunks.
    let coded = testkit::coding::gzip(page.as_bytes());
    let mut document = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
    for chunk in coded.chunks(100) {
        document.extend([format!("{:X}\r\n", chunk.len()).as_bytes(), chunk, b"\r\n"].concat());
    }
    document.extend_from_slice(b"0\r\n\r\n");
    let sent = document.clone();
    let world = World::new(crate::SKURD, move |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => Answer::bytes(200, sent.clone(), Then::Stay),
        "/said" => Answer::text("heard"),
        path => shaped(path).unwrap_or_else(Answer::not_found),
    });
    harvest(&world, &config(COLLECTION, &[("web", "http://shapes.test/")]));
    let info = page_info(&world, "http://shapes.test/");
    let said = world.web().seen().into_iter().find(|seen| seen.ask.path == "/said");
    let said = String::from_utf8(said.unwrap_or_else(|| panic!("{info:#}")).ask.body).unwrap();
    let expected = r#"200:{"a": "gzip"}|200:chunked!|200:coded and in chunks|200:until the end|204:|404:gone|200:behind|201:posted"#;
    assert_eq!(said, expected);
    assert_eq!(record(&world, "http://shapes.test/"), document);
    for path in PATHS.iter().chain(&["/gzip2"]) {
        let url = format!("http://shapes.test{path}");
        assert_eq!(world.captures_of(&url).len(), 1, "{path}");
        let kept = record(&world, &url);
        assert_eq!(kept, shaped(path).unwrap().sent(), "{path}: {}", String::from_utf8_lossy(&kept));
    }
    let posted = world.captures().into_iter().find(|one| one["url"].as_str().unwrap().contains("/posted?"));
    let url = posted.unwrap()["url"].as_str().unwrap().to_owned();
    assert_eq!(record(&world, &url), shaped("/posted").unwrap().sent());
    world.check();
}

/// Silence, so and so many seconds of it: 8,000 bytes each.
fn wave(seconds: u32) -> Vec<u8> {
    let length = seconds * 8000;
    let mut bytes = b"RIFF".to_vec();
    bytes.extend((length + 36).to_le_bytes());
    bytes.extend(b"WAVEfmt \x10\0\0\0\x01\0\x01\0");
    bytes.extend(8000u32.to_le_bytes());
    bytes.extend(8000u32.to_le_bytes());
    bytes.extend(b"\x01\0\x08\0data");
    bytes.extend(length.to_le_bytes());
    // No two parts are alike.
    bytes.extend((0..length).map(|at| 126 + u8::try_from(at / 997 % 5).unwrap()));
    bytes
}

/// Whole, or the part that is asked for.
fn media(ask: &Ask, bytes: &[u8]) -> Answer {
    let kind = ("Content-Type", "audio/wav");
    let Some(range) = ask.header("range") else {
        return Answer::of(200, &[kind, ("Accept-Ranges", "bytes")], bytes);
    };
    let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (first, last) =
        (first.parse::<usize>().unwrap(), last.parse().unwrap_or(bytes.len() - 1).min(bytes.len() - 1));
    let part = format!("bytes {first}-{last}/{}", bytes.len());
    Answer::of(206, &[kind, ("Content-Range", &part)], &bytes[first..=last])
}

#[test]
fn b6_media_are_asked_for_whole_and_beyond_their_limit_in_parts() {
    if !has_browser() {
        return;
    }
    // 720 kB and 2.4 MB, with a limit of 1 MB.
    let (small, large) = (wave(90), wave(300));
    let (served, also) = (small.clone(), large.clone());
    let page = "<!DOCTYPE html><title>media</title>
      <audio id=one preload=auto src=/small.wav></audio><audio id=two preload=auto src=/large.wav></audio>
      <script>
        const say = what => { document.title += ' ' + what; };
        for (const audio of [one, two]) {
          audio.onloadedmetadata = () => { say(audio.id + '-' + Math.round(audio.duration)); audio.currentTime = audio.duration - 5; };
          audio.onseeked = () => say(audio.id + '-seeked');
          audio.onerror = () => say(audio.id + '-' + audio.error.message);
        }
        const part = async (url, range) => {
          const answer = await fetch(url, {headers: {Range: range}});
          const bytes = new Uint8Array(await answer.arrayBuffer());
          const sum = bytes.reduce((sum, byte, at) => (sum + byte * (at % 251 + 1)) % 1000003, 0);
          return [answer.status, answer.headers.get('Content-Range'), sum].join(',');
        };
        (async () => {
          const all = [];
          for (const url of ['/small.wav', '/large.wav'])
            for (const range of ['bytes=100-1999', 'bytes=300000-', 'bytes=500000-500009'])
              all.push(await part(url, range));
          await fetch('/said', {method: 'POST', body: all.join('|')});
        })();
      </script>";
    let world = World::new(crate::SKURD, move |ask: &Ask| match ask.path.as_str() {
        "/robots.txt" => Answer::not_found(),
        "/" => Answer::html(page),
        "/small.wav" => media(ask, &served),
        "/large.wav" => media(ask, &also),
        _ => Answer::text("heard"),
    });
    harvest(&world, &config(COLLECTION, &[("web", "http://media.test/")]));
    let info = page_info(&world, "http://media.test/");
    assert_eq!(info["ending"], "ok", "{info:#}");
    // Elements and scripts got what they would have got without us.
    for word in ["one-90", "two-300", "one-seeked", "two-seeked"] {
        assert!(info["title"].as_str().unwrap().contains(word), "{word}: {info:#}");
    }
    let sum = |bytes: &[u8]| {
        bytes
            .iter()
            .enumerate()
            .fold(0, |sum, (at, byte)| (sum + u64::from(*byte) * (at as u64 % 251 + 1)) % 1_000_003)
    };
    let mut expected = Vec::new();
    for bytes in [&small, &large] {
        for (first, last) in [(100, 1999), (300_000, bytes.len() - 1), (500_000, 500_009)] {
            expected.push(format!("206,bytes {first}-{last}/{},{}", bytes.len(), sum(&bytes[first..=last])));
        }
    }
    let said = world.web().seen().into_iter().find(|seen| seen.ask.path == "/said");
    let said = String::from_utf8(said.unwrap_or_else(|| panic!("{info:#}")).ask.body).unwrap();
    assert_eq!(said, expected.join("|"), "{info:#}");

    // The small one was asked for once, and whole; it is one capture, to the last byte.
    let asked = |path: &str| -> Vec<Option<String>> {
        let seen = world.web().seen().into_iter().filter(|seen| seen.ask.path == path);
        seen.map(|seen| seen.ask.header("range").map(str::to_owned)).collect()
    };
    assert_eq!(asked("/small.wav"), [None], "{info:#}");
    let captures = world.captures_of("http://media.test/small.wav");
    assert_eq!(captures.iter().map(|one| one["status"].clone()).collect::<Vec<_>>(), [200]);
    assert!(record(&world, "http://media.test/small.wav").ends_with(&small));
    // The large one once whole, to find that out, and then in the parts that were asked for.
    let ranges = asked("/large.wav");
    assert_eq!(ranges.iter().filter(|range| range.is_none()).count(), 1, "{ranges:?} {info:#}");
    let captures = world.captures_of("http://media.test/large.wav");
    assert_eq!(captures.len(), ranges.len() - 1, "{captures:#?}");
    assert!(captures.iter().all(|one| one["status"] == 206), "{captures:#?}");
    assert!(requests_of(&info, "http://media.test/small.wav").iter().all(|one| one["status"] == 206));
    world.check();
}
