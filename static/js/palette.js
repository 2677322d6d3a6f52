// The palette: a combobox of the results of /find/. Without scripts, its button links to /find/.
import { announce } from "./announce.js";

const palette = () => document.getElementById("palette");
const field = () => document.getElementById("palette-q");
const list = () => document.getElementById("palette-list");
const announceResults = (message) => announce(message, document.getElementById("palette-announcement"));

function openPalette() {
  if (palette().open || document.querySelector("dialog:modal, .app[inert]")) return;
  field().value = "";
  palette().showModal();
  load();
  htmx.trigger(field(), "opened");
}

document.addEventListener("keydown", (event) => {
  const isShortcut = (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey;
  if (!isShortcut || event.key.toLowerCase() !== "k" || !palette()) return;
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
const isLoading = () => list().ariaBusy === "true";
let opensFirst = false; // Enter was pressed while they were loading

function choose(option) {
  chosen()?.setAttribute("aria-selected", "false");
  option?.setAttribute("aria-selected", "true");
  option?.scrollIntoView({ block: "nearest" });
  if (option) field().setAttribute("aria-activedescendant", option.id);
  else field().removeAttribute("aria-activedescendant");
}

function move(step) {
  const all = options();
  if (!all.length) return;
  const at = all.indexOf(chosen()) + step;
  choose(all.at(at % all.length));
}

// Remove the results of another query at once, but keep the list's height until the next results arrive.
function load() {
  opensFirst = false;
  choose(null);
  const note = document.createElement("p");
  note.className = "hint";
  note.role = "presentation";
  note.textContent = "Searching…";
  list().style.minHeight = `${list().offsetHeight}px`;
  list().ariaBusy = "true";
  list().replaceChildren(note);
  announceResults(note.textContent);
}

function loaded() {
  list().ariaBusy = null;
  list().style.minHeight = "";
}

document.addEventListener("input", ({ target }) => {
  if (target.id === "palette-q") load();
});

document.addEventListener("keydown", (event) => {
  if (event.target.id !== "palette-q") return;
  if (event.key === "ArrowDown" || event.key === "ArrowUp") {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Enter" && isLoading()) {
    event.preventDefault();
    opensFirst = true;
  } else if (event.key === "Enter" && chosen()) {
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
    loaded();
    opensFirst = false;
    announceResults("");
    choose(null);
  },
  true, // it does not bubble
);

// A response that arrives between a letter and its request is for the words before that letter.
document.addEventListener("htmx:beforeSwap", ({ target, detail }) => {
  if (target === list() && detail.requestConfig.formData.get("q") !== field().value) {
    detail.shouldSwap = false;
  }
});

// Runs after a response with the list, or with the people in it.
document.addEventListener("htmx:afterSwap", ({ target, detail }) => {
  if (!target.closest("#palette-list") || !palette().open) return;
  const isTyped = detail.requestConfig.formData.get("q") === field().value;
  if (target === list() && isTyped) loaded();
  if (isLoading()) return;
  const all = options();
  all.forEach((option, place) => (option.id = `palette-o${place}`));
  choose(chosen() ?? all[0]);
  if (opensFirst) {
    opensFirst = false;
    chosen()?.click();
  }
  const notes = [...list().querySelectorAll("[data-announce]")].map((note) => note.textContent);
  announceResults([`${all.length} result${all.length === 1 ? "" : "s"}`, ...notes].join(". "));
});
for (const failure of ["htmx:sendError", "htmx:timeout", "htmx:responseError"]) {
  document.addEventListener(failure, ({ target }) => {
    if (!target.closest("#palette")) return;
    announceResults("Couldn’t search. Press Enter to retry on the search page.");
    if (target !== field()) return;
    list().replaceChildren();
    loaded();
    if (opensFirst) field().form.requestSubmit();
  });
}
