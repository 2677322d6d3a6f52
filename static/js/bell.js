// Mark a notification as read before opening it, so that the bell of the next page doesn't count it.
const open = async (event) => {
  const link = event.target.closest("a[data-read]");
  if (!link || event.button > 1) return;
  const isHere = !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  if (isHere) event.preventDefault();
  const row = link.closest("li");
  await htmx.ajax("POST", link.dataset.read, { target: row, swap: "outerHTML" }).catch(() => {});
  if (isHere) location.assign(link.href);
};
document.addEventListener("click", open);
document.addEventListener("auxclick", open); // the middle button

// Load the latest notifications whenever the panel of the bell opens.
document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    if (target.id === "notices" && newState === "open") htmx.trigger(target, "opened");
  },
  { capture: true }, // it doesn't bubble
);
