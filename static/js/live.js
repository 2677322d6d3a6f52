// The one poll of every page. It says what has changed: the regions that show it (data-live: its
// topics) fetch themselves, and change in place. Rows (data-rows: their list) are never added, removed
// or moved; a line above them says how many would be, and shows them.
import { announce } from "./announce.js";
import { pageUrl } from "./dialogs.js";
import { patch } from "./morph.js";

const FIRST_S = 3; // Tells the server what is in progress on the screen; it names the next wait.
const SOON_S = 0.5; // After the user has changed something.
const IDLE_MS = 5 * 60000;
const FRESH_MS = 10000;
const NAMED_ROWS = 3;
const TIMEOUT_MS = 30000;

let timer;
let waitS = FIRST_S;
let isPolling = false;
let lastInput = performance.now();
export const isIdle = () => performance.now() - lastInput > IDLE_MS;
const element = () => document.getElementById("live-poll");

function schedule(seconds, extraMs = 0) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(poll, seconds * 1000 * (0.8 + 0.4 * Math.random()) + extraMs);
}

async function poll() {
  if (isPolling || document.hidden || !element()) return;
  isPolling = true;
  const hasFailed = await update().then(() => false, () => true);
  isPolling = false;
  // Not all at once when the server is back.
  schedule(waitS, hasFailed ? 10000 * Math.random() : 0);
}

async function update() {
  const response = await request(pollUrl(), element());
  waitS = Number(response.headers.get("X-Poll-Interval")) || waitS;
  let topics = [];
  if (response.status === 200) {
    const page = parse(await response.text());
    for (const part of [...page.body.children]) replace(part);
    topics = element().dataset.topics.split(" ");
  }
  const due = [...document.querySelectorAll("[data-live]")].filter((region) => isDue(region, topics));
  const news = (await Promise.all(due.map(refresh))).flat();
  if (news.length) announce(news.join(" "));
}

function pollUrl() {
  const url = new URL(element().dataset.url, location);
  url.searchParams.set("unread", document.getElementById("bell-count").dataset.unread);
  if (document.querySelector("[data-moving]")) url.searchParams.set("moving", "1");
  if (isIdle()) url.searchParams.set("idle", "1");
  return url;
}

