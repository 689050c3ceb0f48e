//! Numbers and names on the wire, as the public `urlfrontier.proto` 2.6 has them: what a client in
//! another language sends and expects.

use prost::Message;
use tonic::Code;
use urlfrontier::grpc::messages as m;

use crate::client::{UrlItem, served};

/// A field by its number, written by hand as the encoding of protocol buffers has it.
enum Field<'a> {
    Number(u8, u64),
    Text(u8, &'a str),
    Bytes(u8, Vec<u8>),
}

use Field::{Bytes, Number, Text};

fn varint(mut value: u64, bytes: &mut Vec<u8>) {
    while value > 0x7f {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(u8::try_from(value).unwrap());
}

fn encoded(fields: &[Field<'_>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let delimited = |number: u8, content: &[u8], bytes: &mut Vec<u8>| {
        bytes.push(number << 3 | 2);
        varint(content.len() as u64, bytes);
        bytes.extend_from_slice(content);
    };
    for field in fields {
        match field {
            Number(number, value) => {
                bytes.push(number << 3);
                varint(*value, &mut bytes);
            }
            Text(number, text) => delimited(*number, text.as_bytes(), &mut bytes),
            Bytes(number, content) => delimited(*number, content, &mut bytes),
        }
    }
    bytes
}

/// The message is these fields on the wire, and these fields are the message.
#[track_caller]
fn pinned<M: Message + Default + PartialEq + std::fmt::Debug>(message: &M, fields: &[Field<'_>]) {
    let bytes = encoded(fields);
    assert_eq!(message.encode_to_vec(), bytes, "{message:?}");
    assert_eq!(&M::decode(&*bytes).unwrap(), message);
}

#[test]
fn g9_questions_have_the_numbers_of_the_public_protocol() {
    let (key, crawl) = ("a.example", "news");
    pinned(&m::Local { local: true }, &[Number(1, 1)]);
    pinned(&m::Active { state: true, local: true }, &[Number(1, 1), Number(2, 1)]);
    pinned(&m::DeleteCrawlMessage { value: crawl.into(), local: true }, &[Text(1, crawl), Number(2, 1)]);
    pinned(
        &m::Pagination { start: 300, size: 7, include_inactive: true, crawl: crawl.into(), local: true },
        &[Number(1, 300), Number(2, 7), Number(3, 1), Text(4, crawl), Number(5, 1)],
    );
    pinned(
        &m::QueueWithinCrawlParams { key: key.into(), crawl: crawl.into(), local: true },
        &[Text(1, key), Text(2, crawl), Number(3, 1)],
    );
    pinned(
        &m::QueueDelayParams { key: key.into(), delay_requestable: 5, crawl: crawl.into(), local: true },
        &[Text(1, key), Number(2, 5), Text(3, crawl), Number(4, 1)],
    );
    pinned(
        &m::BlockQueueParams { key: key.into(), time: 1 << 33, crawl: crawl.into(), local: true },
        &[Text(1, key), Number(2, 1 << 33), Text(3, crawl), Number(4, 1)],
    );
    pinned(
        &m::CrawlLimitParams { key: key.into(), limit: 9, crawl: crawl.into(), local: true },
        &[Text(1, key), Number(2, 9), Text(3, crawl), Number(4, 1)],
    );
    pinned(
        &m::LogLevelParams { package: "service".into(), level: 4, local: true },
        &[Text(1, "service"), Number(2, 4), Number(3, 1)],
    );
    pinned(
        &m::UrlStatusRequest { url: "https://a.example/".into(), key: key.into(), crawl: crawl.into() },
        &[Text(1, "https://a.example/"), Text(2, key), Text(3, crawl)],
    );
    pinned(
        &m::ListUrlParams {
            start: 1,
            size: 2,
            key: key.into(),
            crawl: crawl.into(),
            local: true,
            filter: Some("x".into()),
            ignore_case: Some(true),
        },
        &[Number(1, 1), Number(2, 2), Text(3, key), Text(4, crawl), Number(5, 1), Text(6, "x"), Number(7, 1)],
    );
    pinned(
        &m::CountUrlParams {
            key: key.into(),
            crawl: crawl.into(),
            filter: Some("x".into()),
            ignore_case: Some(true),
            local: Some(true),
        },
        &[Text(1, key), Text(2, crawl), Text(3, "x"), Number(4, 1), Number(5, 1)],
    );
    pinned(
        &m::PurgeUrlParams { key: key.into(), crawl: crawl.into(), days: 30 },
        &[Text(1, key), Text(2, crawl), Number(3, 30)],
    );
    let asked = m::GetParams {
        max_urls_per_queue: 10,
        max_queues: 20,
        key: key.into(),
        delay_requestable: 600,
        crawl: None,
    };
    let numbers = || vec![Number(1, 10), Number(2, 20), Text(3, key), Number(4, 600)];
    let any = m::GetParams { crawl: Some(m::Crawl::Any(m::Empty {})), ..asked.clone() };
    pinned(&any, &numbers().into_iter().chain([Bytes(5, Vec::new())]).collect::<Vec<_>>());
    let named = m::GetParams { crawl: Some(m::Crawl::Named(crawl.into())), ..asked };
    pinned(&named, &numbers().into_iter().chain([Text(6, crawl)]).collect::<Vec<_>>());
}

#[test]
fn g9_items_and_answers_have_the_numbers_of_the_public_protocol() {
    let entry = encoded(&[Text(1, "depth"), Bytes(2, encoded(&[Text(1, "3"), Text(1, "4")]))]);
    let url = "https://a.example/ü";
    let info = m::UrlInfo {
        url: url.into(),
        key: "a.example".into(),
        metadata: vec![entry.clone().into()],
        crawl: "news".into(),
    };
    let in_info = || encoded(&[Text(1, url), Text(2, "a.example"), Bytes(3, entry.clone()), Text(4, "news")]);
    pinned(&info, &[Text(1, url), Text(2, "a.example"), Bytes(3, entry.clone()), Text(4, "news")]);
    let read = m::MetadataEntry::decode(&*entry).unwrap();
    assert_eq!((read.key.as_str(), read.value.unwrap().values), ("depth", vec!["3".into(), "4".into()]));
    let discovered = m::Discovered { info: Some(info.clone()) };
    pinned(
        &m::UrlItem { item: Some(m::News::Discovered(discovered)), id: "i1".into(), creation_date: 77 },
        &[Bytes(1, encoded(&[Bytes(1, in_info())])), Text(3, "i1"), Number(4, 77)],
    );
    let known = m::Known { info: Some(info.clone()), refetchable_from_date: 1 << 34 };
    pinned(
        &m::UrlItem { item: Some(m::News::Known(known)), id: "i2".into(), creation_date: 0 },
        &[Bytes(2, encoded(&[Bytes(1, in_info()), Number(2, 1 << 34)])), Text(3, "i2")],
    );
    pinned(
        &m::DiscoveredBatch { id: "b".into(), items: vec![info.clone(), info] },
        &[Text(1, "b"), Bytes(2, in_info()), Bytes(2, in_info())],
    );
    let (ok, skipped, fail) = (m::Status::Ok as i32, m::Status::Skipped as i32, m::Status::Fail as i32);
    assert_eq!((ok, skipped, fail), (0, 1, 2));
    pinned(&m::AckMessage { id: "i1".into(), status: fail }, &[Text(1, "i1"), Number(2, 2)]);
    // Packed, as the third version of the language has repeated numbers.
    pinned(
        &m::BatchAck { id: "b".into(), statuses: vec![ok, skipped, fail] },
        &[Text(1, "b"), Bytes(2, vec![0, 1, 2])],
    );
    pinned(&m::Boolean { state: true }, &[Number(1, 1)]);
    pinned(&m::Long { value: u64::MAX }, &[Number(1, u64::MAX)]);
    pinned(&m::StringList { values: vec!["a".into(), "b".into()] }, &[Text(1, "a"), Text(1, "b")]);
    pinned(
        &m::QueueList {
            values: vec!["a".into(), "b".into()],
            total: 5,
            start: 1,
            size: 2,
            crawl: "news".into(),
        },
        &[Text(1, "a"), Text(1, "b"), Number(2, 5), Number(3, 1), Number(4, 2), Text(5, "news")],
    );
    pinned(
        &m::Stats {
            size: 1,
            in_process: 2,
            counts: [("completed".to_owned(), 3)].into(),
            number_of_queues: 4,
            crawl: "news".into(),
        },
        &[
            Number(1, 1),
            Number(2, 2),
            Bytes(3, encoded(&[Text(1, "completed"), Number(2, 3)])),
            Number(4, 4),
            Text(5, "news"),
        ],
    );
}

#[test]
fn g9_every_call_of_the_public_protocol_is_there() {
    let calls = [
        "ListNodes",
        "ListCrawls",
        "DeleteCrawl",
        "ListQueues",
        "GetURLs",
        "PutURLs",
        "PutDiscovered",
        "GetStats",
        "DeleteQueue",
        "BlockQueueUntil",
        "SetActive",
        "GetActive",
        "SetDelay",
        "SetLogLevel",
        "SetCrawlLimit",
        "GetURLStatus",
        "ListURLs",
        "CountURLs",
        "PurgeURLs",
    ];
    served(None, async |rig| {
        for call in calls {
            // An empty message is a message of any type; what is said to it is not the question.
            let answer = rig.client.list::<m::Empty, m::Empty>(call, m::Empty {}).await;
            let code = answer.err().map(|status| status.code());
            assert!(code != Some(Code::Unimplemented) && code != Some(Code::Internal), "{call}: {code:?}");
        }
        for unknown in ["GetURLsNow", "geturls", "", "PutURLs/"] {
            let answer = rig.client.list::<m::Empty, UrlItem>(unknown, m::Empty {}).await;
            assert_eq!(answer.unwrap_err().code(), Code::Unimplemented, "{unknown}");
        }
    });
}
