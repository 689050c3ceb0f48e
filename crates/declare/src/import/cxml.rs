//! The seeds inside a Heritrix 3 job file (Spring XML).
//!
//! They stand in one of two places: as the property `seeds.textSource.value` of an override bean
//! (`longerOverrides`), or as the value of the `ConfigString` that is the `textSource` of the seeds
//! bean. As in Spring, the override wins. A `ConfigFile` names another file, which is told and not
//! opened.
//!
//! Entities are never expanded but for XML's own five and character references, and nothing outside
//! is fetched.

use anyhow::{Context, Result, anyhow, bail};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::Imported;
use super::lines::LineCounter;
use crate::excerpt;

const DEPTH_MAX: usize = 100;

/// The key of the override, as every profile of Heritrix 3 has it.
const OVERRIDE_KEY: &str = "seeds.textSource.value";

/// What an open element means to us.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Element {
    /// `<prop key="seeds.textSource.value">`
    Override,
    /// `<property name="textSource">`
    TextSource,
    /// `<bean class="….ConfigString">`
    ConfigString,
    ConfigFile,
    /// `<property name="value">` or `<value>`
    Value,
    Other,
}

#[derive(Default)]
struct Finder {
    open: Vec<Element>,
    /// Where the text that is being collected began, and the text.
    text: Option<(u32, String)>,
    overrides: Vec<(u32, String)>,
    values: Vec<(u32, String)>,
    files: Vec<(u32, String)>,
}

/// The pieces of seed text, each with the line it begins on.
pub(super) fn seed_texts(xml: &str, imported: &mut Imported) -> Result<Vec<(u32, String)>> {
    let mut reader = Reader::from_str(xml);
    let mut finder = Finder::default();
    let mut lines = LineCounter::new(xml);
    loop {
        let line = lines.at(usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX));
        match reader.read_event().map_err(|error| no_xml(&error, line))? {
            Event::Start(start) => finder.begin(&start, line)?,
            Event::Empty(start) => {
                finder.begin(&start, line)?;
                finder.end();
            }
            Event::End(_) => finder.end(),
            Event::Text(text) => finder.collect(&text.xml10_content()),
            Event::CData(text) => finder.collect(&text.xml10_content()),
            Event::GeneralRef(entity) => finder.collect(&resolve(&entity, line)?),
            Event::Eof => break,
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) | Event::DocType(_) => {}
        }
    }
    if !finder.open.is_empty() {
        bail!("this XML ends in the middle of an element");
    }
    for (line, path) in &finder.files {
        imported.skip(*line, format!("the seeds are in the file {}: import that", excerpt(path)));
    }
    Ok(if finder.overrides.is_empty() { finder.values } else { finder.overrides })
}

/// What is wrong may quote the file, in as many lines as it likes.
fn no_xml(error: &quick_xml::Error, line: u32) -> anyhow::Error {
    let told: String =
        error.to_string().chars().map(|c| if c.is_control() { ' ' } else { c }).take(200).collect();
    anyhow!(told).context(format!("this is no XML on line {line}"))
}

impl Finder {
    fn begin(&mut self, start: &BytesStart<'_>, line: u32) -> Result<()> {
        if self.open.len() >= DEPTH_MAX {
            bail!("this XML is nested more than {DEPTH_MAX} deep on line {line}");
        }
        let element = element(start);
        self.open.push(element);
        if element == Element::Override || self.is_seed_value() {
            self.text.get_or_insert((line, String::new()));
        }
        let Some(value) = attribute(start, "value") else { return Ok(()) };
        if self.is_seed_value() {
            self.collect(&value);
        }
        let inside_file = self.within(Element::TextSource) && self.within(Element::ConfigFile);
        if inside_file && attribute(start, "name").as_deref() == Some("path") {
            self.files.push((line, value));
        }
        Ok(())
    }

    fn end(&mut self) {
        let Some(ended) = self.open.pop() else { return };
        let list = match ended {
            Element::Override => &mut self.overrides,
            Element::ConfigString => &mut self.values,
            _ => return,
        };
        list.extend(self.text.take());
    }

    fn collect(&mut self, piece: &str) {
        let wanted = self.within(Element::Override) || self.is_seed_value();
        if let (true, Some((_, text))) = (wanted, &mut self.text) {
            text.push_str(piece);
        }
    }

    fn is_seed_value(&self) -> bool {
        use Element::{ConfigString, TextSource, Value};
        [TextSource, ConfigString, Value].into_iter().all(|element| self.within(element))
    }

    fn within(&self, element: Element) -> bool {
        self.open.contains(&element)
    }
}

fn element(start: &BytesStart<'_>) -> Element {
    let class = attribute(start, "class").unwrap_or_default();
    match start.local_name().as_ref() {
        "prop" if attribute(start, "key").as_deref() == Some(OVERRIDE_KEY) => Element::Override,
        "property" => match attribute(start, "name").as_deref() {
            Some("textSource") => Element::TextSource,
            Some("value") => Element::Value,
            _ => Element::Other,
        },
        "value" => Element::Value,
        "bean" if class.ends_with(".ConfigString") => Element::ConfigString,
        "bean" if class.ends_with(".ConfigFile") => Element::ConfigFile,
        _ => Element::Other,
    }
}

/// None as well for one that cannot be read: it then is not the one looked for.
fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = start.try_get_attribute(name).ok()??;
    attribute.normalized_value(quick_xml::XmlVersion::Implicit1_0).ok().map(|value| value.into_owned())
}

fn resolve(entity: &BytesRef<'_>, line: u32) -> Result<String> {
    let character = entity.resolve_char_ref();
    let character = character.with_context(|| format!("bad character reference on line {line}"))?;
    let text = character.map(String::from).or_else(|| resolve_xml_entity(entity).map(str::to_owned));
    let named = excerpt(entity);
    text.ok_or_else(|| {
        anyhow!("the entity {named} on line {line} is not XML's own, and others are not expanded")
    })
}
