//! How the server behaves towards many, impatient and hostile askers.

use proptest::prelude::*;
use tokio::runtime::Builder;

use super::*;
use crate::town::REQUESTS_MAX;

#[tokio::test]
async fn a7_members_see_more() {
    let demo = Demo::start_at(0).await.unwrap();
    let privat = async |path: &str, cookies: &str| {
        get_with(&demo, "privat.test", path, &format!("Cookie: {cookies}\r\n")).await
    };
    let front = privat("/", "medlem=kari-aare").await;
    assert!(front.text().contains("Logged in as Kari Åre"));
    assert!(front.header("set-cookie").starts_with("okt=aare-1;"));
    assert!(privat("/", "medlem=ola").await.text().contains("<form"));

    let table = [
        ("okt=aare-1", 401),
        ("medlem=ola; okt=aare-1", 401),
        ("medlem=kari-aare", 403),
        ("medlem=kari-aare; okt=aare-2", 403),
        ("medlem=kari-aare; okt=aare-1", 200),
    ];
    for (cookies, status) in table {
        assert_eq!(privat("/medlem/tur/2", cookies).await.status, status, "{cookies}");
    }
    let out = privat("/logg-ut", "medlem=kari-aare; okt=aare-1").await;
    let gone =
        out.headers.iter().filter(|(name, value)| name == "Set-Cookie" && value.ends_with("Max-Age=0"));
    assert_eq!(gone.count(), 2);

    assert_eq!(get(&demo, "omvei.test", "/port").await.status, 302);
    assert_eq!(get_with(&demo, "omvei.test", "/port", "Cookie: billett=1\r\n").await.status, 200);
    let basket = get_with(&demo, "www.butikk.test", "/kurv", "Cookie: kurv=1\r\n").await;
    assert!(basket.text().contains("remembers you") && basket.header("set-cookie").is_empty());
}

#[tokio::test]
async fn f8_the_log_tells_who_asked_when() {
    let demo = Demo::start_at(0).await.unwrap();
    let (slow, quick) = tokio::join!(
        get(&demo, "tregt.test", "/skjema/1?a=b"),
        get_with(&demo, "avis.test", "/om", "Cookie: a=b\r\n"),
    );
    assert_eq!((slow.status, quick.status), (200, 200));
    let log = demo.log();
    let of = |host: &str| log.iter().find(|seen| seen.ask.host == host).unwrap();
    let (slow, quick) = (of("tregt.test"), of("avis.test"));
    let cookie = |seen: &Seen| seen.ask.header("cookie").map(str::to_owned);
    assert_eq!((slow.ask.target().as_str(), cookie(slow), slow.status), ("/skjema/1?a=b", None, 200));
    assert_eq!((quick.ask.target().as_str(), cookie(quick), quick.status), ("/om", Some("a=b".into()), 200));
    assert!(slow.end.unwrap() - slow.begin >= Duration::from_millis(300 + 7 * 20), "{slow:?}");
    assert!(quick.begin < slow.end.unwrap() && slow.whole && quick.whole, "{log:?}");
    assert!(log.len() == 2 && log.len() < REQUESTS_MAX);
}

#[tokio::test]
async fn a4_connections_are_kept_alive_until_told() {
    let demo = Demo::start_at(0).await.unwrap();
    let one = "GET /om HTTP/1.1\r\nHost: avis.test\r\n\r\n";
    let last = "GET /sport HTTP/1.1\r\nHost: avis.test\r\nConnection: close\r\n\r\n";
    let answers = converse(&demo, format!("{one}{one}{last}{one}").as_bytes()).await;
    let answers = String::from_utf8(answers).unwrap();
    assert_eq!(answers.matches("HTTP/1.1 200 OK\r\n").count(), 3);
    assert_eq!(answers.matches("<h1>Om avisen</h1>").count(), 2);
    assert!(answers.ends_with("</html>\n"));
    let proxied = converse(&demo, b"GET http://avis.test/sport HTTP/1.0\r\n\r\n").await;
    assert!(answers.as_bytes().ends_with(&proxied), "asked as a proxy");
}

#[tokio::test]
async fn a11_heads_without_end_are_refused() {
    let demo = Demo::start_at(0).await.unwrap();
    let endless = format!("GET / HTTP/1.1\r\nHost: avis.test\r\nX: {}", "x".repeat(100_000));
    let answer = converse(&demo, endless.as_bytes()).await;
    assert!(
        answer.is_empty() || answer.starts_with(b"HTTP/1.1 431 "),
        "{}",
        String::from_utf8_lossy(&answer)
    );
    let posted = converse(&demo, b"PUT / HTTP/1.1\r\nHost: avis.test\r\n\r\n").await;
    assert!(posted.starts_with(b"HTTP/1.1 405 "));
    assert_eq!(get(&demo, "avis.test", "/om").await.status, 200);
}

#[tokio::test]
async fn many_connections_are_served_at_once() {
    let demo = Demo::start_at(0).await.unwrap();
    let address = demo.address();
    let mut idle = Vec::new();
    for _ in 0..100 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    assert_eq!(get(&demo, "avis.test", "/om").await.status, 200);
    drop(idle);
}

#[tokio::test]
async fn everything_ends_when_dropped() {
    let demo = Demo::start_at(0).await.unwrap();
    let address = demo.address();
    assert!(Demo::start_at(address.port()).await.is_err(), "the port is taken");
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(b"GET /evig HTTP/1.1\r\nHost: verksted.test\r\n\r\n").await.unwrap();
    let mut first = [0; 16];
    stream.read_exact(&mut first).await.unwrap();
    drop(demo);
    let mut rest = Vec::new();
    let ended = timeout(PATIENCE, stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok() && !rest.ends_with(b"0\r\n\r\n"));
    assert!(TcpStream::connect(address).await.is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a11_any_bytes_leave_the_server_standing(bytes in prop::collection::vec(any::<u8>(), 0..300), target in "[ -~]{0,40}") {
        Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
            let demo = Demo::start_at(0).await.unwrap();
            for host in ["felle.test", "arkiv.test", "privat.test"] {
                let ask = format!("GET /{target} HTTP/1.0\r\nHost: {host}\r\n\r\n");
                let answer = converse(&demo, ask.as_bytes()).await;
                assert!(answer.starts_with(b"HTTP/1.1 "));
            }
            let mut stream = TcpStream::connect(demo.address()).await.unwrap();
            stream.write_all(&bytes).await.unwrap();
            drop(stream);
            assert_eq!(get(&demo, "avis.test", "/om").await.status, 200);
        });
    }
}
