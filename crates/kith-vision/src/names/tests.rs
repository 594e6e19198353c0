//! Names as other programs leave them: in sidecars, in photos, and in files beside them.

use super::*;

fn region(name: &str, bounds: Option<[f32; 4]>) -> Region {
    Region { name: name.to_owned(), bounds, is_stored: true, source: "mwg" }
}

fn close(a: [f32; 4], b: [f32; 4]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3)
}

const DIGIKAM: &str = r#"<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about=""
 xmlns:mwg-rs="http://www.metadataworkinggroup.com/schemas/regions/" xmlns:stArea="http://ns.adobe.com/xmp/sType/Area#"
 xmlns:MP="http://ns.microsoft.com/photo/1.2/" xmlns:MPRI="http://ns.microsoft.com/photo/1.2/t/RegionInfo#"
 xmlns:MPReg="http://ns.microsoft.com/photo/1.2/t/Region#" xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/">
 <mwg-rs:Regions rdf:parseType="Resource"><mwg-rs:RegionList><rdf:Bag>
  <rdf:li><rdf:Description mwg-rs:Name="Ann &amp; Co" mwg-rs:Type="Face"><mwg-rs:Area stArea:x="0.3" stArea:y="0.4"
   stArea:w="0.2" stArea:h="0.1" stArea:unit="normalized"/></rdf:Description></rdf:li>
  <rdf:li rdf:parseType="Resource"><mwg-rs:Name>Bo</mwg-rs:Name><mwg-rs:Type>Face</mwg-rs:Type>
   <mwg-rs:Area rdf:parseType="Resource"><stArea:x>0.7</stArea:x><stArea:y>0.5</stArea:y><stArea:w>0.2</stArea:w>
   <stArea:h>0.2</stArea:h></mwg-rs:Area></rdf:li>
  <rdf:li rdf:parseType="Resource" mwg-rs:Type="Focus"><mwg-rs:Name>no one</mwg-rs:Name>
   <mwg-rs:Area stArea:x="0.5" stArea:y="0.5" stArea:w="1" stArea:h="1"/></rdf:li>
  <rdf:li rdf:parseType="Resource" mwg-rs:Type="Face" mwg-rs:Name=""><mwg-rs:Area stArea:x="0.5" stArea:y="0.5"
   stArea:w="1" stArea:h="1"/></rdf:li>
 </rdf:Bag></mwg-rs:RegionList></mwg-rs:Regions>
 <MP:RegionInfo rdf:parseType="Resource"><MPRI:Regions><rdf:Bag><rdf:li MPReg:Rectangle="0.1, 0.2, 0.3, 0.4"
   MPReg:PersonDisplayName="Cy"/></rdf:Bag></MPRI:Regions></MP:RegionInfo>
 <Iptc4xmpExt:PersonInImage><rdf:Bag><rdf:li>Di</rdf:li><rdf:li>Bo</rdf:li></rdf:Bag></Iptc4xmpExt:PersonInImage>
</rdf:Description></rdf:RDF></x:xmpmeta>"#;

#[test]
fn regions_of_others_are_read_however_they_are_written() {
    let regions = xmp::regions(DIGIKAM.as_bytes());
    let names: Vec<&str> = regions.iter().map(|region| &region.name[..]).collect();
    assert_eq!(names, ["Ann & Co", "Bo", "Cy", "Di", "Bo"]);
    assert!(close(regions[0].bounds.unwrap(), [0.2, 0.35, 0.2, 0.1]));
    assert!(close(regions[1].bounds.unwrap(), [0.6, 0.4, 0.2, 0.2]));
    assert!(close(regions[2].bounds.unwrap(), [0.1, 0.2, 0.3, 0.4]));
    assert_eq!((regions[3].bounds, regions[3].source), (None, "iptc"));
    let file = [b"\xff\xd8 something ", DIGIKAM.as_bytes(), b" and pixels"].concat();
    assert!(xmp::packet(&file).unwrap().ends_with(b"</x:xmpmeta>"));
    for broken in ["", "<x>", "<x:xmpmeta><a></b></x:xmpmeta>", &"<a>".repeat(1000), &DIGIKAM[..900]] {
        assert_eq!(xmp::regions(broken.as_bytes()), []);
    }
}

