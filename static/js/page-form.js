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

let unkept = false;
document.addEventListener("input", ({ target }) => {
  if (formOf(target)) unkept = true;
});
document.addEventListener("submit", ({ target }) => {
  if (formOf(target)) unkept = false;
});
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (detail.elt.id === "kept" && detail.successful) unkept = false;
});
document.addEventListener("visibilitychange", () => {
  const form = document.querySelector("form[data-page-form]");
  if (!document.hidden || !unkept || !form) return;
  navigator.sendBeacon(document.getElementById("kept").getAttribute("hx-post"), new FormData(form));
});
