// Keys in a conversation: j and k between messages, e to the next error, c to the next change.
import { theThread } from "./conversation-filters.js";

const keys = {
  j: () => go("li.message", 1),
  k: () => go("li.message", -1),
  e: () => go("li.message[data-error]", 1),
  c: () => go("li.message:has(.changes)", 1),
};

document.addEventListener("pressroom:key", (event) => {
  if (!theThread() || !keys[event.detail]) return;
  event.preventDefault();
  keys[event.detail]();
});

// Start from the focused message, or from the topmost visible one.
function go(selector, by) {
  const all = [...theThread().querySelectorAll("li.message")].filter((message) => !message.hidden);
  const focused = all.indexOf(document.activeElement.closest("li.message"));
  const top = all.findIndex((message) => message.getBoundingClientRect().bottom > 80);
  const from = focused >= 0 ? focused : top - 1;
  const next = by > 0 ? all.slice(from + 1) : all.slice(0, Math.max(from, 0)).reverse();
  const target = next.find((message) => message.matches(selector));
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "start" });
}
