// Webhooks: groups of events, and dialogs that close after their response.

// Close a dialog after the response to its form, and return the focus to the element that opened it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { isError, requestConfig } = event.detail;
  if (!isError) requestConfig.elt.closest("dialog[data-confirm]")?.close();
});

function boxesIn(element) {
  return [...element.querySelectorAll("input[name=events]")];
}

// A group's box is checked if all of its events are checked, and indeterminate if only some are.
function show() {
  for (const group of document.querySelectorAll("[data-events] [data-group]")) {
    const boxes = boxesIn(group);
    const checked = boxes.filter((box) => box.checked).length;
    const whole = group.querySelector("[data-group-box]");
    whole.closest("label").hidden = false;
    whole.checked = checked === boxes.length;
    whole.indeterminate = checked > 0 && checked < boxes.length;
  }
}

function setAll(boxes, checked) {
  for (const box of boxes) box.checked = checked;
}

// Checking an event switches from null to a list.
function pick(picker) {
  const list = picker.querySelector("input[name=mode][value=pick]");
  if (list) list.checked = true;
}

document.addEventListener("input", ({ target }) => {
  const picker = target.closest("[data-events]");
  if (!picker) return;
  if (target.matches("[data-group-box]")) setAll(boxesIn(target.closest("[data-group]")), target.checked);
  if (target.name !== "mode") pick(picker);
  show();
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-events] button[name=step]");
  if (!button) return;
  event.preventDefault();
  const all = boxesIn(button.closest("[data-events]"));
  const names = all.filter((box) => !box.closest("[data-other]"));
  setAll(button.value === "all" ? names : all, button.value === "all");
  button.dispatchEvent(new Event("input", { bubbles: true }));
});
document.addEventListener("htmx:afterSettle", show);
show(); // the browser may have restored earlier choices

// Firefox restores typed text on a reload, so update its preview.
addEventListener("pageshow", ({ persisted }) => {
  const form = document.querySelector("form[data-edit]");
  if (!persisted && [...(form?.elements ?? [])].some(differsFromPage)) {
    form.dispatchEvent(new Event("input", { bubbles: true }));
  }
});
function differsFromPage({ checked, defaultChecked, name, type, value, defaultValue }) {
  if (!name || type === "hidden" || type === "submit") return false;
  return checked !== defaultChecked || (type !== "checkbox" && type !== "radio" && value !== defaultValue);
}
