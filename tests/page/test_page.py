"""Each view of the page, end to end, by mouse and by keyboard; for everyone, in both colours, on phone and wide screen."""

import json

import pytest
from axe_core_python.sync_playwright import Axe
from conftest import PHONE, WIDE, api, until

VIEWS = {
    "people": ("/people", ".card img"),
    "person": (None, ".tile img"),
    "questions": ("/questions", ".stage .answer, .stage .none"),
    "photos": ("/photos", ".shot img"),
    "photo": ("/photos/94", ".box"),
    "doubt": ("/doubt", ".doubt-item, .none"),
    "history": ("/history", ".act"),
}


def first_person(page, standing="named"):
    return until(page, f"people?standing={standing}&n=1", lambda found: found["total"] > 0)["people"][0]


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("viewport, scheme", [(WIDE, "light"), (PHONE, "dark")], ids=["wide", "phone"])
def test_views_have_no_fault_that_axe_knows(opened, demo, view, viewport, scheme):
    one = opened(demo, viewport, scheme=scheme, motion="reduce")
    until(one.page, "status", lambda status: status["believes"])
    path, wait = VIEWS[view]
    page = one.go(path or f"/people/{first_person(one.page)['person']}", wait)
    one.shot(f"{view}-{'wide' if viewport is WIDE else 'phone-dark'}")
    levels = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]}}
    found = Axe().run(page, options=levels)["violations"]
    assert found == [], json.dumps([(f["id"], [n["html"] for n in f["nodes"]][:3]) for f in found], indent=1)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "nothing sticks out to the right"


def test_the_dialogs_have_no_fault_that_axe_knows(opened, demo):
    one = opened(demo)
    until(one.page, "status", lambda status: status["believes"])
    page = one.go(f"/people/{first_person(one.page)['person']}", ".tile img")
    levels = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
    page.locator(".tile img").first.click()
    page.wait_for_selector("dialog[open] .factors")
    one.shot("why")
    assert Axe().run(page, options=levels)["violations"] == []
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    page.wait_for_selector("dialog[open] .keylist")
    assert Axe().run(page, options=levels)["violations"] == []


def test_looking_works_without_scripts(opened, demo):
    watching = opened(demo)
    until(watching.page, "status", lambda status: status["believes"])
    one = opened(demo, scripts=False)
    one.page.wait_for_selector(".card img")
    one.page.locator(".card").first.click()
    one.page.wait_for_selector("h1")
    one.page.locator(".cards a").first.click()
    one.page.wait_for_selector(".whole", state="attached")
    assert "Who is on it" in one.page.content()


def test_people_are_searched_and_ordered_by_mouse_and_by_keyboard(opened, demo):
    one = opened(demo)
    page = one.go("/people", ".card")
    name = first_person(page)["name"]
    page.keyboard.press("/")
    page.keyboard.type(name[:3].lower())
    page.wait_for_function("name => [...document.querySelectorAll('.card .name')].some(n => n.textContent === name)", arg=name)
    page.locator("input[type=search]").fill("")
    page.wait_for_function("() => document.querySelector('.tabs [aria-pressed=true]')")
    page.locator(".tabs button").nth(2).click()
    page.wait_for_selector("text=Seen once, and never named.")
    page.locator(".tools select").select_option("doubt")
    page.locator(".tabs button").nth(0).click()
    page.wait_for_selector("text=People you have named.")
    page.locator("h1").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_url("**/people/*")
    page.wait_for_selector(".tile")
    for key, path in [("q", "questions"), ("f", "photos"), ("d", "doubt"), ("h", "history"), ("p", "people")]:
        page.locator("h1").first.click()
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.wait_for_url(f"**/{path}")


