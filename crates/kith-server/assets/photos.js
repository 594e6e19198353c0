// Photos: all of them, one with boxes and names, and one that is dropped onto the page.

import { api, canSay, complain, go, h, listen, photoUrl, say, sentence, toast } from "./base.js";
import { askName, dialog, grid, openFace } from "./widgets.js";
import { texts } from "./texts.js";

export function photos(main) {
  const t = texts.photosView;
  const all = grid({
    label: t.title, width: innerWidth < 600 ? 150 : 230, height: innerWidth < 600 ? 124 : 172, gap: 12,
    fetch: async (from, n) => { const found = await api(`photos?from=${from}&n=${n}`); return { total: found.total, items: found.photos }; },
    render: (photo) => h("a", { class: "shot", href: `/photos/${photo.photo}` },
      h("img", { src: photoUrl(photo.photo, "small"), alt: t.alt(photo), loading: "lazy" }), h("span", { class: "count" }, texts.faces(photo.n_faces))),
  });
  const file = h("input", { type: "file", accept: "image/*", id: "file", class: "hidden-file", change: () => { if (file.files[0]) looked(file.files[0]); file.value = ""; } });
  const hint = h("p", { class: "soft hint" });
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title), h("p", { class: "drop soft" }, t.drop, " ", h("label", { for: "file", class: "aslink" }, t.choose), file)), hint, all.node);
  const reload = () => all.reload().then((total) => { hint.textContent = total ? "" : t.none; });
  reload();
  const off = listen("changed", reload);
  return { title: t.title, leave() { off(); all.leave(); }, keys: { ArrowDown: () => all.focus() } };
}

/** A box over a photo, by parts of it. */
function place(node, [x, y, w, h4]) {
  Object.assign(node.style, { left: `${100 * x}%`, top: `${100 * y}%`, width: `${100 * w}%`, height: `${100 * h4}%` });
  return node;
}

