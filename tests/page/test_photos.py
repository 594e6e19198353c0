"""Real files through the tiny networks of kith-vision's tests: a face added by hand, a photo that is asked about and stored."""

import struct
import subprocess
import zlib

import pytest
from conftest import KITH, ROOT, Server, api, until

TOY = ROOT / "crates/kith-vision/tests/toy"


def png(width, height, faces):
    """A photo with faces: column and row in cells of 32 pixels, who it is, and how red its middle (a face below 0.7 is not found)."""

    def colour(x, y):
        column, row = x // 32, y // 32
        for c, r, who, red in faces:
            if (column, row) == (c, r):
                return [round(255 * red), 0, 0]
            if abs(column - c) <= 1 and abs(row - r) <= 1:
                mixed = (who * 97 + (3 * (row + 1 - r) + column + 1 - c) * 31 + 7) * 2654435761 % 2**32
                mixed ^= mixed >> 15
                return [(mixed & 255) // 2, 128 + (mixed >> 8 & 255) // 2, mixed >> 16 & 255]
        return [110, 120, 130]

    rows = b"".join(b"\0" + bytes(value for x in range(width) for value in colour(x, y)) for y in range(height))
    chunk = lambda kind, body: struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    folder = tmp_path_factory.mktemp("album")
    (folder / "pics").mkdir()
    for k in range(9):
        # Somebody's files carry a name.
        called = f"Rosa_Lind_{k}" if k % 3 == 2 else f"IMG_{k}"
        (folder / f"pics/{called}.png").write_bytes(png(96 + 32 * (k // 3), 96, [(1, 1, k % 3, 1.0)]))
    # The second face is too pale to be found, unless somebody points at it.
    (folder / "pics/pale.png").write_bytes(png(320, 160, [(1, 1, 0, 1.0), (7, 2, 1, 0.65)]))
    library = str(folder / "lib")
    subprocess.run([KITH, "add", library, str(folder / "pics"), "--models", str(TOY)], check=True, capture_output=True)
    server = Server("serve", library, "--models", str(TOY))
    yield server
    assert server.end() == 0
    assert subprocess.run([KITH, "check", library]).returncode == 0


def test_a_face_is_added_by_hand_and_taken_for_no_face_again(opened, album):
    one = opened(album)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    photos = api(page, "photos?n=100")["photos"]
    number = next(photo["photo"] for photo in photos if photo["id"].endswith("pale.png"))
    one.go(f"/photos/{number}", ".box")
    assert page.locator(".box").count() == 1
    page.locator("#add-face").click()
    box = page.locator(".canvas").bounding_box()
    at = lambda x, y: (box["x"] + x * box["width"] / 320, box["y"] + y * box["height"] / 160)
    # A little larger than the face; the toy sees what lies on its cells of 32 pixels.
    page.mouse.move(*at(184, 24))
    page.mouse.down()
    page.mouse.move(*at(296, 136), steps=6)
    one.shot("adding-a-face")
    page.mouse.up()
    page.wait_for_selector(".toast:has-text('A face was added')")
    page.wait_for_function("() => document.querySelectorAll('.box').length === 2")
    found = until(page, f"photos/{number}", lambda found: len(found["faces"]) == 2 and all(face["person"] for face in found["faces"]))
    added = max(found["faces"], key=lambda face: face["box"][0])
    assert abs(added["box"][0] - 192 / 320) < 0.05 and abs(added["box"][1] - 32 / 160) < 0.1, added
    until(page, "status", lambda status: status["n_faces"] == 11 and status["doing"] == "resting")
    page.wait_for_function("() => document.querySelectorAll('.box .label').length === 2")
    one.shot("added-a-face")
    # Pointing at it again says that it is known.
    page.locator("#add-face").click()
    page.mouse.move(*at(184, 24))
    page.mouse.down()
    page.mouse.move(*at(296, 136), steps=6)
    page.mouse.up()
    page.wait_for_selector(".toast:has-text('known already')")
    page.locator(".onit li", has_text="Not a face").last.locator("button", has_text="Not a face").click()
    until(page, "status", lambda status: status["n_faces"] == 10)
    page.keyboard.press("z")
    until(page, "status", lambda status: status["n_faces"] == 11)
    one.wrong[:] = [line for line in one.wrong if "422" not in line]


def test_a_name_that_files_carry_is_offered_and_not_said(opened, album):
    one = opened(album)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    people = {}
    for shown in api(page, "photos?n=100")["photos"]:
        face = api(page, f"photos/{shown['photo']}")["faces"][0]
        people.setdefault("Rosa" in shown["id"], set()).add(face["person"])
    (rosa,) = people[True]
    assert rosa not in people[False]
    one.go(f"/people/{rosa}", ".tile")
    assert api(page, f"people/{rosa}")["name"] is None
    page.locator(".person-head .namefield input").focus()
    page.wait_for_selector(".names li:has-text('Rosa Lind'):has-text('on the files')")
    one.shot("name-on-files")
    page.locator(".names li", has_text="Rosa Lind").click()
    page.wait_for_selector("h1:text('Rosa Lind')")
    other = next(iter(people[False]))
    picture = api(page, f"people/{other}")["picture"]
    assert all(name["name"] == "Rosa Lind" and not name["filed"] for name in api(page, f"names?face={picture}")["names"])
    page.locator(".toast button").last.click()
    until(page, f"people/{rosa}", lambda found: found["name"] is None)


def test_a_chosen_photo_is_answered_and_stored_if_asked(opened, album):
    one = opened(album)
    page = one.go("/photos", ".shot")
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    n_photos = api(page, "status")["n_photos"]
    page.set_input_files("#file", {"name": "new.png", "mimeType": "image/png", "buffer": png(416, 96, [(1, 1, 1, 1.0), (9, 1, 7, 1.0)])})
    page.wait_for_selector("dialog .box")
    assert page.locator("dialog .box").count() == 2
    assert api(page, "status")["n_photos"] == n_photos, "it was looked at, and not stored"
    one.shot("dropped")
    page.locator("dialog button", has_text="Store it").click()
    page.wait_for_url("**/photos/*")
    until(page, "status", lambda status: status["n_photos"] == n_photos + 1)
    page.wait_for_function("() => document.querySelectorAll('.box').length === 2")
