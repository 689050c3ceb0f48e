//! What is run in pages: in a world of its own beside their scripts, which neither sees it nor can
//! have put other functions in its place.

/// In each document before its own scripts: nothing prints.
pub(crate) const EVERY_DOCUMENT: &str = "window.print = () => {};";

/// Scrolls to the end in steps of two frames: in larger ones what is loaded on sight is missed.
/// Gives the number of steps.
pub(crate) fn scroll(ms: u64) -> String {
    format!(
        "(async () => {{ \
           const end = performance.now() + {ms}; let y = 0, steps = 0; \
           const frames = () => new Promise(done => {{ \
             setTimeout(done, 500); \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); }}); \
           while (performance.now() < end) {{ \
             const page = document.scrollingElement || document.documentElement; \
             if (!page) break; \
             y += Math.max(innerHeight, 100); scrollTo(0, y); steps++; await frames(); \
             if (y >= page.scrollHeight) break; }} \
           scrollTo(0, 0); await frames(); return steps; }})()"
    )
}

/// Clicks whatever the selector selects, once each. Gives how many there were.
pub(crate) fn click(selector: &str, ms: u64) -> String {
    let selector = serde_json::Value::from(selector);
    format!(
        "(async () => {{ \
           const end = performance.now() + {ms}; let clicks = 0; const seen = new Set(); \
           const frames = () => new Promise(done => {{ \
             setTimeout(done, 500); \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); }}); \
           while (performance.now() < end && clicks < 1000) {{ \
             const next = [...document.querySelectorAll({selector})].find(one => !seen.has(one)); \
             if (!next) break; \
             seen.add(next); next.click(); clicks++; await frames(); }} \
           return clicks; }})()"
    )
}

/// Characters of a document that are taken; a message has an end.
pub(crate) const DOM_CHARS_MAX: usize = 32 << 20;

/// A document as it stands, with what is in open shadow roots as declarative ones.
pub(crate) fn document() -> String {
    format!(
        "(() => {{ \
           const roots = []; \
           const look = root => {{ for (const one of root.querySelectorAll('*')) \
             if (one.shadowRoot) {{ roots.push(one.shadowRoot); look(one.shadowRoot); }} }}; \
           look(document); \
           const kind = document.doctype, top = document.documentElement; \
           let html = ''; \
           if (kind) html += new XMLSerializer().serializeToString(kind) + '\\n'; \
           if (top && roots.length && top.getHTML) {{ \
             const own = top.cloneNode(false).outerHTML, end = own.lastIndexOf('</'); \
             html += own.slice(0, end) + top.getHTML({{ shadowRoots: roots }}) + own.slice(end); \
           }} else if (top) html += top.outerHTML; \
           return {{ url: document.URL, base: document.baseURI, title: document.title, \
             kind: document.contentType, long: html.length > {DOM_CHARS_MAX}, \
             html: html.slice(0, {DOM_CHARS_MAX}) }}; }})()"
    )
}
