// A person: who, when, where and with whom; all faces, the least sure first; and everything that can be said of them.

import { api, canSay, complain, faceUrl, go, h, listen, say, sentence, tell, toast, undo } from "./base.js";
import { askForget, askName, askPerson, chip, grid, nameField, openFace, saidList, tile } from "./widgets.js";
import { texts } from "./texts.js";

export function person(main, id) {
  const t = texts.person;
  let who = null, chosen = [];
  const head = h("div", { class: "person-head" });
  const about = h("div", { class: "about" });
  const bar = h("div", { class: "selection", role: "toolbar", "aria-label": t.selected(0), hidden: true });
  const rows = () => chosen.map((face) => face.row);
  const faces = grid({
    label: t.faces, width: 128, height: 168, gap: 12,
    fetch: async (from, n) => { const found = await api(`people/${id}/faces?from=${from}&n=${n}`); return { total: found.total, items: found.faces }; },
    render: (face) => tile(face, texts.sure(face.p)),
    open: (face) => openFace(face.row, refresh),
    select: (list) => { chosen = list; paintBar(); },
  });

  const rename = () => askName(who.name ? t.rename : t.give, (name) => act({ kind: "name", person: id, name }));
  const join = () => askPerson(t.joinTitle(who.title), id, async (other) => {
    if (await say({ kind: "join", person: other.person, into: id })) refresh();
  });
  const ignore = async () => { if (await say({ kind: "ignore", person: id })) go("/people"); };
  const nameThem = () => chosen.length && askName(t.theyAre, (name) => act({ kind: "name", faces: rows(), name }));
  const takeOut = () => chosen.length && act({ kind: "take_out", faces: rows() });
  const nobody = () => chosen.length && act({ kind: "ignore", faces: rows() });
  async function picture(face = chosen[0]?.row) {
    if (!face) return;
    try {
      const done = await api(`people/${id}/picture`, { face });
      toast(t.picture, () => undo(done.act));
      faces.clear();
      tell("changed");
    } catch (error) { complain(error); }
  }
  async function act(what) {
    document.activeElement?.blur();
    if (await say(what)) { faces.clear(); refresh(); }
  }

  function paintBar() {
    bar.hidden = chosen.length === 0 || !canSay();
    if (bar.hidden) return;
    bar.setAttribute("aria-label", t.selected(chosen.length));
    bar.replaceChildren(...[h("strong", {}, t.selected(chosen.length)),
      h("button", { type: "button", class: "main", click: nameThem }, t.theyAre, h("kbd", {}, "n")),
      h("button", { type: "button", click: takeOut }, who?.name ? t.notThem(who.name) : t.notThis, h("kbd", {}, "x")),
      h("button", { type: "button", click: nobody }, t.ignore, h("kbd", {}, "i")),
      chosen.length === 1 && h("button", { type: "button", click: () => picture() }, t.picture, h("kbd", {}, "p")),
      h("button", { type: "button", class: "plain", click: () => faces.clear() }, t.clear)].filter(Boolean));
  }

  function timeline(line) {
    const most = Math.max(...line.bars);
    const svg = h("svg", { svg: true, viewBox: "0 0 300 46", class: "timeline", preserveAspectRatio: "none", "aria-hidden": "true" });
    line.bars.forEach((n, k) => {
      const tall = n ? Math.max(4, (44 * n) / most) : 0;
      svg.append(h("rect", { svg: true, x: 5 * k, y: 46 - tall, width: 4, height: tall, rx: 1 }));
    });
    return h("div", {}, svg, h("p", { class: "soft ends" }, h("span", {}, texts.day(line.first)), h("span", {}, texts.day(line.last))));
  }

  function paint() {
    const field = nameField(t.unnamed, (name) => act({ kind: "name", person: id, name }), { face: who.picture });
    const title = who.name ? h("h1", {}, who.name) : h("h1", { class: "unnamed" }, sentence(who.title));
    head.replaceChildren(h("img", { src: faceUrl(who.picture), alt: "", width: 160, height: 160 }),
      h("div", {}, h("a", { class: "back", href: "/people" }, `← ${t.back}`), title,
        h("p", { class: "soft" }, texts.faces(who.n_faces), who.name && who.p < 0.995 && ` · ${texts.sure(who.p)}`,
          who.n_doubtful > 0 && who.n_faces > 1 && ` · ${texts.peopleView.unsure(who.n_doubtful)}`),
        canSay() && !who.name && field.node,
        canSay() && h("div", { class: "row" }, who.name && h("button", { type: "button", click: rename }, t.rename),
          h("button", { type: "button", click: join }, t.join),
          h("button", { type: "button", title: t.ignoreHint, click: ignore }, t.ignore),
          h("button", { type: "button", class: "plain quiet", click: () => askForget(texts.forget.who(who.title), { person: id }, () => go("/people")) }, texts.forget.button))));
    const contexts = Object.entries(who.contexts).sort((a, b) => b[1] - a[1]);
    // Of a photo on which somebody is twice there is more to show than a line.
    const named = who.conflicts.filter((one) => !one.startsWith("twice"));
    const part = (title, content) => h("section", { class: "part" }, h("h2", {}, title), content);
    about.replaceChildren(...[
      who.twice.length + named.length > 0 && part(t.conflicts, h("ul", { class: "unfit" },
        who.twice.map((one) => h("li", {}, h("a", { href: `/photos/${one.photo}` },
          one.faces.slice(0, 3).map((row) => h("img", { src: faceUrl(row), alt: "", width: 44, height: 44, loading: "lazy" })), h("span", { class: "warn" }, t.twice(one.faces.length))))),
        named.map((one) => h("li", { class: "warn" }, sentence(one))))),
      who.timeline && part(t.timeline, timeline(who.timeline)),
      contexts.length > 0 && part(t.contexts, h("ul", { class: "places" }, contexts.slice(0, 8).map(([place, n]) => h("li", {}, place, h("span", { class: "count" }, n))))),
      who.together.length > 0 && part(t.together, h("div", { class: "chips" }, who.together.slice(0, 6).map((other) => chip(other, texts.photos(other.photos))))),
      who.alike.length > 0 && part(t.alike, h("div", { class: "chips" }, who.alike.slice(0, 4).map((other) => h("div", { class: "alike" }, chip(other, texts.faces(other.n_faces)),
        canSay() && h("button", { type: "button", class: "plain", "aria-label": t.joinDo(who.title, other.title),
          click: async () => { if (await say({ kind: "join", person: other.person, into: id })) refresh(); } }, t.sameQuestion))))),
      part(t.said, who.said.length ? saidList(who.said.slice(0, 12)) : h("p", { class: "soft" }, t.nothingSaid)),
    ].filter(Boolean));
  }

  async function refresh() {
    try {
      who = await api(`people/${id}`);
    } catch (error) {
      head.replaceChildren(h("div", {}, h("a", { class: "back", href: "/people" }, `← ${t.back}`), h("h1", {}, error.code === "not_found" ? t.gone : error.message)));
      about.replaceChildren();
      faces.node.hidden = true;
      return;
    }
    document.title = `${who.title} · ${texts.brand}`;
    if (!head.contains(document.activeElement) || document.activeElement.tagName !== "INPUT") paint();
    await faces.reload();
  }
  main.replaceChildren(head, h("div", { class: "person-body" }, h("section", { "aria-label": t.faces }, h("h2", {}, t.faces), faces.node), about), bar);
  refresh();
  const off = listen("changed", refresh);
  return { title: "", leave() { off(); faces.leave(); },
    keys: { n: () => (chosen.length ? nameThem() : rename()), x: takeOut, i: nobody, p: () => picture(), Escape: () => faces.clear(), ArrowDown: () => faces.focus() } };
}
