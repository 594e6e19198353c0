// Parts that several views use: a grid that draws only what is seen, name fields, dialogs, the reasons for a face.

import { $, api, canSay, complain, faceUrl, go, h, listen, say, sentence, state, tell, toast } from "./base.js";
import { texts } from "./texts.js";

/**
 * A grid of which only the rows that are seen are drawn. `fetch(from, n)` brings items, `render(item, index)` draws
 * one. With `select`, items are options that can be selected, by keys and by dragging a box.
 */
export function grid({ label, fetch, render, open, select, width = 148, height = 196, gap = 16 }) {
  const PAGE = 120;
  const inner = h("div", { class: "grid-inner", role: select ? "listbox" : "list", "aria-label": label,
    "aria-multiselectable": select ? "true" : null, tabindex: select ? "0" : null });
  const node = h("div", { class: "grid" }, inner);
  const known = new Map();
  const drawn = new Map();
  const asked = new Set();
  const chosen = new Map();
  let total = 0, columns = 1, cell = width, active = 0, anchor = 0, version = 0, frame = 0, laid = "";

  const place = (index) => [(index % columns) * (cell + gap), Math.floor(index / columns) * (height + gap)];

  async function need(from, to) {
    for (let page = Math.floor(from / PAGE); page <= Math.floor(Math.max(from, to - 1) / PAGE); page++) {
      if (asked.has(page)) continue;
      asked.add(page);
      const mine = version;
      try {
        const found = await fetch(page * PAGE, PAGE);
        if (mine !== version) return;
        total = found.total;
        found.items.forEach((item, k) => known.set(page * PAGE + k, item));
        draw();
      } catch (error) {
        asked.delete(page);
        complain(error);
      }
    }
  }

  function draw() {
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(paint);
  }

  function paint() {
    if (!node.isConnected) return;
    const room = node.clientWidth;
    columns = Math.max(1, Math.floor((room + gap) / (width + gap)));
    cell = (room - gap * (columns - 1)) / columns;
    const rows = Math.ceil(total / columns);
    const tall = `${Math.max(0, rows * (height + gap) - gap)}px`;
    if (inner.style.height !== tall) inner.style.height = tall;
    const top = -inner.getBoundingClientRect().top;
    const first = Math.max(0, Math.floor(top / (height + gap)) - 2);
    const last = Math.min(rows, Math.ceil((top + innerHeight) / (height + gap)) + 2);
    const [from, to] = [first * columns, Math.min(total, last * columns)];
    // What is drawn already moves only when the grid is laid out anew.
    const layout = `${columns} ${cell}`;
    const isNew = layout !== laid;
    laid = layout;
    if (to > from) need(from, to);
    const focused = drawn.has(active) && drawn.get(active).contains(document.activeElement);
    for (const [index, item] of drawn) {
      if ((index < from || index >= to) && !(focused && index === active)) { item.remove(); drawn.delete(index); }
    }
    for (let index = from; index < to; index++) {
      const item = known.get(index);
      if (!item || (drawn.has(index) && !isNew)) continue;
      if (!drawn.has(index)) {
        const tile = render(item, index);
        tile.classList.add("cell");
        tile.dataset.index = index;
        if (select) {
          tile.setAttribute("role", "option");
          tile.id = `option-${label.replace(/\W/g, "")}-${index}`;
          inner.append(tile);
          drawn.set(index, tile);
        } else {
          const box = h("div", { role: "listitem", class: "cell", "aria-setsize": total, "aria-posinset": index + 1 }, tile);
          tile.classList.remove("cell");
          inner.append(box);
          drawn.set(index, box);
        }
      }
      const tile = drawn.get(index);
      const [x, y] = place(index);
      tile.style.transform = `translate(${x}px, ${y}px)`;
      tile.style.width = `${cell}px`;
      tile.style.height = `${height}px`;
      mark(index);
    }
    if (select) inner.setAttribute("aria-activedescendant", drawn.get(active)?.id ?? "");
  }

  function mark(index) {
    const tile = drawn.get(index);
    if (!tile) return;
    if (select) {
      tile.setAttribute("aria-selected", chosen.has(index) ? "true" : "false");
      tile.classList.toggle("active", index === active);
    } else {
      (tile.firstChild ?? tile).tabIndex = index === active ? 0 : -1;
    }
  }

  function show(index) {
    const [, y] = place(index);
    const at = inner.getBoundingClientRect().top + y;
    const [above, below] = [90, innerHeight - 90];
    if (at < above) scrollBy({ top: at - above });
    else if (at + height > below) scrollBy({ top: at + height - below });
    paint();
  }

  function move(to) {
    active = Math.min(total - 1, Math.max(0, to));
    show(active);
    drawn.forEach((_, index) => mark(index));
    if (select) inner.setAttribute("aria-activedescendant", drawn.get(active)?.id ?? "");
    else (drawn.get(active)?.firstChild ?? drawn.get(active))?.focus({ preventScroll: true });
  }

  function choose(from, to, keep) {
    if (!keep) chosen.clear();
    for (let index = Math.min(from, to); index <= Math.max(from, to); index++) {
      if (known.has(index)) chosen.set(index, known.get(index));
    }
    tellChosen();
  }

  function tellChosen() {
    drawn.forEach((_, index) => mark(index));
    select?.([...chosen.values()]);
  }

  function key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || total === 0) return;
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns,
      Home: -total, End: total, PageDown: 4 * columns, PageUp: -4 * columns };
    if (event.key in steps) {
      move(active + steps[event.key]);
      if (select && event.shiftKey) choose(anchor, active); else anchor = active;
    } else if (select && event.key === " ") {
      if (chosen.has(active)) chosen.delete(active); else if (known.has(active)) chosen.set(active, known.get(active));
      tellChosen();
    } else if (event.key === "Enter" && select) {
      if (known.has(active)) open?.(known.get(active));
    } else if (select && event.key === "a") {
      choose(0, total - 1);
    } else if (select && event.key === "Escape" && chosen.size) {
      clear();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }
  inner.addEventListener("keydown", key);
  inner.addEventListener("focusin", (event) => {
    const at = Number(event.target.closest(".cell")?.dataset.index ?? event.target.closest("[data-index]")?.dataset.index);
    if (!select && Number.isInteger(at)) { active = at; drawn.forEach((_, index) => mark(index)); }
  });

  function clear() { chosen.clear(); tellChosen(); }

  if (select) box();
  /** A press opens, a press with Ctrl or Shift selects, and a drag selects all that it touches. */
  function box() {
    let start = null, rubber = null;
    node.addEventListener("dragstart", (event) => event.preventDefault());
    node.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || event.pointerType === "touch") return;
      const at = inner.getBoundingClientRect();
      start = { x: event.clientX - at.left, y: event.clientY - at.top };
    });
    addEventListener("pointermove", (event) => {
      if (!start || !node.isConnected) return;
      const at = inner.getBoundingClientRect();
      const now = { x: event.clientX - at.left, y: event.clientY - at.top };
      if (!rubber && Math.hypot(now.x - start.x, now.y - start.y) < 8) return;
      rubber ??= inner.appendChild(h("div", { class: "rubber", "aria-hidden": "true" }));
      const [l, r] = [Math.min(start.x, now.x), Math.max(start.x, now.x)];
      const [t, b] = [Math.min(start.y, now.y), Math.max(start.y, now.y)];
      Object.assign(rubber.style, { left: `${l}px`, top: `${t}px`, width: `${r - l}px`, height: `${b - t}px` });
      chosen.clear();
      for (let row = Math.max(0, Math.floor(t / (height + gap))); row <= Math.floor(b / (height + gap)); row++) {
        for (let column = Math.max(0, Math.floor(l / (cell + gap))); column <= Math.min(columns - 1, Math.floor(r / (cell + gap))); column++) {
          const index = row * columns + column;
          if (known.has(index)) chosen.set(index, known.get(index));
        }
      }
      tellChosen();
      event.preventDefault();
    });
    addEventListener("pointerup", () => {
      if (rubber) { rubber.remove(); node.dataset.dragged = "true"; setTimeout(() => delete node.dataset.dragged); }
      start = rubber = null;
    });
    inner.addEventListener("click", (event) => {
      const tile = event.target.closest("[data-index]");
      if (!tile || node.dataset.dragged) return;
      active = Number(tile.dataset.index);
      inner.focus({ preventScroll: true });
      if (event.shiftKey) choose(anchor, active);
      else if (event.ctrlKey || event.metaKey || event.target.closest(".tick")) {
        if (chosen.has(active)) chosen.delete(active); else chosen.set(active, known.get(active));
        anchor = active;
        tellChosen();
      } else { anchor = active; drawn.forEach((_, index) => mark(index)); open?.(known.get(active)); }
    });
  }

  addEventListener("scroll", draw, { passive: true });
  const watcher = new ResizeObserver(draw);
  watcher.observe(node);

  return {
    node, clear, focus: () => (select ? inner.focus() : move(active)),
    /** Items are asked for anew. */
    reload() {
      version++;
      asked.clear();
      const mine = version;
      return fetch(0, PAGE).then((found) => {
        if (mine !== version) return 0;
        known.clear();
        drawn.forEach((item) => item.remove());
        drawn.clear();
        if (chosen.size) { chosen.clear(); tellChosen(); }
        asked.add(0);
        total = found.total;
        active = Math.min(active, Math.max(0, total - 1));
        found.items.forEach((item, k) => known.set(k, item));
        paint();
        return total;
      });
    },
    leave() { removeEventListener("scroll", draw); watcher.disconnect(); },
  };
}

