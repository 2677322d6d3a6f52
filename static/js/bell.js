// Load the latest notifications whenever the panel of the bell opens.
document.addEventListener(
  "toggle",
  ({ target, newState }) => {
    if (target.id === "notices" && newState === "open") htmx.trigger(target, "opened");
  },
  { capture: true }, // it doesn't bubble
);
