// One question at a time; the next one is there before the hand has moved.

import { api, canSay, complain, faceUrl, h, listen, photoUrl, say, sentence, state, undo } from "./base.js";
import { nameField, openFace } from "./widgets.js";
import { texts } from "./texts.js";

const skipped = new Set();
const id = (question) => `${question.face.row}-${question.other?.row ?? ""}`;

export function questions(main) {
  const t = texts.questions;
  let queue = [], now = null, busy = false, believes = true;
  const stage = h("div", { class: "stage", "aria-live": "polite" });
  const goal = h("div", { class: "goal" });

  function portrait(face, person) {
    const photo = h("a", { class: "onphoto", href: `/photos/${face.photo}`, title: t.context },
      h("img", { src: photoUrl(face.photo, "small"), alt: t.context, loading: "eager" }));
    return h("figure", { class: "portrait" },
      h("button", { type: "button", class: "big", "aria-label": `${texts.face.title}: ${face.face}`, click: () => openFace(face.row, refill) },
        h("img", { src: faceUrl(face.row), alt: face.face, width: 280, height: 280 })),
      h("figcaption", {}, photo, h("span", {}, person && h("strong", {}, sentence(person.title)), person && h("span", { class: "soft" }, t.of(person.n_faces)),
        face.context && h("span", { class: "soft" }, face.context))));
  }

  function paintGoal() {
    const { n_named: named, n_faces: all } = state.status;
    const share = all ? named / all : 0;
    const bar = h("span", { class: "bar for" });
    bar.style.width = `${100 * share}%`;
    bar.style.left = "0";
    goal.replaceChildren(h("div", { class: "goal-text" }, h("strong", {}, texts.named(named, all)), h("span", { class: "soft" }, t.goal)),
      h("div", { class: "track tall", role: "progressbar", "aria-label": t.goal, "aria-valuemin": 0, "aria-valuemax": 100, "aria-valuenow": Math.floor(100 * share) }, bar, h("span", { class: "mark" })));
  }

  function next() {
    now = queue.find((question) => !skipped.has(id(question))) ?? null;
    paint();
    queue.slice(0, 4).forEach((question) => [question.face, question.other].forEach((face) => {
      if (face) new Image().src = faceUrl(face.row);
    }));
  }

  function paint() {
    paintGoal();
    if (!now) {
      const left = queue.length > 0;
      stage.replaceChildren(h("p", { class: "none" }, !believes ? t.waking : left ? t.skipped : t.none),
        left && h("button", { type: "button", click: () => { skipped.clear(); next(); } }, t.again) || "");
      return;
    }
    const isPair = now.ask === "same";
    const field = isPair ? null : nameField(t.name, (name) => answer({ kind: "name", faces: [now.face.row], name }));
    const button = (text, key, then, main) => h("button", { type: "button", class: main ? "main" : "", click: then }, text, h("kbd", {}, key));
    const buttons = isPair
      ? [button(t.yes, "y", keys.y, true), button(t.no, "n", keys.n), button(t.skip, "s", keys.s), button(t.undo, "u", keys.u)]
      : [button(t.nobody, "Alt+I", nobody), button(t.skip, "Alt+S", keys.s), button(t.undo, "Alt+U", keys.u)];
    stage.replaceChildren(h("h2", { class: "ask" }, isPair ? t.same : t.who),
      h("p", { class: "soft" }, t.settles(now.settles || now.gain), isPair && ` · ${t.probable(now.p)}`),
      h("div", { class: isPair ? "pair" : "single" }, portrait(now.face, now.person), isPair && portrait(now.other, now.other_person)),
      canSay() ? h("div", { class: "answer" }, field?.node, h("div", { class: "row" }, buttons)) : h("p", { class: "soft" }, texts.readOnly),
      h("p", { class: "soft keys" }, isPair ? t.keys.same : t.keys.who));
    if (field && canSay()) field.focus(); else if (isPair) stage.querySelector(".answer .main")?.focus({ preventScroll: true });
  }

  async function answer(act) {
    if (busy || !now || !canSay()) return;
    busy = true;
    const about = now;
    // What comes next does not wait for what was said.
    queue = queue.filter((question) => question !== about && question.person?.person !== about.person?.person);
    const done = say(act);
    next();
    busy = false;
    if (!(await done)) refill();
  }
  const nobody = () => answer({ kind: "ignore", faces: [now.face.row] });
  const keys = {
    y: () => now?.other && answer({ kind: "same", face: now.face.row, other: now.other.row }),
    n: () => now?.other && answer({ kind: "different", face: now.face.row, other: now.other.row }),
    s: () => { if (now) { skipped.add(id(now)); next(); } },
    u: () => undo(),
  };

  async function refill() {
    try {
      const found = await api("questions?n=12");
      believes = found.believes;
      queue = found.questions;
      Object.assign(state.status, { n_named: found.n_named, n_faces: found.n_faces });
      const same = now && queue.find((question) => id(question) === id(now));
      const isTyping = main.querySelector(".namefield input")?.value;
      if (same && (isTyping || now.ask === same.ask)) { now = same; paintGoal(); } else if (!isTyping) next();
    } catch (error) { complain(error); }
  }
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title)), goal, stage);
  paintGoal();
  refill();
  const off = [listen("changed", refill), listen("undone", refill)];
  return { title: t.title, leave() { off.forEach((stop) => stop()); }, keys, alt: { s: keys.s, u: keys.u, i: nobody } };
}
