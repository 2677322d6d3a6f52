// Show the help of a term while a mouse rests on its button. Enter, a click and a tap need no script.
const RESTS_MS = 300;
let resting;
let hovered;

const buttonOf = (target) => target.closest?.("button.help");
const helpOf = (target) => buttonOf(target)?.popoverTargetElement;

document.addEventListener("pointerover", (event) => {
  const tip = event.pointerType === "mouse" && helpOf(event.target);
  clearTimeout(resting);
  if (!tip || tip.matches(":popover-open")) return;
  resting = setTimeout(() => {
    tip.showPopover({ source: buttonOf(event.target) });
    hovered = tip;
  }, RESTS_MS);
});
document.addEventListener("pointerout", (event) => {
  if (event.pointerType === "mouse" && helpOf(event.target) === hovered) hovered?.hidePopover();
});
// Escape closes only the help, not the dialog around it. WebKit would close both.
document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || event.isComposing) return;
  const open = [...document.querySelectorAll("dialog:modal :popover-open")].at(-1);
  if (!open) return;
  event.preventDefault();
  open.hidePopover();
});
// A click keeps help open that was opened by hovering. Otherwise the click would close it.
document.addEventListener("click", (event) => {
  if (helpOf(event.target)) clearTimeout(resting);
  if (!hovered || helpOf(event.target) !== hovered) return;
  event.preventDefault();
  hovered = undefined;
});
