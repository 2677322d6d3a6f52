// Comments: selected words can be commented on, an @ lists people, and typed text survives a reload.
// Without scripts, the links and forms still work.
const storage = ({ id }) => `comment ${location.pathname} ${id}`;
const typedIn = (target) => target.closest?.("textarea[data-comment]");

// Typed text is stored for this tab until it is sent.
function restoreAll() {
  for (const field of document.querySelectorAll("textarea[data-comment]")) {
    const text = field.value ? null : sessionStorage.getItem(storage(field));
    if (!text) continue;
    field.value = text;
    field.closest("details")?.setAttribute("open", "");
  }
}
document.addEventListener("input", ({ target }) => {
  const field = typedIn(target);
  if (field) sessionStorage.setItem(storage(field), field.value);
});
function forget(form) {
  for (const field of form.querySelectorAll("textarea[data-comment]")) sessionStorage.removeItem(storage(field));
}

// Morphing the region would keep a sent text, so empty the form first. If the comment couldn't be saved, the response
// is a page, so show only its problem above the text.
document.addEventListener("htmx:beforeSwap", ({ detail }) => {
  const form = detail.requestConfig?.elt;
  if (!form?.matches(".composer")) return;
  if (detail.xhr.status >= 400) {
    showProblem(form, detail);
    return;
  }
  forget(form);
  form.reset();
  form.closest(".reply")?.removeAttribute("open");
  if (form.id === "passage-form") form.hidden = true;
});
function showProblem(form, detail) {
  const page = new DOMParser().parseFromString(detail.serverResponse, "text/html");
  const problem = page.querySelector(".composer .error") ?? page.querySelector("main p");
  form.querySelector(".error")?.remove();
  if (problem) form.querySelector("textarea").before(problem);
  detail.shouldSwap = false;
}
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && typedIn(event.target)) {
    event.target.form.requestSubmit();
  }
});

// Selected words. Offsets count characters like the server, not UTF-16 units.
const length = (text) => [...text].length;
function placeOf(node, offset) {
  const start = node.nodeType === Node.TEXT_NODE ? node.parentElement : node.childNodes[offset] ?? node;
  const piece = start.closest?.("[data-at]");
  if (!piece) return null;
  const within = node.nodeType === Node.TEXT_NODE ? length(node.data.slice(0, offset)) : 0;
  return Number(piece.dataset.at) + within;
}
function selectedWords() {
  const selection = getSelection();
  const text = document.getElementById("annotated");
  if (!text || !selection.rangeCount || selection.isCollapsed) return null;
  const range = selection.getRangeAt(0);
  if (!text.contains(range.commonAncestorContainer)) return null;
  const [start, end] = [placeOf(range.startContainer, range.startOffset), placeOf(range.endContainer, range.endOffset)];
  return start === null || end === null || start >= end ? null : { start, end, words: `${selection}`.trim(), range };
}
function openForm({ start, end, words }, place) {
  const form = document.getElementById("passage-form");
  form.elements.start.value = start;
  form.elements.end.value = end;
  form.querySelector("[data-words]").textContent = words;
  form.hidden = false;
  place.after(form);
  form.elements.body.focus();
}
document.addEventListener("selectionchange", () => {
  const button = document.getElementById("comment-selection");
  const selected = selectedWords();
  if (!button || document.activeElement === button) return;
  button.hidden = !selected;
  if (!selected) return;
  const { left, bottom } = selected.range.getBoundingClientRect();
  button.style.left = `${Math.max(left, 8)}px`;
  button.style.top = `${Math.min(bottom + 6, innerHeight - 48)}px`;
});
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest("#comment-selection")) event.preventDefault(); // keep the selection
});
document.addEventListener("click", (event) => {
  const form = document.getElementById("passage-form");
  if (event.target.closest("#comment-selection")) {
    const selected = selectedWords();
    event.target.closest("button").hidden = true;
    if (selected) openForm(selected, lineOf(selected.range.endContainer));
  } else if (event.target.closest("[data-cancel-passage]")) {
    form.hidden = true;
    forget(form);
    form.reset();
  } else if (form && event.target.closest(".line > .add")) {
    event.preventDefault();
    const { dataset, parentElement } = event.target.closest(".add");
    const pieces = [...parentElement.querySelectorAll("[data-at]")].map((piece) => piece.textContent);
    openForm({ ...dataset, words: pieces.join("") }, lineOf(parentElement));
  }
});
// The element after which the form goes: the line, or the threads beside it.
function lineOf(node) {
  const line = (node.nodeType === Node.TEXT_NODE ? node.parentElement : node).closest(".line");
  return line.nextElementSibling?.matches(".margin") ? line.nextElementSibling : line;
}

