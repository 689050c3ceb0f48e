//! The few commands and events of the DevTools protocol that are used, as types.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) trait Command: Serialize + Sync {
    const METHOD: &'static str;
    type Answer: DeserializeOwned;
}

#[derive(Serialize)]
pub(crate) struct Outgoing<'a> {
    pub(crate) id: u64,
    pub(crate) method: &'static str,
    pub(crate) params: Value,
    #[serde(rename = "sessionId", skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<&'a str>,
}

/// A message of the browser.
#[derive(Deserialize)]
#[serde(from = "Raw")]
pub(crate) enum Incoming {
    Answer { id: u64, answer: Result<Value, String> },
    Event(Event),
}

/// Something that happened, in a session or to a context.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) session: Option<String>,
    pub(crate) method: String,
    pub(crate) params: Value,
}

#[derive(Deserialize)]
struct Raw {
    id: Option<u64>,
    #[serde(default)]
    method: String,
    #[serde(default)]
    params: Value,
    #[serde(default)]
    result: Value,
    error: Option<RawError>,
    #[serde(rename = "sessionId")]
    session: Option<String>,
}

#[derive(Deserialize)]
struct RawError {
    #[serde(default)]
    message: String,
}

impl From<Raw> for Incoming {
    fn from(raw: Raw) -> Incoming {
        match raw.id {
            Some(id) => {
                let answer = raw.error.map_or(Ok(raw.result), |error| Err(error.message));
                Incoming::Answer { id, answer }
            }
            None => Incoming::Event(Event { session: raw.session, method: raw.method, params: raw.params }),
        }
    }
}

impl Event {
    /// The browser context it is about, where it says so.
    pub(crate) fn context(&self) -> Option<&str> {
        self.params.pointer("/targetInfo/browserContextId")?.as_str()
    }

    pub(crate) fn text(&self, pointer: &str) -> &str {
        self.params.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
    }
}