export function photo(main, number) {
  const t = texts.photosView;
  const holder = h("div", { class: "canvas" });
  const side = h("div", { class: "side" });
  let shown = null, adding = null;

  function paint() {
    const nobody = (face) => (face.unclear ? t.unclear : face.ignored ? t.ignored : t.fresh);
    const nameIt = (face) => askName(t.nameIt, async (name) => {
      if (await say({ kind: "name", faces: [face.row], name })) refresh();
    });
    const label = (face) => (face.person === null ? nobody(face) : `${face.title}, ${texts.sure(face.p)}`);
    holder.replaceChildren(h("img", { src: photoUrl(number), alt: t.alt(shown), draggable: "false" }),
      ...shown.faces.map((face) => place(h("button", { type: "button", class: `box${face.ignored ? " ignored" : face.p < 0.9 ? " doubt" : ""}`,
        "aria-label": label(face), click: () => {
          if (adding) return;
          if (face.person !== null) openFace(face.row, refresh);
          else if (face.unclear && canSay()) nameIt(face);
        } },
      h("span", { class: `label${face.name ? "" : " nameless"}` }, face.person === null ? "" : sentence(face.title))), face.box)));
    const item = (face) => h("li", {}, face.person === null ? [h("span", { class: "soft" }, nobody(face)),
      face.unclear && canSay() && h("span", { class: "do" }, h("button", { type: "button", class: "plain", click: () => nameIt(face) }, t.nameIt))]
      : [h("span", { class: "who" }, h("a", { href: `/people/${face.person}` }, sentence(face.title)), h("span", { class: "soft" }, texts.sure(face.p))),
        h("span", { class: "do" }, h("button", { type: "button", class: "plain", "aria-label": `${texts.face.title}: ${face.title}`, click: () => openFace(face.row, refresh) }, texts.face.title),
          canSay() && h("button", { type: "button", class: "plain quiet", "aria-label": `${t.notFace}: ${face.title}`,
            click: async () => { if (await say({ kind: "ignore", faces: [face.row] })) refresh(); } }, t.notFace))]);
    side.replaceChildren(h("a", { class: "back", href: "/photos" }, `← ${t.back}`), h("h1", {}, shown.id),
      h("p", { class: "soft" }, [shown.time && texts.time(shown.time), shown.context, shown.camera].filter(Boolean).join(" · ")),
      shown.gone ? h("p", { class: "warn" }, t.gone) : "", h("h2", {}, t.on),
      shown.faces.length ? h("ul", { class: "onit" }, shown.faces.map(item)) : h("p", { class: "soft" }, t.nobody),
      canSay() && !shown.drawn ? h("div", { class: "row" }, h("button", { type: "button", "aria-pressed": "false", click: begin, id: "add-face" }, t.add)) : "",
      h("p", { class: "soft", id: "adding", "aria-live": "polite" }),
      h("nav", { class: "row turn", "aria-label": t.turn }, turn(shown.later, "←", t.after), turn(shown.earlier, "→", t.before)));
  }
  const turn = (to, arrow, text) => to && h("a", { class: "asbutton", href: `/photos/${to}` }, arrow === "←" ? `← ${text}` : `${text} →`);

  /** A box is drawn by hand, or moved by keys from the middle. */
  function begin() {
    if (adding || !document.getElementById("add-face")) return;
    adding = { box: [0.375, 0.35, 0.25, 0.3], node: holder.appendChild(h("div", { class: "rubber" })) };
    place(adding.node, adding.box);
    document.getElementById("adding").textContent = t.addHint;
    document.getElementById("add-face").setAttribute("aria-pressed", "true");
    document.activeElement?.blur();
    holder.classList.add("adding");
  }
  function leave() {
    adding?.node.remove();
    adding = null;
    holder.classList.remove("adding");
  }
  const within = (value, most) => Math.min(most, Math.max(0, value));
  /** Moves the box by parts of the photo, or makes it larger about its middle. */
  function shift(dx, dy, by = 0) {
    const [x, y, w, high] = adding.box;
    const size = [Math.min(1, Math.max(0.04, w + by)), Math.min(1, Math.max(0.04, high + by))];
    adding.box = [within(x + dx + (w - size[0]) / 2, 1 - size[0]), within(y + dy + (high - size[1]) / 2, 1 - size[1]), ...size];
    place(adding.node, adding.box);
  }
  async function finish(box) {
    leave();
    document.getElementById("adding").textContent = t.adding;
    try {
      const done = await api(`photos/${number}/faces`, { box });
      toast(sentence(done.text));
    } catch (error) { complain(error); }
    await refresh();
  }
  const part = (event) => {
    const at = holder.getBoundingClientRect();
    return [Math.min(1, Math.max(0, (event.clientX - at.left) / at.width)), Math.min(1, Math.max(0, (event.clientY - at.top) / at.height))];
  };
  const spanned = (a, b) => [Math.min(a[0], b[0]), Math.min(a[1], b[1]), Math.abs(a[0] - b[0]), Math.abs(a[1] - b[1])];
  holder.addEventListener("pointerdown", (event) => {
    if (!adding) return;
    event.preventDefault();
    holder.setPointerCapture(event.pointerId);
    adding.start = part(event);
  });
  holder.addEventListener("pointermove", (event) => { if (adding?.start) place(adding.node, spanned(adding.start, part(event))); });
  holder.addEventListener("pointerup", (event) => {
    if (!adding?.start) return;
    const box = spanned(adding.start, part(event));
    if (box[2] > 0.01 && box[3] > 0.01) finish(box); else { adding.start = null; shift(0, 0); }
  });

  async function refresh() {
    try { shown = await api(`photos/${number}`); } catch (error) { complain(error); return; }
    document.title = `${shown.id} · ${texts.brand}`;
    if (!adding) paint();
  }
  main.replaceChildren(h("div", { class: "photo" }, holder, side));
  refresh();
  const off = listen("changed", refresh);
  const step = (dx, dy, to) => () => { if (adding) shift(0.02 * dx, 0.02 * dy); else if (to && shown?.[to]) go(`/photos/${shown[to]}`); else scrollBy(0, 60 * dy); };
  return { title: "", leave: off, keys: {
    ArrowLeft: step(-1, 0, "later"), ArrowRight: step(1, 0, "earlier"), ArrowUp: step(0, -1), ArrowDown: step(0, 1),
    "+": () => adding && shift(0, 0, 0.02), "-": () => adding && shift(0, 0, -0.02), a: begin,
    Enter: () => adding && finish(adding.box), Escape: () => { leave(); if (shown) paint(); },
  } };
}

/** Who is on a photo that is not stored. */
export async function looked(file) {
  const t = texts.photosView;
  const line = h("p", { class: "soft", "aria-live": "polite" }, t.looking);
  const picture = h("img", { src: URL.createObjectURL(file), alt: file.name });
  const holder = h("div", { class: "canvas" }, picture);
  const list = h("ul", { class: "onit" });
  const box = dialog(t.dropped, holder, line, list);
  box.addEventListener("close", () => URL.revokeObjectURL(picture.src));
  const store = async () => {
    try {
      const done = await api(`photos?name=${encodeURIComponent(file.name)}`, file);
      toast(t.stored(done.faces));
      box.close();
      if (done.photo) go(`/photos/${done.photo}`);
    } catch (error) { complain(error); }
  };
  try {
    const found = await api("who", file);
    line.textContent = found.faces.length ? t.droppedHint : t.nobody;
    for (const face of found.faces) {
      const p = face.title ? Math.max(face.names[0]?.p ?? 0, face.person?.p ?? 0) : face.stranger;
      const text = `${face.title ?? t.stranger}, ${texts.sure(p)}`;
      holder.append(place(h("div", { class: "box" }, h("span", { class: "label" }, face.title ?? "?")), face.box));
      list.append(h("li", {}, text));
    }
    if (canSay()) list.after(h("div", { class: "row" }, h("button", { type: "button", class: "main", click: store }, t.store)));
  } catch (error) { line.textContent = error.message; }
}
