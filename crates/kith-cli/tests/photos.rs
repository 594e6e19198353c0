//! From folders of drawn photos to named people, and back into sidecars.

#[path = "../../kith-vision/tests/drawn/mod.rs"]
mod drawn;

use std::fs;

use serde_json::Value;

use crate::common::Place;

/// A folder `pics` with twelve photos of three people, in two folders; on the last are two of them.
fn photos() -> Place {
    let place = Place::empty();
    fs::create_dir_all(place.path("pics/trip")).unwrap();
    for k in 0..11u32 {
        let folder = if k % 2 == 0 { "pics" } else { "pics/trip" };
        // Not quite the same picture twice.
        let photo = drawn::photo(96 + 32 * (k as usize / 3), 96, &[(1, 1, k % 3)]);
        fs::write(place.path(&format!("{folder}/{k:02}.jpg")), photo.to_jpeg(95).unwrap()).unwrap();
    }
    let two = drawn::photo(320, 96, &[(7, 1, 1), (1, 1, 0)]);
    fs::write(place.path("pics/two.jpg"), two.to_jpeg(95).unwrap()).unwrap();
    place
}

fn add(place: &Place, arguments: &[&str]) -> Value {
    let toy = drawn::toy();
    let fixed = ["add", "lib", "pics", "--json", "--models", toy.to_str().unwrap()];
    let ran = place.run(&[&fixed[..], arguments].concat());
    assert_eq!(ran.status, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap()
}

fn number(value: &Value, key: &str) -> i64 {
    value[key].as_i64().unwrap_or_else(|| panic!("no {key} in {value}"))
}

#[test]
fn a_folder_is_looked_at_once_moved_photos_are_followed_and_bad_ones_are_lines() {
    let place = photos();
    fs::write(place.path("pics/empty.jpg"), "").unwrap();
    fs::write(place.path("pics/text.png"), "no photo").unwrap();
    let first = add(&place, &[]);
    assert_eq!((number(&first, "photos"), number(&first, "added")), (12, 13), "{first}");
    assert_eq!(first["bad"].as_array().unwrap().len(), 2);
    let second = add(&place, &[]);
    assert_eq!((number(&second, "photos"), number(&second, "unchanged")), (0, 12), "{second}");
    // The id says where a photo is and which face it is.
    let who = place.run(&["who", "lib", "--face", "two.jpg#1", "--json"]);
    assert_eq!(who.status, 0, "{}", who.err);
    assert!(place.run(&["name", "lib", "trip/01.jpg#0", "Bo"]).status == 0);
    fs::rename(place.path("pics/trip/01.jpg"), place.path("pics/renamed.jpg")).unwrap();
    fs::remove_file(place.path("pics/trip/03.jpg")).unwrap();
    fs::copy(place.path("pics/00.jpg"), place.path("pics/copy.jpg")).unwrap();
    let third = add(&place, &["--context", "folder"]);
    let counts = ["photos", "moved", "gone", "copies"].map(|key| number(&third, key));
    assert_eq!(counts, [0, 1, 1, 1], "{third}");
    let log = place.run(&["log", "lib"]);
    assert!(log.out.contains("trip/01.jpg#0 is Bo"), "{}", log.out);
    // An edited photo keeps the faces that are where they were.
    let edited = drawn::photo(320, 96, &[(1, 1, 0), (4, 1, 2), (7, 1, 1)]);
    fs::write(place.path("pics/two.jpg"), edited.to_jpeg(90).unwrap()).unwrap();
    let fourth = add(&place, &[]);
    assert_eq!((number(&fourth, "changed"), number(&fourth, "added")), (1, 1), "{fourth}");
    assert_eq!(place.run(&["check", "lib"]).status, 0);
}

#[test]
fn people_come_out_on_a_page_and_a_new_photo_is_answered_and_drawn() {
    let place = photos();
    add(&place, &[]);
    assert_eq!(place.run(&["learn", "lib", "--seed", "1"]).status, 0);
    assert_eq!(place.run(&["name", "lib", "00.jpg#0", "Ann <1>"]).status, 0);
    let sheet = place.run(&["people", "lib", "--sheet", "people.html"]);
    assert_eq!(sheet.status, 0, "{}", sheet.err);
    let page = fs::read_to_string(place.path("people.html")).unwrap();
    assert!(page.contains("Ann &lt;1>") && page.matches("data:image/jpeg;base64,/9j/").count() == 13);
    assert!(!page.contains("http"), "the page needs nothing else");
    fs::write(place.path("new.jpg"), drawn::photo(416, 96, &[(1, 1, 0), (9, 1, 77)]).to_jpeg(95).unwrap())
        .unwrap();
    let toy = drawn::toy();
    let toy = toy.to_str().unwrap();
    let who = place.run(&["who", "lib", "new.jpg", "--json", "--models", toy, "--draw", "drawn.jpg"]);
    assert_eq!(who.status, 0, "{}", who.err);
    let faces: Vec<Value> = who.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(faces.len(), 2);
    assert_eq!(faces[0]["face"], "new.jpg#0");
    assert_eq!(faces[0]["names"][0]["name"], "Ann <1>", "{}", faces[0]);
    let drawn = kith_vision::decode(&fs::read(place.path("drawn.jpg")).unwrap(), false).unwrap();
    assert_eq!((drawn.width, drawn.height), (416, 96));
    // Other networks than those of the library are refused.
    let other = place.run(&["add", "lib", "new.jpg", "--models", "."]);
    assert!(other.status == 2 && other.err.contains("kith models get"), "{}", other.err);
}

#[test]
fn names_that_others_left_come_in_and_names_that_were_said_go_out() {
    let place = photos();
    let region = |name: &str, x: f32| {
        format!(
            "<rdf:li rdf:parseType='Resource'><m:Name>{name}</m:Name><m:Type>Face</m:Type><m:Area s:x='{x}' \
             s:y='0.5' s:w='0.3' s:h='1'/></rdf:li>"
        )
    };
    let sidecar = format!(
        "<x:xmpmeta xmlns:x='adobe:ns:meta/'>\
         <rdf:RDF xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'><rdf:Description \
         rdf:about='' xmlns:m='http://www.metadataworkinggroup.com/schemas/regions/' \
         xmlns:s='http://ns.adobe.com/xmp/sType/Area#'><m:Regions rdf:parseType='Resource'>\
         <m:RegionList><rdf:Bag>{}{}</rdf:Bag>\
         </m:RegionList></m:Regions></rdf:Description></rdf:RDF></x:xmpmeta>",
        region("Ann", 0.15),
        region("Nobody", 0.5)
    );
    fs::write(place.path("pics/two.jpg.xmp"), &sidecar).unwrap();
    let added = add(&place, &[]);
    assert_eq!((number(&added, "names"), number(&added, "unplaced")), (1, 1), "{added}");
    let log = place.run(&["log", "lib"]).out;
    assert!(log.contains("mwg  two.jpg#0 is Ann"), "{log}");
    assert_eq!(number(&add(&place, &[]), "names"), 0, "each name comes once");
    assert_eq!(place.run(&["undo", "lib"]).status, 0);
    assert!(place.run(&["log", "lib"]).out.contains("is Ann (taken back)"));
    // What is said here goes out; what is there stays, and nothing is written twice.
    assert_eq!(place.run(&["name", "lib", "two.jpg#1", "Bo"]).status, 0);
    assert_eq!(place.run(&["name", "lib", "00.jpg#0", "Cy"]).status, 0);
    let dry = place.run(&["export", "lib", "xmp", "--dry-run"]);
    assert_eq!(dry.out.lines().count(), 2, "{}", dry.out);
    assert_eq!(fs::read_to_string(place.path("pics/two.jpg.xmp")).unwrap(), sidecar);
    assert_eq!(place.run(&["export", "lib", "xmp"]).out, dry.out);
    let written = fs::read_to_string(place.path("pics/two.jpg.xmp")).unwrap();
    assert!(written.contains("Bo") && written.contains("Nobody"));
    assert!(fs::read_to_string(place.path("pics/00.jpg.xmp")).unwrap().contains("mwg-rs:Name=\"Cy\""));
    let again = place.run(&["export", "lib", "xmp"]);
    assert_eq!((again.status, &again.out[..]), (0, ""), "{}", again.err);
    // A correction replaces what was written.
    assert_eq!(place.run(&["name", "lib", "00.jpg#0", "Di"]).status, 0);
    place.run(&["export", "lib", "xmp"]);
    let corrected = fs::read_to_string(place.path("pics/00.jpg.xmp")).unwrap();
    assert!(corrected.contains("Di") && !corrected.contains("Cy"));
    assert_eq!(place.run(&["export", "lib", "xmp", "--undo"]).status, 0);
    assert_eq!(fs::read_to_string(place.path("pics/two.jpg.xmp")).unwrap(), sidecar);
    assert!(!place.path("pics/00.jpg.xmp").exists());
    // What kith wrote itself, said or guessed, does not come back as what others say.
    assert_eq!(place.run(&["learn", "lib", "--seed", "1"]).status, 0);
    let sure = place.run(&["export", "lib", "xmp", "--min-p", "0.5"]);
    assert!(sure.status == 0 && sure.out.lines().count() > 2, "{} {}", sure.out, sure.err);
    let guess = sure.out.lines().find_map(|line| {
        line.split_once(": ").filter(|(path, _)| fs::read_to_string(path).unwrap().contains("kith is "))
    });
    let (path, _) = guess.expect("some names were guessed");
    assert_eq!(number(&add(&place, &[]), "names"), 0);
    // Nor when another program has written the sidecar anew.
    let touched = fs::read_to_string(path).unwrap() + "\n";
    fs::write(path, touched).unwrap();
    assert_eq!(number(&add(&place, &[]), "names"), 0);
}

#[test]
fn forgetting_takes_thumbnails_and_boxes_and_the_face_does_not_come_back() {
    let place = photos();
    add(&place, &[]);
    assert_eq!(place.run(&["forget", "lib", "--face", "two.jpg#0"]).status, 0);
    assert_eq!(place.run(&["forget", "lib", "--face", "00.jpg#0"]).status, 0);
    let database = rusqlite::Connection::open(place.path("lib")).unwrap();
    let count = |query: &str| -> i64 { database.query_row(query, [], |row| row.get(0)).unwrap() };
    assert_eq!(count("SELECT count(*) FROM faces"), 11);
    assert_eq!(count("SELECT count(*) FROM thumbnails"), 11);
    assert_eq!(count("SELECT count(*) FROM photos WHERE frame IS NULL AND time IS NULL"), 1);
    let again = add(&place, &[]);
    assert_eq!((number(&again, "added"), number(&again, "n_faces")), (0, 11), "{again}");
    assert_eq!(place.run(&["check", "lib"]).status, 0);
}

#[test]
fn faces_are_embedded_again_by_other_networks_and_what_was_said_stays() {
    let place = photos();
    add(&place, &[]);
    assert_eq!(place.run(&["name", "lib", "00.jpg#0", "Ann"]).status, 0);
    fs::create_dir(place.path("other")).unwrap();
    for file in ["detector.onnx", "embedder.onnx"] {
        fs::copy(drawn::toy().join(file), place.path("other").join(file)).unwrap();
    }
    fs::write(place.path("other/embedder.toml"), "name = \"other\"\nmean = 100.0\nscale = 50.0\n").unwrap();
    let refused = place.run(&["add", "lib", "pics", "--models", "other"]);
    assert!(refused.status == 2 && refused.err.contains("--embed-again"), "{}", refused.err);
    let again = place.run(&["add", "lib", "pics", "--models", "other", "--embed-again"]);
    assert_eq!(again.status, 0, "{}", again.err);
    assert!(place.run(&["log", "lib"]).out.contains("00.jpg#0 is Ann"));
    assert_eq!(place.run(&["check", "lib"]).status, 0);
    assert_eq!(place.run(&["learn", "lib", "--seed", "1"]).status, 0);
}

#[test]
fn networks_are_listed_taken_in_and_fetched_only_when_their_digest_is_right() {
    let place = Place::empty();
    let toy = drawn::toy();
    let list = place.run(&["models", "list", "--models", toy.to_str().unwrap()]);
    assert!(list.status == 0 && list.out.contains("embedder, toy"), "{}", list.out);
    assert!(list.out.contains("detector.onnx: detector"), "{}", list.out);
    assert_eq!(place.run(&["models", "list", "--models", "mine"]).status, 1);
    let (network, settings) = (toy.join("embedder.onnx"), toy.join("embedder.toml"));
    let own = ["models", "add", network.to_str().unwrap(), settings.to_str().unwrap(), "--models", "mine"];
    assert_eq!(place.run(&own).status, 0);
    assert!(place.run(&own).err.contains("wanted another name"));
    assert!(place.run(&["models", "list", "--models", "mine"]).out.contains("embedder, toy"));
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        return eprintln!("skipped: curl is not there");
    }
    // A server that has the wrong file, and then none.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let serve = std::thread::spawn(move || {
        for answer in ["200 OK", "404 Not Found"] {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 4096];
            let _ = std::io::Read::read(&mut stream, &mut request).unwrap();
            let text = format!("HTTP/1.1 {answer}\r\nContent-Length: 5\r\nConnection: close\r\n\r\nwrong");
            std::io::Write::write_all(&mut stream, text.as_bytes()).unwrap();
        }
    });
    let get = |wanted: &str| {
        let mut command = place.command(&["models", "get", "--models", "got", "--from", &address]);
        let ran = command.env("no_proxy", "127.0.0.1").env("NO_PROXY", "127.0.0.1").output().unwrap();
        let err = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(ran.status.code() == Some(2) && err.contains(wanted), "{err}");
        assert_eq!(fs::read_dir(place.path("got")).unwrap().count(), 0, "nothing is left");
    };
    get("found sha256");
    get("curl failed");
    serve.join().unwrap();
}

