// Rows of audiences that are selected stay so over filters, "Load more", polls and Back: their values
// are kept in this tab, for each user and list. Without scripts, the check boxes are a plain form.
import { announce } from "./announce.js";

// The check box that a range begins at.
let anchor = "";

const form = () => document.querySelector("form[data-selection]");
const boxes = () => [...form().querySelectorAll("input[name=audience]:not([type=hidden])")];

// A tab whose storage is blocked forgets the selection with the page.
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
  const shown = new Set(boxes().map((box) => box.value));
  const rest = [...all].filter((value) => !shown.has(value));
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
  // The box in the heading selects all that are shown.
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

// From the row selected last to this one.
function selectTo(box, isSelected) {
  const values = boxes().map((each) => each.value);
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
// A click with Shift would select the text between; without it, the box gets no focus by itself.
document.addEventListener("mousedown", (event) => {
  if (event.shiftKey && event.target.closest?.(".tick")) event.preventDefault();
});

document.addEventListener("pressroom:key", (event) => {
  if (event.detail !== "x" || !form()) return;
  const box = document.activeElement.closest("tr")?.querySelector("input[name=audience]");
  if (!box) return;
  event.preventDefault();
  // With Shift the range becomes selected, whatever this row is.
  toggle(box, event.shiftKey || !box.checked, event.shiftKey);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || !form() || selected().size === 0) return;
  const isTyping = event.target.closest?.("input:not([type=checkbox]), textarea, select, dialog");
  if (isTyping || document.querySelector("dialog[open], .app[inert], :popover-open")) return;
  clear();
});

// "Select all" fetches the values of all that match.
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (detail.target?.id !== "all-matching" || !form()) return show();
  const values = [...detail.target.querySelectorAll("input")].map((input) => input.value);
  detail.target.replaceChildren();
  select(values, true);
});

// A page that says so has taken the selection over.
function forget() {
  if (document.querySelector("[data-selection-taken]")) forgetAll();
}
function forgetAll() {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith("selection ")) sessionStorage.removeItem(key);
  }
}

// A draft that was only opened is removed when it is left, and the selection stays. Audiences that
// are read on the way are no other place, unless the draft was opened from one.
const OPENED = "opened draft";
const openedDraft = () => JSON.parse(sessionStorage.getItem(OPENED) ?? "null");
function leaveDraft(isRestored) {
  const here = document.querySelector("[data-provisional]");
  const draft = openedDraft();
  const { pathname } = location;
  // Forward, to a draft that was removed on the way back.
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
  // One in which something was decided stays, and the response is its page.
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
    // Without storage, a worker removes it after a day.
  }
});
