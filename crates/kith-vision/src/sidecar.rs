//! XMP sidecars: regions with names are put into a sidecar, and everything else in it stays byte for byte.

use std::fmt::Write;

use quick_xml::Reader;
use quick_xml::escape::escape;
use quick_xml::events::Event;

use crate::detect::overlap;
use crate::names::{Region, xmp};
use crate::{Orientation, VisionError};

/// A face with a name, to be written.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// Who.
    pub name: String,
    /// Left, top, width and height as parts of the upright picture.
    pub bounds: [f32; 4],
    /// How sure kith is, where no person has said so.
    pub certainty: Option<f64>,
}

/// What regions are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Picture {
    /// Width and height of the upright picture.
    pub size: (usize, usize),
    /// How the stored picture is turned.
    pub orientation: Orientation,
}

/// Where something can be put into a sidecar.
#[derive(Debug, Default)]
struct Places {
    /// The prefix of RDF's names, with a colon.
    rdf: String,
    /// What the descriptions are about.
    about: String,
    /// Before the end of the list of regions, of the list of persons, and of everything.
    regions: Option<usize>,
    persons: Option<usize>,
    end: Option<usize>,
}

/// A sidecar with names: what it was before, if it was, and what it lacks. A face that has a name there
/// already keeps it.
pub fn with_names(before: Option<&str>, named: &[Named], picture: Picture) -> Result<String, VisionError> {
    let text = before.map_or_else(empty, str::to_owned);
    let wrong = |reason: &str| VisionError::photo(format!("found a sidecar {reason}, wanted XMP"));
    let there = xmp::regions(text.as_bytes());
    let at = |region: &Named| picture.orientation.stored_box(region.bounds);
    let is_there = |region: &&Named| {
        let covers = |other: &Region| other.bounds.is_some_and(|bounds| overlap(&bounds, &at(region)) > 0.3);
        !there.iter().any(covers)
    };
    let regions: Vec<&Named> = named.iter().filter(is_there).collect();
    let is_said = |name: &str| there.iter().any(|region| region.bounds.is_none() && region.name == name);
    let mut persons: Vec<&str> =
        named.iter().map(|region| &region.name[..]).filter(|name| !is_said(name)).collect();
    persons.sort_unstable();
    persons.dedup();
    if regions.is_empty() && persons.is_empty() {
        return Ok(text);
    }
    let places = places(&text).ok_or_else(|| wrong("that is not well-formed"))?;
    let end = places.end.ok_or_else(|| wrong("without rdf:RDF"))?;
    let items: String = regions.iter().map(|region| item(region, at(region), &places.rdf)).collect();
    let rdf = &places.rdf;
    let people: String =
        persons.iter().map(|name| format!("     <{rdf}li>{}</{rdf}li>\n", escape(*name))).collect();
    // From the end to the front, so that places stay where they are.
    let mut pieces: Vec<(usize, String)> = Vec::new();
    let mut whole = String::new();
    match places.regions {
        _ if items.is_empty() => {}
        Some(place) => pieces.push((place, format!("\n{items}    "))),
        None => whole += &all_regions(&items, picture, rdf),
    }
    match places.persons {
        _ if people.is_empty() => {}
        Some(place) => pieces.push((place, format!("\n{people}    "))),
        None => whole += &all_persons(&people, rdf),
    }
    if !whole.is_empty() {
        pieces.push((end, description(&whole, &places)));
    }
    pieces.sort_by_key(|(place, _)| std::cmp::Reverse(*place));
    let mut text = text;
    pieces.iter().for_each(|(place, piece)| text.insert_str(*place, piece));
    let n_read = xmp::regions(text.as_bytes()).iter().filter(|region| region.bounds.is_some()).count();
    let n_wanted = there.iter().filter(|region| region.bounds.is_some()).count() + regions.len();
    if n_read < n_wanted {
        return Err(wrong("of another shape"));
    }
    Ok(text)
}

