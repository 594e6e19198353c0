//! XML as a small tree, names without their prefixes: what is needed of XMP.

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// Deeper trees are not XMP.
const DEEPEST: usize = 64;

/// An element.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Node {
    /// Its name, without a prefix.
    pub name: String,
    /// Names, without prefixes, and values.
    pub attributes: Vec<(String, String)>,
    /// Elements in it.
    pub children: Vec<Node>,
    /// Text in it.
    pub text: String,
}

impl Node {
    /// Every element within this one with a name, outermost first; not those within one of them.
    pub fn all<'a>(&'a self, name: &str) -> Vec<&'a Self> {
        let mut found = Vec::new();
        for child in &self.children {
            if child.name == name {
                found.push(child);
            } else {
                found.extend(child.all(name));
            }
        }
        found
    }

    /// A value that is written as an attribute or as an element, here or within.
    pub fn value(&self, name: &str) -> Option<&str> {
        let own = self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| &value[..]);
        own.or_else(|| {
            let child = self.children.iter().find(|child| child.name == name);
            child.map(|child| child.text.trim()).filter(|text| !text.is_empty())
        })
        .or_else(|| self.children.iter().find_map(|child| child.value(name)))
    }

    /// A number.
    pub fn number(&self, name: &str) -> Option<f32> {
        self.value(name)?.trim().parse().ok().filter(|value: &f32| value.is_finite())
    }
}

/// The tree of a document; `None` where it is not one.
pub fn parse(bytes: &[u8]) -> Option<Node> {
    let text = String::from_utf8_lossy(bytes);
    let mut reader = Reader::from_str(&text);
    let mut open = vec![Node::default()];
    loop {
        match reader.read_event().ok()? {
            Event::Start(start) if open.len() < DEEPEST => open.push(node(&start)),
            Event::Start(_) => return None,
            Event::Empty(start) => open.last_mut()?.children.push(node(&start)),
            Event::End(_) => {
                let closed = open.pop()?;
                open.last_mut()?.children.push(closed);
            }
            Event::Text(piece) => open.last_mut()?.text += &piece.decode().ok()?,
            Event::GeneralRef(reference) => {
                let name = reference.decode().ok()?;
                let piece = quick_xml::escape::unescape(&format!("&{name};")).ok()?.into_owned();
                open.last_mut()?.text += &piece;
            }
            Event::CData(piece) => open.last_mut()?.text += &String::from_utf8_lossy(&piece),
            Event::Eof => break,
            _ => {}
        }
    }
    let root = open.pop()?;
    open.is_empty().then_some(root)
}

fn node(start: &BytesStart<'_>) -> Node {
    let local = |name: &[u8]| String::from_utf8_lossy(name).into_owned();
    let mut node = Node { name: local(start.local_name().as_ref()), ..Node::default() };
    for attribute in start.attributes().with_checks(false).flatten() {
        if let Ok(value) = attribute.unescape_value() {
            let key = local(attribute.key.local_name().as_ref());
            node.attributes.push((key, value.into_owned()));
        }
    }
    node
}
