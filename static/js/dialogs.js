// Dialogs that a response opens over a page. Only a dialog's own requests change it, and closing it aborts
// them. A dialog with a URL is a history entry, so Back closes it.

const openDialog = () => document.querySelector("#dialogs > dialog[open]");
const isBehind = (element) => openDialog() && !openDialog().contains(element);

// The request for the next dialog, and the page below a dialog with a URL: its history entry, the URL that
// its own requests have set since, the element that opened the dialog, and the ids around that element. A
// poll may remove the element while the dialog is open.
let opening = null;
let below = null;

// The URL of the page, even while a dialog over it has its own URL.
export const pageUrl = () => (below ? below.url || below.href : location.href);

// The last click wins; ignore clicks while a dialog is open or the history is going back.
document.addEventListener("htmx:beforeRequest", (event) => {
  if (event.detail.target?.id !== "dialogs") return;
  if (openDialog() || below) {
    event.preventDefault();
    return;
  }
  opening?.abort();
  opening = event.detail.xhr;
});
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.target.id === "dialogs" && document.querySelector("dialog[open]")) detail.shouldSwap = false;
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  // A history restore swaps the page without a target.
  if (detail.target?.id === "dialogs") openModal(detail.target.querySelector(":scope > dialog"));
  else if (detail.target?.matches("#dialogs > dialog")) focusFirst(detail.target);
});
function openModal(dialog) {
  if (!dialog) return;
  dialog.removeAttribute("open");
  dialog.showModal();
  dialog.addEventListener("close", () => closed(dialog), { once: true });
}
function focusFirst(dialog) {
  dialog.querySelector("[data-autofocus], [autofocus]")?.focus();
}

// A response for the page below must neither redirect nor change the dialog's URL.
document.addEventListener("htmx:beforeOnLoad", (event) => {
  const { elt, xhr } = event.detail;
  if (isBehind(elt) && xhr.getResponseHeader("HX-Redirect")) event.preventDefault();
});
document.addEventListener("htmx:beforeHistoryUpdate", ({ detail }) => {
  const { history: update, requestConfig, target } = detail;
  if (target.id === "dialogs") {
    const isForward = closedByBack && update.path === location.pathname + location.search;
    if (isForward) update.type = "replace";
    const pressed = requestConfig.elt;
    below = { href: isForward ? closedByBack.href : location.href, url: "", pressed, around: idsAround(pressed) };
    closedByBack = null;
  } else if (below && isBehind(requestConfig.elt)) {
    below.url = update.path;
    update.path = location.href;
  }
});
function idsAround(element) {
  const around = element?.closest("[id]");
  return around ? [around.id, ...idsAround(around.parentElement)] : [];
}
document.addEventListener("htmx:configRequest", ({ detail }) => {
  if (below && isBehind(detail.elt)) detail.headers["HX-Current-URL"] = below.href;
});

// Close a dialog over a page. If the dialog has its own page, follow the link instead.
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-closes]");
  const dialog = button && document.getElementById(button.dataset.closes);
  if (!dialog?.matches(":modal")) return;
  event.preventDefault();
  dialog.close();
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented) return;
  if (document.querySelector(":modal, :popover-open")) return;
  document.querySelector(".app[inert] ~ #dialogs > dialog[open] a[data-closes]")?.click();
});

// Resume a poll that was replaced by a request of its dialog, if that request failed.
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, ({ detail }) => {
    const part = detail.elt.closest("#dialogs > dialog")?.querySelector("[data-polls]");
    if (part && part !== detail.elt) setTimeout(() => part.isConnected && htmx.trigger(part, "again"), 10000);
  });
}

function closed(dialog) {
  if (below) below.isOld ||= changesPage(dialog);
  htmx.trigger(dialog, "htmx:abort");
  dialog.remove();
  if (below) history.back();
}
// Whether something was published in the dialog, or is being sent now.
function changesPage(dialog) {
  return dialog.querySelector("[data-reload], [aria-busy]") !== null;
}

// Back on the page below: leave it as it is, or let htmx reload it if the dialog changed something.
let returning = null;
let closedByBack = null;
document.addEventListener("htmx:historyCacheMiss", (event) => {
  opening?.abort();
  const page = below;
  below = null;
  if (!page && closedByBack?.pressed.isConnected && closedByBack.pressed.href === location.href) {
    // Forward, on the page below: open the dialog again.
    event.preventDefault();
    closedByBack.pressed.click();
    return;
  }
  closedByBack = null;
  if (page?.href !== location.href) return;
  const dialog = openDialog();
  const isOld = page.isOld || (dialog && changesPage(dialog));
  dialog?.close();
  returning = page;
  if (isOld) return;
  event.preventDefault();
  if (page.url) history.replaceState(history.state, "", page.url);
  closedByBack = { href: location.href, pressed: page.pressed };
  focusPressed();
});
document.addEventListener("htmx:historyRestore", () => {
  const dialog = document.querySelector("#dialogs > dialog");
  if (dialog) focusFirst(dialog);
  else focusPressed();
});

// Return the focus to the element that opened the dialog, or else to one with the same link, the button
// of its menu, or the nearest heading around it. This works whether the page polls before or after the
// reload.
function focusPressed() {
  if (!returning || ![document.body, returning.pressed].includes(document.activeElement)) return;
  const { pressed, around } = returning;
  const ids = [...around, "main"].map((id) => `#${CSS.escape(id)}`);
  const selectors = [
    `main a[href="${CSS.escape(pressed.getAttribute("href"))}"]`,
    ...around.map((id) => `[popovertarget="${CSS.escape(id)}"]`),
    ...ids.map((id) => `${id} :is(h1, h2, h3, th a)`),
  ];
  const places = [pressed, ...selectors.flatMap((selector) => [...document.querySelectorAll(selector)])];
  const place = places.find((element) => element.isConnected && element.checkVisibility());
  if (place?.tabIndex < 0) place.tabIndex = -1;
  place?.focus({ preventScroll: true });
  returning = null;
}
