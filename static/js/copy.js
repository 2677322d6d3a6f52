// Copy buttons: show the result for two seconds by icon and name, and announce it.
import { announce } from "./announce.js";

const FEEDBACK_MS = 2000;

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (!button) return;
  try {
    // Without HTTPS there is no clipboard. The user may also deny access.
    await navigator.clipboard.writeText(button.dataset.copy);
    report(button, "Copied", "check");
  } catch {
    report(button, "Couldn’t copy", "x");
  }
});

function report(button, message, icon) {
  show(button, message, icon);
  announce(message);
}

// A button that is pressed again in the meantime still returns to its initial state.
function show(button, message, icon) {
  const use = button.querySelector("use");
  button.dataset.label ??= button.getAttribute("aria-label") ?? "";
  button.dataset.icon ??= use?.getAttribute("href") ?? "";
  button.setAttribute("aria-label", message);
  button.setAttribute("title", message);
  use?.setAttribute("href", button.dataset.icon.replace(/#.*/, `#${icon}`));
  setTimeout(() => {
    // A button with visible text has no other name.
    if (button.dataset.label) button.setAttribute("aria-label", button.dataset.label);
    else button.removeAttribute("aria-label");
    button.removeAttribute("title");
    use?.setAttribute("href", button.dataset.icon);
  }, FEEDBACK_MS);
}

// A button may name an element whose text it copies.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-copies]");
    if (button) button.dataset.copy = document.getElementById(button.dataset.copies).textContent;
  },
  true,
);
