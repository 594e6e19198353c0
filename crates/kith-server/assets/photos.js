// Photos: all of them, one with boxes and names, and one that is dropped onto the page.

import { api, canSay, complain, go, h, listen, photoUrl, say, sentence, toast } from "./base.js";
import { askName, dialog, grid, openFace } from "./widgets.js";
import { texts } from "./texts.js";

export function photos(main) {
  const t = texts.photosView;
  const all = grid({
    label: t.title, width: 230, height: 172, gap: 12,
    fetch: async (from, n) => { const found = await api(`photos?from=${from}&n=${n}`); return { total: found.total, items: found.photos }; },
    render: (photo) => h("a", { class: "shot", href: `/photos/${photo.photo}` },
      h("img", { src: photoUrl(photo.photo, "small"), alt: t.alt(photo), loading: "lazy" }), h("span", { class: "count" }, texts.faces(photo.n_faces))),
  });
  const file = h("input", { type: "file", accept: "image/*", id: "file", class: "hidden-file", change: () => { if (file.files[0]) looked(file.files[0]); file.value = ""; } });
  const hint = h("p", { class: "soft hint" });
  main.replaceChildren(h("div", { class: "head" }, h("h1", {}, t.title), h("p", { class: "drop soft" }, t.drop, " · ", h("label", { for: "file", class: "aslink" }, t.choose), file)), hint, all.node);
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
      h("span", { class: "label" }, face.person === null ? "" : face.title)), face.box)));
    const item = (face) => h("li", {}, face.person === null ? [h("span", { class: "soft" }, nobody(face)),
      face.unclear && canSay() && h("button", { type: "button", class: "plain", click: () => nameIt(face) }, t.nameIt)]
      : [h("a", { href: `/people/${face.person}` }, sentence(face.title)), h("span", { class: "soft" }, texts.sure(face.p)),
        h("button", { type: "button", class: "plain", "aria-label": `${texts.face.title}: ${face.title}`, click: () => openFace(face.row, refresh) }, texts.face.title),
        canSay() && h("button", { type: "button", class: "plain", "aria-label": `${t.notFace}: ${face.title}`,
          click: async () => { if (await say({ kind: "ignore", faces: [face.row] })) refresh(); } }, t.notFace)]);
    side.replaceChildren(h("a", { class: "back", href: "/photos" }, `← ${t.back}`), h("h1", {}, shown.id),
      h("p", { class: "soft" }, [shown.time && texts.time(shown.time), shown.context, shown.camera].filter(Boolean).join(" · ")),
      shown.gone ? h("p", { class: "warn" }, t.gone) : "", h("h2", {}, t.on),
      shown.faces.length ? h("ul", { class: "onit" }, shown.faces.map(item)) : h("p", { class: "soft" }, t.nobody),
      canSay() && !shown.drawn ? h("div", { class: "row" }, h("button", { type: "button", "aria-pressed": "false", click: begin, id: "add-face" }, t.add)) : "",
      h("p", { class: "soft", id: "adding", "aria-live": "polite" }));
  }

  /** A box is drawn by hand, or by Enter in the middle. */
  function begin() {
    adding = { box: null };
    document.getElementById("adding").textContent = t.addHint;
    document.getElementById("add-face").setAttribute("aria-pressed", "true");
    holder.classList.add("adding");
  }
  async function finish(box) {
    adding = null;
    holder.classList.remove("adding");
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
    adding.node = holder.appendChild(h("div", { class: "rubber" }));
  });
  holder.addEventListener("pointermove", (event) => { if (adding?.start) place(adding.node, spanned(adding.start, part(event))); });
  holder.addEventListener("pointerup", (event) => {
    if (!adding?.start) return;
    const box = spanned(adding.start, part(event));
    adding.node.remove();
    if (box[2] > 0.01 && box[3] > 0.01) finish(box); else adding.start = null;
  });

  async function refresh() {
    try { shown = await api(`photos/${number}`); } catch (error) { complain(error); return; }
    document.title = `${shown.id} · ${texts.brand}`;
    if (!adding) paint();
  }
  main.replaceChildren(h("div", { class: "photo" }, holder, side));
  refresh();
  const off = listen("changed", refresh);
  return { title: "", leave: off, keys: {
    ArrowLeft: () => go(`/photos/${number + 1}`), ArrowRight: () => number > 1 && go(`/photos/${number - 1}`),
    Enter: () => adding && finish([0.35, 0.3, 0.3, 0.4]), Escape: () => { adding = null; holder.classList.remove("adding"); paint(); },
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