/** A picture of a face with a line or two below. */
export function tile(face, line) {
  const dim = face.p !== undefined && face.p < 0.6 ? " doubt" : "";
  return h("div", { class: `tile${dim}` }, h("span", { class: "tick", "aria-hidden": "true" }),
    h("img", { src: faceUrl(face.row), alt: face.face, width: 160, height: 160, loading: "lazy", draggable: "false" }),
    h("span", { class: "soft" }, line));
}

/** Somebody in a row of people. */
export function chip(person, line) {
  return h("a", { class: "chip", href: `/people/${person.person}` },
    h("img", { src: faceUrl(person.picture), alt: "", width: 44, height: 44, loading: "lazy" }),
    h("span", {}, h("strong", {}, sentence(person.title)), line && h("span", { class: "soft" }, line)));
}

let fields = 0;
/**
 * A field for a name; `done(name)` is told of Enter, or of a choice. What is typed is completed in the field itself, the
 * rest selected, so that Enter takes it and typing on replaces it. With `face`, names that it looks like are offered
 * before anything is typed; `pass` is told of Escape in an empty field.
 */
export function nameField(label, done, { face, pass } = {}) {
  const id = `names-${++fields}`;
  const list = h("ul", { class: "names", role: "listbox", id, hidden: true, "aria-label": label });
  const input = h("input", { type: "text", role: "combobox", "aria-autocomplete": "both", "aria-expanded": "false",
    "aria-controls": id, "aria-label": label, placeholder: label, autocomplete: "off", spellcheck: "false", maxlength: 200 });
  let names = [], at = -1, asked = 0, typed = "", answered = Promise.resolve();
  // For a hand that is at the mouse, or on glass.
  const take = h("button", { type: "button", class: "main take", hidden: true, click: () => finish(input.value) }, texts.person.take);
  const node = h("div", { class: "namefield" }, h("div", { class: "entry" }, input, take), list);
  function paint() {
    list.replaceChildren(...names.map((name, k) => h("li", { role: "option", id: `${id}-${k}`,
      "aria-selected": k === at ? "true" : "false", pointerdown: (event) => { event.preventDefault(); finish(name.name); } },
    name.name, h("span", { class: "soft" }, name.n_faces ? texts.faces(name.n_faces) : name.filed ? texts.person.filed : texts.person.unseen, k === at && h("kbd", {}, "Enter")))));
    list.hidden = names.length === 0;
    input.setAttribute("aria-expanded", String(names.length > 0));
    if (at >= 0) input.setAttribute("aria-activedescendant", `${id}-${at}`); else input.removeAttribute("aria-activedescendant");
  }
  function close() { asked++; names = []; at = -1; paint(); }
  const show = () => { take.hidden = !input.value.trim(); };
  function finish(name) {
    if (!name.trim()) return;
    close();
    input.value = typed = "";
    show();
    done(name.trim());
  }
  async function suggest(completes) {
    const mine = ++asked;
    const query = typed.trim();
    const found = query || face ? (await api(`names?n=6&q=${encodeURIComponent(query)}${face ? `&face=${face}` : ""}`)).names : [];
    if (mine !== asked) return;
    names = found;
    at = -1;
    if (!query && names[0]?.likely) at = 0;
    else if (query && completes) {
      at = names.findIndex((name) => name.name.toLowerCase().startsWith(typed.toLowerCase()));
      if (at >= 0) { input.value = names[at].name; input.setSelectionRange(typed.length, input.value.length); }
    }
    paint();
  }
  const ask = (completes) => { answered = suggest(completes).catch(complain); };
  input.addEventListener("input", (event) => {
    typed = input.value;
    show();
    ask(!event.isComposing && !event.inputType?.startsWith("delete") && input.selectionEnd === typed.length);
  });
  input.addEventListener("focus", () => { if (face && !input.value) ask(false); });
  input.addEventListener("blur", close);
  input.addEventListener("keydown", (event) => {
    if (event.isComposing) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      if (!names.length) return;
      at = (at + (event.key === "ArrowDown" ? 1 : names.length + (at < 0 ? 0 : -1))) % names.length;
      paint();
    } else if (event.key === "Enter") answered.then(() => finish(at >= 0 ? names[at].name : input.value));
    else if (event.key === "Tab" && names.length && !event.shiftKey) { input.value = typed = names[Math.max(0, at)].name; close(); }
    else if (event.key === "Escape" && input.value) { input.value = typed; close(); event.stopPropagation(); }
    else if (event.key === "Escape" && pass) { event.stopPropagation(); pass(); } else return;
    event.preventDefault();
  });
  return { node, input, focus: () => input.focus() };
}

