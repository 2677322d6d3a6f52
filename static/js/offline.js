// If a request gets no response, show a note over the page, or in the dialog that sent it, until
// the dashboard responds again.

const SILENT = "The dashboard didn’t respond. Check your connection, then try again.";
const note = () => document.querySelector("[data-no-answer]");

for (const failure of ["htmx:sendError", "htmx:timeout"]) {
  document.addEventListener(failure, ({ detail }) => {
    const form = detail.elt.closest("[data-unsent]");
    show(form?.dataset.unsent ?? SILENT, detail.elt.closest("#dialogs > dialog"));
  });
}
function show(said, dialog) {
  note()?.remove();
  const words = document.createElement("p");
  words.className = "grow";
  words.textContent = said;
  const close = document.createElement("button");
  close.className = "button quiet small";
  close.type = "button";
  close.textContent = "Dismiss";
  close.dataset.dismiss = "";
  const element = document.createElement("div");
  element.className = dialog ? "note" : "note over";
  element.dataset.tone = "bad";
  element.dataset.noAnswer = "";
  element.setAttribute("role", "alert");
  element.append(words, close);
  (dialog?.querySelector(".dialog-foot") ?? document.querySelector("main") ?? document.body).prepend(element);
}

document.addEventListener("htmx:beforeOnLoad", () => note()?.remove());
addEventListener("online", () => note()?.remove());

// The page behind a dialog is hidden from screen readers: show errors of its requests inside it.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const dialog = detail.requestConfig.elt.closest("#dialogs > dialog");
  if (dialog && detail.isError && detail.target?.id === "messages") detail.target = dialog.querySelector(".body");
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  if (!detail.failed || !detail.target?.matches("dialog > .body")) return;
  detail.target.lastElementChild?.scrollIntoView({ block: "nearest" });
});
