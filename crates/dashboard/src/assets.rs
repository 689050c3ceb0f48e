//! The few files that pages load, all of them in the binary.

use app::Problem;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use server::api::Path;

use crate::Shown;

/// A page names the version, so that a file never changes under its name.
const KEPT: &str = "public, max-age=31536000, immutable";

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

const ASSETS: [Asset; 3] = [
    Asset { name: "skurd.css", kind: "text/css; charset=utf-8", text: include_str!("assets/skurd.css") },
    Asset { name: "skurd.js", kind: "text/javascript; charset=utf-8", text: include_str!("assets/skurd.js") },
    Asset { name: "icon.svg", kind: "image/svg+xml", text: include_str!("assets/icon.svg") },
];

/// Where a page finds it.
pub(super) fn path(name: &str) -> String {
    let text = ASSETS.iter().find(|asset| asset.name == name).map_or("", |asset| asset.text);
    format!("/assets/{name}?v={:016x}", hash(text))
}

/// FNV-1a: the same in every build of the same text.
fn hash(text: &str) -> u64 {
    text.bytes()
        .fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

pub(super) async fn serve(Path(name): Path<String>) -> Shown {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| Problem::new(StatusCode::NOT_FOUND, "there is no such file"))?;
    Ok(([(header::CONTENT_TYPE, asset.kind), (header::CACHE_CONTROL, KEPT)], asset.text).into_response())
}