async function request(url, { id }, more = {}) {
  const headers = { "HX-Request": "true", "HX-Target": id, "HX-Current-URL": pageUrl(), "X-Background": "1", ...more };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${response.status}`);
  return response;
}
function parse(html) {
  const page = new DOMParser().parseFromString(html, "text/html");
  for (const part of page.querySelectorAll("noscript")) part.textContent = part.innerHTML; // as on a page with scripts
  return page;
}
function replace(part) {
  const old = document.getElementById(part.id);
  if (old) patch(old, part);
}

const isMoving = (region) => region.matches("[data-moving], :has([data-moving])");
// What the same response replaces outside of the region: whole, its content, or by its first child.
function replaceElsewhere(part) {
  const swap = part.getAttribute("hx-swap-oob");
  part.remove();
  part.removeAttribute("hx-swap-oob");
  const old = document.getElementById(swap.startsWith("morph:#") ? swap.slice(7) : part.id);
  let next = swap.startsWith("morph:") ? part.firstElementChild : part;
  if (!old || !next) return;
  if (swap === "innerHTML") {
    next = old.cloneNode(false);
    next.append(...part.childNodes);
  }
  patch(old, next);
  htmx.process(old);
}

function isDue(region, topics) {
  if (isAbout(region, topics)) region.dataset.stale = "";
  return region.matches("[data-stale]") || isMoving(region);
}
function isAbout(region, topics) {
  const own = region.dataset.live.split(" ");
  return topics.some((topic) => topic === "*" || own.some((name) => `${topic}:`.startsWith(`${name}:`)));
}

// Returns what to announce. A region that could not be read is stale until the next poll.
async function refresh(region) {
  const url = regionUrl(region);
  const html = await request(url, region, headersOf(region)).then((response) => response.text(), () => null);
  if (html === "") delete region.dataset.stale;
  if (!html) return [];
  const page = parse(html);
  const wanted = page.getElementById(region.id);
  // Meanwhile the user may have gone on, filtered the list, or corrects a form.
  const isOld = !region.isConnected || url !== regionUrl(region);
  if (!wanted || isOld || region.matches(":has(.htmx-request, [hx-trigger^=load], [data-autofocus])")) return [];
  delete region.dataset.stale;
  if (page.title) document.title = page.title;
  for (const part of page.querySelectorAll("[hx-swap-oob]")) replaceElsewhere(part);
  const news = patchInPlace(region, wanted);
  htmx.process(region);
  document.dispatchEvent(new CustomEvent("pressroom:refreshed"));
  return news;
}

// The server reads what is in progress, and returns rows that have left the list, too.
function headersOf(region) {
  const ids = rowsOf(region).map((row) => encodeURIComponent(row.id));
  return { ...(ids.length && { "X-Rows": ids.join(" ") }), ...(isMoving(region) && { "X-Moving": "1" }) };
}
const rowsOf = (region) => [...region.querySelectorAll("[data-rows] > [id]")];

// With what is selected in the form around it.
function regionUrl(region) {
  const url = new URL(region.dataset.liveUrl ?? pageUrl(), location);
  const form = region.closest("form:not([method=post])");
  for (const [name, value] of form ? new FormData(form) : []) url.searchParams.set(name, value);
  return url.href;
}

function patchInPlace(region, wanted) {
  const focused = document.activeElement;
  const focusedRow = focused.closest("[data-rows] > [id]");
  const announced = () => [...region.querySelectorAll("[data-announced]")].map(words);
  const before = announced();
  const [rows, next] = [region, wanted].map(rowsOf);
  const left = wanted.querySelector("[data-left]");
  const nextIds = new Map([...(left?.children ?? []), ...next].map((row) => [row.id, row]));
  left?.remove();
  const changes = rows.map((row) => [row, changed(row, nextIds.get(row.id))]).filter(([, text]) => text);
  const ids = new Set(rows.map((row) => row.id));
  const added = next.filter((row) => !ids.has(row.id)).length;
  const gone = rows.filter((row) => !next.includes(nextIds.get(row.id))).length;
  const isMoved = (row) => next.some(({ id, parentElement }) => id === row.id && parentElement.id !== row.parentElement.id);
  // Another window of the list: what is new pushes as many out.
  const waiting = Math.max(added, gone) + rows.filter(isMoved).length;
  const [lists, nextLists] = [region, wanted].map((part) => [...part.querySelectorAll("[data-rows]")]);
  if (lists.map(({ id }) => id).join() === nextLists.map(({ id }) => id).join()) {
    lists.forEach((list, place) => keepRows(list, nextLists[place], nextIds));
    patch(region, wanted);
  } else {
    for (const row of rows) if (nextIds.has(row.id)) patch(row, nextIds.get(row.id));
  }
  const line = region.querySelector("[data-waiting]") ?? document.querySelector(`[data-waiting="${region.id}"]`);
  if (line) showWaiting(line, waiting);
  mark(changes.map(([row]) => row));
  if (focused !== document.activeElement) keepFocus(region, focused, focusedRow);
  const texts = announced().filter((text, place) => text && text !== before[place]).map((text) => `${text}.`);
  return [...texts, ...named(changes), ...(waiting && line ? [`${waiting} changed or new.`] : [])];
}

// On its row if what had the focus is gone.
function keepFocus(region, focused, row) {
  const place = region.contains(focused) ? focused : row && document.getElementById(row.id);
  if (place === row) row?.setAttribute("tabindex", "-1");
  place?.focus({ preventScroll: true });
}

// The rows that are on the screen, in their order, as they are now; headings are those of the response.
function keepRows(list, wanted, nextIds) {
  const headings = [...wanted.children].filter((row) => !row.id);
  const next = (row) => (row.id ? nextIds.get(row.id) : row.tagName && headings.shift()) ?? row.cloneNode(true);
  wanted.replaceChildren(...[...list.childNodes].map(next));
}

// What a row says, without how long ago something was and who is here.
function words(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll("[data-age], [data-live]")) age.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}
function changed(row, next) {
  if (!next || words(row) === words(next)) return "";
  const before = new Set([...row.children].map(words));
  const name = words(row.querySelector("th a, a") ?? row.firstElementChild);
  return `${name}: ${[...next.children].map(words).filter((text) => !before.has(text)).join(", ")}.`;
}
function named(changes) {
  return changes.length > NAMED_ROWS ? [`${changes.length} rows updated.`] : changes.map(([, text]) => text);
}
function mark(rows) {
  for (const row of rows) row.dataset.fresh = "";
  setTimeout(() => rows.forEach((row) => delete row.dataset.fresh), FRESH_MS);
}
function showWaiting(line, count) {
  line.toggleAttribute("data-empty", !count);
  line.firstElementChild.textContent = count ? `${count} changed or new.` : "";
}

for (const input of ["pointerdown", "keydown", "wheel"]) {
  addEventListener(input, noteInput, { passive: true });
}
function noteInput() {
  if (isIdle()) schedule(SOON_S);
  lastInput = performance.now();
}
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.verb !== "get") schedule(SOON_S);
});
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : poll()));
addEventListener("pageshow", ({ persisted }) => persisted && poll());
schedule(FIRST_S);
