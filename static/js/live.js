// The poll of a page returns the topics that changed. Regions with these topics (data-live) are fetched
// again and change in place. Rows (data-rows marks their list) are never added, removed or moved. Instead
// a line above them shows how many have changed, and loads them. If a region shows data that isn't in the
// feed, it refreshes at an interval (data-every, in seconds). While something is in progress, the server
// makes the page poll sooner: data-moving is read from the service, data-soon is in the feed.
import { announce } from "./announce.js";
import { pageUrl } from "./dialogs.js";
import { patch } from "./morph.js";
import { noteFocus, restoreFocus } from "./shell.js";

const FIRST_S = 3; // the first poll reports what is in progress, and its response sets the next wait
const SOON_S = 0.5; // after the user has changed something
const IDLE_MS = 5 * 60000;
const FRESH_MS = 10000;
const NAMED_ROWS = 3;
const TIMEOUT_MS = 30000;

let timer;
let waitS = FIRST_S;
let isPolling = false;
const readAt = new WeakMap();
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
  // Spread the polls of all pages when the server is back.
  schedule(waitS, hasFailed ? 10000 * Math.random() : 0);
}

async function update() {
  const response = await request(pollUrl(), element());
  waitS = Number(response.headers.get("X-Poll-Interval")) || waitS;
  const parts = [...parse(await response.text()).body.children];
  if (showSession(parts.find(({ id }) => id === "session-ended"))) return;
  parts.forEach(replace);
  if (parts.length) renewToken(element());
  const topics = parts.length ? element().dataset.topics.split(" ") : [];
  document.dispatchEvent(new CustomEvent("pressroom:topics", { detail: topics }));
  const due = [...document.querySelectorAll("[data-live]")].filter((region) => isDue(region, topics));
  const news = (await Promise.all(due.map(refresh))).flat();
  if (news.length) announce(news.join(" "));
}

function pollUrl() {
  const url = new URL(element().dataset.url, location);
  url.searchParams.set("unread", document.getElementById("bell-count").dataset.unread);
  if (document.querySelector("[data-moving], [data-soon]")) url.searchParams.set("moving", "1");
  if (isIdle()) url.searchParams.set("idle", "1");
  if (endedSession()) url.searchParams.set("ended", "1");
  return url;
}

// When the session has ended, the page shows a banner and stays as it is. After the user signs in again
// in another tab, its forms can be sent.
const endedSession = () => document.getElementById("session-ended");
function showSession(banner) {
  if (banner && !endedSession()) document.getElementById("main").prepend(banner);
  if (!banner) endedSession()?.remove();
  return banner;
}
function renewToken({ dataset: { token } }) {
  if (!token) return;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  for (const input of document.getElementsByName("csrfmiddlewaretoken")) input.value = token;
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
const INSERT = { beforeend: "append", beforebegin: "before", delete: "remove" };
// Applies a part of the response that belongs outside the region (hx-swap-oob).
function replaceElsewhere(part) {
  const [swap, place] = part.getAttribute("hx-swap-oob").split(":");
  part.remove();
  part.removeAttribute("hx-swap-oob");
  const old = document.querySelector(place ?? `#${CSS.escape(part.id)}`);
  let next = swap === "morph" ? part.firstElementChild : part;
  if (!old || !next) return;
  if (swap === "innerHTML") {
    next = old.cloneNode(false);
    next.append(...part.childNodes);
  }
  if (INSERT[swap]) old[INSERT[swap]](...part.children);
  else patch(old, next);
  htmx.process(swap === "beforebegin" ? old.parentElement : old);
}

function isDue(region, topics) {
  const own = region.dataset.live.split(" ");
  const news = topics.filter((topic) => topic === "*" || own.some((name) => `${topic}:`.startsWith(`${name}:`)));
  if (news.length) region.dataset.stale ??= news.join(" ");
  const isOld = performance.now() - (readAt.get(region) ?? 0) > region.dataset.every * 1000;
  return region.matches("[data-stale]") || isMoving(region) || isOld;
}

// Returns what to announce. A region that couldn't be read stays stale until the next poll.
async function refresh(region) {
  const url = regionUrl(region);
  const headers = headersOf(region);
  region.dataset.stale = "*"; // until the region has been read
  const html = await request(url, region, headers).then((response) => response.text(), () => null);
  if (html === "") {
    delete region.dataset.stale;
    readAt.set(region, performance.now());
  }
  if (!html) return [];
  const page = parse(html);
  const wanted = page.getElementById(region.id);
  // Meanwhile the user may have left the page, filtered the list, or started to correct a form.
  const isOld = !region.isConnected || url !== regionUrl(region);
  if (!wanted || isOld || region.matches(":has(.htmx-request, [hx-trigger^=load], [data-autofocus])")) return [];
  delete region.dataset.stale;
  readAt.set(region, performance.now());
  for (const row of wanted.querySelectorAll("[data-unchanged]")) {
    row.replaceWith(document.getElementById(row.id).cloneNode(true));
  }
  if (page.title) document.title = page.title;
  noteFocus();
  for (const part of page.querySelectorAll("[hx-swap-oob]")) replaceElsewhere(part);
  const news = patchInPlace(region, wanted);
  restoreFocus();
  htmx.process(region);
  document.dispatchEvent(new CustomEvent("pressroom:refreshed"));
  return news;
}

// With these headers, the server reads what is in progress and also returns rows that have left the list. It leaves
// out the content of rows that the topics don't concern.
function headersOf(region) {
  const ids = rowsOf(region).map((row) => encodeURIComponent(row.id));
  const { stale } = region.dataset;
  const aim = isMoving(region) ? { "X-Moving": "1" } : stale && { "X-Topics": stale };
  return { ...(ids.length && { "X-Rows": ids.join(" ") }), ...aim };
}
const rowsOf = (region) => [...region.querySelectorAll("[data-rows] > [id]:not(#more, #rows)")];

// The URL of a region, with the values of the form around it.
function regionUrl(region) {
  const url = new URL(region.dataset.liveUrl ?? pageUrl(), location);
  const form = region.closest("form:not([method=post])");
  for (const [name, value] of form ? new FormData(form) : []) url.searchParams.set(name, value);
  return url.href;
}

function patchInPlace(region, wanted) {
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
  // A list shows a window: a new row pushes another out, so the two count once.
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
  const texts = announced().filter((text, place) => text && text !== before[place]).map((text) => `${text}.`);
  return [...texts, ...named(changes), ...(waiting && line ? [`${waiting} changed or new.`] : [])];
}

// Keeps the rows on the screen in their order, with their new content. Headings come from the response.
function keepRows(list, wanted, nextIds) {
  const headings = [...wanted.children].filter((row) => !row.id);
  const next = (row) => (row.id ? nextIds.get(row.id) : row.tagName && headings.shift()) ?? row.cloneNode(true);
  wanted.replaceChildren(...[...list.childNodes].map(next));
}

// The text of a row, without ages, visitors and recent acts.
function words(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll("[data-age], [data-live], [data-was]")) age.remove();
  return copy.textContent.replace(/\s+/g, " ").trim();
}
function changed(row, next) {
  if (!next || words(row) === words(next)) return "";
  const before = new Set(cells(row).map(words));
  const was = next.querySelector("[data-was]")?.dataset.was;
  const name = words(row.querySelector("th a, summary b, a") ?? row.firstElementChild);
  return `${name}: ${was ?? cells(next).map(words).filter((text) => !before.has(text)).join(", ")}.`;
}
const cells = (row) => [...(row.querySelector("summary") ?? row).children];
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
