//! The archive and its store, killed, cut, rolled back and damaged in any order (A13, A14): no
//! archived byte goes but those of the batch in hand, a start that is refused touches nothing, a
//! second start finds nothing to do, and every capture is where the store says. The input says what
//! happens, one byte after the other.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::{Draw, Seeds, Target};
use frontier::ports::{Archive, CaptureKey, FileEnd, Held, Order};
use frontier::schema::{CAPTURES, FILES, surt_in_key};
use frontier::{Frontier, Lane};
use net::dns::Overrides;
use net::exchange::{Exchange, Framing, Head, Recording};
use net::warc::{Capture, Compression, PackSettings, Packer, Prepared};
use policy::catalog::Change;
use policy::evaluate::Plan;
use policy::model::{BadCertificates, Limits, Politeness, Position, RobotsPolicy};
use policy::time::{Span, Time};
use policy::url::CrawlUrl;
use store::{Durability, Store, StoreCopy};
use tempfile::TempDir;

use super::RUNTIME;
use harvest::session::frontier_of;
use harvest::wire::archive::adopt;
use harvest::wire::{Introduction, PackedAnswer, WarcArchive, WireSettings, warc_dir};

/// What happens in one life of an archive.
const EVENTS_MAX: usize = 40;
const NOON: Time = Time(1_709_210_096_789);

pub const RECOVERY: Target =
    Target { name: "recovery", run: |input| RUNTIME.block_on(live(input)), seeds, words: &[], runs: 400 };

fn seeds(seeds: &mut Seeds) {
    // Harvests, then each thing that can happen, then harvests again.
    for event in 0..16 {
        for variant in 0..6 {
            seeds.add([0, 1, 0, 2, event, variant, variant, 0, 1, 9, 0, 2]);
            seeds.add([0, 11, 1, 0, 10, event, variant, 40, 0, 12, 1, event, variant, 200]);
        }
    }
}

/// Something that was archived.
struct Piece {
    bytes: Vec<u8>,
    batch: u32,
}

/// The batch that was kept last.
#[derive(Clone, Copy, Default)]
struct Last {
    batch: u32,
    /// As the archive counts it: a number is used again once its batch is gone.
    number: u64,
    settled: bool,
}

/// What the store is to be told of a batch.
struct Rows {
    captures: Vec<(String, CaptureKey, frontier::Capture)>,
    files: Vec<FileEnd>,
}

struct World {
    data: TempDir,
    store: Store,
    frontier: Arc<Frontier>,
    archive: WarcArchive,
    packer: Packer,
    pieces: Vec<Piece>,
    last: Last,
    copies: Vec<StoreCopy>,
    made: u32,
    /// Since the last start, from outside.
    journal_hurt: bool,
    /// Ever, so that not every capture is where it was.
    files_hurt: bool,
}

async fn live(input: &[u8]) {
    let mut draw = Draw::new(input);
    let mut world = World::new().await;
    for _ in 0..EVENTS_MAX {
        if draw.is_over() {
            break;
        }
        world.event(&mut draw).await;
    }
    world.start_again().await;
}

/// In memory where there is such a place: everything is synced many times.
fn scratch() -> TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).expect("a directory")
}

fn open(data: &Path, store: &Store) -> (Arc<Frontier>, WarcArchive) {
    let frontier = Arc::new(frontier_of(store.clone()));
    let settings = WireSettings {
        node: None,
        dir: data.to_owned(),
        overrides: Overrides::default(),
        allowed: Vec::new(),
        introduction: Introduction::default(),
        certificates: BadCertificates::Accept,
        compression: Some(Compression::None),
        workers: 1,
    };
    let archive = WarcArchive::new(&settings, Arc::clone(&frontier)).expect("an archive");
    (frontier, archive)
}

