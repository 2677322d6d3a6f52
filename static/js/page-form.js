// "Create page" beyond plain HTML: a field is checked when it is left, and the last words typed
// before the tab goes are kept.

const formOf = (element) => element.closest?.("form[data-page-form]");

// Left after typing: only this field is told, and it keeps what was typed and where the focus is.
document.addEventListener("change", ({ target }) => {
  const place = formOf(target) && document.getElementById(`${target.id}_error`);
  if (!place) return;
  const values = { left: target.name };
  htmx.ajax("POST", formOf(target).action, { source: target, target: place, swap: "outerHTML", values });
});

document.addEventListener("htmx:afterSwap", ({ detail }) => {
  const field = detail.elt.id?.endsWith("_error") && document.getElementById(detail.elt.id.slice(0, -6));
  if (!field || !formOf(field)) return;
  const isWrong = !detail.elt.hidden;
  field.toggleAttribute("aria-invalid", isWrong);
  if (isWrong) field.setAttribute("aria-invalid", "true");
  const hint = document.getElementById(`${field.id}_helptext`)?.id ?? "";
  field.setAttribute("aria-describedby", isWrong ? `${hint} ${detail.elt.id}`.trim() : hint);
});

// What is typed while a save is under way is not in it: how often was typed, and what of it is sent
// and kept.
let typed = 0;
let sent = 0;
let kept = 0;
document.addEventListener("input", ({ target }) => {
  if (formOf(target)) typed += 1;
});
document.addEventListener("submit", ({ target }) => {
  if (formOf(target)) kept = typed;
});
document.addEventListener("htmx:beforeRequest", ({ detail }) => {
  if (detail.elt.id === "kept") sent = typed;
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt.id === "kept" && detail.successful) kept = sent;
});
document.addEventListener("visibilitychange", () => {
  const form = document.querySelector("form[data-page-form]");
  if (!document.hidden || kept === typed || !form) return;
  navigator.sendBeacon(document.getElementById("kept").getAttribute("hx-post"), new FormData(form));
});
