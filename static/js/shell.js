// What every page does beyond plain HTML. Nothing here is needed to read or to act.

// Times are drawn by the server in the zone of this cookie.
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
if (!document.cookie.split("; ").includes(`timezone=${zone}`)) {
  document.cookie = `timezone=${zone}; path=/; max-age=31536000; samesite=lax`;
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("button, a");
  if (button?.hasAttribute("data-dismiss")) button.closest(".note").remove();
  if (button?.dataset.closes) close(event, button);
});

// A dialog over a page closes; one that is a page of its own is left by its link.
function close(event, button) {
  const dialog = document.getElementById(button.dataset.closes);
  if (button.href && (!dialog?.matches(":modal") || isPageItself(dialog))) return;
  event.preventDefault();
  dialog?.close();
}
function isPageItself(dialog) {
  return dialog.parentElement?.id === "dialogs" && document.querySelector(".app[inert]") !== null;
}

// The browser closes a modal dialog at Escape. One that came as the page is none: here as well.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.defaultPrevented || event.isComposing) return;
  if (document.querySelector(":modal, :popover-open")) return;
  document.querySelector(".app[inert] ~ #dialogs > dialog[open] a[data-closes]")?.click();
});

document.addEventListener("change", (event) => {
  event.target.closest("form[data-submit-on-change]")?.requestSubmit();
});

// An error summary takes the focus, on a page of its own and in a part.
function focusProblems(root) {
  root.querySelector?.("[data-autofocus]")?.focus();
}
document.addEventListener("DOMContentLoaded", () => focusProblems(document));
document.addEventListener("htmx:afterSettle", (event) => focusProblems(event.detail.elt));

// An answer may take away what has the focus. Then the first of what was asked for with it has the
// focus; or what came after it in its part, known by its id, as an answer may bring that anew; or
// the part's heading. What was merely moved keeps it.
const PRESSED = "a, button, summary";
let left = null;
document.addEventListener("htmx:beforeSwap", () => {
  const focused = document.activeElement;
  const part = focused.closest("section[id], dialog, main");
  const within = (selector) => [...(part?.querySelectorAll(selector) ?? [])];
  const isAfter = (each) => focused.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const heirs = within("[id]").filter(isAfter).map((each) => each.id);
  left = part && { focused, part: part.id, heirs, before: new Set(within(PRESSED)) };
});
document.addEventListener("htmx:afterSettle", ({ detail }) => {
  if (!left || document.activeElement !== document.body) return;
  const isAsked = detail.requestConfig?.elt === left.focused;
  const heir = isAsked ? firstNew(detail.elt) : heirOf(left);
  const place = left.focused.isConnected ? left.focused : heir;
  if (place?.tabIndex < 0) place.tabIndex = -1;
  place?.focus({ preventScroll: true });
});
function firstNew(element) {
  return [...element.querySelectorAll(PRESSED)].find((each) => !left.before.has(each));
}
function heirOf({ part, heirs }) {
  const place = document.getElementById(part);
  const there = heirs.map((id) => document.getElementById(id));
  const heir = there.find((each) => place?.contains(each) && each.checkVisibility());
  return heir ?? place?.querySelector("h1, h2, h3");
}

// A part of a page that polls waits while nobody looks, and goes on when somebody does. Its
// trigger names "again": a single look held back, or that got no answer, is made up for.
document.addEventListener("htmx:beforeRequest", (event) => {
  const part = event.detail.elt;
  if (!document.hidden || !part.matches("[data-polls]")) return;
  event.preventDefault();
  part.dataset.held = "";
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) return;
  for (const part of document.querySelectorAll("[data-polls][data-held]")) lookAgain(part);
});
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, (event) => {
    const part = event.detail.elt;
    if (part.matches("[data-polls]")) setTimeout(() => lookAgain(part), 10000);
  });
}
function lookAgain(part) {
  delete part.dataset.held;
  if (part.isConnected) htmx.trigger(part, "again");
}

// A button is busy from its request to the answer; the keyboard stays on it.
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
// A page that Back brings as it was left is at work no more.
addEventListener("pageshow", () => {
  for (const one of document.querySelectorAll("[aria-busy]")) one.removeAttribute("aria-busy");
});

// No answer at all has no page to show: say it once where messages stand.
for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, () => {
    if (document.querySelector("[data-no-answer]")) return;
    const note = document.createElement("div");
    note.className = "note";
    note.dataset.tone = "bad";
    note.dataset.noAnswer = "";
    note.setAttribute("role", "alert");
    note.textContent = "The dashboard did not answer. Check your connection, then try again.";
    messagePlace()?.prepend(note);
  });
}

// What stands behind a modal dialog can't be read: a message shows inside it.
function messagePlace() {
  return document.querySelector("dialog:modal > .body") ?? document.getElementById("messages");
}
document.addEventListener("htmx:beforeSwap", (event) => {
  const { detail } = event;
  if (detail.isError && detail.target?.id === "messages") detail.target = messagePlace();
});

// A dialog that a part brought opens as one; closing it leaves nothing behind.
document.addEventListener("htmx:afterSwap", (event) => {
  // A page that Back restores is swapped in without a target.
  if (event.detail.target?.id !== "dialogs") return;
  const dialog = document.querySelector("#dialogs > dialog:not(:modal)");
  if (!dialog) return;
  dialog.removeAttribute("open");
  dialog.showModal();
  dialog.addEventListener("close", () => closed(dialog), { once: true });
});
function closed(dialog) {
  const way = dialog.querySelector("a[data-closes]");
  if (isPageItself(dialog) && way) location.assign(way.href);
  else if (dialog.hasAttribute("data-reload")) location.reload();
  else dialog.remove();
}
