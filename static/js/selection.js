// Selected audiences stay selected across filters, "Load more", polls and Back: their values are
// stored in this tab, for each user and list. Without scripts, the check boxes are a plain form.
import { announce } from "./announce.js";

// The value of the check box at which a range begins.
let anchor = "";

const form = () => document.querySelector("form[data-selection]");
const boxes = () => [...form().querySelectorAll("input[name=audience]:not([type=hidden])")];

// If the tab's storage is blocked, the selection lasts as long as the page.
let fallback = {};
function read(key) {
  try {
    return new Set(JSON.parse(sessionStorage.getItem(key) ?? "[]"));
  } catch {
    return new Set(fallback[key]);
  }
}
function write(key, values) {
  try {
    sessionStorage.setItem(key, JSON.stringify(values));
  } catch {
    fallback = { [key]: values };
  }
}
const storageKey = () => `selection ${form().dataset.selection}`;
const selected = () => read(storageKey());

function select(values, isSelected) {
  const all = selected();
  for (const value of values) {
    if (isSelected) all.add(value);
    else all.delete(value);
  }
  write(storageKey(), [...all]);
  show();
  announce(`${format(all.size)} selected`, document.getElementById("selection-announcement"));
}

function clear() {
  const isInBar = document.activeElement.closest("[data-selection-bar]");
  select([...selected()], false);
  if (isInBar) (boxes().find((box) => box.value === anchor) ?? boxes()[0])?.focus();
}

// Check the boxes, and update the bar.
function show() {
  if (!form()) return;
  const all = selected();
  for (const box of boxes()) box.checked = all.has(box.value);
  const displayed = new Set(boxes().map((box) => box.value));
  const rest = [...all].filter((value) => !displayed.has(value));
  showBar(all.size, rest.length);
  showHeading(all);
  form().querySelector("[data-selected-rest]").replaceChildren(...rest.map(hiddenInput));
}

function showBar(count, elsewhere) {
  const bar = form().querySelector("[data-selection-bar]");
  bar.hidden = count === 0;
  for (const place of bar.querySelectorAll("[data-selected-count]")) place.textContent = format(count);
  const hint = bar.querySelector("[data-selected-elsewhere]");
  hint.hidden = elsewhere === 0;
  hint.firstElementChild.textContent = format(elsewhere);
  const allButton = bar.querySelector("[data-select-all]");
  // If all matches are loaded, the box in the heading selects them.
  const total = Number(allButton?.dataset.selectAll);
  if (allButton) allButton.hidden = total <= boxes().length || count >= total;
}

function showHeading(all) {
  const heading = form().querySelector("[data-select-shown]");
  if (!heading) return;
  const count = boxes().filter((box) => all.has(box.value)).length;
  heading.hidden = false;
  heading.firstElementChild.checked = count > 0 && count === boxes().length;
  heading.firstElementChild.indeterminate = count > 0 && count < boxes().length;
}

function hiddenInput(value) {
  return Object.assign(document.createElement("input"), { type: "hidden", name: "audience", value });
}

const format = (count) => count.toLocaleString("en-GB");

// Select the rows from the last selected one to this one.
function selectTo(box, isSelected) {
  const values = boxes().map((box) => box.value);
  const [from, to] = [values.indexOf(anchor), values.indexOf(box.value)].sort((a, b) => a - b);
  select(from < 0 ? [box.value] : values.slice(from, to + 1), isSelected);
  anchor = box.value;
}

function toggle(box, isSelected, isRange) {
  if (isRange) selectTo(box, isSelected);
  else select([box.value], isSelected);
  anchor = box.value;
}

document.addEventListener("click", (event) => {
  if (!form()?.contains(event.target)) return;
  const { target } = event;
  if (target.matches("input[name=audience]")) {
    target.focus();
    toggle(target, target.checked, event.shiftKey);
  } else if (target.matches("[data-select-shown] input")) {
    select(boxes().map((box) => box.value), target.checked);
  } else if (target.closest("[data-select-none]")) clear();
});
// Keep a click with Shift from selecting text. This keeps the focus off the box, so the click handler sets it.
document.addEventListener("mousedown", (event) => {
  if (event.shiftKey && event.target.closest?.(".tick")) event.preventDefault();
});

document.addEventListener("pressroom:key", (event) => {
  if (event.detail !== "x" || !form()) return;
  const box = document.activeElement.closest("tr")?.querySelector("input[name=audience]");
  if (!box) return;
  event.preventDefault();
  // With Shift, select the range even if this row is already selected.
  toggle(box, event.shiftKey || !box.checked, event.shiftKey);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !form() || selected().size === 0) return;
  const isTyping = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
  if (isTyping || document.querySelector("dialog[open], .app[inert], :popover-open")) return;
  clear();
});

// "Select all" fetches the values of all matching audiences.
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target?.id !== "all-matching" || !form()) return show();
  const values = [...detail.target.querySelectorAll("input")].map((input) => input.value);
  detail.target.replaceChildren();
  select(values, true);
});

// Clear the selection on a page that has taken it over.
function forget() {
  if (document.querySelector("[data-selection-taken]")) forgetAll();
}
function forgetAll() {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("selection ")) sessionStorage.removeItem(key);
  }
}

// Leaving a draft that was only opened removes the draft and keeps the selection. Reading an audience
// doesn't count as leaving, unless the draft was opened from there.
const OPENED = "opened draft";
const openedDraft = () => JSON.parse(sessionStorage.getItem(OPENED) ?? "null");
function leaveDraft(isRestored) {
  const here = document.querySelector("[data-provisional]");
  const draft = openedDraft();
  const { pathname } = location;
  // The user went forward to a draft that Back had removed.
  if (here && isRestored && !draft) return location.reload();
  if (here) {
    const from = draft?.path === pathname ? draft.from : document.referrer && new URL(document.referrer).pathname;
    const token = document.querySelector("input[name=csrfmiddlewaretoken]").value;
    sessionStorage.setItem(OPENED, JSON.stringify({ path: pathname, from, url: here.dataset.provisional, token }));
    return;
  }
  if (!draft || (pathname !== draft.path && isOnTheWay(pathname, draft))) return;
  sessionStorage.removeItem(OPENED);
  if (pathname === draft.path) return forgetAll();
  const body = new URLSearchParams({ csrfmiddlewaretoken: draft.token });
  // A draft with decisions is kept, and the response is its page.
  fetch(draft.url, { method: "POST", body }).then((response) => {
    if (response.url.endsWith(draft.path)) forgetAll();
  }, () => {});
}
function isOnTheWay(pathname, { path, from }) {
  const root = path.replace(/releases\/\d+\/$/, "");
  const isRead = pathname.startsWith(`${root}pages/`) && ![`${root}pages/`, from].includes(pathname);
  return isRead || pathname.startsWith(path) || pathname.startsWith(`${root}accounts/`);
}

for (const change of ["htmx:afterSettle", "htmx:oobAfterSwap", "htmx:historyRestore", "pressroom:refreshed", "DOMContentLoaded"]) {
  document.addEventListener(change, show);
}
document.addEventListener("DOMContentLoaded", forget);
addEventListener("pageshow", show);
addEventListener("pageshow", ({ persisted }) => {
  try {
    leaveDraft(persisted);
  } catch {
    // Without storage, a worker removes the draft after a day.
  }
});
