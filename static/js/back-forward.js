// Back and Forward to a page that the browser has frozen with its scripts (persisted).

// WebKit empties fields and forms with autocomplete="off" some time after `pageshow`, so remove the
// attribute before the page is frozen. WebKit always empties passwords.
let withoutAutocomplete = [];
addEventListener("pagehide", ({ persisted }) => {
  for (const popover of document.querySelectorAll(":popover-open")) popover.hidePopover();
  if (!persisted) return;
  withoutAutocomplete = [...document.querySelectorAll("[autocomplete=off]")];
  for (const element of withoutAutocomplete) element.removeAttribute("autocomplete");
});
addEventListener("pageshow", ({ persisted }) => {
  for (const element of withoutAutocomplete) element.setAttribute("autocomplete", "off");
  withoutAutocomplete = [];
  if (persisted) sendAgain();
});

// Leaving a page ends its requests (in WebKit before `pagehide`), although the connection may be fine.
// Send them again once the page is back, or if it was not left after all, as for a download. Forms and
// buttons may have changed something, so they are not sent again and the user is told.
const NOT_LEFT_MS = 10000;
const departuresBefore = new WeakMap();
let departures = 0;
let isLeaving = false;
let ended = [];
let waiting;

addEventListener("beforeunload", () => {
  departures += 1;
  isLeaving = true;
});
document.addEventListener("htmx:beforeSend", ({ detail }) => departuresBefore.set(detail.xhr, departures));
for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  // Run before the listeners of all other modules.
  addEventListener(failure, hold, { capture: true });
}
function hold(event) {
  const { elt, requestConfig, xhr } = event.detail;
  if (departuresBefore.get(xhr) === departures) return;
  event.detail.wasLeft = true;
  if (requestConfig.verb !== "get" && elt.matches("form, button")) return;
  event.stopImmediatePropagation();
  ended.push(event.detail);
  clearTimeout(waiting);
  waiting = setTimeout(sendAgain, isLeaving ? NOT_LEFT_MS : 0);
}
function sendAgain() {
  clearTimeout(waiting);
  isLeaving = false;
  for (const { elt, etc, requestConfig, target } of ended) {
    const { select, swapOverride: swap, values } = etc;
    if (!elt.isConnected || !target.isConnected) continue;
    htmx.ajax(requestConfig.verb, requestConfig.path, { source: elt, target, select, swap, values });
  }
  ended = [];
}
