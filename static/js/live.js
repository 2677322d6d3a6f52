// The poll of a page returns the topics that changed. Regions with these topics (data-live) are fetched
// again and change in place. If a region shows data that isn't in the feed, it refreshes at an interval
// (data-every, in seconds). While something is in progress, the server makes the page poll sooner:
// data-moving is read from the service, data-soon is in the feed.
import { announce } from "./announce.js";
import { pageUrl } from "./dialogs.js";
import { patchRegion, rowsOf } from "./live-rows.js";
import { patch } from "./morph.js";
import { noteFocus, restoreFocus } from "./shell.js";

const FIRST_S = 3; // the first poll reports what is in progress, and its response sets the next wait
const SOON_S = 0.5; // after the user has changed something
const IDLE_MS = 5 * 60000;
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
  const regions = isRemoved() ? [] : [...document.querySelectorAll("[data-live]")];
  const due = regions.filter((region) => isDue(region, topics)).filter((region) => !isIncluded(region));
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
// When what a page shows was removed, the page says so, stays as it is, and offers only to copy.
const isRemoved = () => document.getElementById("removed");
function showRemoved(banner) {
  if (!banner || isRemoved()) return;
  for (const control of document.querySelectorAll("main :is(button, a.button):not([data-copy])")) {
    control.disabled = true;
    control.inert = true; // a link can't be disabled
  }
  document.getElementById("main").prepend(banner);
}
function renewToken({ dataset: { token } }) {
  if (!token) return;
  document.body.setAttribute("hx-headers", JSON.stringify({ "X-CSRFToken": token }));
  for (const input of document.getElementsByName("csrfmiddlewaretoken")) input.value = token;
}

async function request(url, { id }, more = {}) {
  const headers = { "HX-Request": "true", "HX-Target": id, "HX-Current-URL": pageUrl(), "X-Background": "1", ...more };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (response.status === 404) showRemoved(parse(await response.text()).getElementById("removed"));
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

// A list that is fetched as a whole includes the marks of its rows.
const isIncluded = (mark) => mark.parentElement.closest("[data-rows]")?.closest("[data-stale='*']");

// Returns what to announce. A region that couldn't be read stays stale until the next poll.
async function refresh(region) {
  const url = regionUrl(region);
  const headers = headersOf(region);
  region.dataset.stale = "*"; // until the region has been read
  const html = await request(url, region, headers).then((response) => response.text(), () => null);
  if (html === null) return [];
  const page = parse(html);
  const wanted = page.getElementById(region.id);
  // Meanwhile the user may have left the page, filtered the list, or started to correct a form.
  const isOld = !region.isConnected || url !== regionUrl(region);
  const isTaken = isOld || region.matches(":has(.htmx-request, [hx-trigger^=load], [data-autofocus])");
  if (html && (!wanted || isTaken)) return [];
  delete region.dataset.stale;
  readAt.set(region, performance.now());
  if (!html) return [];
  for (const row of wanted.querySelectorAll("[data-unchanged]")) {
    row.replaceWith(document.getElementById(row.id).cloneNode(true));
  }
  if (page.title) document.title = page.title;
  noteFocus();
  for (const part of page.querySelectorAll("[hx-swap-oob]")) replaceElsewhere(part);
  const news = patchRegion(region, wanted);
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

// The URL of a region, with the values of the form around it.
function regionUrl(region) {
  const url = new URL(region.dataset.liveUrl ?? pageUrl(), location);
  const form = region.closest("form:not([method=post])");
  for (const [name, value] of form ? new FormData(form) : []) url.searchParams.set(name, value);
  return url.href;
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
