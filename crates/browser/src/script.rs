//! What is run in pages: in a world of its own beside their scripts, which neither sees it nor can
//! have put other functions in its place.

/// In each document before its own scripts: nothing prints.
pub(crate) const EVERY_DOCUMENT: &str = "window.print = () => {};";

/// `of(name)`: what a document has by nature. An `<img name=title>` takes the place of
/// `document.title`, in our world too.
const OF: &str = "const of = name => { \
     for (let kind = Document.prototype; kind; kind = Object.getPrototypeOf(kind)) { \
       const own = Object.getOwnPropertyDescriptor(kind, name); \
       if (own) return own.get ? own.get.call(document) : own.value.bind(document); } }; ";

/// Scrolls to the end in steps of two frames: in larger ones what is loaded on sight is missed.
/// Gives whether it came there in time.
pub(crate) fn scroll(ms: u64) -> String {
    format!(
        "(async () => {{ {OF} \
           const end = performance.now() + {ms}; let y = 0, there = false; \
           const frames = () => new Promise(done => {{ \
             setTimeout(done, 500); \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); }}); \
           while (performance.now() < end) {{ \
             const page = of('scrollingElement') || of('documentElement'); \
             if (!page) {{ there = true; break; }} \
             y += Math.max(innerHeight, 100); scrollTo(0, y); await frames(); \
             if (y >= page.scrollHeight) {{ there = true; break; }} }} \
           scrollTo(0, 0); await frames(); return there; }})()"
    )
}

/// Clicks whatever the selector selects, once each. Gives whether there was time for all.
pub(crate) fn click(selector: &str, ms: u64) -> String {
    let selector = serde_json::Value::from(selector);
    format!(
        "(async () => {{ {OF} \
           const end = performance.now() + {ms}; let clicks = 0, all = false; const seen = new Set(); \
           const frames = () => new Promise(done => {{ \
             setTimeout(done, 500); \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 30))); }}); \
           while (performance.now() < end && clicks < 1000) {{ \
             const next = [...of('querySelectorAll')({selector})].find(one => !seen.has(one)); \
             if (!next) {{ all = true; break; }} \
             seen.add(next); next.click(); clicks++; await frames(); }} \
           return all; }})()"
    )
}

/// Characters of a document that are taken; a message has an end, and each may take six bytes of it.
pub(crate) const DOM_CHARS_MAX: usize = 24 << 20;
/// Of its title and of its addresses.
const NAME_CHARS_MAX: usize = 8 << 10;

/// A document as it stands, with what is in open shadow roots as declarative ones, up to so many
/// characters.
pub(crate) fn document(chars_max: usize) -> String {
    format!(
        "(() => {{ {OF} \
           const roots = [], shadow = Object.getOwnPropertyDescriptor(Element.prototype, 'shadowRoot').get; \
           const look = all => {{ for (const one of all('*')) {{ \
             const root = shadow.call(one); \
             if (root) {{ roots.push(root); look(root.querySelectorAll.bind(root)); }} }} }}; \
           look(of('querySelectorAll')); \
           const kind = of('doctype'), top = of('documentElement'); \
           let html = ''; \
           if (kind) html += new XMLSerializer().serializeToString(kind) + '\\n'; \
           if (top && roots.length && top.getHTML) {{ \
             const own = top.cloneNode(false).outerHTML, end = own.lastIndexOf('</'); \
             html += own.slice(0, end) + top.getHTML({{ shadowRoots: roots }}) + own.slice(end); \
           }} else if (top) html += top.outerHTML; \
           const short = name => of(name).slice(0, {NAME_CHARS_MAX}); \
           return {{ url: short('URL'), base: short('baseURI'), title: short('title'), \
             kind: short('contentType'), long: html.length > {chars_max}, \
             html: html.slice(0, {chars_max}) }}; }})()"
    )
}
