// A button that copies a text says for two seconds what came of it: by its icon, by its name, and
// aloud.

const SAID_FOR_MS = 2000;

document.addEventListener("click", async ({ target }) => {
  const button = target.closest("button[data-copy]");
  if (!button) return;
  try {
    // A page that is not served by https has no clipboard; a person may refuse it.
    await navigator.clipboard.writeText(button.dataset.copy);
    say(button, "Copied", "check");
  } catch {
    say(button, "Not copied", "x");
  }
});

function say(button, said, icon) {
  show(button, said, icon);
  sayAloud(said);
}

// Pressed again while it says so, it still goes back to what it was at first.
function show(button, said, icon) {
  const use = button.querySelector("use");
  button.dataset.label ??= button.getAttribute("aria-label") ?? "";
  button.dataset.icon ??= use?.getAttribute("href") ?? "";
  button.setAttribute("aria-label", said);
  button.setAttribute("title", said);
  use?.setAttribute("href", button.dataset.icon.replace(/#.*/, `#${icon}`));
  setTimeout(() => {
    // One with words of its own has no other name.
    if (button.dataset.label) button.setAttribute("aria-label", button.dataset.label);
    else button.removeAttribute("aria-label");
    button.removeAttribute("title");
    use?.setAttribute("href", button.dataset.icon);
  }, SAID_FOR_MS);
}

// Not where messages stand: one there takes up room, and moves what is below it.
function sayAloud(said) {
  const region = document.createElement("p");
  region.className = "vh";
  region.setAttribute("role", "status");
  (document.querySelector("dialog:modal") ?? document.querySelector("main"))?.append(region);
  // What comes into a region is read out, not what a region comes with.
  setTimeout(() => region.append(said), 100);
  setTimeout(() => region.remove(), SAID_FOR_MS);
}
