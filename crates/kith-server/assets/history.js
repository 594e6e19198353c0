// Everything that was said, each with a way back.

import { api, canSay, faceUrl, h, listen, redo, undo } from "./base.js";
import { grid } from "./widgets.js";
import { texts } from "./texts.js";

export function historyView(main) {
  const t = texts.history;
  const hint = h("p", { class: "soft hint" });
  const line = (act) => h("div", { class: `act${act.stands ? "" : " undone"}`, tabindex: "-1" },
    h("span", { class: "pics" }, [...act.faces.slice(0, 3), act.other].filter(Boolean).map((face) => h("img", { src: faceUrl(face.row), alt: "", width: 44, height: 44, loading: "lazy" }))),
    h("span", { class: "grow" }, h("strong", { title: act.text }, t.said[act.kind](act.n_entries, act.name)), h("span", { class: "soft" }, t.by(act.by_others ? t.others : act.by, texts.when(act.at)), act.stands ? "" : ` · ${t.takenBack}`)),
    canSay() && h("button", { type: "button", click: () => (act.stands ? undo(act.act) : redo(act.act)), "aria-label": `${act.stands ? texts.undo : texts.redo}: ${act.text}` }, act.stands ? texts.undo : texts.redo));
  const all = grid({
    label: t.title, width: 100000, height: 64, gap: 8, render: line,
    fetch: async (from, n) => { const found = await api(`history?from=${from}&n=${n}`); return { total: found.total, items: found.acts }; },
  });
  const reload = () => all.reload().then((total) => { hint.textContent = total ? t.hint : t.none; });
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title)), hint, all.node);
  reload();
  const off = [listen("changed", reload), listen("said", reload)];
  return { title: t.title, leave() { off.forEach((stop) => stop()); all.leave(); }, keys: { ArrowDown: () => all.focus() } };
}
