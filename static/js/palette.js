// The palette: a combobox over what /find/ answers. Without this, its button is a link to /find/.
const palette = () => document.getElementById("palette");
const field = () => document.getElementById("palette-q");
const list = () => document.getElementById("palette-list");

function openPalette() {
  if (palette().open || document.querySelector("dialog:modal, .app[inert]")) return;
  field().value = "";
  palette().showModal();
  htmx.trigger(field(), "opened");
}

document.addEventListener("keydown", (event) => {
  const isAsked = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isAsked || event.key.toLowerCase() !== "k" || !palette()) return;
  event.preventDefault();
  openPalette();
});
document.addEventListener("click", (event) => {
  const isPlain = !event.ctrlKey && !event.metaKey && !event.shiftKey;
  if (!isPlain || !event.target.closest("[data-palette]")) return;
  event.preventDefault();
  openPalette();
});

const options = () => [...list().querySelectorAll("[role=option]")];
const chosen = () => list().querySelector("[aria-selected=true]");

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) field().setAttribute("aria-activedescendant", option.id);
  else field().removeAttribute("aria-activedescendant");
}

function move(step) {
  const all = options();
  const at = all.indexOf(chosen()) + step;
  choose(all.at(at % all.length));
}

function say(words) {
  document.getElementById("palette-said").textContent = words;
}

// The list may still be the answer to what stood in the field a moment ago: then Enter asks for
// what stands there now, on a page of its own.
function isForWhatIsTyped() {
  return list().querySelector("[data-words]")?.dataset.words === field().value.trim();
}

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "palette-q" || event.isComposing) return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && chosen() && isForWhatIsTyped()) {
    event.preventDefault();
    chosen().click();
  }
});

document.addEventListener("click", ({ target }) => {
  if (target.id === "palette" || target.closest("#palette-list a")) palette().close();
});
document.addEventListener(
  "close",
  ({ target }) => {
    if (target.id !== "palette") return;
    list().replaceChildren();
    say("");
    choose(null);
  },
  true, // it does not bubble
);

// An answer came: the list, or the people in it.
document.addEventListener("htmx:afterSwap", ({ target }) => {
  if (!target.closest("#palette-list")) return;
  const all = options();
  all.forEach((option, place) => (option.id = `palette-o${place}`));
  choose(chosen() ?? all[0]);
  const notes = [...list().querySelectorAll("[data-say]")].map((note) => note.textContent);
  say([`${all.length} result${all.length === 1 ? "" : "s"}`, ...notes].join(". "));
});
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, ({ target }) => {
    if (target.closest("#palette")) say("The dashboard did not answer. Enter asks again.");
  });
}