impl World {
    async fn new() -> World {
        let data = scratch();
        let store = Store::in_memory(7);
        let (frontier, archive) = open(data.path(), &store);
        let declared = declare::parse("c", b"collections: [{name: c0}, {name: c1}]").expect("a config");
        let changes: Vec<Change> = declared.into_changes();
        frontier.declare(&changes).await.expect("it is declared");
        let examined = archive.examine(data.path()).await.expect("there is nothing yet");
        archive.recover(examined).await.expect("there is nothing yet");
        let spill_dir = data.path().to_owned();
        let settings = PackSettings { compression: Compression::None, memory_bytes_max: 1 << 20, spill_dir };
        World {
            data,
            store,
            frontier,
            archive,
            packer: Packer::new(settings).expect("a packer"),
            pieces: Vec::new(),
            last: Last::default(),
            copies: Vec::new(),
            made: 0,
            journal_hurt: false,
            files_hurt: false,
        }
    }

    async fn event(&mut self, draw: &mut Draw<'_>) {
        match draw.byte() % 16 {
            0..=3 => {
                let rows = self.keep(draw).await;
                self.commit(rows).await;
                self.archive.settled();
                self.last.settled = true;
            }
            4 => {
                self.keep(draw).await;
                self.archive.abandon().await.expect("it is taken back");
                self.pieces.retain(|piece| piece.batch != self.last.batch);
                self.last.settled = true;
            }
            5 => {
                let rows = self.keep(draw).await;
                self.commit(rows).await;
                if draw.flag() {
                    self.power_cut();
                }
                self.start_again().await;
            }
            6 => {
                self.keep(draw).await;
                self.start_again().await;
            }
            7 => self.start_again().await,
            8 | 9 => {
                self.power_cut();
                self.start_again().await;
            }
            10 => self.archive.close().expect("files are completed"),
            11 => self.copies.push(self.store.copy().expect("in memory")),
            12 if !self.copies.is_empty() => {
                // Later ones are of a life that did not happen.
                self.copies.truncate(1 + draw.below(self.copies.len()));
                self.store.put_back(&self.copies[self.copies.len() - 1]).expect("in memory");
                self.start_again().await;
            }
            12 => {
                self.store = Store::in_memory(8);
                self.copies.clear();
                self.start_again().await;
            }
            13 => {
                self.archive.close().expect("files are completed");
                self.archive.rest().expect("it is noted");
                self.start_again().await;
            }
            14 => {
                self.hurt_journal(draw);
                self.start_again().await;
            }
            _ => {
                self.hurt_file(draw);
                self.start_again().await;
            }
        }
    }

    fn dir(&self) -> PathBuf {
        warc_dir(self.data.path())
    }

    /// Archives a batch of one to three exchanges, of one collection or two.
    async fn keep(&mut self, draw: &mut Draw<'_>) -> Rows {
        let both = draw.flag();
        let mut batch: Vec<(Order, PackedAnswer)> = Vec::new();
        self.last = Last { batch: self.last.batch + 1, number: 0, settled: false };
        for at in 0..1 + draw.below(3) {
            self.made += 1;
            let url = format!("http://a.no/{}", self.made);
            let body = format!("piece {} of many ", self.made).repeat(1 + draw.below(20));
            let mut group = self.packer.group(None);
            group.exchange(&exchange(&url, self.made, &body), &Capture::default()).expect("memory");
            let group = group.finish();
            self.pieces.push(Piece { bytes: bytes_of(&group), batch: self.last.batch });
            let collection = if both && at % 2 == 1 { "c1" } else { "c0" };
            batch.push((order(&url, collection), PackedAnswer::Groups(vec![group])));
        }
        let lent: Vec<(&Order, &PackedAnswer)> = batch.iter().map(|(order, haul)| (order, haul)).collect();
        let kept = self.archive.keep(&lent).await.expect("it is kept");
        self.last.number = kept.files.iter().map(|file| file.row.batch).max().expect("a file");
        let captures = batch.iter().zip(kept.captures).flat_map(|((order, _), captures)| {
            captures.into_iter().map(|(key, capture)| (order.collection.clone(), key, capture))
        });
        Rows { captures: captures.collect(), files: kept.files }
    }

    /// As the frontier commits a harvest: not waiting for the disk.
    async fn commit(&mut self, rows: Rows) {
        let tx = self.store.begin().await.expect("memory");
        tx.set_durability(Durability::Relaxed);
        for (collection, key, capture) in &rows.captures {
            let place = (collection.as_str(), surt_in_key(&key.surt), key.time.0, capture.offset);
            CAPTURES.put(&tx, place, capture).expect("a row");
        }
        for FileEnd { file, row } in &rows.files {
            FILES.put(&tx, (file.as_str(),), row).expect("a row");
        }
        self.store.commit(&tx).await.expect("memory");
    }