#[test]
fn a_network_that_came_in_part_is_fetched_from_there_on() {
    use std::io::{Read, Write};
    if std::process::Command::new("curl").arg("--version").output().is_err() {
        return eprintln!("skipped: curl is not there");
    }
    let place = Place::empty();
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let serve = std::thread::spawn(move || {
        // Ten bytes are promised and four are sent; then the rest.
        let answers = [
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close\r\n\r\nhalf",
            "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes 4-9/10\r\nContent-Length: 6\r\n\
             Connection: close\r\n\r\n, rest",
        ];
        answers.map(|answer| {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 4096];
            let n = stream.read(&mut request).unwrap();
            stream.write_all(answer.as_bytes()).unwrap();
            String::from_utf8_lossy(&request[..n]).to_lowercase()
        })
    });
    let get = || {
        let mut command = place.command(&["models", "get", "--models", "got", "--from", &address]);
        let ran = command.env("no_proxy", "127.0.0.1").env("NO_PROXY", "127.0.0.1").output().unwrap();
        assert_eq!(ran.status.code(), Some(2));
        String::from_utf8_lossy(&ran.stderr).into_owned()
    };
    let cut = get();
    assert!(cut.contains("run it again to go on"), "{cut}");
    // The whole is not the network that is known, and is thrown away.
    let whole = kith_vision::models::digest(b"half, rest");
    let wrong = get();
    assert!(wrong.contains(&whole), "{wrong}");
    assert_eq!(fs::read_dir(place.path("got")).unwrap().count(), 0, "nothing is left");
    let requests = serve.join().unwrap();
    assert!(requests[1].contains("range: bytes=4-"), "{}", requests[1]);
}

