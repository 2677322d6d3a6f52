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
let lastInput = Date.now();
const element = () => document.getElementById("live");
export const isIdle = () => Date.now() - lastInput > IDLE_MS;

function schedule(seconds, extraMs = 0) {
  clearTimeout(timer);
  if (!document.hidden) timer = setTimeout(poll, seconds * 1000 * (0.8 + 0.4 * Math.random()) + extraMs);
}

async function poll() {
  if (isPolling || !element()) return;
  isPolling = true;
  const hasFailed = await update().then(() => false, () => true);
  isPolling = false;
  // Not all at once when the server is back.
  schedule(waitS, hasFailed ? 10000 * Math.random() : 0);
}

async function update() {
  const response = await request(pollUrl(), "live");
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

async function request(url, target) {
  const headers = { "HX-Request": "true", "HX-Target": target, "X-Background": "1" };
  const response = await fetch(url, { headers, signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (!response.ok) throw new Error(`${response.status}`);
  return response;
}
const parse = (html) => new DOMParser().parseFromString(html, "text/html");
function replace(part) {
  const old = document.getElementById(part.id);
  if (old) patch(old, part);
}

function isDue(region, topics) {
  region.toggleAttribute("data-stale", isAbout(region, topics) || region.hasAttribute("data-stale"));
  return region.matches("[data-stale], [data-moving], :has([data-moving])");
}
function isAbout(region, topics) {
  const own = region.dataset.live.split(" ");
  return topics.some((topic) => topic === "*" || own.some((name) => `${topic}:`.startsWith(`${name}:`)));
}

// Returns what to announce. A region that could not be read is stale until the next poll.
async function refresh(region) {
  const url = region.dataset.liveUrl ?? pageUrl();
  const html = await request(url, region.id).then((response) => response.text(), () => "");
  const page = parse(html);
  const wanted = page.getElementById(region.id);
  // Meanwhile the user may have gone on, or filtered the list.
  const isOld = !region.isConnected || (!region.dataset.liveUrl && url !== pageUrl());
  if (!wanted || isOld || region.matches(":has(.htmx-request)")) return [];
  delete region.dataset.stale;
  const news = patchInPlace(region, wanted);
  const fresh = page.querySelector("#fresh[hx-swap-oob]");
  fresh?.removeAttribute("hx-swap-oob");
  if (fresh) replace(fresh);
  htmx.process(region);
  document.dispatchEvent(new CustomEvent("pressroom:refreshed"));
  return news;
}

function patchInPlace(region, wanted) {
  const focused = document.activeElement;
  const [rows, next] = [region, wanted].map((part) => [...part.querySelectorAll("[data-rows] > [id]")]);
  const nextIds = new Map(next.map((row) => [row.id, row]));
  const changes = rows.map((row) => [row, changed(row, nextIds.get(row.id))]).filter(([, text]) => text);
  const ids = new Set(rows.map((row) => row.id));
  const added = next.filter((row) => !ids.has(row.id)).length;
  const gone = rows.filter((row) => !nextIds.has(row.id)).length;
  // Another window of the list: what is new pushes as many out.
  const waiting = Math.max(added, gone);
  const hasSameLists = !rows.length === !next.length;
  if (hasSameLists) {
    for (const list of wanted.querySelectorAll("[data-rows]")) keepRows(document.getElementById(list.id), list, nextIds);
    patch(region, wanted);
  }
  const line = region.querySelector("[data-waiting]") ?? document.querySelector(`[data-waiting="${region.id}"]`);
  if (line) showWaiting(line, waiting);
  mark(changes.map(([row]) => row));
  if (focused !== document.activeElement && region.contains(focused)) focused.focus({ preventScroll: true });
  return [...named(changes), ...(waiting && line ? [`${waiting} changed or new.`] : [])];
}

// The rows that are on the screen, in their order, as they are now.
function keepRows(list, wanted, nextIds) {
  wanted.replaceChildren(...[...list.childNodes].map((row) => nextIds.get(row.id) ?? row.cloneNode(true)));
}

// What a row says, without how long ago something was.
function words(part) {
  const copy = part.cloneNode(true);
  for (const age of copy.querySelectorAll("[data-age]")) age.remove();
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
  line.hidden = count === 0;
  line.firstElementChild.textContent = `${count} changed or new.`;
}

for (const input of ["pointerdown", "keydown", "wheel"]) {
  addEventListener(input, () => (lastInput = Date.now()), { passive: true });
}
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.successful && detail.requestConfig.verb !== "get") schedule(SOON_S);
});
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : poll()));
addEventListener("pageshow", ({ persisted }) => persisted && poll());
schedule(FIRST_S);