#[test]
fn names_go_to_the_faces_under_them_from_every_orientation() {
    let faces = [[0.1, 0.1, 0.2, 0.3], [0.6, 0.2, 0.2, 0.3]];
    for number in 1..=8 {
        let orientation = Orientation::new(number);
        let stored = |bounds: [f32; 4]| Some(orientation.stored_box(bounds));
        let regions = [
            region("Right", stored([0.61, 0.21, 0.2, 0.3])),
            region("Left", stored([0.1, 0.12, 0.19, 0.3])),
            region("Nobody", stored([0.4, 0.7, 0.1, 0.1])),
            region("Left", None),
        ];
        let matched = matched(&regions, &faces, orientation);
        assert_eq!(matched.names[0].as_ref().unwrap().0, "Left", "orientation {number}");
        assert_eq!(matched.names[1].as_ref().unwrap().0, "Right", "orientation {number}");
        assert_eq!(matched.unplaced, 1);
        assert!(close(matched.missing[0], [0.4, 0.7, 0.1, 0.1]));
        // A program that writes them upright, against the standard.
        let wrong = [region("Right", Some(faces[1])), region("Left", Some(faces[0]))];
        let matched = super::matched(&wrong, &faces, orientation);
        assert_eq!(matched.names[1].as_ref().unwrap().0, "Right", "orientation {number}");
    }
}

#[test]
fn a_name_without_a_box_counts_for_the_only_face() {
    let upright = Orientation::UPRIGHT;
    let ann = [region("Ann", None)];
    let one = matched(&ann, &[[0.1, 0.1, 0.2, 0.2]], upright);
    assert_eq!((one.names[0].as_ref().unwrap().0.as_str(), one.unplaced), ("Ann", 0));
    let two = matched(&ann, &[[0.1, 0.1, 0.2, 0.2], [0.5, 0.1, 0.2, 0.2]], upright);
    assert_eq!((two.names, two.unplaced), (vec![None, None], 1));
    let several = matched(&[region("Ann", None), region("Bo", None)], &[[0.1, 0.1, 0.2, 0.2]], upright);
    assert_eq!((several.names, several.unplaced), (vec![None], 2));
}

#[test]
fn folders_of_picasa_and_google_say_who_is_on_their_photos() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    // Leading zeros are left out: left 0, top a quarter, right a half, bottom three quarters.
    let ini = "[Contacts2]\nabc=Ann;;\n[a.jpg]\nfaces=rect64(40007fffbfff),abc;rect64(1),ffffffffffffffff\nstar=yes\n";
    write(".picasa.ini", ini);
    write("x.json", r#"{"title": "a long name.jpg", "people": [{"name": "Bo"}, {"name": " "}]}"#);
    write("one.json", r#"{"title": "twice.jpg", "people": [{"name": "Cy"}]}"#);
    write("two.json", r#"{"title": "twice.jpg", "people": [{"name": "Di"}]}"#);
    write("other.json", "[1, 2]");
    write("b.jpg.xmp", DIGIKAM);
    let reader = Reader::default();
    let names = |photo: &str| -> Vec<(String, &str)> {
        let regions = reader.read(&folder.path().join(photo), b"");
        regions.into_iter().map(|region| (region.name, region.source)).collect()
    };
    assert_eq!(names("A.jpg"), [("Ann".to_owned(), "picasa")]);
    let place = reader.read(&folder.path().join("a.jpg"), b"")[0].bounds.unwrap();
    assert!(close(place, [0.0, 0.25, 0.5, 0.5]), "{place:?}");
    assert_eq!(names("a long name.jpg"), [("Bo".to_owned(), "takeout")]);
    assert_eq!(names("twice.jpg"), []);
    assert_eq!(names("b.jpg").len(), 5);
    assert_eq!(names("b.png"), []);
}
