// The review board of a release: J and K go to the next and the previous version, M marks it as
// reviewed. The buttons also work without scripts.
const KEYS = { j: "#detail a[rel=next]", k: "#detail a[rel=prev]", m: "#detail [data-review]" };

document.addEventListener("pressroom:key", (event) => {
  const pressed = document.getElementById("detail") && KEYS[event.detail];
  if (!pressed) return;
  event.preventDefault();
  document.querySelector(`${pressed}:not([disabled])`)?.click();
});

// Mark the version that is shown in the list, and bring both into view.
document.addEventListener("htmx:afterSettle", () => {
  const detail = document.getElementById("detail");
  const entries = document.querySelector(".entries");
  const item = detail?.dataset.item;
  const marked = entries?.querySelector("[aria-current]");
  const wanted = entries?.querySelector(`#item-${item} > a`);
  if (!wanted || marked === wanted) return;
  marked?.removeAttribute("aria-current");
  wanted.setAttribute("aria-current", "true");
  const isBeside = detail.getBoundingClientRect().left > wanted.getBoundingClientRect().left;
  if (isBeside) wanted.scrollIntoView({ block: "nearest" });
  else detail.scrollIntoView({ block: "start" });
});