    fn power_cut(&mut self) {
        self.store.power_cut().expect("in memory");
        self.copies.clear();
    }

    fn hurt_journal(&mut self, draw: &mut Draw<'_>) {
        self.journal_hurt = true;
        let path = self.dir().join(".journal");
        let Ok(mut bytes) = fs::read(&path) else { return };
        match draw.below(3) {
            0 => return fs::remove_file(&path).expect("it was there"),
            1 => bytes.truncate(draw.below(bytes.len() + 1)),
            _ => {
                let at = draw.below(bytes.len().max(1));
                let Some(byte) = bytes.get_mut(at) else { return };
                *byte ^= 1 + draw.byte() % 255;
            }
        }
        fs::write(&path, bytes).expect("it was there");
    }

    /// What is not there any more after that is not expected of anybody.
    fn hurt_file(&mut self, draw: &mut Draw<'_>) {
        self.files_hurt = true;
        let names: Vec<PathBuf> = files(&self.dir()).into_keys().filter(|path| !is_journal(path)).collect();
        if names.is_empty() {
            return;
        }
        let path = &names[draw.below(names.len())];
        let mut bytes = fs::read(path).expect("it was there");
        match draw.below(4) {
            0 => fs::remove_file(path).expect("it was there"),
            1 => {
                bytes.truncate(draw.below(bytes.len() + 1));
                fs::write(path, bytes).expect("it was there");
            }
            2 => {
                let more: Vec<u8> = (0..1 + draw.below(40)).map(|_| draw.byte()).collect();
                bytes.extend(more);
                fs::write(path, bytes).expect("it was there");
            }
            _ => {
                let at = draw.below(bytes.len().max(1));
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 + draw.byte() % 255;
                }
                fs::write(path, bytes).expect("it was there");
            }
        }
        let there = files(&self.dir());
        self.pieces.retain(|piece| is_in(&there, &piece.bytes));
    }

    /// Killed, and started.
    async fn start_again(&mut self) {
        (self.frontier, self.archive) = open(self.data.path(), &self.store);
        let before = files(&self.dir());
        let known = self.last_known().await;
        // The batch in hand, or what looks like it where the archive's memory was damaged.
        let goes = !self.last.settled || self.journal_hurt;
        let expendable = (goes && known < self.last.number).then_some(self.last.batch);
        let examined = match self.archive.examine(self.data.path()).await {
            Ok(examined) => examined,
            Err(refused) => {
                assert!(
                    files(&self.dir()) == before,
                    "the start was refused, and touched something: {refused:#}"
                );
                let adopted =
                    adopt::adopt(&self.frontier, self.data.path(), &[], Some("c0"), |_, _| Ok(())).await;
                adopted.unwrap_or_else(|error| panic!("after {refused:#}: {error:#}"));
                self.all_there(None);
                (self.frontier, self.archive) = open(self.data.path(), &self.store);
                let again = self.archive.examine(self.data.path()).await;
                again.unwrap_or_else(|error| panic!("everything is adopted, and still: {error:#}"))
            }
        };
        let recovered = self.archive.recover(examined).await.expect("it goes on");
        assert!(expendable.is_some() || recovered.bytes_cut == 0, "{} bytes were cut", recovered.bytes_cut);
        self.all_there(expendable);
        // Another start finds nothing to do.
        let before = contents(&self.dir());
        (self.frontier, self.archive) = open(self.data.path(), &self.store);
        let examined = self.archive.examine(self.data.path()).await.expect("it went on just now");
        let recovered = self.archive.recover(examined).await.expect("it went on just now");
        assert_eq!(recovered.bytes_cut, 0);
        assert!(contents(&self.dir()) == before, "a second start changes something");
        self.captures_are_there().await;
        (self.last.settled, self.journal_hurt) = (true, false);
    }

    /// The last batch the store knows of.
    async fn last_known(&self) -> u64 {
        let (rows, _) = self.frontier.archive_files(None, 1000).await.expect("memory");
        rows.iter().map(|(_, row)| row.batch).max().unwrap_or(0)
    }

    /// Every archived byte is in some file, but for those of a batch that may go.
    fn all_there(&mut self, expendable: Option<u32>) {
        let there = files(&self.dir());
        self.pieces.retain(|piece| {
            let is_there = is_in(&there, &piece.bytes);
            assert!(
                is_there || expendable == Some(piece.batch),
                "archived bytes of batch {} are gone",
                piece.batch
            );
            is_there
        });
    }

    /// What the store says is captured begins where it says, and is as long.
    async fn captures_are_there(&self) {
        if self.files_hurt {
            return;
        }
        let tx = self.store.begin().await.expect("memory");
        let page =
            CAPTURES.scan(&tx, &CAPTURES.range(()), 10_000, store::Order::Forward).await.expect("rows");
        let there = files(&self.dir());
        for (_, capture) in page.rows {
            let open = self.dir().join(format!("{}.open", capture.file));
            let bytes = there.get(&self.dir().join(&capture.file)).or_else(|| there.get(&open));
            let from = usize::try_from(capture.offset).expect("small");
            let to = from + usize::try_from(capture.length).expect("small");
            let record = bytes.and_then(|bytes| bytes.get(from..to)).unwrap_or_default();
            assert!(record.starts_with(b"WARC/1.1"), "{} of {} is not at {from}", capture.url, capture.file);
            let named = format!("WARC-Target-URI: {}\r\n", capture.url);
            assert!(
                record.windows(named.len()).any(|window| window == named.as_bytes()),
                "{} is another",
                capture.url
            );
        }
    }
}

