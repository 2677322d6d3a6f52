// A click anywhere in a row follows the link in its heading, which stays the only link for
// keyboards and screen readers. Clicks on controls and text selections (a drag, the second click of
// a double click) are ignored.
const CONTROLS = "a, button, input, label, select, summary, .select";
const DOUBLE_CLICK_MS = 250;
let opening = 0;

document.addEventListener("click", (event) => {
  clearTimeout(opening);
  const link = event.target.closest("tr[data-opens]")?.querySelector("th a");
  if (!link || event.target.closest(CONTROLS) || event.detail > 1 || event.shiftKey) return;
  const { ctrlKey, metaKey } = event;
  opening = setTimeout(() => {
    if (!getSelection().isCollapsed) return;
    link.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey }));
  }, DOUBLE_CLICK_MS);
});
