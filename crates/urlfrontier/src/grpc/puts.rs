//! Items on their way from streams into commits, and answers on their way back (G4).
//!
//! Whatever has arrived on a stream goes to the one writer as a chunk; the writer takes all chunks
//! that wait, of all streams, into its next commit. A stream is read on only while fewer items than
//! [`UNACKED_MAX`] wait for an answer or have one that the client did not take yet.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::FutureExt;
use prost::Message;
use tokio::sync::{Semaphore, mpsc};
use tokio_stream::Stream;
use tonic::{Status, Streaming};

use super::messages::{
    self, AckMessage, BatchAck, DiscoveredBatch, Metadata, MetadataEntry, News, UrlInfo, UrlItem,
};
use crate::item::{Item, Malformed};
use crate::{Ack, UrlFrontier};

/// Items of a stream that are read and not answered.
pub const UNACKED_MAX: usize = 1024;
/// Items that are handed over together.
const CHUNK_ITEMS: usize = 256;
/// What waits for the writer.
const CHUNKS_MAX: usize = 64;
const ITEMS_PER_COMMIT: usize = 4096;
const BYTES_PER_COMMIT: usize = 8 << 20;

type Answer = Box<dyn FnOnce(Vec<Ack>) + Send>;

/// Items that were read together.
struct Chunk {
    /// None: malformed.
    items: Vec<Option<Item>>,
    answer: Answer,
}

/// The way to the writer.
#[derive(Clone)]
pub(super) struct Puts {
    chunks: mpsc::Sender<Chunk>,
}

impl Puts {
    /// A writer that works in the present runtime until nobody can bring it anything.
    pub(super) fn start(frontier: Arc<UrlFrontier>) -> Puts {
        let (chunks, waiting) = mpsc::channel(CHUNKS_MAX);
        tokio::spawn(write(frontier, waiting));
        Puts { chunks }
    }

    async fn bring(&self, items: Vec<Option<Item>>, answer: Answer) {
        // The writer ends after all who bring.
        let _ = self.chunks.send(Chunk { items, answer }).await;
    }
}

async fn write(frontier: Arc<UrlFrontier>, mut waiting: mpsc::Receiver<Chunk>) {
    while let Some(first) = waiting.recv().await {
        let mut next = Some(first);
        let (mut items, mut answers, mut bytes) = (Vec::new(), Vec::new(), 0);
        while let Some(chunk) = next {
            let well_formed: Vec<bool> = chunk.items.iter().map(Option::is_some).collect();
            answers.push((well_formed, chunk.answer));
            for item in chunk.items.into_iter().flatten() {
                bytes += item.bytes();
                items.push(item);
            }
            let has_room = items.len() < ITEMS_PER_COMMIT && bytes < BYTES_PER_COMMIT;
            next = if has_room { waiting.try_recv().ok() } else { None };
        }
        let mut acks = put(&frontier, items).await.into_iter();
        for (well_formed, answer) in answers {
            let all: Vec<Ack> = well_formed
                .into_iter()
                .map(|is| if is { acks.next().unwrap_or(Ack::Fail) } else { Ack::Fail })
                .collect();
            frontier.figures.failed(all.iter().filter(|ack| **ack == Ack::Fail).count() as u64);
            answer(all);
        }
    }
}

async fn put(frontier: &UrlFrontier, items: Vec<Item>) -> Vec<Ack> {
    if items.is_empty() {
        return Vec::new();
    }
    match frontier.put(Arc::new(items)).await {
        Ok(acks) => acks,
        Err(error) => {
            tracing::warn!("URLs of the URL frontier could not be put: {error}");
            Vec::new()
        }
    }
}

fn text(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed::NotText)
}

fn item_of(info: UrlInfo, news: crate::News) -> Result<Item, Malformed> {
    for entry in &info.metadata {
        // Whoever gets it must be able to read it.
        MetadataEntry::decode(entry.clone()).map_err(|_| Malformed::NotText)?;
    }
    let metadata = Metadata { entries: info.metadata }.encode_to_vec();
    Item::new(text(&info.crawl)?, text(&info.key)?, text(&info.url)?.to_owned(), metadata, news)
}

/// What the answer is to be called by, and the item.
fn read_item(message: UrlItem) -> (Bytes, Result<Item, Malformed>) {
    let (info, news) = match message.item {
        Some(News::Discovered(discovered)) => (discovered.info, crate::News::Discovered),
        Some(News::Known(known)) => (known.info, crate::News::Known(known.refetchable_from_date)),
        None => (None, crate::News::Discovered),
    };
    let Some(info) = info else { return (message.id, Err(Malformed::Neither)) };
    let id = if message.id.is_empty() { info.url.clone() } else { message.id };
    // An answer that is not text would break the stream for whoever reads it.
    let id = if text(&id).is_ok() { id } else { Bytes::new() };
    (id, item_of(info, news))
}

