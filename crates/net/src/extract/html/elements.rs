//! Which attributes of which elements are links, and of what kind.

use policy::model::LinkKind::{self, Link, Redirect};

use super::super::{text, value};
use super::{Dialect, Html, Requisite, STYLE_BYTES_MAX, Tag, What};

/// Pictures that others show in the page's place; most sites name them for nobody but those.
const PICTURES: [&[u8]; 5] =
    [b"og:image", b"og:image:url", b"og:image:secure_url", b"twitter:image", b"twitter:image:src"];

impl Html<'_> {
    /// By its name in lower case.
    pub(super) fn element(&mut self, name: &[u8], tag: &Tag<'_>) {
        match name {
            b"a" => {
                let found = match tag.is_foreign && tag.get(b"href").is_none() {
                    true => self.link(tag, b"xlink:href", Link, "a/@xlink:href"),
                    false => self.link(tag, b"href", Link, "a/@href"),
                };
                self.open_anchor(found);
            }
            b"area" => {
                if let Some(at) = self.link(tag, b"href", Link, "area/@href") {
                    let alt = self.attribute(tag, b"alt");
                    self.collector.anchor(at, &text::collapsed(&alt, self.limits.anchor_bytes_max));
                }
            }
            b"link" => self.link_element(tag),
            b"meta" => self.meta(tag),
            b"base" => self.base_element(tag),
            b"form" if self.forms => self.form(tag),
            b"style" => self.open_capture(What::Style, tag.is_foreign, STYLE_BYTES_MAX),
            b"title" => self.title_element(tag),
            b"template" if !tag.is_foreign => self.templates += 1,
            b"input" => {
                if tag.get(b"type").is_some_and(|kind| kind.trim_ascii().eq_ignore_ascii_case(b"image")) {
                    self.link(tag, b"src", Requisite, "input/@src");
                }
            }
            _ => self.requisite(name, tag),
        }
    }

    fn requisite(&mut self, name: &[u8], tag: &Tag<'_>) {
        match name {
            b"img" => self.img(tag),
            b"image" if !tag.is_foreign => self.img(tag),
            b"amp-img" | b"amp-anim" => self.img(tag),
            b"source" => {
                self.link(tag, b"src", Requisite, "source/@src");
                self.srcset(tag, b"srcset", "source/@srcset");
                self.srcset(tag, b"data-srcset", "source/@data-srcset");
                self.srcset(tag, b"data-lazy-srcset", "source/@data-lazy-srcset");
            }
            b"script" => self.script(tag),
            b"iframe" => {
                self.link(tag, b"src", Requisite, "iframe/@src");
                self.link(tag, b"data-src", Requisite, "iframe/@data-src");
                self.link(tag, b"data-lazy-src", Requisite, "iframe/@data-lazy-src");
                self.document(tag);
            }
            b"frame" => {
                self.link(tag, b"src", Requisite, "frame/@src");
            }
            b"video" => {
                self.link(tag, b"src", Requisite, "video/@src");
                self.link(tag, b"poster", Requisite, "video/@poster");
            }
            b"audio" => {
                self.link(tag, b"src", Requisite, "audio/@src");
            }
            b"track" => {
                self.link(tag, b"src", Requisite, "track/@src");
            }
            b"embed" => {
                self.link(tag, b"src", Requisite, "embed/@src");
            }
            b"object" => {
                self.link(tag, b"data", Requisite, "object/@data");
            }
            b"html" => {
                self.link(tag, b"manifest", Requisite, "html/@manifest");
            }
            b"body" | b"table" | b"thead" | b"tbody" | b"tfoot" | b"tr" | b"td" | b"th" => {
                self.link(tag, b"background", Requisite, "@background");
            }
            b"image" | b"use" | b"feimage" => self.in_drawing(tag),
            _ => {}
        }
    }

    fn link(&mut self, tag: &Tag<'_>, attribute: &[u8], kind: LinkKind, how: &'static str) -> Option<usize> {
        let raw = text::attribute(self.charset, tag.get(attribute)?);
        self.collector.add(&raw, kind, how)
    }

    fn srcset(&mut self, tag: &Tag<'_>, attribute: &[u8], how: &'static str) {
        let Some(set) = tag.get(attribute) else { return };
        for url in value::srcset(&text::attribute(self.charset, set)) {
            self.collector.add(url, Requisite, how);
        }
    }

    fn attribute(&self, tag: &Tag<'_>, name: &[u8]) -> String {
        tag.get(name).map(|raw| text::attribute(self.charset, raw).into_owned()).unwrap_or_default()
    }

    /// With the places where scripts that load pictures late keep their addresses.
    fn img(&mut self, tag: &Tag<'_>) {
        self.link(tag, b"src", Requisite, "img/@src");
        self.srcset(tag, b"srcset", "img/@srcset");
        self.link(tag, b"data-src", Requisite, "img/@data-src");
        self.srcset(tag, b"data-srcset", "img/@data-srcset");
        self.link(tag, b"data-original", Requisite, "img/@data-original");
        self.link(tag, b"data-lazy-src", Requisite, "img/@data-lazy-src");
        self.srcset(tag, b"data-lazy-srcset", "img/@data-lazy-srcset");
        if self.anchor.as_ref().is_some_and(|anchor| anchor.alt.is_none()) && tag.get(b"alt").is_some() {
            let alt = self.attribute(tag, b"alt");
            if let Some(anchor) = &mut self.anchor {
                anchor.alt = Some(alt);
            }
        }
    }

    fn in_drawing(&mut self, tag: &Tag<'_>) {
        self.link(tag, b"href", Requisite, "svg/@href");
        self.link(tag, b"xlink:href", Requisite, "svg/@xlink:href");
    }

    /// Its text is nobody's, also where the scanner does not know that.
    fn script(&mut self, tag: &Tag<'_>) {
        if tag.is_foreign {
            self.in_drawing(tag);
        } else {
            self.link(tag, b"src", Requisite, "script/@src");
        }
        if tag.is_foreign || self.dialect == Dialect::Xml {
            self.open_capture(What::Script, tag.is_foreign, 0);
        }
    }

    fn title_element(&mut self, tag: &Tag<'_>) {
        if tag.is_foreign {
            if self.anchor.is_some() {
                self.open_capture(What::Description, true, text::raw_bytes_for(self.limits.anchor_bytes_max));
            }
        } else if self.title.is_none() && self.templates == 0 {
            self.open_capture(What::Title, false, text::raw_bytes_for(text::TITLE_BYTES_MAX));
        }
    }

    fn base_element(&mut self, tag: &Tag<'_>) {
        let counts = self.base.is_none() && !tag.is_foreign && self.templates == 0;
        if counts && tag.get(b"href").is_some() {
            self.base = Some(self.attribute(tag, b"href"));
        }
    }

    fn link_element(&mut self, tag: &Tag<'_>) {
        if let Some(kind) = value::rel(&self.attribute(tag, b"rel")) {
            self.link(tag, b"href", kind, "link/@href");
            if kind == Requisite {
                self.srcset(tag, b"imagesrcset", "link/@imagesrcset");
            }
        }
    }

    fn meta(&mut self, tag: &Tag<'_>) {
        let is = |attribute: &[u8], names: &[&[u8]]| {
            let value = tag.get(attribute).map(<[u8]>::trim_ascii);
            value.is_some_and(|value| names.iter().any(|name| name.eq_ignore_ascii_case(value)))
        };
        if is(b"http-equiv", &[b"refresh"]) {
            // A document within the page sends its own frame elsewhere, not the reader.
            let kind = if self.deep == 0 { Redirect } else { Requisite };
            if let Some(url) = value::refresh(&self.attribute(tag, b"content")) {
                self.collector.add(url, kind, "meta/refresh");
            }
        } else if is(b"property", &PICTURES) || is(b"name", &PICTURES) {
            self.link(tag, b"content", Requisite, "meta/@content");
        }
    }

    fn form(&mut self, tag: &Tag<'_>) {
        if tag.get(b"method").is_none_or(|method| !method.trim_ascii().eq_ignore_ascii_case(b"post")) {
            self.link(tag, b"action", Link, "form/@action");
        }
    }
}