def test_a_person_is_named_renamed_and_that_is_taken_back(opened, week):
    one = opened(week)
    page = one.page
    until(page, "status", lambda status: status["believes"])
    somebody = first_person(page, "familiar")
    one.go(f"/people/{somebody['person']}", ".tile")
    page.locator(".person-head .namefield input").fill("Zora")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Zora')")
    page.locator("button:text('Rename')").click()
    page.locator("dialog input").fill("Zoe")
    page.keyboard.press("Enter")
    page.wait_for_selector("h1:text('Zoe')")
    page.locator(".toast button").last.click()
    until(page, "people?q=zora", lambda found: found["total"] == 1)
    page.wait_for_selector("h1:text('Zora')")


def test_faces_are_selected_by_box_and_by_keys_and_taken_out(opened, week):
    one = opened(week)
    page = one.page
    until(page, "status", lambda status: status["believes"])
    somebody = first_person(page)
    one.go(f"/people/{somebody['person']}", ".tile")
    boxes = [page.locator(".tile").nth(k).bounding_box() for k in (0, 2)]
    page.mouse.move(boxes[0]["x"] + 20, boxes[0]["y"] + 20)
    page.mouse.down()
    page.mouse.move(boxes[1]["x"] + 40, boxes[1]["y"] + 60, steps=6)
    one.shot("box")
    page.mouse.up()
    assert page.locator(".tile[aria-selected=true]").count() == 3
    page.keyboard.press("Escape")
    assert page.locator(".tile[aria-selected=true]").count() == 0
    page.locator("[role=listbox]").first.focus()
    page.keyboard.press("Home")
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator(".tile[aria-selected=true]").count() == 2
    page.keyboard.press("x")
    page.wait_for_selector(".toast")
    history = api(page, "history")["acts"][0]
    assert (history["kind"], history["n_entries"]) == ("not", 2)
    page.keyboard.press("z")
    until(page, "history", lambda found: not found["acts"][0]["stands"])


def test_a_picture_is_chosen_and_two_people_are_joined(opened, week):
    one = opened(week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    somebody = first_person(page)
    one.go(f"/people/{somebody['person']}", ".tile")
    page.locator("[role=listbox]").first.focus()
    page.keyboard.press("Home")
    page.keyboard.press(" ")
    page.keyboard.press("p")
    shown = f"people/{somebody['person']}"
    until(page, shown, lambda found: found["picture"] != somebody["picture"])
    page.locator(".toast button").last.click()
    until(page, shown, lambda found: found["picture"] == somebody["picture"])
    one.go("/history", ".act.undone")
    one.shot("history-picture")
    page.locator(".act button").first.click()
    until(page, shown, lambda found: found["picture"] != somebody["picture"])
    one.go(f"/people/{somebody['person']}", ".tile")
    before = api(page, "status")["n_people"]
    page.locator("button:text('Same as…')").click()
    page.wait_for_selector("dialog .choose li")
    page.locator("dialog .choose button").last.click()
    until(page, "status", lambda status: status["n_people"] == before - 1)
    page.locator(".toast button").last.click()
    until(page, "status", lambda status: status["n_people"] == before)


def test_questions_are_answered_by_keys_and_by_mouse(opened, week):
    one = opened(week)
    page = one.go("/questions", ".stage .answer")
    named = api(page, "status")["n_named"]
    answered = 0
    for k in range(4):
        page.wait_for_selector(".stage .answer")
        if page.locator(".answer input").count():
            page.locator(".answer input").fill(f"Person {chr(65 + k)}")
            page.keyboard.press("Enter")
        elif k % 2:
            page.keyboard.press("y")
        else:
            page.locator(".answer button", has_text="Yes").click()
        answered += 1
        page.wait_for_timeout(150)
    until(page, "history", lambda found: found["total"] >= 9 + answered)
    assert until(page, "status", lambda status: status["n_named"] > named)
    page.wait_for_selector(".stage .answer, .stage .none")
    before = page.locator(".portrait img").first.get_attribute("src")
    page.keyboard.press("Alt+s")
    page.wait_for_function("src => document.querySelector('.portrait img')?.getAttribute('src') !== src", arg=before)
    page.keyboard.press("Alt+u")
    until(page, "history", lambda found: not found["acts"][0]["stands"])
    one.shot("questions-answered")


def test_a_photo_shows_who_is_on_it_and_what_is_no_face(opened, week):
    one = opened(week)
    until(one.page, "status", lambda status: status["believes"])
    page = one.go("/photos", ".shot")
    page.locator("h1").click()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".box .label")
    page.locator(".box").first.click()
    page.wait_for_selector("dialog[open] .factors")
    page.keyboard.press("Escape")
    n_faces = api(page, "status")["n_faces"]
    page.locator(".onit button", has_text="Not a face").first.click()
    page.wait_for_selector(".box.ignored")
    assert api(page, "status")["n_faces"] == n_faces - 1
    page.keyboard.press("z")
    until(page, "status", lambda status: status["n_faces"] == n_faces)
    # There are no networks for drawn faces: the page says so, and goes on.
    page.locator("#add-face").click()
    page.wait_for_selector(".canvas .rubber")
    box = page.locator(".canvas").bounding_box()
    page.mouse.move(box["x"] + 20, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 120, box["y"] + 140, steps=4)
    page.mouse.up()
    page.wait_for_selector(".toast:has-text('did not work')")
    one.wrong[:] = [line for line in one.wrong if "503" not in line]