/// Commands: a name, its parameters, and what is wanted of the answer.
macro_rules! commands {
    ($($(#[$about:meta])* $name:ident $(<$life:lifetime>)? = $method:literal { $($field:ident: $type:ty),* $(,)? } -> $answer:ty;)*) => {
        $($(#[$about])*
        #[derive(Debug, Serialize)]
        #[serde(rename_all = "camelCase")]
        pub(crate) struct $name $(<$life>)? { $(pub(crate) $field: $type),* }

        impl $(<$life>)? Command for $name $(<$life>)? {
            const METHOD: &'static str = $method;
            type Answer = $answer;
        })*
    };
}

/// Nothing is wanted of it.
#[derive(Debug, Deserialize)]
pub(crate) struct Done {}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Version {
    pub(crate) product: String,
    pub(crate) user_agent: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct NewContext {
    pub(crate) browser_context_id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Navigated {
    #[serde(default)]
    pub(crate) error_text: String,
    #[serde(default)]
    pub(crate) is_download: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameTree {
    pub(crate) frame_tree: FrameNode,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FrameNode {
    pub(crate) frame: FrameInfo,
    #[serde(default)]
    pub(crate) child_frames: Vec<FrameNode>,
}

#[derive(Debug, Deserialize)]
pub(crate) struct FrameInfo {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct World {
    pub(crate) execution_context_id: u64,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Evaluated {
    #[serde(default)]
    pub(crate) result: RemoteObject,
    #[serde(default)]
    pub(crate) exception_details: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
pub(crate) struct RemoteObject {
    #[serde(default)]
    pub(crate) value: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct LayoutMetrics {
    pub(crate) css_content_size: Size,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Size {
    pub(crate) width: f64,
    pub(crate) height: f64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Screenshot {
    pub(crate) data: String,
}

#[derive(Debug, Deserialize)]
pub(crate) struct Cookies {
    pub(crate) cookies: Vec<CookieOut>,
}

/// A cookie as the browser tells it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CookieOut {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) domain: String,
    pub(crate) path: String,
    /// Seconds; less than none of a session's.
    #[serde(default)]
    pub(crate) expires: f64,
    #[serde(default)]
    pub(crate) secure: bool,
    #[serde(default)]
    pub(crate) http_only: bool,
    pub(crate) same_site: Option<String>,
}

/// A cookie as the browser is told it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CookieIn {
    pub(crate) name: String,
    pub(crate) value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) domain: Option<String>,
    pub(crate) path: String,
    pub(crate) secure: bool,
    pub(crate) http_only: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) same_site: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) expires: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Clip {
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) scale: f64,
}

#[derive(Debug, Serialize)]
pub(crate) struct TargetFilter {
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    pub(crate) kind: Option<&'static str>,
    pub(crate) exclude: bool,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct RequestPattern {
    pub(crate) url_pattern: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) resource_type: Option<&'static str>,
}

#[derive(Debug, Serialize)]
pub(crate) struct MediaFeature {
    pub(crate) name: &'static str,
    pub(crate) value: &'static str,
}

commands! {
    GetVersion = "Browser.getVersion" {} -> Version;
    CloseBrowser = "Browser.close" {} -> Done;
    SetDownloadBehavior<'a> = "Browser.setDownloadBehavior" {
        behavior: &'static str, browser_context_id: &'a str, events_enabled: bool,
    } -> Done;
    CreateContext<'a> = "Target.createBrowserContext" {
        dispose_on_detach: bool, proxy_server: &'a str, proxy_bypass_list: &'static str,
    } -> NewContext;
    DisposeContext<'a> = "Target.disposeBrowserContext" { browser_context_id: &'a str } -> Done;
    CreateTarget<'a> = "Target.createTarget" {
        url: &'static str, browser_context_id: &'a str, width: u32, height: u32,
    } -> Done;
    CloseTarget<'a> = "Target.closeTarget" { target_id: &'a str } -> Done;
    AutoAttach = "Target.setAutoAttach" {
        auto_attach: bool, wait_for_debugger_on_start: bool, flatten: bool, filter: Vec<TargetFilter>,
    } -> Done;
    GoOn = "Runtime.runIfWaitingForDebugger" {} -> Done;
    EndScript = "Runtime.terminateExecution" {} -> Done;
    Evaluate<'a> = "Runtime.evaluate" {
        expression: &'a str, await_promise: bool, return_by_value: bool, context_id: Option<u64>,
        timeout: Option<u64>,
    } -> Evaluated;
    EnablePage = "Page.enable" {} -> Done;
    EnableNetwork = "Network.enable" {} -> Done;
    DisableNetwork = "Network.disable" {} -> Done;
    EnableInspector = "Inspector.enable" {} -> Done;
    Navigate<'a> = "Page.navigate" { url: &'a str } -> Navigated;
    EveryDocument<'a> = "Page.addScriptToEvaluateOnNewDocument" { source: &'a str } -> Value;
    InterceptFileChooser = "Page.setInterceptFileChooserDialog" { enabled: bool } -> Done;
    AnswerDialog = "Page.handleJavaScriptDialog" { accept: bool } -> Done;
    GetFrameTree = "Page.getFrameTree" {} -> FrameTree;
    IsolatedWorld<'a> = "Page.createIsolatedWorld" { frame_id: &'a str, world_name: &'static str } -> World;
    GetLayoutMetrics = "Page.getLayoutMetrics" {} -> LayoutMetrics;
    CaptureScreenshot = "Page.captureScreenshot" {
        format: &'static str, quality: u32, clip: Option<Clip>, capture_beyond_viewport: bool,
        optimize_for_speed: bool,
    } -> Screenshot;
    Intercept = "Fetch.enable" { patterns: Vec<RequestPattern> } -> Done;
    ContinueRequest<'a> = "Fetch.continueRequest" { request_id: &'a str } -> Done;
    FailRequest<'a> = "Fetch.failRequest" { request_id: &'a str, error_reason: &'static str } -> Done;
    SetCookies<'a> = "Storage.setCookies" { cookies: Vec<CookieIn>, browser_context_id: &'a str } -> Done;
    GetCookies<'a> = "Storage.getCookies" { browser_context_id: &'a str } -> Cookies;
    SetUserAgent<'a> = "Emulation.setUserAgentOverride" {
        user_agent: &'a str, accept_language: Option<&'a str>,
    } -> Done;
    SetMetrics = "Emulation.setDeviceMetricsOverride" {
        width: u32, height: u32, device_scale_factor: f64, mobile: bool,
    } -> Done;
    SetTouch = "Emulation.setTouchEmulationEnabled" { enabled: bool } -> Done;
    SetTimezone<'a> = "Emulation.setTimezoneOverride" { timezone_id: &'a str } -> Done;
    SetLocale<'a> = "Emulation.setLocaleOverride" { locale: &'a str } -> Done;
    SetMedia = "Emulation.setEmulatedMedia" { features: Vec<MediaFeature> } -> Done;
}