#[test]
fn sidecars_are_read_by_exiv2_and_exiftool() {
    let place = photos();
    add(&place, &[]);
    assert_eq!(place.run(&["name", "lib", "two.jpg#1", "Zoë & <Bo>"]).status, 0);
    assert_eq!(place.run(&["export", "lib", "xmp"]).status, 0);
    let sidecar = place.path("pics/two.jpg.xmp");
    for (program, arguments) in
        [("exiv2", &["-px"][..]), ("exiftool", &["-s", "-RegionName", "-PersonInImage"][..])]
    {
        match std::process::Command::new(program).args(arguments).arg(&sidecar).output() {
            Err(_) => eprintln!("skipped: {program} is not there"),
            Ok(ran) => {
                let out = String::from_utf8_lossy(&ran.stdout).into_owned();
                assert_eq!(out.matches("Zoë & <Bo>").count(), 2, "{program}: {out}");
            }
        }
    }
}

#[test]
fn every_bad_photo_is_one_line_and_all_others_are_added() {
    let place = photos();
    let good = drawn::photo(96, 128, &[(1, 1, 7)]).to_jpeg(90).unwrap();
    let bomb = [&b"P6 100000 100000 255 "[..], &[0; 64]].concat();
    fs::write(place.path("pics/empty.jpg"), "").unwrap();
    fs::write(place.path("pics/cut.jpg"), &good[..good.len() - 30]).unwrap();
    fs::write(place.path("pics/head.jpg"), &good[..200]).unwrap();
    fs::write(place.path("pics/bomb.tif"), bomb).unwrap();
    fs::write(place.path("pics/text.heic"), "no photo").unwrap();
    // A JPEG by another name is a photo.
    fs::write(place.path("pics/wrong.png"), good).unwrap();
    let mut n_bad = 5;
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStringExt;
        use std::os::unix::fs::{PermissionsExt, symlink};
        symlink(place.path("pics"), place.path("pics/circle")).unwrap();
        symlink(place.path("nowhere.jpg"), place.path("pics/gone.jpg")).unwrap();
        let name = std::ffi::OsString::from_vec(b"pics/\xff\xfe.jpg".to_vec());
        fs::write(place.folder.path().join(name), "").unwrap();
        // A line of its own must not be made up by a name.
        fs::write(place.path("pics/a\nbad.jpg: line.jpg"), "").unwrap();
        n_bad += 3;
        let closed = place.path("pics/closed.jpg");
        fs::write(&closed, "").unwrap();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o0)).unwrap();
        n_bad += 1;
    }
    let first = add(&place, &[]);
    // The photo that was cut off has its face.
    assert_eq!((number(&first, "photos"), number(&first, "added")), (14, 15), "{first}");
    let bad = first["bad"].as_array().unwrap();
    assert_eq!(bad.len(), n_bad, "{first}");
    assert!(bad.iter().all(|bad| !bad["reason"].as_str().unwrap().contains('\n')));
    let again = add(&place, &[]);
    assert_eq!((number(&again, "photos"), number(&again, "unchanged")), (0, 14), "{again}");
    let in_words = place.run(&["add", "lib", "pics", "--models", drawn::toy().to_str().unwrap()]);
    assert_eq!(in_words.status, 0);
    assert_eq!(in_words.err.lines().count(), n_bad - 1, "{}", in_words.err);
}

