// Webhooks beyond plain HTML: the events' groups, and a dialog that closes when it is answered.

// The answer to what a dialog asked closes it; the focus goes back to what opened it.
document.addEventListener("htmx:beforeSwap", (event) => {
  const { isError, requestConfig } = event.detail;
  if (!isError) requestConfig.elt.closest("dialog[data-asks]")?.close();
});

const picker = document.querySelector("[data-events]");

function boxesIn(place) {
  return [...place.querySelectorAll("input[name=events]")];
}

// A group's box is ticked with all of its events, half with some.
function show() {
  for (const group of picker.querySelectorAll("[data-group]")) {
    const boxes = boxesIn(group);
    const ticked = boxes.filter((box) => box.checked).length;
    const whole = group.querySelector("[data-group-box]");
    whole.checked = ticked === boxes.length;
    whole.indeterminate = ticked > 0 && ticked < boxes.length;
  }
}

function tick(boxes, checked) {
  for (const box of boxes) box.checked = checked;
}

// Whoever ticks an event wants a list, not null.
function pick() {
  const list = picker.querySelector("input[name=mode][value=pick]");
  if (list) list.checked = true;
}

if (picker) {
  for (const box of picker.querySelectorAll("[data-group-box]")) box.closest("label").hidden = false;
  picker.addEventListener("input", ({ target }) => {
    if (target.matches("[data-group-box]")) tick(boxesIn(target.closest("[data-group]")), target.checked);
    if (target.name !== "mode") pick();
    show();
  });
  picker.addEventListener("click", (event) => {
    const button = event.target.closest("button[name=step]");
    if (!button) return;
    event.preventDefault();
    const names = boxesIn(picker).filter((box) => !box.closest("[data-other]"));
    tick(button.value === "all" ? names : boxesIn(picker), button.value === "all");
    button.dispatchEvent(new Event("input", { bubbles: true }));
  });
  show(); // the browser may have kept earlier ticks
}