/** Names of an address book complete what is typed; they are not stored. */
export async function takeContacts(file) {
  try {
    const done = await api("names", new Blob([await file.text()], { type: "text/vcard" }));
    toast(texts.contacts.taken(done.names));
    tell("said");
  } catch (error) { complain(error); }
}

/** Where an address book is chosen. */
export function contacts() {
  const file = h("input", { type: "file", accept: ".vcf,text/vcard,text/plain", id: "contacts", class: "hidden-file", change: () => { if (file.files[0]) takeContacts(file.files[0]); file.value = ""; } });
  const line = h("p", { class: "drop soft contacts" });
  const paint = () => line.replaceChildren(...(state.status.contacts ? [texts.contacts.known(state.status.contacts)]
    : [texts.contacts.hint, " ", h("label", { for: "contacts", class: "aslink" }, texts.contacts.choose), file]));
  paint();
  const off = listen("changed", () => { if (line.isConnected) paint(); else off(); });
  return line;
}

/** A dialog over the page. */
export function dialog(title, ...content) {
  const node = h("dialog", { "aria-label": title, class: "dialog" },
    h("div", { class: "dialog-head" }, h("h2", {}, title),
      h("button", { type: "button", class: "icon", "aria-label": texts.close, click: () => node.close() }, "×")), ...content);
  const before = document.activeElement;
  node.addEventListener("close", () => { node.remove(); before?.isConnected && before.focus({ preventScroll: true }); });
  node.addEventListener("click", (event) => { if (event.target === node) node.close(); });
  document.body.append(node);
  node.showModal();
  return node;
}

