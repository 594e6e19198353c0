// One question at a time; the next one is there before the hand has moved.

import { api, canSay, complain, faceUrl, h, listen, photoUrl, say, sentence, state, undo } from "./base.js";
import { contacts, dialog, nameField, openFace } from "./widgets.js";
import { texts } from "./texts.js";

// Faces, and pieces by their pictures, that were passed over.
const passed = new Set();
const id = (question) => (question.pieces ? question.pieces.map((one) => one.piece.picture).join() : `${question.face.row}-${question.other?.row ?? ""}`);

export function questions(main) {
  const t = texts.questions;
  let queue = [], pieces = [], now = null, busy = false, believes = true;
  const stage = h("div", { class: "stage", "aria-live": "polite" });
  const goal = h("div", { class: "goal" });

  /** Everybody who has a name, the latest first: a wrong name is seen where one answers, and mended there. */
  const MOST_NAMED = 60;
  const named = h("section", { class: "sofar", "aria-label": t.named, hidden: true });
  function mend(person) {
    const field = nameField(t.name, async (name) => {
      box.close();
      if (name !== person.name && await say({ kind: "name", person: person.person, name })) refill();
    }, { face: person.picture, pass: () => box.close() });
    const box = dialog(t.whoElse(person.title), h("div", { class: "mend" },
      h("img", { src: faceUrl(person.picture), alt: "", width: 120, height: 120 }), field.node),
    h("a", { href: `/people/${person.person}`, click: () => box.close() }, t.open(person.title)));
    field.focus();
  }
  async function paintNamed() {
    const found = await api(`people?standing=named&sort=lately&n=${MOST_NAMED}`);
    named.hidden = found.total === 0;
    const at = [...named.querySelectorAll("button")].indexOf(document.activeElement);
    named.replaceChildren(h("h2", {}, t.named), canSay() ? h("p", { class: "soft" }, t.namedHint) : "",
      h("ul", {}, found.people.map((person) => h("li", {}, h("button", { type: "button", disabled: !canSay(), "aria-label": `${person.title}, ${texts.faces(person.n_faces)}`, click: () => mend(person) },
        h("img", { src: faceUrl(person.picture), alt: "", width: 64, height: 64, loading: "lazy" }), h("span", {}, person.title))))),
      found.total > found.people.length ? h("a", { href: "/people" }, t.others(found.total - found.people.length)) : "");
    if (at >= 0) named.querySelectorAll("button")[at]?.focus({ preventScroll: true });
  }

  function portrait(face, person) {
    const photo = h("a", { class: "onphoto", href: `/photos/${face.photo}`, title: t.context },
      h("img", { src: photoUrl(face.photo, "small"), alt: t.context, loading: "eager" }));
    return h("figure", { class: "portrait" },
      h("button", { type: "button", class: "big", "aria-label": `${texts.face.title}: ${face.face}`, click: () => openFace(face.row, refill) },
        h("img", { src: faceUrl(face.row), alt: face.face, width: 280, height: 280 })),
      h("figcaption", {}, photo, h("span", {}, person && h("strong", {}, sentence(person.title)), person && h("span", { class: "soft" }, t.of(person.n_faces)),
        face.context && h("span", { class: "soft" }, face.context))));
  }

  /** One picture may be a bad one: others of the same person stand beside it. */
  const others = (question) => question.more?.length > 0 && h("ul", { class: "more", "aria-label": t.more(question.more.length) },
    question.more.map((row) => h("li", {}, h("img", { src: faceUrl(row), alt: "", width: 64, height: 64 }))));

  function paintGoal() {
    const { n_named: named, n_faces: all } = state.status;
    const share = all ? named / all : 0;
    const bar = h("span", { class: "bar for" });
    bar.style.width = `${100 * share}%`;
    bar.style.left = "0";
    goal.replaceChildren(h("div", { class: "goal-text" }, h("strong", {}, texts.named(named, all)), h("span", { class: "soft" }, t.goal)),
      h("div", { class: "track tall", role: "progressbar", "aria-label": t.goal, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.floor(100 * share) }, bar, h("span", { class: "mark" })));
  }

  /** Pieces are asked about together, once they are worth as much as the next question. */
  function next() {
    const open = queue.filter((question) => !passed.has(question.face.row));
    const left = pieces.filter((one) => !passed.has(one.piece.picture));
    const worth = left.reduce((sum, one) => sum + one.worth, 0);
    now = worth > (open[0]?.gain ?? 0) ? { pieces: left } : open[0] ?? null;
    paint();
    open.slice(0, 4).forEach((question) => [question.face, question.other].forEach((face) => {
      if (face) new Image().src = faceUrl(face.row);
    }));
  }

  function paint() {
    paintGoal();
    if (!now) {
      const left = passed.size > 0;
      stage.replaceChildren(h("p", { class: "none" }, !believes ? t.waking : left ? t.skipped : t.none),
        left && h("button", { type: "button", click: () => { passed.clear(); refill(); } }, t.again) || "");
      return;
    }
    const kind = now.pieces ? "pieces" : now.ask;
    const field = kind === "who" ? nameField(t.name, (name) => answer({ kind: "name", faces: [now.face.row], name }), { face: now.face.row, pass: keys.s }) : null;
    stage.replaceChildren(h("h2", { class: "ask" }, t[kind]),
      h("p", { class: "soft" }, kind === "pieces" ? t.piecesHint : t.settles(now.settles || now.gain), kind === "same" && ` · ${t.probable(now.p)}`),
      h("div", { class: `asked is-${kind}` },
        kind === "pieces" ? paintPieces() : h("div", { class: "pair" }, portrait(now.face, now.person), kind === "same" && portrait(now.other, now.other_person)),
        h("div", { class: "answer" }, canSay() ? [kind === "who" && others(now), field?.node, h("div", { class: "row" }, buttons(kind))] : h("p", { class: "soft" }, texts.readOnly),
          h("p", { class: "soft keys" }, t.keys[kind]))));
    if (field && canSay()) field.focus(); else stage.querySelector(".answer .main")?.focus({ preventScroll: true });
  }

  function buttons(kind) {
    const button = (text, key, then, main) => h("button", { type: "button", class: main ? "main" : "", click: then }, text, h("kbd", {}, key));
    if (kind === "same") return [button(t.yes, "y", keys.y, true), button(t.no, "n", keys.n), button(t.skip, "s", keys.s), button(t.undo, "u", keys.u)];
    if (kind === "pieces") return [button(t.take(now.pieces.filter((one) => one.picked).length), "Enter", join, true), button(t.undo, "u", keys.u)];
    return [button(t.nobody, "Alt+I", nobody), button(t.skip, "Esc", keys.s), button(t.undo, "Alt+U", keys.u)];
  }

  function paintPieces() {
    const toggle = (one) => () => { one.picked = !one.picked; paint(); };
    return h("div", { class: "pieces" }, now.pieces.map((one, k) => h("button", { type: "button", class: "piece", "aria-pressed": String(one.picked), click: toggle(one) },
      h("span", { class: "two" }, h("img", { src: faceUrl(one.piece.picture), alt: "", width: 96, height: 96 }), h("img", { src: faceUrl(one.of.picture), alt: "", width: 96, height: 96 })),
      h("span", {}, t.isThat(one.of.title)), h("span", { class: "soft" }, texts.faces(one.piece.n_faces), h("kbd", {}, k + 1)))));
  }

  async function answer(act) {
    if (busy || !now || !canSay()) return;
    busy = true;
    const about = now;
    // What comes next does not wait for what was said.
    if (about.face) queue = queue.filter((question) => question !== about && question.person?.person !== about.person?.person);
    const done = say(act);
    next();
    busy = false;
    if (!(await done)) refill();
  }
  function join() {
    if (!now?.pieces) return;
    const pairs = now.pieces.filter((one) => one.picked).map((one) => [one.piece.person, one.of.person]);
    now.pieces.forEach((one) => passed.add(one.piece.picture));
    if (pairs.length) answer({ kind: "join_all", pairs }); else next();
    refill();
  }
  const nobody = () => now?.face && answer(now.person ? { kind: "ignore", person: now.person.person } : { kind: "ignore", faces: [now.face.row] });
  const keys = {
    y: () => now?.other && answer({ kind: "same", face: now.face.row, other: now.other.row }),
    n: () => now?.other && answer({ kind: "different", face: now.face.row, other: now.other.row }),
    s: () => {
      if (!now) return;
      (now.pieces ? now.pieces.map((one) => one.piece.picture) : [now.face.row]).forEach((row) => passed.add(row));
      next();
      if (queue.filter((question) => !passed.has(question.face.row)).length < 4) refill();
    },
    u: () => undo(),
    Enter: join,
  };
  for (let k = 1; k <= 9; k++) keys[k] = () => { if (now?.pieces?.[k - 1]) { now.pieces[k - 1].picked = !now.pieces[k - 1].picked; paint(); } };

  async function refill() {
    try {
      const found = await api(`questions?n=12${passed.size ? `&without=${[...passed].join()}` : ""}`);
      believes = found.believes;
      queue = found.questions;
      pieces = found.pieces;
      paintNamed().catch(complain);
      Object.assign(state.status, { n_named: found.n_named, n_faces: found.n_faces });
      const isTyping = main.querySelector(".namefield input")?.value;
      const isOpen = now?.pieces ? now.pieces.every((one) => pieces.some((other) => other.piece.person === one.piece.person))
        : now && queue.some((question) => id(question) === id(now) && question.ask === now.ask);
      // What somebody is at stays.
      if (isOpen || isTyping) paintGoal(); else next();
    } catch (error) { complain(error); }
  }
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title), goal), stage, named, canSay() && contacts() || "");
  paintGoal();
  refill();
  const off = [listen("changed", refill), listen("undone", refill)];
  return { title: t.title, leave() { off.forEach((stop) => stop()); }, keys: { ...keys, Escape: keys.s }, alt: { s: keys.s, u: keys.u, i: nobody } };
}