def test_photos_are_turned_and_a_box_is_placed_by_keys_alone(opened, demo):
    one = opened(demo)
    until(one.page, "status", lambda status: status["believes"])
    listed = [found["photo"] for found in api(one.page, "photos?n=3")["photos"]]
    page = one.go(f"/photos/{listed[0]}", ".box")
    assert page.locator(".turn a").count() == 1, "nothing is later than the latest"
    page.keyboard.press("ArrowRight")
    page.wait_for_url(f"**/photos/{listed[1]}")
    page.locator(".turn a", has_text="Earlier").click()
    page.wait_for_url(f"**/photos/{listed[2]}")
    page.wait_for_selector(".turn a:has-text('Later')")
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(f"**/photos/{listed[1]}")
    page.wait_for_selector(".turn a:has-text('Later')")
    boxes = []
    page.route("**/api/v1/photos/*/faces", lambda route: (boxes.append(route.request.post_data_json["box"]), route.fulfill(json={"photo": 1, "faces": 1, "text": "a face was added"})))
    for key in ["a", "ArrowRight", "ArrowRight", "ArrowDown", "+", "Enter"]:
        page.keyboard.press(key)
    page.wait_for_selector(".toast:has-text('A face was added')")
    assert [round(part, 3) for part in boxes[0]] == [0.405, 0.36, 0.27, 0.32]
    for key in ["a", "-", "Escape"]:
        page.keyboard.press(key)
    assert page.locator(".rubber").count() == 0 and len(boxes) == 1


def test_a_dropped_photo_opens_what_is_known_of_it(opened, week):
    one = opened(week)
    page = one.go("/photos", ".shot")
    drop = """() => { const data = new DataTransfer();
        data.items.add(new File([new Uint8Array([255, 216, 255])], 'a.jpg', {type: 'image/jpeg'}));
        document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true, cancelable: true})); }"""
    page.evaluate(drop)
    page.wait_for_selector("dialog[open] p:has-text('found')")
    one.wrong[:] = [line for line in one.wrong if "503" not in line]


