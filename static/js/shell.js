// Progressive enhancement of every page.

// The server renders times in the time zone of this cookie.
const zone = `${document.documentElement.dataset.timeZoneCookie}=${Intl.DateTimeFormat().resolvedOptions().timeZone}`;
if (!document.cookie.split("; ").includes(zone)) {
  document.cookie = `${zone}; path=/; max-age=31536000; samesite=lax`;
}

document.addEventListener("click", ({ target }) => target.closest("[data-dismiss]")?.closest(".note").remove());

document.addEventListener("change", (event) => {
  event.target.closest("form[data-submit-on-change]")?.requestSubmit();
});

// Focus an error summary, in a page and in a partial.
function focusProblems(root) {
  root.querySelector?.("[data-autofocus]")?.focus();
}
document.addEventListener("DOMContentLoaded", () => focusProblems(document));
document.addEventListener("htmx:afterSettle", (event) => focusProblems(event.detail.elt));

// A response may remove the focused element. If that element sent the request, focus the first new
// control of the response; otherwise the table row, an element that followed it in its section (by
// id, as it may have been replaced), the section's heading, or the page's. A moved element keeps the
// focus.
const PRESSED = "a, button, summary";
let left = null;
document.addEventListener("htmx:beforeSwap", () => {
  const focused = document.activeElement;
  const part = focused.closest("section[id], dialog, main");
  const within = (selector) => [...(part?.querySelectorAll(selector) ?? [])];
  const isAfter = (each) => focused.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const row = focused.closest("tr[id]");
  const heirs = [row, ...within("[id]").filter(isAfter)].map((each) => each?.id);
  left = part && { focused, part: part.id, heirs, before: new Set(within(PRESSED)) };
});
// A history restore has no beforeSwap; what an earlier swap left is not its own.
document.addEventListener("htmx:historyCacheMissLoad", () => (left = null));
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (!left || document.activeElement !== document.body) return;
  const isSender = detail.requestConfig?.elt === left.focused;
  const heir = (isSender && firstNew(detail.elt)) || heirOf(left);
  const place = left.focused.isConnected ? left.focused : heir;
  if (place?.tabIndex < 0) place.tabIndex = -1;
  place?.focus({ preventScroll: true });
});
function firstNew(element) {
  return [...element.querySelectorAll(PRESSED)].find((each) => !left.before.has(each));
}
function heirOf({ part, heirs }) {
  const place = document.getElementById(part);
  const there = heirs.map((id) => document.getElementById(id)).filter((each) => place?.contains(each));
  const headings = place?.querySelectorAll("h1, h2, h3") ?? [];
  return [...there, ...headings, ...document.querySelectorAll("main h1")].find((each) => each.checkVisibility());
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
// The failure of a background request is no news: it is sent again anyway.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.isError && detail.requestConfig.elt.matches("[data-silent]")) detail.shouldSwap = false;
});
function pollAgain(part) {
  delete part.dataset.held;
  if (part.isConnected) htmx.trigger(part, "again");
}

// Mark a button as busy from its request to the response; it keeps the focus.
function atWork({ elt, requestConfig }) {
  return [elt, requestConfig.triggeringEvent?.submitter].filter(Boolean);
}
document.addEventListener("htmx:beforeRequest", (event) => {
  for (const one of atWork(event.detail)) one.setAttribute("aria-busy", "true");
});
document.addEventListener("htmx:afterRequest", (event) => {
  for (const one of atWork(event.detail)) one.removeAttribute("aria-busy");
});
document.addEventListener("submit", ({ defaultPrevented, submitter }) => {
  if (!defaultPrevented) submitter?.setAttribute("aria-busy", "true");
});
// Reset busy buttons on a page restored from the back/forward cache.
addEventListener("pageshow", () => {
  for (const one of document.querySelectorAll("[aria-busy]")) one.removeAttribute("aria-busy");
});
