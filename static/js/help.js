// Show the help of a term while a mouse rests on its button. A click, a tap and Enter need no script.
const RESTS_MS = 300;
let resting;

document.addEventListener("pointerover", (event) => {
  const button = event.pointerType === "mouse" && event.target.closest?.("button.help");
  clearTimeout(resting);
  if (button) resting = setTimeout(() => button.popoverTargetElement?.showPopover({ source: button }), RESTS_MS);
});
document.addEventListener("pointerout", (event) => {
  const button = event.target.closest?.("button.help");
  if (event.pointerType !== "mouse" || !button || button.contains(event.relatedTarget)) return;
  if (document.activeElement !== button) button.popoverTargetElement?.hidePopover();
});