def test_doubt_is_settled_with_one_key(opened, week):
    one = opened(week)
    until(one.page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    page = one.go("/doubt", ".doubt-item")
    before = api(page, "history")["total"]
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    unsure = page.locator(".doubt-item:has([data-key=y])").first
    unsure.focus()
    page.keyboard.press("y")
    until(page, "history", lambda found: found["total"] == before + 1)
    slip = page.locator(".doubt-item:has([data-key=k])").first
    if slip.count():
        slip.focus()
        page.keyboard.press("u")
        until(page, "history", lambda found: any(not act["stands"] for act in found["acts"]))
    one.shot("doubt-settled")


def test_any_act_of_the_history_is_taken_back_and_restored(opened, week):
    one = opened(week)
    page = one.go("/history", ".act")
    undone = lambda found: sum(not act["stands"] for act in found["acts"])
    before = undone(api(page, "history?n=1000"))
    page.locator(".act:not(.undone) button").nth(2).click()
    until(page, "history?n=1000", lambda found: undone(found) == before + 1)
    page.wait_for_selector(".act.undone")
    page.locator(".act.undone button").first.click()
    until(page, "history?n=1000", lambda found: undone(found) == before)


def test_the_live_line_tells_what_happens_and_answers_do_not_wait(opened, week):
    one = opened(week)
    page = one.go("/people", ".card")
    page.wait_for_selector(".line[data-doing]")
    somebody = first_person(page, "familiar")
    spent = page.evaluate("""async (person) => { const start = performance.now();
        await fetch('/api/v1/acts', {method: 'POST', headers: {'Content-Type': 'application/json'},
            body: JSON.stringify({kind: 'name', person, name: 'Live'})}); return performance.now() - start; }""", somebody["person"])
    print(f"an answer took {spent:.0f} ms")
    page.wait_for_function("() => document.querySelector('.line').dataset.doing !== 'waking'")
    until(page, "status", lambda status: status["doing"] == "resting")
    page.locator(".tabs button").first.click()
    page.wait_for_selector(".card .name:text('Live')")


def test_names_are_completed_in_the_field_and_offered_from_contacts(opened, own_week):
    one = opened(own_week)
    until(one.page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    page = one.go("/questions", ".stage .answer")
    cards = "".join(f"BEGIN:VCARD\nFN:{name}\nEND:VCARD\n" for name in ["Zacharias Quill", "Zoe Marsh", "Zoltan Ito"])
    page.set_input_files("#contacts", {"name": "all.vcf", "mimeType": "text/vcard", "buffer": cards.encode()})
    page.wait_for_selector("text=3 names of your contacts to choose from")
    one.shot("contacts")
    for _ in range(30):
        if page.locator(".answer .namefield input").count():
            break
        page.keyboard.press("s")
        page.wait_for_timeout(100)
    field = page.locator(".answer .namefield input")
    field.press_sequentially("zo")
    page.wait_for_function("() => document.querySelector('.answer .namefield input').value === 'Zoe Marsh'")
    field.press_sequentially("l")
    page.wait_for_function("() => document.querySelector('.answer .namefield input').value === 'Zoltan Ito'")
    one.shot("completed")
    page.keyboard.press("Backspace")
    page.wait_for_function("() => document.querySelector('.answer .namefield input').value === 'Zol'")
    field.press_sequentially("t")
    page.wait_for_function("() => document.querySelector('.answer .namefield input').value === 'Zoltan Ito'")
    page.keyboard.press("Enter")
    until(page, "people?q=zoltan", lambda found: found["total"] == 1)
    # Esc in an empty field passes over, and a face that was passed over is not asked again.
    page.wait_for_selector(".stage .answer")
    seen = set()
    for _ in range(3):
        row = page.locator(".portrait img").first.get_attribute("src")
        assert row not in seen
        seen.add(row)
        page.keyboard.press("Escape")
        page.wait_for_function("src => document.querySelector('.portrait img')?.getAttribute('src') !== src", arg=row)


def test_wrong_names_are_seen_and_mended_beside_the_question(opened, own_week):
    one = opened(own_week)
    until(one.page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    page = one.go("/questions", ".sofar button")
    for _ in range(30):
        if page.locator(".answer .namefield input").count():
            break
        page.keyboard.press("s")
        page.wait_for_timeout(100)
    assert page.locator(".answer .more img").count() > 1, "one picture may be a bad one"
    page.locator(".answer .namefield input").fill("Wrongname")
    page.keyboard.press("Enter")
    # The latest comes first.
    page.wait_for_function("() => document.querySelector('.sofar li').innerText.includes('Wrongname')")
    one.shot("named-so-far")
    page.locator(".sofar button").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector("dialog[open] .namefield input")
    levels = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
    assert Axe().run(page, options=levels)["violations"] == []
    page.keyboard.type("Rightname")
    page.keyboard.press("Enter")
    page.wait_for_function("() => document.querySelector('.sofar li').innerText.includes('Rightname')")
    assert api(page, "people?q=wrongname")["total"] == 0
    page.locator(".toast button").last.click()
    page.wait_for_function("() => document.querySelector('.sofar').innerText.includes('Wrongname')")


def test_pieces_are_taken_in_with_one_press(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    people = api(page, "people?n=1000")["people"]
    named = next(person for person in people if person["name"])
    apart = [person for person in people if not person["name"]]
    pieces = [{"piece": person, "of": named, "near": 0.9 - k / 10, "picked": k == 0, "worth": 9} for k, person in enumerate(apart[:3])]
    sent = []

    def questions(route):
        reply = route.fetch()
        passed = route.request.url.partition("without=")[2].replace("%2C", ",").split(",")
        left = [one for one in pieces if str(one["piece"]["picture"]) not in passed]
        route.fulfill(response=reply, json={**reply.json(), "pieces": left})

    def acts(route):
        sent.append(route.request.post_data_json)
        route.fulfill(json={"act": 1, "text": "", "entries": 1})

    page.route("**/api/v1/questions*", questions)
    page.route("**/api/v1/acts", acts)
    one.go("/questions", ".pieces")
    one.shot("pieces")
    assert page.locator(".piece[aria-pressed=true]").count() == 1
    tops = {round(page.locator(".piece").nth(k).bounding_box()["y"]) for k in range(3)}
    assert len(tops) == 1, "side by side"
    page.keyboard.press("2")
    page.locator(".piece").nth(2).click()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('.pieces')")
    assert sent == [{"kind": "join_all", "pairs": [[person["person"], named["person"]] for person in apart[1:3]]}]
    levels = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
    one.go("/questions", ".pieces")
    assert Axe().run(page, options=levels)["violations"] == []


def test_a_whole_person_is_nobody_and_that_is_taken_back(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    somebody = first_person(page, "familiar")
    n_faces = api(page, "status")["n_faces"]
    one.go(f"/people/{somebody['person']}", ".tile")
    page.locator(".person-head button", has_text="Leave out").click()
    page.wait_for_url("**/people")
    until(page, "status", lambda status: status["n_faces"] == n_faces - somebody["n_faces"])
    page.locator(".toast button").last.click()
    until(page, "status", lambda status: status["n_faces"] == n_faces)


def test_conflicts_are_settled_with_one_key(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    photos = [found["photo"] for found in api(page, "photos?n=200")["photos"] if found["n_faces"] > 1]
    sizes = {person["person"]: person["n_faces"] for person in api(page, "people?n=1000")["people"]}
    photos = [api(page, f"photos/{photo}") for photo in photos]
    pairs = [photo for photo in photos if all(sizes[face["person"]] > 2 for face in photo["faces"][:2])][:2]
    person = api(page, "people?n=1")["people"][0]
    # As if somebody were twice on two photos, until something was said of them.
    conflicts = [{"kind": "twice", "person": person, "photo": photo["photo"], "faces": photo["faces"][:2]} for photo in pairs]
    said = []

    def doubt(route):
        reply = route.fetch()
        route.fulfill(response=reply, json={**reply.json(), "conflicts": conflicts[len(said):]})

    page.route("**/api/v1/doubt", doubt)
    page.route("**/api/v1/acts", lambda route: (said.append(route.request.post_data_json), route.continue_()))
    one.go("/doubt", ".doubt-item")
    one.shot("conflict")
    assert page.locator(".doubt-item", has_text="twice on a photo").count() == 2
    before = api(page, "history")["total"]
    page.locator(".doubt-item").first.focus()
    page.keyboard.press("2")
    until(page, "history", lambda history: history["total"] == before + 1)
    page.wait_for_function("() => [...document.querySelectorAll('.doubt-item')].filter((n) => n.innerText.includes('twice')).length === 1")
    page.locator(".doubt-item").first.locator("[data-key=b]").click()
    until(page, "history", lambda history: history["total"] == before + 2)
    rows = [[face["row"] for face in one["faces"]] for one in conflicts]
    assert said == [{"kind": "take_out", "faces": [rows[0][1]]}, {"kind": "same", "face": rows[1][0], "other": rows[1][1]}]
    # What the owner says is the same person, twice on a photo, is no conflict any more.
    page.unroute("**/api/v1/doubt")
    until(page, "status", lambda status: status["doing"] == "resting")
    assert all(one["photo"] != conflicts[1]["photo"] for one in api(page, "doubt")["conflicts"])
    page.keyboard.press("z")
    page.keyboard.press("z")
    until(page, "history", lambda history: [act["stands"] for act in history["acts"][:2]] == [False, False])


def test_a_slip_that_was_meant_so_stays_settled(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    found = api(page, "doubt")
    act = api(page, "history")["acts"][0]
    slip = {**act, "entry": 1, "p": 0.01, "looks_like": None}
    page.route("**/api/v1/doubt", lambda route: route.fulfill(json={**found, "slips": [slip] if not said else []}))
    said = []
    page.route("**/api/v1/meant", lambda route: (said.append(route.request.post_data_json), route.continue_()))
    one.go("/doubt", ".doubt-item")
    item = page.locator(".doubt-item:has([data-key=k])").first
    item.focus()
    page.keyboard.press("k")
    page.wait_for_selector(".toast:has-text('It was meant so')")
    assert said == [{"entry": 1, "meant": True}]
    page.locator(".toast button").last.click()
    until(page, "history", lambda history: [history["acts"][0][key] for key in ("kind", "stands")] == ["meant", False])


def test_people_together_on_photos_are_not_joined_and_the_page_says_why(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    somebody = next(found for found in (api(page, f"people/{person['person']}") for person in api(page, "people?n=20")["people"]) if found["together"])
    other = somebody["together"][0]
    one.go(f"/people/{somebody['person']}", ".tile")
    page.locator("button:text('Same as…')").click()
    page.wait_for_selector("dialog .choose li")
    page.locator("dialog input").fill(other["title"])
    page.locator("dialog .choose button", has_text=other["title"]).first.click()
    page.wait_for_selector(".toast:has-text('nobody is twice on a photo')")
    one.wrong[:] = [line for line in one.wrong if "422" not in line]


def test_somebody_is_forgotten_after_it_was_read_what_goes(opened, own_week):
    one = opened(own_week)
    page = one.page
    until(page, "status", lambda status: status["believes"] and status["doing"] == "resting")
    somebody = first_person(page)
    n_faces = api(page, "status")["n_faces"]
    one.go(f"/people/{somebody['person']}", ".tile")
    page.locator(".person-head button", has_text="Forget…").click()
    page.wait_for_selector("dialog[open] .danger")
    one.shot("forget")
    assert f"{somebody['n_faces']} face" in page.locator("dialog").inner_text()
    assert "cannot be undone" in page.locator("dialog").inner_text()
    levels = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa"]}}
    assert Axe().run(page, options=levels)["violations"] == []
    # Enter, pressed in haste, forgets nobody.
    page.keyboard.press("Enter")
    page.wait_for_function("() => !document.querySelector('dialog')")
    assert api(page, "status")["n_faces"] == n_faces
    page.locator(".person-head button", has_text="Forget…").click()
    page.locator("dialog .danger").click()
    page.wait_for_url("**/people")
    page.wait_for_selector(".toast:has-text('Forgotten')")
    until(page, "status", lambda status: status["n_faces"] == n_faces - somebody["n_faces"] and status["believes"])
    assert api(page, f"people?q={somebody['name']}")["total"] == 0