fn empty() -> String {
    "<?xpacket begin=\"\u{feff}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>\n\
     <x:xmpmeta xmlns:x=\"adobe:ns:meta/\" x:xmptk=\"kith\">\n \
     <rdf:RDF xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\">\n \
     </rdf:RDF>\n</x:xmpmeta>\n<?xpacket end=\"w\"?>\n"
        .to_owned()
}

fn item(region: &Named, [x, y, w, h]: [f32; 4], rdf: &str) -> String {
    let mut text = format!(
        "     <{rdf}li>\n      <{rdf}Description xmlns:mwg-rs=\"{MWG}\" mwg-rs:Name=\"{}\" \
         mwg-rs:Type=\"Face\"",
        escape(&region.name)
    );
    if let Some(p) = region.certainty {
        let _ = write!(text, " mwg-rs:Description=\"{}{:.1} % sure\"", xmp::GUESS, 100.0 * p);
    }
    let (x, y) = (x + w / 2.0, y + h / 2.0);
    let _ = write!(
        text,
        ">\n       <mwg-rs:Area xmlns:stArea=\"http://ns.adobe.com/xmp/sType/Area#\" stArea:x=\"{x:.6}\" \
         stArea:y=\"{y:.6}\" stArea:w=\"{w:.6}\" stArea:h=\"{h:.6}\" stArea:unit=\"normalized\"/>\n      \
         </{rdf}Description>\n     </{rdf}li>\n"
    );
    text
}

const MWG: &str = "http://www.metadataworkinggroup.com/schemas/regions/";

fn all_regions(items: &str, picture: Picture, rdf: &str) -> String {
    let (width, height) = picture.orientation.inverse().upright_size(picture.size);
    format!(
        "   <mwg-rs:Regions xmlns:mwg-rs=\"{MWG}\" {rdf}parseType=\"Resource\">\n    \
         <mwg-rs:AppliedToDimensions xmlns:stDim=\"http://ns.adobe.com/xap/1.0/sType/Dimensions#\" \
         stDim:w=\"{width}\" stDim:h=\"{height}\" stDim:unit=\"pixel\"/>\n    <mwg-rs:RegionList>\n    \
         <{rdf}Bag>\n{items}    </{rdf}Bag>\n    </mwg-rs:RegionList>\n   </mwg-rs:Regions>\n"
    )
}

fn all_persons(people: &str, rdf: &str) -> String {
    format!(
        "   <Iptc4xmpExt:PersonInImage \
         xmlns:Iptc4xmpExt=\"http://iptc.org/std/Iptc4xmpExt/2008-02-29/\">\n    <{rdf}Bag>\n{people}    \
         </{rdf}Bag>\n   </Iptc4xmpExt:PersonInImage>\n"
    )
}

fn description(whole: &str, places: &Places) -> String {
    let (rdf, about) = (&places.rdf, escape(&places.about));
    format!(" <{rdf}Description {rdf}about=\"{about}\">\n{whole}  </{rdf}Description>\n ")
}