/** Forgets a person or a face for good, once it was read what that removes. */
export async function askForget(title, whom, done) {
  const t = texts.forget;
  let gone;
  try { gone = await api("forget", { ...whom, dry_run: true }); } catch (error) { complain(error); return; }
  const line = h("p", { "aria-live": "polite" });
  const sure = h("button", { type: "button", class: "danger", click: async () => {
    sure.disabled = true;
    line.textContent = t.doing;
    try {
      const found = await api("forget", whom);
      box.close();
      toast(found.unwiped ? t.unwiped(found.unwiped) : t.done);
      tell("said");
      done();
    } catch (error) { box.close(); complain(error); }
  } }, t.sure);
  const box = dialog(title, h("p", {}, t.what), h("ul", {}, [t.faces(gone.faces, gone.photos), t.entries(gone.entries), gone.names.length > 0 && t.names(gone.names)]
    .filter(Boolean).map((text) => h("li", {}, text))), h("p", {}, t.hint), line,
  h("div", { class: "row end" }, h("button", { type: "button", autofocus: true, click: () => box.close() }, texts.cancel), sure));
}

/** Asks for a name in a dialog. */
export function askName(title, done) {
  const field = nameField(texts.person.name, (name) => { box.close(); done(name); }, { pass: () => box.close() });
  const box = dialog(title, field.node);
  field.focus();
}