// The list of people to mention, below the field. NAME matches the part of a name after an @.
const NAME = /(?:^|[\s(])@([\p{L}\p{N}_.+-]*(?: [\p{L}\p{N}_.+-]*)?)$/u;
let people;
async function suggest(field) {
  if (!field.value.includes("@")) return;
  people ??= await fetch(field.closest("[data-people-url]").dataset.peopleUrl).then((response) => (response.ok ? response.json() : []), () => []);
  const part = NAME.exec(field.value.slice(0, field.selectionStart))?.[1];
  if (part === undefined) {
    close(field);
    return;
  }
  const wanted = part.toLowerCase();
  const matching = people.filter((name) => name.toLowerCase().includes(wanted)).slice(0, 6);
  list(field, matching, part.length);
}
function list(field, names, size) {
  close(field);
  if (!names.length) return;
  const options = names.map((name, place) => {
    const option = document.createElement("li");
    option.className = "item";
    option.role = "option";
    option.id = `${field.id}-person-${place}`;
    option.setAttribute("aria-selected", `${!place}`);
    option.textContent = name;
    option.addEventListener("pointerdown", (event) => event.preventDefault());
    option.addEventListener("click", () => choose(field, name, size));
    return option;
  });
  const box = document.createElement("ul");
  box.className = "people-list";
  box.role = "listbox";
  box.id = `${field.id}-people`;
  box.setAttribute("aria-label", "People to mention");
  box.append(...options);
  box.dataset.size = size;
  field.after(box);
  field.setAttribute("aria-controls", box.id);
  field.setAttribute("aria-activedescendant", options[0].id);
}
function choose(field, name, size) {
  const at = field.selectionStart;
  field.setRangeText(`${name} `, at - size, at, "end");
  close(field);
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true }));
}
const boxOf = (field) => document.getElementById(`${field.id}-people`);
function close(field) {
  boxOf(field)?.remove();
  field.removeAttribute("aria-activedescendant");
  field.removeAttribute("aria-controls");
}
document.addEventListener("input", ({ target }) => typedIn(target) && suggest(target));
document.addEventListener("focusout", ({ target }) => typedIn(target) && close(target));
document.addEventListener("keydown", (event) => {
  const box = typedIn(event.target) && boxOf(event.target);
  if (!box) return;
  const options = [...box.children];
  const at = options.findIndex((option) => option.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) {
    options[at].ariaSelected = "false";
    const next = options[(at + step + options.length) % options.length];
    next.ariaSelected = "true";
    event.target.setAttribute("aria-activedescendant", next.id);
  } else if (event.key === "Enter" || event.key === "Tab") {
    choose(event.target, options[at].textContent, Number(box.dataset.size));
  } else if (event.key === "Escape") {
    close(event.target);
  } else {
    return;
  }
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });

restoreAll();
document.addEventListener("pressroom:refreshed", restoreAll);
// A link to a thread opens it, even if it is resolved and collapsed.
const target = document.getElementById(location.hash.slice(1));
target?.querySelector("details.thread-card")?.setAttribute("open", "");
target?.focus({ preventScroll: true });
