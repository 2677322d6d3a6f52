// Single-letter keys. They do nothing in a field, over a dialog, if turned off in the settings,
// or on a page without the navigation, such as the login page.
// After G: the links of the navigation, in order.
const SECTIONS = ["o", "p", "d", "t", "r", "u", "w", "v", "a"];
const NOTIFICATIONS = "n"; // after G: the link in the panel of the bell
const ROWS = "main tbody tr, main .log summary, main .items > li, main #find-results li";
const SECOND_KEY_MS = 1500;
let goesUntil = 0;

const KEYS = {
  "/": () => {
    const field = document.querySelector("main .search input");
    if (field) field.focus();
    else document.querySelector("[data-palette]").click();
  },
  "?": showKeys,
  g: () => (goesUntil = Date.now() + SECOND_KEY_MS),
  j: () => goToRow(1),
  k: () => goToRow(-1),
  "[": () => goToTab(-1),
  "]": () => goToTab(1),
  p: () => press("a[href$='/publish/']"),
  v: openPreview,
  c: () => press("a[href*='/versions/compare/']"),
  r: () => document.querySelector("[data-refresh]")?.click(),
};

// Ignore Enter and Escape that end an input method. Safari marks them only with key code 229.
addEventListener(
  "keydown",
  (event) => {
    if (event.isComposing || event.keyCode === 229) event.stopImmediatePropagation();
  },
  true,
);

document.addEventListener("keydown", (event) => {
  if (document.body.dataset.keys === "off" || !document.getElementById("nav")) return;
  if (event.defaultPrevented) return;
  if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.target)) return;
  const key = event.key.toLowerCase();
  const place = Date.now() < goesUntil ? placeOf(key) : undefined;
  goesUntil = 0;
  // The page's own keys take precedence.
  const pageKey = new CustomEvent("pressroom:key", { detail: key, cancelable: true });
  pageKey.shiftKey = event.shiftKey;
  pageKey.isRepeated = event.repeat;
  const isDone = !place && !document.dispatchEvent(pageKey);
  if (!place && !isDone && !KEYS[key]) return;
  event.preventDefault();
  if (place) place.click();
  else if (!isDone) KEYS[key]();
});

function placeOf(key) {
  if (key === NOTIFICATIONS) return document.querySelector("[data-notifications]");
  return document.querySelectorAll("#nav .nav a")[SECTIONS.indexOf(key)];
}

// Keys do nothing while typing in a field, or on the page behind a dialog.
function isTaken(target) {
  if (document.querySelector("dialog[open], .app[inert], [popover]:popover-open")) return true;
  return target.closest?.("input:not([type=checkbox]), select, textarea, [contenteditable]") !== null;
}

function showKeys() {
  htmx.ajax("GET", document.querySelector("[data-palette]").href, "#dialogs");
}
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-keys-list]");
  if (!link || document.querySelector(".app[inert]")) return;
  event.preventDefault();
  // This closes the menu. Then the focus returns to the element that opened it.
  link.closest("[popover]")?.hidePopover();
  showKeys();
});

// Press a link of the focused row, otherwise of the page's own object.
function press(link) {
  const row = document.activeElement.closest("tr, li, article");
  (row ?? document.querySelector("main .head"))?.querySelector(`${link}:not([inert])`)?.click();
}

function openPreview() {
  const link = "a[href*='/preview/']";
  const row = document.activeElement.closest("main :is(tr, li, article)");
  (row?.querySelector(link) ?? document.querySelector(`main ${link}`))?.click();
}

function goToRow(step) {
  const rows = [...document.querySelectorAll(ROWS)];
  const places = rows.map((row) => (row.matches("summary") ? row : row.querySelector("a, button")));
  const there = places.filter((place) => place?.checkVisibility());
  const at = there.findIndex((place) => place.closest("tr, summary, li")?.contains(document.activeElement));
  const next = at < 0 ? there[0] : there[at + step];
  next?.focus();
}

function goToTab(step) {
  const tabs = [...document.querySelectorAll("main .tabs a")];
  const at = tabs.findIndex((tab) => tab.hasAttribute("aria-current"));
  if (at >= 0) tabs[at + step]?.click();
}
