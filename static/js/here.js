// Reports the place of this page (data-here) and whether its user is idle. Shows and announces who else is there.
import { announce } from "./announce.js";
import { isIdle } from "./live.js";

const EVERY_MS = 30000;
const SOON_MS = 1000; // Users who only pass through aren't reported.
// This id is of the page, not of the tab. A duplicated tab would have the same id, and the last report of a page
// may arrive after the first report of the next page.
const page = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
let timer, url, known;
let reported = "";
const place = () => document.querySelector("dialog[open] [data-here]") ?? document.querySelector("[data-here]");

// A hidden page still reports itself as idle, because its user may be working in another tab.
function report() {
  const { here, doing, version, reportUrl, tab = page } = place()?.dataset ?? {};
  url = reportUrl ?? url;
  const idle = document.hidden || isIdle() ? { idle: "1" } : {};
  return here ? `${new URLSearchParams({ tab, place: here, doing, version, ...idle })}` : "";
}
async function send(body) {
  const tab = new URLSearchParams(body || reported).get("tab");
  reported = body;
  const headers = { ...JSON.parse(document.body.getAttribute("hx-headers")), "X-Background": "1", "HX-Request": "true" };
  const request = { method: "POST", body: new URLSearchParams(body || { tab }), headers, keepalive: true };
  const response = await fetch(url, request).catch(() => null);
  clearTimeout(timer);
  if (reported) timer = setTimeout(() => send(report()), EVERY_MS);
  if (response?.status !== 200) return;
  const wanted = new DOMParser().parseFromString(await response.text(), "text/html").body.firstElementChild;
  document.getElementById(wanted.id)?.replaceWith(wanted);
  announceNew();
}
const sendNews = () => setTimeout(() => document.hidden || report() === reported || send(report()), SOON_MS);

function announceNew() {
  const visitors = [...(place()?.querySelectorAll("[data-visitor]:not(.idle)") ?? [])];
  const isNew = ({ dataset }) => known && dataset.visitor.split(" ").some((mark) => !known.has(mark));
  const news = visitors.filter(isNew).map((visitor) => visitor.lastElementChild.textContent.trim());
  if (news.length) announce(`${news.join(". ")}.`);
  known = new Set([...document.querySelectorAll("[data-visitor]")].flatMap(({ dataset }) => dataset.visitor.split(" ")));
}

announceNew(); // Don't announce visitors that the page came with.
document.addEventListener("pressroom:refreshed", announceNew);
for (const name of ["htmx:afterSettle", "htmx:historyRestore", "visibilitychange", "pointerdown", "keydown", "close"]) {
  document.addEventListener(name, sendNews, { capture: name === "close" }); // The close of a dialog doesn't bubble.
}
addEventListener("pageshow", sendNews);
addEventListener("pagehide", () => reported && send(""));