fn exchange(url: &str, number: u32, body: &str) -> Exchange {
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n";
    Exchange {
        url: url.to_owned(),
        at: NOON.plus(Span::seconds(u64::from(number))),
        remote: SocketAddr::from(([192, 0, 2, 7], 80)),
        request: b"GET / HTTP/1.1\r\nHost: a.no\r\n\r\n".to_vec(),
        response: Recording::from_bytes([head.as_bytes(), body.as_bytes()].concat()),
        head: Head { status: 200, headers: Vec::new(), bytes: head.len() },
        framing: Framing::Plain,
        truncated: None,
        tls: None,
        first_byte: Span(1),
        total: Span(2),
    }
}

fn order(url: &str, collection: &str) -> Order {
    Order {
        lease: 1,
        unit: "a.no".to_owned(),
        host: "a.no".to_owned(),
        lane: Lane::Live,
        collection: collection.to_owned(),
        url: CrawlUrl::from_normal(url).expect("a URL"),
        run: 0,
        seed: "s".to_owned(),
        due: NOON,
        last_fetch: None,
        held: Held::until(NOON),
        claim: None,
        closes: None,
        plan: Plan {
            profiles: Vec::new(),
            every: Span::days(1),
            length: None,
            robots: RobotsPolicy::Ignore,
            limits: Limits::default(),
            closes: None,
        },
        position: Position::default(),
        politeness: Politeness::default(),
        etag: None,
        last_modified: None,
        digest: None,
        cookies: Vec::new(),
        walk: None,
    }
}

fn bytes_of(group: &Prepared) -> Vec<u8> {
    let mut bytes = Vec::new();
    group.bytes.reader(0).read_to_end(&mut bytes).expect("memory");
    bytes
}

fn files(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(dir).expect("the archive is a directory");
    entries
        .map(|entry| entry.expect("an entry").path())
        .map(|path| (path.clone(), fs::read(path).expect("a file")))
        .collect()
}

fn is_journal(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Of the archive files, whatever they are called.
fn contents(dir: &Path) -> Vec<Vec<u8>> {
    let mut contents: Vec<Vec<u8>> =
        files(dir).into_iter().filter(|(path, _)| !is_journal(path)).map(|(_, bytes)| bytes).collect();
    contents.sort();
    contents
}

fn is_in(files: &BTreeMap<PathBuf, Vec<u8>>, bytes: &[u8]) -> bool {
    files.values().any(|file| file.windows(bytes.len()).any(|window| window == bytes))
}
