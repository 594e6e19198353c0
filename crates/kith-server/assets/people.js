// Everybody: named, familiar and strangers apart, as faces.

import { api, faceUrl, h, listen, sentence, state } from "./base.js";
import { grid } from "./widgets.js";
import { texts } from "./texts.js";

const kept = { standing: null, sort: "size", q: "" };

export function people(main) {
  const t = texts.peopleView;
  const status = state.status;
  kept.standing ??= status.named ? "named" : status.familiar ? "familiar" : "stranger";
  const query = (from, n) => `people?from=${from}&n=${n}&sort=${kept.sort}${kept.q ? `&q=${encodeURIComponent(kept.q)}` : `&standing=${kept.standing}`}`;
  const card = (person) => h("a", { class: "card", href: `/people/${person.person}` },
    h("img", { src: faceUrl(person.picture), alt: "", width: 160, height: 160, loading: "lazy" }),
    h("span", { class: "name" }, sentence(person.title)),
    h("span", { class: "soft" }, texts.faces(person.n_faces)),
    person.n_doubtful > 0 && person.n_faces > 1 && h("span", { class: "unsure" }, t.unsure(person.n_doubtful)));
  const all = grid({ label: t.title, width: 150, height: 232, render: card,
    fetch: async (from, n) => { const found = await api(query(from, n)); return { total: found.total, items: found.people }; } });
  const hint = h("p", { class: "soft hint", "aria-live": "polite" });
  const tabs = h("div", { class: "tabs", role: "group", "aria-label": t.title });
  function paintTabs() {
    const counts = { named: state.status.named, familiar: state.status.familiar, stranger: state.status.strangers };
    tabs.replaceChildren(...Object.entries(t.tabs).map(([key, name]) => h("button", { type: "button",
      "aria-pressed": String(!kept.q && kept.standing === key), click: () => { kept.standing = key; kept.q = search.value = ""; reload(); } },
    name, h("span", { class: "count" }, counts[key].toLocaleString("en")))));
  }
  async function reload() {
    paintTabs();
    const total = await all.reload();
    const nothing = kept.q ? t.nobodyFound : state.status.n_faces ? t.none[kept.standing] : t.empty;
    hint.textContent = total ? (kept.q ? texts.people(total) : t.hints[kept.standing]) : nothing;
  }
  let wait;
  const search = h("input", { type: "search", id: "search", "aria-label": t.search, placeholder: t.search, value: kept.q,
    input: () => { clearTimeout(wait); wait = setTimeout(() => { kept.q = search.value.trim(); reload(); }, 120); } });
  const sort = h("select", { "aria-label": t.sort, change: () => { kept.sort = sort.value; reload(); } },
    Object.entries(t.sorts).map(([key, name]) => h("option", { value: key, selected: key === kept.sort }, name)));
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title), h("div", { class: "tools" }, search, sort)), tabs, hint, all.node);
  reload();
  const off = listen("changed", reload);
  return { title: t.title, leave() { off(); all.leave(); }, keys: { ArrowDown: () => all.focus() } };
}