/// Where things can be put; `None` where the text is not well-formed.
fn places(text: &str) -> Option<Places> {
    let mut reader = Reader::from_str(text);
    let (mut open, mut places): (Vec<String>, Places) = (Vec::new(), Places::default());
    let mut is_about_known = false;
    loop {
        let start = usize::try_from(reader.buffer_position()).ok()?;
        match reader.read_event().ok()? {
            Event::Start(element) => {
                let name = String::from_utf8_lossy(element.name().as_ref()).into_owned();
                let local = local(&name);
                if local == "RDF" {
                    places.rdf = name[..name.len() - local.len()].to_owned();
                }
                if local == "Description"
                    && !is_about_known
                    && open.last().is_some_and(|name| self::local(name) == "RDF")
                {
                    let about = element.try_get_attribute(format!("{}about", places.rdf)).ok()?;
                    places.about = about
                        .and_then(|about| Some(about.unescape_value().ok()?.into_owned()))
                        .unwrap_or_default();
                    is_about_known = true;
                }
                open.push(name);
            }
            Event::End(_) => {
                let name = open.pop()?;
                let parent = open.last().map(|name| local(name)).unwrap_or_default();
                // Before the line on which the end stands, so that it stays as it is.
                match (local(&name), parent) {
                    ("Bag" | "Seq", "RegionList") => places.regions = Some(text[..start].trim_end().len()),
                    ("Bag" | "Seq", "PersonInImage") => places.persons = Some(text[..start].trim_end().len()),
                    ("RDF", _) => places.end = Some(start),
                    _ => {}
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    open.is_empty().then_some(places)
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ann() -> Named {
        Named { name: "Ann & <Bo>".to_owned(), bounds: [0.1, 0.2, 0.2, 0.3], certainty: None }
    }

    fn picture(number: u32) -> Picture {
        Picture { size: (640, 480), orientation: Orientation::new(number) }
    }

    fn bounds(text: &str) -> Vec<(String, [f32; 4])> {
        let regions = xmp::regions(text.as_bytes());
        regions.into_iter().filter_map(|region| Some((region.name, region.bounds?))).collect()
    }

    #[test]
    fn what_is_written_is_read_back_and_a_second_run_changes_nothing() {
        for number in 1..=8 {
            let text = with_names(None, &[ann()], picture(number)).unwrap();
            let read = bounds(&text);
            assert_eq!(read.len(), 1);
            assert_eq!(read[0].0, "Ann & <Bo>");
            let upright = Orientation::new(number).upright_box(read[0].1);
            upright.iter().zip(ann().bounds).for_each(|(a, b)| assert!((a - b).abs() < 1e-4, "{number}"));
            assert_eq!(with_names(Some(&text), &[ann()], picture(number)).unwrap(), text);
            let size = if number < 5 { "stDim:w=\"640\"" } else { "stDim:w=\"480\"" };
            assert!(text.contains(size), "{number}");
        }
    }

    #[test]
    fn everything_else_in_a_sidecar_stays_byte_for_byte() {
        let before = "<?xml version='1.0'?><!-- mine -->\r\n<x:xmpmeta xmlns:x='adobe:ns:meta/'><r:RDF \
            xmlns:r='http://www.w3.org/1999/02/22-rdf-syntax-ns#'>\t<r:Description r:about='uuid:7' \
            xmlns:dc='http://purl.org/dc/elements/1.1/' dc:format=\"image/jpeg\"  \
            ><dc:title>T&#233;st</dc:title>\
            </r:Description></r:RDF></x:xmpmeta>";
        let bo = Named { name: "Bo".to_owned(), bounds: [0.6, 0.1, 0.2, 0.2], certainty: Some(0.996) };
        let once = with_names(Some(before), &[ann()], picture(1)).unwrap();
        let (head, tail) = before.split_at(before.find("</r:RDF>").unwrap());
        assert!(once.starts_with(head) && once.ends_with(tail));
        assert!(once.contains("r:about=\"uuid:7\""));
        // Into lists that are there, of another program too.
        let twice = with_names(Some(&once), &[ann(), bo.clone()], picture(1)).unwrap();
        assert_eq!(bounds(&twice).len(), 2);
        assert!(twice.contains("kith is 99.6 % sure"));
        assert_eq!(twice.matches("RegionList>").count(), 2);
        let without: String = once.split_whitespace().collect();
        let with: String = twice.split_whitespace().collect();
        assert!(with.len() > without.len() && with.starts_with(&without[..300]));
        // A face that has a name there keeps it.
        let other = Named { name: "Someone".to_owned(), ..ann() };
        let kept = with_names(Some(&twice), &[other, bo], picture(1)).unwrap();
        assert_eq!(bounds(&kept), bounds(&twice));
    }

    #[test]
    fn what_is_not_xmp_is_refused() {
        for text in ["", "<a>", "no xml", "<x:xmpmeta xmlns:x='adobe:ns:meta/'></x:xmpmeta>", "<a></b>"] {
            let error = with_names(Some(text), &[ann()], picture(1)).unwrap_err().to_string();
            assert!(error.contains("wanted XMP"), "{error}");
        }
    }
}