const RANGE = 8;
/** The three factors as a small bar each, from a centre: to the right speaks for, to the left against. */
function factors(why) {
  const rows = [["looks", why.face], ["context", why.context], ["words", why.said]];
  return h("dl", { class: "factors" }, rows.map(([key, value]) => {
    const part = Math.max(-1, Math.min(1, value / RANGE));
    const bar = h("span", { class: `bar ${part < 0 ? "against" : "for"}` });
    bar.style.width = `${50 * Math.abs(part)}%`;
    bar.style.left = part < 0 ? `${50 - 50 * Math.abs(part)}%` : "50%";
    const times = Math.exp(Math.abs(value));
    const shown = times > 1e6 ? "> 1,000,000" : times >= 10 ? Math.round(times).toLocaleString("en") : times.toFixed(1);
    return [h("dt", {}, texts.face.factors[key]), h("dd", {}, h("span", { class: "track", "aria-hidden": "true" }, bar),
      h("span", { class: "soft" }, `${value >= 0 ? "×" : "÷"} ${shown}`))];
  }));
}

/** Why a face is whose it is, and what can be said of it. */
export async function openFace(row, changed = () => {}) {
  let face;
  try { face = await api(`faces/${row}`); } catch (error) { complain(error); return; }
  const t = texts.face;
  const act = async (what) => { box.close(); if (await say(what)) changed(); };
  const yes = () => act({ kind: "confirm", faces: [row] });
  const no = () => act({ kind: "take_out", faces: [row] });
  const other = () => { box.close(); askName(t.name, (name) => say({ kind: "name", faces: [row], name }).then((done) => done && changed())); };
  const why = face.why ?? [];
  const mine = why.find((one) => one.person === face.person) ?? why[0];
  const others = why.filter((one) => one !== mine && one.p >= 0.005);
  const box = dialog(t.who(face.title),
    h("div", { class: "face-why" },
      h("div", { class: "face-left" }, h("img", { src: faceUrl(row), alt: face.face, width: 200, height: 200 }),
        h("p", {}, h("strong", {}, texts.sure(face.p)), face.context && h("span", { class: "soft" }, ` · ${face.context}`)),
        face.time && h("p", { class: "soft" }, texts.time(face.time)),
        h("a", { href: `/photos/${face.photo}`, click: () => box.close() }, t.photo)),
      h("div", { class: "face-right" },
        canSay() && h("div", { class: "row" }, h("button", { type: "button", class: "main", click: yes }, t.yes, h("kbd", {}, "y")),
          h("button", { type: "button", click: no }, t.no, h("kbd", {}, "n")), h("button", { type: "button", click: other }, t.name),
          h("button", { type: "button", click: () => act({ kind: "ignore", faces: [row] }) }, t.nobody, h("kbd", {}, "i")),
          h("button", { type: "button", class: "plain quiet", click: () => { box.close(); askForget(texts.forget.face, { face: row }, changed); } }, texts.forget.button)),
        mine ? [h("p", { class: "soft" }, t.factorHint), factors(mine)] : h("p", { class: "soft" }, t.wait),
        mine && h("h3", {}, t.runners),
        mine && (others.length ? h("ul", { class: "runners" }, others.map((one) => h("li", {},
          one.picture ? h("img", { src: faceUrl(one.picture), alt: "", width: 36, height: 36 }) : h("span", { class: "blank" }),
          h("span", {}, one.title ?? t.never), meter(one.p), h("span", { class: "soft" }, texts.percent(one.p)))))
          : h("p", { class: "soft" }, t.nobodyElse)),
        mine && h("h3", {}, t.change),
        mine && (face.without?.length ? h("ul", {}, face.without.map((one) => h("li", {}, t.without[one.factor](one.title ?? t.never.toLowerCase()))))
          : h("p", { class: "soft" }, t.steady)),
        face.said.length > 0 && [h("h3", {}, texts.person.said), saidList(face.said)])));
  // Reasons come when they are worked out.
  const wait = !mine && setInterval(async () => {
    if (!box.open) { clearInterval(wait); return; }
    const found = await api(`faces/${row}`).catch(() => null);
    if (found?.why && box.open) { clearInterval(wait); box.close(); openFace(row, changed); }
  }, 700);
  box.addEventListener("keydown", (event) => {
    if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || !canSay()) return;
    const keys = { y: yes, n: no, i: () => act({ kind: "ignore", faces: [row] }) };
    if (keys[event.key]) { event.preventDefault(); event.stopPropagation(); keys[event.key](); }
  });
}