#[test]
fn a_killed_add_goes_on_where_it_stopped() {
    let place = Place::empty();
    fs::create_dir(place.path("pics")).unwrap();
    for k in 0..200 {
        let photo = drawn::photo(96, 96, &[(1, 1, k)]).to_jpeg(90).unwrap();
        fs::write(place.path(&format!("pics/{k:03}.jpg")), photo).unwrap();
    }
    let toy = drawn::toy();
    let arguments = ["add", "lib", "pics", "--models", toy.to_str().unwrap(), "--threads", "1"];
    let mut child = place.command(&arguments).spawn().unwrap();
    // As soon as some photos are in the library.
    let n_photos = || -> i64 {
        let count = rusqlite::Connection::open(place.path("lib"))
            .and_then(|lib| lib.query_row("SELECT count(*) FROM photos", [], |row| row.get(0)));
        count.unwrap_or(0)
    };
    while child.try_wait().unwrap().is_none() && n_photos() == 0 {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = n_photos();
    assert!(before > 0);
    let again = add(&place, &[]);
    assert_eq!(number(&again, "unchanged"), before, "{again}");
    assert_eq!((number(&again, "photos"), number(&again, "n_faces")), (200 - before, 200), "{again}");
    assert_eq!(place.run(&["check", "lib"]).status, 0);
}

#[cfg(unix)]
#[test]
fn following_takes_new_photos_as_they_appear_and_ends_when_told() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let place = photos();
    let toy = drawn::toy();
    let arguments = ["add", "lib", "pics", "--json", "--follow", "--models", toy.to_str().unwrap()];
    let mut child = place.command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || -> Value { serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap() };
    assert_eq!(number(&next(), "photos"), 12);
    // A copy is no news, and is not read again and again.
    fs::copy(place.path("pics/00.jpg"), place.path("pics/copy.jpg")).unwrap();
    let photo = drawn::photo(96, 160, &[(1, 1, 1)]).to_jpeg(95).unwrap();
    fs::write(place.path("arriving.jpg"), photo).unwrap();
    fs::rename(place.path("arriving.jpg"), place.path("pics/new.jpg")).unwrap();
    let seen = next();
    assert_eq!((number(&seen, "photos"), number(&seen, "n_faces")), (1, 14), "{seen}");
    fs::remove_file(place.path("pics/new.jpg")).unwrap();
    assert_eq!(number(&next(), "gone"), 1);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(child.wait().unwrap().success());
}
