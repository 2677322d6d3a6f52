// "Create page": validate a field when it loses the focus, and preserve what is typed during
// requests and if the tab is closed or the connection is lost.

const formOf = (element) => element.closest?.("form[data-page-form]");

// Validate on blur: only this field's message is replaced, not its value or the focus.
document.addEventListener("change", ({ target }) => {
  const place = formOf(target) && document.getElementById(`${target.id}_error`);
  if (!place) return;
  const values = { left: target.name };
  htmx.ajax("POST", formOf(target).dataset.fieldUrl, { source: target, target: place, swap: "outerHTML", values });
});
// That swap would also be used for an error, and would replace the element for all messages.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  if (detail.isError && detail.target.id === "messages") detail.swapOverride = "beforeend";
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

// The response to a row command replaces the form, without the text that was typed during the request. Put
// that text back at the row's new position, with the focus.
const TYPED_IN = "input:not([type=hidden]), select, textarea";
let typedMeanwhile = null;
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = document.querySelector("form[data-page-form]");
  const sent = detail.requestConfig?.formData;
  typedMeanwhile = null;
  if (!form || !sent?.has("rows")) return;
  const replaced = [...form.elements].filter((field) => detail.target.contains(field) && field.matches(TYPED_IN));
  const focused = replaced.find((field) => field === document.activeElement);
  typedMeanwhile = { command: sent.get("rows"), fields: replaced.filter((field) => differs(field, sent)), focused };
});
document.addEventListener("htmx:afterSwap", ({ detail }) => {
  const form = document.querySelector("form[data-page-form]");
  if (!typedMeanwhile || !form) return;
  const { command, fields, focused } = typedMeanwhile;
  typedMeanwhile = null;
  for (const field of fields) restore(field, sameField(form, field, command));
  const place = focused && sameField(form, focused, command);
  if (place) moveFocus(place, focused, form);
  // When the form's listeners are attached again: save what was put back.
  const saveRestored = () => form.dispatchEvent(new Event("input", { bubbles: true }));
  if (fields.length) detail.elt.addEventListener("htmx:afterSettle", saveRestored, { once: true });
});
function differs(field, sent) {
  if (!isCheckable(field)) return field.value !== sent.get(field.name);
  return field.checked !== sent.getAll(field.name).includes(field.value);
}
function isCheckable(field) {
  return ["checkbox", "radio"].includes(field.type);
}
function restore(field, place) {
  if (!place) return;
  if (isCheckable(field)) place.checked = field.checked;
  else place.value = field.value;
  place.closest("details")?.setAttribute("open", "");
}
function moveFocus(place, focused, form) {
  form.querySelector("[data-autofocus]")?.removeAttribute("data-autofocus");
  place.focus({ preventScroll: true });
  if (focused.selectionStart !== null) place.setSelectionRange?.(focused.selectionStart, focused.selectionEnd);
}
function sameField(form, field, command) {
  const named = (name) => (input) => input.name === name && (input.type !== "radio" || input.value === field.value);
  const name = nameAfter(field.name, command);
  const fields = [...form.elements];
  // The first row can't go up, nor the last one down.
  return name && (fields.find(named(name)) ?? fields.find(named(field.name)));
}

// The name of a field after a row command; null if its row was removed.
function nameAfter(name, command) {
  const [verb, path = ""] = command.split(" ");
  const [, list, row] = path.match(/^(.*\.)(\d+)$/) ?? [];
  if (!list || !name.startsWith(list)) return name;
  const [was] = name.slice(list.length).split(".");
  const is = rowAfter(Number(was), verb, Number(row));
  return is === null ? null : `${list}${is}${name.slice(list.length + was.length)}`;
}
function rowAfter(was, verb, row) {
  if (verb === "remove") return was === row ? null : was - Number(was > row);
  const other = verb === "up" ? row - 1 : row + 1;
  return { [row]: other, [other]: row }[was] ?? was;
}

// Input during a request is not in it. So count the inputs so far, those that each request contains, and
// those saved. A row command saves the draft, too.
let typed = 0;
let saved = 0;
const typedAtRequest = new WeakMap();
document.addEventListener("input", ({ target }) => {
  if (formOf(target)) typed += 1;
});
document.addEventListener("htmx:beforeRequest", ({ detail }) => typedAtRequest.set(detail.xhr, typed));
document.addEventListener("htmx:afterRequest", ({ detail }) => {
  if (!detail.successful || !(isSave(detail) || detail.requestConfig.target.id === "page-form")) return;
  saved = Math.max(saved, typedAtRequest.get(detail.xhr));
  if (saved === typed) resumeSubmit();
});
document.addEventListener("visibilitychange", () => {
  const form = document.querySelector("form[data-page-form]");
  if (!document.hidden || saved === typed || !form) return;
  navigator.sendBeacon(document.getElementById("draft-status").getAttribute("hx-post"), new FormData(form));
});
function isSave({ requestConfig }) {
  return requestConfig.elt.id === "draft-status";
}
function save() {
  htmx.trigger("#draft-status", "again");
}

// If there is no response, the browser would replace the form with its error page. If the form is too large,
// our error page would replace it. So save the draft before submitting, and don't submit if that fails.
const SAVE_ERRORS = { 0: "no connection", 413: "form too large" };
let pendingSubmit = null;
document.addEventListener("submit", (event) => {
  if (!formOf(event.target) || saved === typed) return;
  save();
  event.preventDefault();
  pendingSubmit = { form: event.target, button: event.submitter };
});
function resumeSubmit() {
  if (pendingSubmit?.form.isConnected) pendingSubmit.form.requestSubmit(pendingSubmit.button);
  pendingSubmit = null;
}
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, ({ detail }) => {
    if (isSave(detail)) showSaveError(SAVE_ERRORS[detail.xhr.status] ?? "server error");
  });
}
function showSaveError(reason) {
  const message = document.createElement("span");
  message.textContent = `Not saved: ${reason}.${pendingSubmit ? " Nothing was sent." : ""}`;
  // Announce it after a button was pressed, not while typing.
  if (pendingSubmit) message.setAttribute("role", "alert");
  document.getElementById("draft-status")?.replaceChildren(message);
  pendingSubmit?.button?.removeAttribute("aria-busy");
  pendingSubmit = null;
}
addEventListener("online", () => {
  if (saved !== typed && document.getElementById("draft-status")) save();
});
