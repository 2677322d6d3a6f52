// Reports which place this page shows (data-here), and who is idle; shows and announces who else is there.
import { announce } from "./announce.js";
import { isIdle } from "./live.js";

const EVERY_MS = 30000;
const SOON_MS = 1000; // Who only passes through is not reported.
// Of this page rather than of its tab: a copied tab would have the same, and what a page sends when it is
// left may arrive after the report of the next page.
const tab = [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
let timer, url, known;
let reported = "";
const place = () => document.querySelector("dialog[open] [data-here]") ?? document.querySelector("[data-here]");

// A hidden page still reports itself: its user is idle here, and works in another tab.
function report() {
  const { here, doing, version, reportUrl } = place()?.dataset ?? {};
  url = reportUrl ?? url;
  const idle = document.hidden || isIdle() ? { idle: "1" } : {};
  return here ? `${new URLSearchParams({ tab, place: here, doing, version, ...idle })}` : "";
}
async function send(body) {
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

announceNew(); // Not those of the page itself.
document.addEventListener("pressroom:refreshed", announceNew);
for (const name of ["htmx:afterSettle", "htmx:historyRestore", "visibilitychange", "pointerdown", "keydown", "close"]) {
  document.addEventListener(name, sendNews, { capture: name === "close" }); // of a dialog, it doesn't bubble
}
addEventListener("pageshow", sendNews);
addEventListener("pagehide", () => reported && send(""));
