//! What is taken from a page at its end: documents, pictures, cookies.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use policy::browser::{Ending, Screenshot as Shot};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{Alive, CALL, Cookie, FRAMES_MAX, Frame, Picture, Tab};
use crate::cookies;
use crate::pipe::CallError;
use crate::protocol::{
    CaptureScreenshot, Clip, Evaluate, FrameNode, GetCookies, GetFrameTree, GetLayoutMetrics, IsolatedWorld,
};
use crate::script;

/// Characters of all documents of a page together, and of each frame's: the page's own may be longer.
const PAGE_CHARS_MAX: usize = 64 << 20;
const FRAME_CHARS_MAX: usize = 4 << 20;
/// Pictures are not taken beyond this many CSS pixels from the top: encoders refuse more.
const PICTURE_HEIGHT_MAX: f64 = 16_000.0;
const THUMBNAIL_WIDTH: f64 = 320.0;
const PICTURE_QUALITY: u32 = 80;

impl Tab<'_> {
    /// The final documents and the pictures.
    pub(super) async fn collect(&mut self, end: Instant) -> Alive<()> {
        self.is_awake().await?;
        self.trouble.map_or(Ok(()), Err)?;
        let sessions: Vec<String> =
            self.own.iter().chain(&self.frames).map(|attached| attached.session.clone()).collect();
        let left = AtomicUsize::new(PAGE_CHARS_MAX);
        let read = join_all(sessions.iter().map(|session| self.documents_of(session, end, &left)));
        for found in timeout_at(end + Duration::from_secs(1), read).await.unwrap_or_default() {
            match found {
                Ok((frames, notes)) => {
                    self.seen.frames.extend(frames);
                    self.seen.notes.extend(notes);
                }
                Err(CallError::Gone) => return Err(Ending::BrowserGone),
                Err(problem) => self.seen.notes.push(problem.to_string()),
            }
        }
        self.seen.frames.truncate(FRAMES_MAX);
        self.hear_all().await?;
        if self.seen.frames.is_empty() {
            self.truncate("collect");
            return self.is_awake().await;
        }
        self.pictures(end).await;
        self.hear_all().await
    }

    /// The documents of a session, its own and those of frames in its process, and what is missing of
    /// them.
    async fn documents_of(
        &self,
        session: &str,
        end: Instant,
        left: &AtomicUsize,
    ) -> Result<(Vec<Frame>, Vec<String>), CallError> {
        let within = || end.saturating_duration_since(Instant::now()).min(CALL);
        let (mut ids, mut frames, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        match self.browser.pipe.call(Some(session), &GetFrameTree {}, within()).await {
            Ok(tree) => flatten(&tree.frame_tree, &mut ids),
            // Frames can be nested more deeply than a message is read.
            Err(CallError::Refused { message, .. }) => {
                let attached = self.own.iter().chain(&self.frames).find(|one| one.session == session);
                ids.extend(attached.map(|attached| attached.target.clone()));
                notes.push(format!("its frames are left out: {message}"));
            }
            Err(problem) => return Err(problem),
        }
        for (at, frame_id) in ids.iter().enumerate() {
            let most = if at == 0 { script::DOM_CHARS_MAX } else { FRAME_CHARS_MAX };
            let take = |left: usize| Some(left - left.min(most));
            let before = left.fetch_update(Ordering::AcqRel, Ordering::Acquire, take).unwrap_or(0);
            let chars_max = before.min(most);
            if chars_max == 0 {
                notes.push("its frames are too long: some are left out".to_owned());
                break;
            }
            let found = match self.document_of(session, frame_id, chars_max, end).await {
                Ok(found) => found,
                // A frame may go while it is read; the page itself may not.
                Err(problem) if at == 0 => return Err(problem),
                Err(_) => Value::Null,
            };
            let frame = frame(&found);
            let used = frame.as_ref().map_or(0, |frame| frame.html.len());
            left.fetch_add(chars_max.saturating_sub(used), Ordering::AcqRel);
            if found.get("long").and_then(Value::as_bool) == Some(true) {
                notes.push(format!("of a document only {chars_max} characters are kept"));
            }
            frames.extend(frame);
        }
        Ok((frames, notes))
    }

    /// What the script finds in a frame.
    async fn document_of(
        &self,
        session: &str,
        frame_id: &str,
        chars_max: usize,
        end: Instant,
    ) -> Result<Value, CallError> {
        let pipe = &self.browser.pipe;
        let within = || end.saturating_duration_since(Instant::now()).min(CALL);
        let create = IsolatedWorld { frame_id, world_name: "skurd" };
        let world = pipe.call(Some(session), &create, within()).await?;
        let evaluate = Evaluate {
            expression: &script::document(chars_max),
            await_promise: false,
            return_by_value: true,
            context_id: Some(world.execution_context_id),
            timeout: None,
        };
        Ok(pipe.call(Some(session), &evaluate, within()).await?.result.value)
    }

    async fn pictures(&mut self, end: Instant) {
        let settings = self.visit.settings;
        if settings.screenshot == Shot::None {
            return;
        }
        let within = |end: Instant| end.saturating_duration_since(Instant::now());
        let viewport = settings.viewport;
        let (width, height) = (f64::from(viewport.width), f64::from(viewport.height));
        let clip = match settings.screenshot {
            Shot::Full => match self.call(&GetLayoutMetrics {}, within(end)).await {
                Ok(layout) => {
                    let size = layout.css_content_size;
                    let (width, height) = (size.width.clamp(1.0, 10_000.0), size.height);
                    if height > PICTURE_HEIGHT_MAX {
                        self.seen.notes.push("the picture ends before the page does".to_owned());
                    }
                    let height = height.clamp(1.0, PICTURE_HEIGHT_MAX);
                    Some(Clip { x: 0.0, y: 0.0, width, height, scale: 1.0 })
                }
                Err(_) => None,
            },
            _ => None,
        };
        let scale = THUMBNAIL_WIDTH / width.max(1.0);
        let small = Clip { x: 0.0, y: 0.0, width, height, scale };
        self.seen.screenshot = self.picture(clip, within(end)).await;
        self.seen.thumbnail = self.picture(Some(small), within(end)).await;
        if self.seen.screenshot.is_none() {
            self.truncate("collect");
        }
    }

    async fn picture(&mut self, clip: Option<Clip>, within: Duration) -> Option<Picture> {
        let capture = CaptureScreenshot {
            format: "jpeg",
            quality: PICTURE_QUALITY,
            capture_beyond_viewport: clip.is_some(),
            clip,
            optimize_for_speed: true,
        };
        let taken = match self.call(&capture, within).await {
            Ok(taken) => taken,
            Err(problem) => {
                self.seen.notes.push(problem.to_string());
                return None;
            }
        };
        let bytes = data_encoding::BASE64.decode(taken.data.as_bytes()).ok()?;
        Some(Picture { content_type: "image/jpeg", bytes })
    }

    pub(super) async fn cookies(&self) -> Option<Vec<Cookie>> {
        let get = GetCookies { browser_context_id: self.context };
        let got = self.browser.pipe.call(None, &get, CALL).await.ok()?;
        Some(got.cookies.into_iter().map(cookies::taken).collect())
    }
}

fn flatten(node: &FrameNode, ids: &mut Vec<String>) {
    if ids.len() < FRAMES_MAX {
        ids.push(node.frame.id.clone());
        node.child_frames.iter().for_each(|child| flatten(child, ids));
    }
}

fn frame(value: &Value) -> Option<Frame> {
    let text = |key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    value.is_object().then(|| Frame {
        url: text("url"),
        base: text("base"),
        title: text("title"),
        content_type: text("kind"),
        html: text("html"),
    })
}