fn status(ack: Ack) -> i32 {
    let status = match ack {
        Ack::Ok => messages::Status::Ok,
        Ack::Skipped => messages::Status::Skipped,
        Ack::Fail => messages::Status::Fail,
    };
    status.into()
}

/// Answers of a stream, each with how many items it answers for.
type Sent<T> = mpsc::Sender<Result<Vec<(T, u32)>, Status>>;

/// Answers as they go to the client.
pub(super) struct Acks<T> {
    waiting: mpsc::Receiver<Result<Vec<(T, u32)>, Status>>,
    present: std::vec::IntoIter<(T, u32)>,
    room: Arc<Semaphore>,
}

impl<T: Unpin> Stream for Acks<T> {
    type Item = Result<T, Status>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some((ack, items)) = self.present.next() {
                self.room.add_permits(items as usize);
                return Poll::Ready(Some(Ok(ack)));
            }
            match ready!(self.waiting.poll_recv(cx)) {
                Some(Ok(more)) => self.present = more.into_iter(),
                Some(Err(status)) => return Poll::Ready(Some(Err(status))),
                None => return Poll::Ready(None),
            }
        }
    }
}

fn stream<T>() -> (Sent<T>, Acks<T>, Arc<Semaphore>) {
    // There are never more answers than items.
    let (sent, waiting) = mpsc::channel(UNACKED_MAX + 1);
    let room = Arc::new(Semaphore::new(UNACKED_MAX));
    (sent, Acks { waiting, present: Vec::new().into_iter(), room: Arc::clone(&room) }, room)
}

/// **PutURLs**
pub(super) fn put_urls(puts: Puts, incoming: Streaming<UrlItem>) -> Acks<AckMessage> {
    let (sent, acks, room) = stream();
    tokio::spawn(read_items(puts, incoming, sent, room));
    acks
}

async fn read_items(
    puts: Puts,
    mut incoming: Streaming<UrlItem>,
    sent: Sent<AckMessage>,
    room: Arc<Semaphore>,
) {
    loop {
        // The client may be gone, and take no answer ever.
        let permit = tokio::select! {
            permit = room.acquire() => permit,
            () = sent.closed() => return,
        };
        let Ok(permit) = permit else { return };
        let first = match incoming.message().await {
            Ok(Some(first)) => first,
            Ok(None) => return,
            Err(status) => return drop(sent.send(Err(status)).await),
        };
        permit.forget();
        let (mut ids, mut items) = (Vec::new(), Vec::new());
        let mut next = Some(first);
        while let Some(message) = next {
            let (id, item) = read_item(message);
            ids.push(id);
            items.push(item.ok());
            next = match room.try_acquire() {
                Ok(permit) if ids.len() < CHUNK_ITEMS => {
                    // A stream that ended or broke says so again.
                    let more = incoming.message().now_or_never().and_then(Result::ok).flatten();
                    if more.is_some() {
                        permit.forget();
                    }
                    more
                }
                _ => None,
            };
        }
        let sent = sent.clone();
        let answer = Box::new(move |acks: Vec<Ack>| {
            let acks = ids.into_iter().zip(acks);
            let all = acks.map(|(id, ack)| (AckMessage { id, status: status(ack) }, 1)).collect();
            let _ = sent.try_send(Ok(all));
        });
        puts.bring(items, answer).await;
    }
}

/// **PutDiscovered**
pub(super) fn put_discovered(puts: Puts, incoming: Streaming<DiscoveredBatch>) -> Acks<BatchAck> {
    let (sent, acks, room) = stream();
    tokio::spawn(read_batches(puts, incoming, sent, room));
    acks
}

async fn read_batches(
    puts: Puts,
    mut incoming: Streaming<DiscoveredBatch>,
    sent: Sent<BatchAck>,
    room: Arc<Semaphore>,
) {
    loop {
        let batch = match incoming.message().await {
            Ok(Some(batch)) => batch,
            Ok(None) => return,
            Err(status) => return drop(sent.send(Err(status)).await),
        };
        // An empty batch takes a place too, or they would pile up; one that is too large takes all.
        let weight = u32::try_from(batch.items.len().clamp(1, UNACKED_MAX)).unwrap_or(1);
        let permits = tokio::select! {
            permits = room.acquire_many(weight) => permits,
            () = sent.closed() => return,
        };
        let Ok(permits) = permits else { return };
        permits.forget();
        let sent = sent.clone();
        let id = if text(&batch.id).is_ok() { batch.id } else { Bytes::new() };
        let answer = Box::new(move |acks: Vec<Ack>| {
            let statuses = acks.into_iter().map(status).collect();
            let _ = sent.try_send(Ok(vec![(BatchAck { id, statuses }, weight)]));
        });
        let read = batch.items.into_iter().map(|info| item_of(info, crate::News::Discovered).ok());
        puts.bring(read.collect(), answer).await;
    }
}
