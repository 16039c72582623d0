// The page: what is typed, dropped, pasted or clicked becomes a state, a state becomes results.

import * as api from "/page/api.js";
import { element } from "/page/card.js";
import { Column } from "/page/column.js";
import { takePictures } from "/page/input.js";
import { makeReachable, moveWithArrows } from "/page/keys.js";
import { fromAddress, remember, withoutQuery } from "/page/state.js";

const at = (id) => document.getElementById(id);
let server;
let state = {};
let running = new AbortController();
let preview = null; // address of the picture that was given last

async function start() {
  try {
    server = await api.server();
  } catch (error) {
    fail(error);
    return;
  }
  const names = server.indexes.map(({ name }) => name);
  at("index").replaceChildren(...names.map((name) => new Option(name)));
  at("other").replaceChildren(new Option("nothing", ""), ...names.map((name) => new Option(name)));
  at("other-label").hidden = names.length < 2;
  listen();
  show(fromAddress(), { replace: true });
}

function listen() {
  at("form").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  for (const id of ["index", "other"]) {
    at(id).addEventListener("change", () => {
      const { code, code2, ...kept } = state; // codes of another encoder mean nothing here
      show({ ...kept, index: at("index").value, other: at("other").value });
    });
  }
  at("clear").addEventListener("click", () => show(withoutQuery(state), { focus: true }));
  at("home").addEventListener("click", (event) => {
    event.preventDefault();
    show({ index: state.index, other: state.other });
  });
  at("copy").addEventListener("click", copyLink);
  addEventListener("popstate", () => show(fromAddress(), { replace: true }));
  addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|SELECT|TEXTAREA/.test(event.target.tagName)) {
      event.preventDefault();
      at("text").focus();
    }
  });
  takePictures({
    button: at("choose"), file: at("file"), veil: at("veil"), take: searchPicture, refuse: (text) => fail(new Error(text)),
  });
  moveWithArrows(at("results"));
}

const info = (name) => server.indexes.find((one) => one.name === name);

function submit() {
  const text = at("text").value.trim();
  const where = at("where").value.trim();
  const rest = { index: state.index, other: state.other, where };
  if (!text) show({ ...state, where }, { focus: true });
  else if (!info(state.index).text && isCode(text)) show({ ...rest, code: text.toLowerCase() }, { focus: true });
  else show({ ...rest, text }, { focus: true });
}

const isCode = (text) => /^[0-9a-f]+$/i.test(text) && text.length === 2 * Math.ceil(info(state.index).bits / 8);

function searchPicture(picture) {
  if (picture.size > server.max_upload) {
    const most = (server.max_upload / 2 ** 20).toFixed(0);
    fail(new Error(`${picture.name} is larger than the ${most} MB that this server takes.`));
    return;
  }
  if (preview) URL.revokeObjectURL(preview);
  preview = URL.createObjectURL(picture);
  show(withoutQuery(state), { picture, focus: true });
}

async function show(wanted, { picture = null, replace = false, focus = false } = {}) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  state = { ...wanted, index: info(wanted.index) ? wanted.index : server.indexes[0].name };
  if (!info(state.other) || state.other === state.index) delete state.other;
  if (!picture) remember(state, { replace });
  arrange();
  say("Searching…");
  hideError();
  const columns = [state.index, state.other].filter(Boolean).map((name, which) => {
    const column = new Column(info(name), which, (id) => show({ ...withoutQuery(state), id }, { focus: true }));
    column.onerror = fail;
    return column;
  });
  at("results").replaceChildren(...columns.map(({ root }) => root));
  at("results").classList.toggle("beside", columns.length > 1);
  const done = await Promise.allSettled(columns.map((column) => column.show(state, picture, signal)));
  if (signal.aborted) return;
  if (picture) {
    if (columns[0].code) state = { ...state, code: columns[0].code, ...(columns[1]?.code ? { code2: columns[1].code } : {}) };
    remember(state); // of a picture that failed nothing is kept, nor of the query before it
  }
  describe(columns, picture);
  columns.forEach(({ list }) => makeReachable(list));
  const failed = done.find(({ status }) => status === "rejected");
  if (failed) fail(failed.reason);
  else say(summary(done.map(({ value }) => value), columns));
  if (focus && !failed) columns[0].heading.focus({ preventScroll: true });
}

// The controls as the state has them.
function arrange() {
  const { text: sentences, pictures } = info(state.index);
  at("index").value = state.index;
  at("other").value = state.other ?? "";
  at("where").value = state.where ?? "";
  at("text").value = state.text ?? "";
  at("text").placeholder = sentences ? "a sentence" : "a code in hexadecimal digits";
  at("choose").hidden = at("drop-hint").hidden = !pictures;
  document.title = [state.text ?? state.id ?? (state.code ? "search" : null), state.index, "kinhash"].filter(Boolean).join(" – ");
}

function describe(columns, picture) {
  const words = picture ? `the picture ${picture.name}` : queryWords();
  at("query").hidden = !words;
  document.querySelector(".link")?.remove(); // it led to the query before
  if (!words) return;
  at("query-words").textContent = `Nearest to ${words}`;
  at("query-codes").replaceChildren(...columns.filter(({ code }) => code).map((column) => column.codeDrawing()));
  const source = (size) => (picture ? preview : state.id ? api.thumbnail(state.index, state.id, size) : null);
  at("query-link").hidden = !source();
  if (!source()) return;
  at("query-link").href = source(1024);
  at("query-picture").onerror = () => (at("query-link").hidden = true);
  at("query-picture").src = source(256);
}

function queryWords() {
  if (state.id) return `the item ${state.id}`;
  if (state.text) return `“${state.text}”`;
  return state.code ? `the code ${state.code}` : null;
}

function summary(found, columns) {
  const lines = found.map(({ ids, next, code }, i) => {
    const { name, items } = columns[i].info;
    const all = `${items.toLocaleString("en")} items`;
    if (!code) return `${name}: ${all}`;
    return next === null ? `${name}: ${ids.length} found among ${all}` : `${name}: the ${ids.length} nearest of ${all}`;
  });
  return lines.join("; ");
}

async function copyLink() {
  const link = location.href;
  try {
    await navigator.clipboard.writeText(link);
    say("The link is copied.");
  } catch {
    // without permission (or without https) the person copies it by hand
    const box = element("input", { value: link, readOnly: true, className: "link" });
    box.setAttribute("aria-label", "Link of this query");
    document.querySelector(".link")?.remove();
    at("copy").after(box);
    box.select();
  }
}

const say = (text) => (at("status").textContent = text);
const hideError = () => (at("error").hidden = true);

function fail(error) {
  if (error.name === "AbortError") return;
  say("");
  at("error").textContent = error.message;
  at("error").hidden = false;
}

start();
