// If a request gets no response, show a note over the page, or in the dialog that sent it, until
// the dashboard responds again.

const NO_RESPONSE = "You’re offline or Pressroom is unreachable. Check your connection and try again.";
const LEFT = "You left this page before Pressroom responded. Reload it to see whether your change was saved.";
const note = () => document.querySelector("[data-offline]");

for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, ({ detail }) => {
    if (detail.elt.matches("[data-silent]")) return;
    const form = detail.elt.closest("[data-unsent]");
    show(form?.dataset.unsent ?? (detail.wasLeft ? LEFT : NO_RESPONSE), detail.elt.closest("#dialogs > dialog"));
  });
}
function show(message, dialog) {
  note()?.remove();
  const text = document.createElement("p");
  text.className = "grow";
  text.textContent = message;
  const close = document.createElement("button");
  close.className = "button quiet small";
  close.type = "button";
  close.textContent = "Dismiss";
  close.dataset.dismiss = "";
  const element = document.createElement("div");
  element.className = dialog ? "note" : "note over";
  element.dataset.tone = "bad";
  element.dataset.offline = "";
  element.setAttribute("role", "alert");
  element.append(text, close);
  (dialog?.querySelector(".dialog-foot") ?? document.querySelector("main") ?? document.body).prepend(element);
}

document.addEventListener("htmx:beforeOnLoad", () => note()?.remove());
addEventListener("online", () => note()?.remove());

// The page behind a dialog is hidden from screen readers, so show errors of the dialog's requests inside it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const dialog = detail.requestConfig.elt.closest("#dialogs > dialog");
  if (dialog && detail.isError && detail.target?.id === "messages") detail.target = dialog.querySelector(".body");
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (!detail.failed || !detail.target?.matches("dialog > .body")) return;
  detail.target.lastElementChild?.scrollIntoView({ block: "nearest" });
});
