// The page as a whole: where one is, keys, the live line, and what happens when something changes.

import { $, api, go, h, listen, state, tell, toast, undo } from "./base.js";
import { dialog, isTyping, takeContacts } from "./widgets.js";
import { doubt } from "./doubt.js";
import { historyView } from "./history.js";
import { people } from "./people.js";
import { person } from "./person.js";
import { looked, photo, photos } from "./photos.js";
import { questions } from "./questions.js";
import { texts } from "./texts.js";

const PLACES = [
  [/^\/(people\/?)?$/, people, "/people"],
  [/^\/people\/(\d+)$/, person, "/people"],
  [/^\/questions$/, questions, "/questions"],
  [/^\/photos\/?$/, photos, "/photos"],
  [/^\/photos\/(\d+)$/, photo, "/photos"],
  [/^\/doubt$/, doubt, "/doubt"],
  [/^\/history$/, historyView, "/history"],
];
const GO = { p: "/people", q: "/questions", f: "/photos", d: "/doubt", h: "/history" };

let here = null;
const main = $("#main");
const line = h("span", { class: "line", role: "status" });
const lately = h("span", { class: "lately soft" });

function visit() {
  const path = location.pathname;
  const found = PLACES.map(([pattern, view, home]) => [path.match(pattern), view, home]).find(([match]) => match);
  here?.leave?.();
  const [match, view, home] = found ?? ["/people".match(/.*/), people, "/people"];
  scrollTo(0, 0);
  here = view(main, Number(match[1]));
  if (here.title) document.title = `${here.title} · ${texts.brand}`;
  document.querySelectorAll("nav a").forEach((link) => {
    if (link.getAttribute("href") === home) link.setAttribute("aria-current", "page"); else link.removeAttribute("aria-current");
  });
}

addEventListener("popstate", visit);
listen("go", () => { visit(); main.focus({ preventScroll: true }); });
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='/']");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
  event.preventDefault();
  go(link.getAttribute("href"));
});

let isGoing = false;
document.addEventListener("keydown", (event) => {
  if (event.altKey && !event.ctrlKey && here?.alt?.[event.key.toLowerCase()]) {
    event.preventDefault();
    here.alt[event.key.toLowerCase()](event);
    return;
  }
  if (isTyping(event) || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (isGoing && GO[event.key]) { isGoing = false; go(GO[event.key]); return; }
  isGoing = event.key === "g";
  if (here?.keys?.[event.key]) {
    if (event.key === "Enter" && event.target.closest("button,a")) return;
    if (event.key !== "Escape") event.preventDefault();
    here.keys[event.key](event);
  } else if (event.key === "/") { event.preventDefault(); search(); } else if (event.key === "z") undo(); else if (event.key === "?") help();
});

function search() {
  if (!$("#search")) go("/people");
  $("#search").focus();
}

function help() {
  const t = texts.keys;
  dialog(t.title, t.groups.map(([title, keys]) => h("section", {}, h("h3", {}, title),
    h("dl", { class: "keylist" }, keys.map(([key, what]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, what)])))));
}

// A photo that is dropped anywhere is looked at.
addEventListener("dragover", (event) => { if (event.dataTransfer?.types.includes("Files")) event.preventDefault(); });
addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  if (!file) return;
  event.preventDefault();
  if (/\.vcf$/i.test(file.name)) takeContacts(file); else looked(file);
});

const refreshed = { waiting: false };
/** Asks how things are, once for many changes. */
async function refresh() {
  if (refreshed.waiting) return;
  refreshed.waiting = true;
  await new Promise((then) => setTimeout(then, 150));
  refreshed.waiting = false;
  try {
    state.status = await api("status");
    paintLine();
    tell("changed");
  } catch { /* the line says so */ }
}

function paintLine() {
  const { doing, read_only: only, n_named: named, n_faces: all } = state.status;
  line.textContent = only ? texts.readOnly : texts.doing[doing] ?? doing;
  line.dataset.doing = doing;
  $("#progress").textContent = texts.named(named, all);
}

function hear() {
  const source = new EventSource("/api/v1/events");
  source.addEventListener("said", refresh);
  source.addEventListener("view", (event) => {
    const { changes = [] } = JSON.parse(event.data);
    if (changes.length) lately.textContent = changes.join(" · ");
    refresh();
  });
  source.addEventListener("doing", (event) => { if (state.status) { state.status.doing = JSON.parse(event.data).doing; paintLine(); } });
  source.addEventListener("trouble", (event) => toast(JSON.parse(event.data).text));
  source.addEventListener("error", () => { line.textContent = texts.offline; line.dataset.doing = "lost"; });
  source.addEventListener("open", () => state.status && paintLine());
}
listen("said", refresh);

async function start() {
  $("header.top").append(h("span", { class: "progress soft", id: "progress" }),
    h("button", { type: "button", class: "plain keysbutton", click: help }, texts.keysButton));
  document.body.append(h("div", { id: "toasts", role: "log", "aria-live": "polite", "aria-label": texts.doneList }), h("footer", { class: "live" }, line, lately));
  try {
    state.status = await api("status");
  } catch (error) {
    line.textContent = error.message;
    return;
  }
  paintLine();
  visit();
  hear();
}
start();