/** A small bar of a share. */
export function meter(p) {
  const bar = h("span", { class: "bar for" });
  bar.style.width = `${100 * p}%`;
  bar.style.left = "0";
  return h("span", { class: "track", "aria-hidden": "true" }, bar);
}

export const saidList = (said) => h("ul", { class: "said" }, said.map((one) => h("li", { class: one.stands ? "" : "undone" },
  h("span", {}, one.text), h("span", { class: "soft" }, `${texts.history.by(one.by, texts.when(one.at))}${one.stands ? "" : `, ${texts.history.takenBack}`}`))));

/** Chooses a person in a dialog. */
export function askPerson(title, without, done) {
  const list = h("ul", { class: "choose" });
  const input = h("input", { type: "search", "aria-label": texts.peopleView.search, placeholder: texts.peopleView.search });
  async function fill() {
    const found = await api(`people?n=30&q=${encodeURIComponent(input.value.trim())}`);
    list.replaceChildren(...found.people.filter((person) => person.person !== without).map((person) => h("li", {},
      h("button", { type: "button", class: "chip", click: () => { box.close(); done(person); } },
        h("img", { src: faceUrl(person.picture), alt: "", width: 44, height: 44 }),
        h("span", {}, h("strong", {}, sentence(person.title)), h("span", { class: "soft" }, texts.faces(person.n_faces)))))));
  }
  input.addEventListener("input", () => fill().catch(complain));
  const box = dialog(title, input, list);
  input.focus();
  fill().catch(complain);
}

/** A link that stays in the page. */
export const link = (href, ...children) => h("a", { href }, ...children);

export const isTyping = (event) => ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName) || $("dialog[open]");
export { go };
