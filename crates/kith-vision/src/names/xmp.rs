//! Names in XMP: MWG's regions, Microsoft's, and the persons of IPTC.

use super::Region;
use super::xml::{self, Node};

/// How kith begins to say, in a region, that no person said its name.
pub const GUESS: &str = "kith is ";

/// The source of such a name: reading it back is no evidence.
pub const OWN: &str = "kith";

/// The XMP packet in a file of any format, found by how it begins and ends, as XMP's makers meant it to be.
pub fn packet(bytes: &[u8]) -> Option<&[u8]> {
    let start = memchr::memmem::find(bytes, b"<x:xmpmeta")?;
    let end = memchr::memmem::find(&bytes[start..], b"</x:xmpmeta>")?;
    Some(&bytes[start..start + end + b"</x:xmpmeta>".len()])
}

/// The names in a packet or a sidecar; what is not XMP has none.
pub fn regions(bytes: &[u8]) -> Vec<Region> {
    let Some(root) = xml::parse(bytes) else { return Vec::new() };
    let mut regions = Vec::new();
    for list in root.all("Regions") {
        let unit = list.all("AppliedToDimensions");
        let size = unit.first().and_then(|unit| Some((unit.number("w")?, unit.number("h")?)));
        let items = list.all("RegionList").into_iter().flat_map(|list| list.all("li"));
        regions.extend(items.filter_map(|item| mwg(item, size)));
        regions.extend(list.all("li").into_iter().filter_map(microsoft));
    }
    for persons in root.all("PersonInImage") {
        let names = persons.all("li").into_iter().filter_map(|item| name(&item.text));
        regions.extend(names.map(|name| Region { name, bounds: None, is_stored: false, source: "iptc" }));
    }
    regions
}

/// A name that says something.
fn name(text: &str) -> Option<String> {
    let name = text.trim();
    (!name.is_empty() && !name.chars().any(char::is_control)).then(|| name.to_owned())
}

/// A face of the Metadata Working Group: the box by its centre, relative to the stored picture.
fn mwg(item: &Node, size: Option<(f32, f32)>) -> Option<Region> {
    if item.value("Type").is_some_and(|kind| kind != "Face") {
        return None;
    }
    let area = *item.all("Area").first()?;
    let [x, y, w, h] = [area.number("x")?, area.number("y")?, area.number("w")?, area.number("h")?];
    let (width, height) = match area.value("unit") {
        Some("pixel") => size?,
        _ => (1.0, 1.0),
    };
    let bounds = [(x - w / 2.0) / width, (y - h / 2.0) / height, w / width, h / height];
    let is_guess = item.value("Description").is_some_and(|text| text.starts_with(GUESS));
    let source = if is_guess { OWN } else { "mwg" };
    Some(Region { name: name(item.value("Name")?)?, bounds: Some(bounds), is_stored: true, source })
}

/// A face of Microsoft's: the box by its left top corner.
fn microsoft(item: &Node) -> Option<Region> {
    let numbers: Vec<f32> =
        item.value("Rectangle")?.split(',').map_while(|number| number.trim().parse().ok()).collect();
    let bounds: [f32; 4] = numbers.try_into().ok()?;
    let name = name(item.value("PersonDisplayName")?)?;
    Some(Region { name, bounds: Some(bounds), is_stored: true, source: "microsoft" })
}
