// What everything uses: elements, the API, what is known, and who listens.

import { texts } from "./texts.js";

/** Makes an element: attributes by name, listeners as functions, children as nodes or text. */
export function h(tag, attributes = {}, ...children) {
  const svg = ["svg", "rect", "title"].includes(tag) && attributes.svg;
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false || key === "svg") continue;
    if (typeof value === "function") node.addEventListener(key, value);
    else if (key === "value") node.value = value;
    else node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children.flat(4).filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

export const $ = (selector, within = document) => within.querySelector(selector);

/** Asks the API; a refusal is an Error with the server's line. */
export async function api(path, body) {
  const options = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": body instanceof Blob ? body.type || "image/jpeg" : "application/json" },
    body: body instanceof Blob ? body : JSON.stringify(body),
  };
  let response;
  try {
    response = await fetch(`/api/v1/${path}`, options);
  } catch {
    throw new Error(texts.offline);
  }
  const value = await response.json();
  if (!response.ok) throw Object.assign(new Error(value.error?.message ?? response.statusText), { code: value.error?.code });
  return value;
}

export const faceUrl = (row) => `/api/v1/faces/${row}/picture`;
export const photoUrl = (photo, size) => `/api/v1/photos/${photo}/picture${size ? `?size=${size}` : ""}`;

/** What is known of the library as a whole. */
export const state = { status: null };

const listeners = new Map();
/** Listens until the view is left. */
export function listen(what, then) {
  if (!listeners.has(what)) listeners.set(what, new Set());
  listeners.get(what).add(then);
  return () => listeners.get(what).delete(then);
}
export const tell = (what, value) => listeners.get(what)?.forEach((then) => then(value));

/** Goes to another place of the page. */
export function go(path, replace = false) {
  history[replace ? "replaceState" : "pushState"]({}, "", path);
  tell("go", path);
}

const region = () => $("#toasts");
/** Says what was done, with a way back. */
export function toast(text, undo) {
  const node = h("div", { class: "toast" }, h("span", {}, text),
    undo && h("button", { type: "button", class: "plain", click: () => { node.remove(); undo(); } }, texts.undo));
  const all = region();
  while (all.children.length > 2) all.firstChild.remove();
  all.append(node);
  setTimeout(() => node.remove(), undo ? 12000 : 6000);
}

export const complain = (error) => toast(texts.failed(error.message));

/** Says something to the library; a toast tells, and takes it back. */
export async function say(act) {
  try {
    const done = await api("acts", act);
    toast(texts.done[act.kind](act), () => undo(done.act));
    tell("said", done);
    return done;
  } catch (error) {
    complain(error);
    return null;
  }
}

export const sentence = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** Takes back an act, or the last one. */
export async function undo(act) {
  try {
    const done = await api("undo", act ? { act } : {});
    toast(texts.undone);
    tell("said", done);
    tell("undone", done);
  } catch (error) {
    complain(error);
  }
}

export async function redo(act) {
  try {
    const done = await api("redo", { act });
    toast(texts.restored);
    tell("said", done);
    tell("undone", done);
  } catch (error) {
    complain(error);
  }
}

export const canSay = () => !state.status?.read_only;
