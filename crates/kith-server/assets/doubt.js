// What is doubtful: conflicts, slips, and faces that are hard to tell; each with one key to settle it.

import { api, canSay, complain, faceUrl, h, listen, say, sentence, tell, toast, undo } from "./base.js";
import { openFace } from "./widgets.js";
import { texts } from "./texts.js";

/** What looks like a slip was meant so: kept in the library, and taken back like everything. */
async function mean(entry) {
  try {
    const done = await api("meant", { entry, meant: true });
    toast(texts.doubt.keep, () => undo(done.act));
    tell("said");
    return true;
  } catch (error) { complain(error); return false; }
}

export function doubt(main) {
  const t = texts.doubt;
  const body = h("div", { class: "doubts" });
  let at = 0;

  const picture = (face) => h("button", { type: "button", class: "small", "aria-label": `${texts.face.title}: ${face.face ?? face.row}`, click: () => openFace(face.row, refresh) },
    h("img", { src: faceUrl(face.row), alt: "", width: 72, height: 72, loading: "lazy" }));
  /** Whom it is taken for. */
  const whom = (face) => h("a", { class: "whom", href: `/people/${face.person}`, "aria-label": sentence(face.title), title: sentence(face.title) },
    h("img", { src: faceUrl(face.person_picture), alt: "", width: 72, height: 72, loading: "lazy" }));
  const button = (text, key, then) => h("button", { type: "button", "data-key": key, click: then }, text, h("kbd", {}, key));

  /** One thing to settle; it goes when it is. */
  function item(faces, title, note, ...buttons) {
    const node = h("li", { class: "doubt-item", tabindex: "-1" }, h("div", { class: "pics" }, faces.map((face) => (face.is_whom ? whom(face) : picture(face)))),
      h("div", { class: "grow" }, h("strong", {}, title), note && h("span", { class: "soft" }, note)), canSay() && h("div", { class: "row" }, buttons));
    node.addEventListener("focusin", () => { at = items().indexOf(node); mark(); });
    return node;
  }
  const settle = (node, act) => async () => {
    if (!(await act())) return;
    const next = node.nextElementSibling ?? node.previousElementSibling;
    node.remove();
    (next ?? items()[0])?.focus();
  };
  function settling(faces, title, note, list) {
    const node = item(faces, title, note, ...list.map(([text, key, act]) => button(text, key, () => settle(node, act)())));
    return node;
  }
  const items = () => [...body.querySelectorAll(".doubt-item")];
  const mark = () => items().forEach((node, k) => { node.tabIndex = k === at ? 0 : -1; });
  const part = (title, hint, list, more) => list.length > 0 && h("section", {}, h("h2", {}, title), h("p", { class: "soft" }, hint),
    h("ul", { class: "doubt-list" }, list), more && h("p", { class: "soft" }, more));

  function paint(found) {
    const conflicts = found.conflicts.map((one) => one.kind === "twice"
      ? settling(one.faces, sentence(t.twice(one.person.title)), h("a", { href: `/photos/${one.photo}` }, t.photo), [
        ...one.faces.map((face, k) => [t.notThis(k, one.faces.length), String(k + 1), () => say({ kind: "take_out", faces: [face.row] })]),
        [t.both, "b", () => say({ kind: "same", face: one.faces[0].row, other: one.faces[1].row })]])
      : settling([{ row: one.person.picture, face: one.person.title }], sentence(t.names(one.person.title)), one.text, [
        [t.keep, "k", () => say({ kind: "name", person: one.person.person, name: one.person.name ?? one.person.title })]]));
    const slips = found.slips.map((slip) => settling([...slip.faces, slip.looks_like].filter(Boolean), texts.history.said[slip.kind](1, slip.name),
      [t.slip(slip.p), slip.looks_like && slip.looks_like.title !== slip.name && t.looksLike(slip.looks_like.title)].filter(Boolean).join(", "), [
        [t.takeBack, "u", () => undo(slip.act).then(() => true)],
        [t.keep, "k", () => mean(slip.entry)]]));
    const unsure = found.faces.slice(0, 60).map((face) => settling([face, face.person_picture !== face.row && { ...face, is_whom: true }].filter(Boolean), t.is(face.title), [texts.sure(face.p), face.context].filter(Boolean).join(" · "), [
      [texts.face.yes, "y", () => say({ kind: "confirm", faces: [face.row] })],
      [texts.face.no, "n", () => say({ kind: "take_out", faces: [face.row] })],
      [texts.face.nobody, "i", () => say({ kind: "ignore", faces: [face.row] })]]));
    const more = found.n_unsure > 60 ? t.left(found.n_unsure - 60) : null;
    const parts = [part(t.conflicts, t.conflictsHint, conflicts), part(t.slips, t.slipsHint, slips), part(t.unsure, t.unsureHint, unsure, more)].filter(Boolean);
    body.replaceChildren(...(parts.length ? parts : [h("p", { class: "none" }, t.none)]));
    at = Math.min(at, Math.max(0, items().length - 1));
    mark();
  }
  async function refresh() {
    const had = body.contains(document.activeElement);
    try { paint(await api("doubt")); } catch (error) { complain(error); }
    if (had) items()[at]?.focus({ preventScroll: true });
  }
  const step = (by) => () => { at = Math.min(items().length - 1, Math.max(0, at + by)); mark(); items()[at]?.focus(); };
  const press = (event) => items()[at]?.querySelector(`[data-key="${event.key}"]`)?.click();
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title)), body);
  refresh();
  const off = [listen("changed", refresh), listen("undone", refresh)];
  return { title: t.title, leave() { off.forEach((stop) => stop()); },
    keys: { ArrowDown: step(1), ArrowUp: step(-1), j: step(1), k: press, y: press, n: press, i: press, u: press, b: press, 1: press, 2: press, 3: press } };
}
