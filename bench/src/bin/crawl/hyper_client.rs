//! The ceiling: a bare hyper client that asks for every page by its number, and reads nothing of
//! what comes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Result;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::rt::TokioIo;
use skurd_bench::pages::Shape;
use skurd_bench::{Stopwatch, cpu_seconds, memory_mib};
use tokio::net::TcpStream;

use super::peers::Run;

const CONNECTIONS: u64 = 64;

pub(crate) fn run(shape: &Shape, port: u16) -> Result<Run> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let before = cpu_seconds();
    let watch = Stopwatch::start();
    let (shape, next) = (*shape, Arc::new(AtomicU64::new(0)));
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..CONNECTIONS {
            tasks.spawn(connection(shape, port, Arc::clone(&next)));
        }
        while let Some(done) = tasks.join_next().await {
            done??;
        }
        anyhow::Ok(())
    })?;
    Ok(Run {
        seconds: watch.elapsed().as_secs_f64(),
        cpu_seconds: cpu_seconds() - before,
        peak_mib: memory_mib().1,
        archive_bytes: 0,
        written_bytes: 0,
    })
}

/// Takes page after page; on many hosts, a connection for each of its hosts in turn.
async fn connection(shape: Shape, port: u16, next: Arc<AtomicU64>) -> Result<()> {
    loop {
        let first = next.fetch_add(shape.pages.min(100), Ordering::Relaxed);
        if first >= shape.pages * shape.hosts {
            return Ok(());
        }
        let host = Shape::host(first / shape.pages);
        let stream = TcpStream::connect((host.as_str(), port)).await?;
        stream.set_nodelay(true)?;
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
        let driver = tokio::spawn(connection);
        for n in first..first + shape.pages.min(100) {
            let request = Request::get(format!("/p/{}", n % shape.pages))
                .header("Host", format!("{host}:{port}"))
                .body(Empty::<Bytes>::new())?;
            let mut answer = sender.send_request(request).await?;
            while let Some(frame) = answer.frame().await {
                frame?;
            }
        }
        drop(sender);
        driver.await??;
    }
}
