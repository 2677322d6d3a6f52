// Progressive enhancement of every page.

// The server renders times in the time zone of this cookie. If it is new, the first poll refreshes all regions.
const zone = `${document.documentElement.dataset.timeZoneCookie}=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (!document.cookie.split("; ").includes(zone)) {
  document.cookie = `${zone}; path=/; max-age=31536000; samesite=lax`;
  for (const region of document.querySelectorAll("[data-live]")) region.dataset.stale = "*";
}

document.addEventListener("click", ({ target }) => target.closest("[data-dismiss]")?.closest(".note").remove());

document.addEventListener("change", (event) => {
  event.target.closest("form[data-submit-on-change]")?.requestSubmit();
});

// On a phone, the current tab may be beside the screen.
const tab = document.querySelector(".tabs [aria-current]");
if (tab) tab.parentElement.scrollLeft = tab.offsetLeft;

// Focus an error summary, in a page and in a partial.
function focusProblems(root) {
  root.querySelector?.("[data-autofocus]")?.focus();
}
document.addEventListener("DOMContentLoaded", () => focusProblems(document));
document.addEventListener("htmx:afterSettle", (event) => focusProblems(event.detail.elt));

// A response may remove the focused element. If that element sent the request, focus the first new
// control of the response. Otherwise focus the table row, an element that followed it in its section (by
// id, because it may have been replaced), the section's heading, or the page's heading. A moved element
// keeps the focus.
const PRESSED = "a, button, summary";
let left = null;
document.addEventListener("htmx:beforeSwap", noteFocus);
export function noteFocus() {
  const focused = document.activeElement;
  const part = focused.closest("section[id], dialog, main");
  const within = (selector) => [...(part?.querySelectorAll(selector) ?? [])];
  const isAfter = (element) => focused.compareDocumentPosition(element) & Node.DOCUMENT_POSITION_FOLLOWING;
  const row = focused.closest("tr[id], [data-rows] > [id]");
  const heirs = [row, ...within("[id]").filter(isAfter)].map((element) => element?.id);
  left = part && { focused, part: part.id, heirs, before: new Set(within(PRESSED)) };
}
// A history restore has no beforeSwap, so forget the state that an earlier swap left.
document.addEventListener("htmx:historyCacheMissLoad", () => (left = null));
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  restoreFocus(detail.requestConfig?.elt === left?.focused ? detail.elt : null);
});
export function restoreFocus(response) {
  if (!left || document.activeElement !== document.body) return;
  const heir = (response && firstNew(response)) || heirOf(left);
  const place = left.focused.isConnected ? left.focused : heir;
  if (place?.tabIndex < 0) place.tabIndex = -1;
  place?.focus({ preventScroll: true });
}
function firstNew(element) {
  return [...element.querySelectorAll(PRESSED)].find((control) => !left.before.has(control));
}
function heirOf({ part, heirs }) {
  const place = document.getElementById(part);
  const there = heirs.map((id) => document.getElementById(id)).filter((element) => place?.contains(element));
  const headings = place?.querySelectorAll("h1, h2, h3") ?? [];
  return [...there, ...headings, ...document.querySelectorAll("main h1")].find((element) => element.checkVisibility());
}

// Pause polling while the page is hidden, and resume when it is visible. The trigger "again"
// repeats a poll that was paused or got no response.
document.addEventListener("htmx:beforeRequest", (event) => {
  const part = event.detail.elt;
  if (!document.hidden || !part.matches("[data-polls]")) return;
  event.preventDefault();
  part.dataset.held = "";
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const part of document.querySelectorAll("[data-polls][data-held]")) pollAgain(part);
});
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, (event) => {
    const part = event.detail.elt;
    if (part.matches("[data-polls]:not([data-silent])")) setTimeout(() => pollAgain(part), 10000);
  });
}
// Don't report a failed background request, because it is sent again anyway.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.isError && detail.requestConfig.elt.matches("[data-silent]")) detail.shouldSwap = false;
});
function pollAgain(part) {
  delete part.dataset.held;
  if (part.isConnected) htmx.trigger(part, "again");
}

// Mark a button as busy during its request. It keeps the focus.
function atWork({ elt, requestConfig }) {
  return [elt, requestConfig.triggeringEvent?.submitter].filter(Boolean);
}
document.addEventListener("htmx:beforeRequest", (event) => {
  for (const element of atWork(event.detail)) element.setAttribute("aria-busy", "true");
});
document.addEventListener("htmx:afterRequest", (event) => {
  for (const element of atWork(event.detail)) element.removeAttribute("aria-busy");
});
document.addEventListener("submit", ({ defaultPrevented, submitter }) => {
  if (!defaultPrevented) submitter?.setAttribute("aria-busy", "true");
});
// Reset busy buttons on a page restored from the back/forward cache.
addEventListener("pageshow", () => {
  for (const element of document.querySelectorAll("[aria-busy]")) element.removeAttribute("aria-busy");
});
