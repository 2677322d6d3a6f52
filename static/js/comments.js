// Comments: selected words can be commented on, an @ lists people, and typed text survives a reload.
// Without scripts, the links and forms still work.
const FIELDS = "textarea[data-people-url]";
const storage = ({ id }) => `comment ${location.pathname} ${id}`;
const typedIn = (target) => target.closest?.(FIELDS);

// Typed text is stored for this tab until it is sent.
function restoreAll() {
  for (const field of document.querySelectorAll(FIELDS)) {
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
  for (const field of form.querySelectorAll(FIELDS)) sessionStorage.removeItem(storage(field));
}
document.addEventListener("pressroom:sent", ({ detail }) => forget(detail));

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
  const reply = form.closest(".reply");
  reply?.removeAttribute("open");
  reply?.querySelector("summary").focus();
  if (form.id === "passage-form") form.hidden = true;
});
function showProblem(form, detail) {
  const page = new DOMParser().parseFromString(detail.serverResponse, "text/html");
  const problem = page.querySelector(".composer .error") ?? page.querySelector("main p");
  form.querySelector(".error")?.remove();
  if (problem) form.querySelector("textarea").before(problem);
  detail.shouldSwap = false;
}
// Ctrl Enter sends a comment, or a decision of a review with its words.
document.addEventListener("keydown", (event) => {
  const isSent = event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.repeat;
  const form = isSent && event.target.closest(".composer, [data-decides]");
  if (!form) return;
  event.preventDefault();
  form.requestSubmit();
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
  const load = () => fetch(field.dataset.peopleUrl).then((response) => (response.ok ? response.json() : []), () => []);
  if (field.value.includes("@")) people ??= await load();
  list(field, NAME.exec(field.value.slice(0, field.selectionStart))?.[1]);
}
// List the people with this part in their names; close the list without it.
function list(field, part) {
  const box = field.nextElementSibling;
  const isWanted = (name) => part !== undefined && name.toLowerCase().includes(part.toLowerCase());
  const options = (people ?? []).filter(isWanted).slice(0, 6).map((name, place) => {
    const option = { className: "item", role: "option", id: `${box.id}-${place}`, textContent: name };
    return Object.assign(document.createElement("li"), option);
  });
  box.replaceChildren(...options);
  box.hidden = !options.length;
  box.dataset.size = part?.length;
  mark(field, options[0]);
}
function mark(field, option) {
  for (const other of field.nextElementSibling.children) other.ariaSelected = `${other === option}`;
  if (option) field.setAttribute("aria-activedescendant", option.id);
  else field.removeAttribute("aria-activedescendant");
}
function choose(field, option) {
  const at = field.selectionStart;
  field.setRangeText(`${option.textContent} `, at - Number(option.parentElement.dataset.size), at, "end");
  field.focus();
  field.dispatchEvent(new Event("input", { bubbles: true })); // this closes the list
}
document.addEventListener("input", ({ target }) => typedIn(target) && suggest(target));
document.addEventListener("focusout", ({ target }) => typedIn(target) && list(target));
document.addEventListener("pointerdown", (event) => {
  if (event.target.closest(".people-list, #comment-selection")) event.preventDefault(); // keep focus and selection
});
document.addEventListener("click", ({ target }) => {
  const option = target.closest(".people-list > li");
  if (option) choose(option.parentElement.previousElementSibling, option);
});
document.addEventListener("keydown", (event) => {
  const field = typedIn(event.target);
  const options = [...(field?.nextElementSibling.children ?? [])];
  if (!options.length) return;
  const at = options.findIndex((option) => option.ariaSelected === "true");
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) mark(field, options.at((at + step) % options.length));
  else if (event.key === "Enter" || event.key === "Tab") choose(field, options[at]);
  else if (event.key === "Escape") list(field);
  else return;
  event.preventDefault();
  event.stopPropagation();
}, { capture: true });

restoreAll();
for (const change of ["htmx:afterSettle", "pressroom:refreshed"]) document.addEventListener(change, restoreAll);
// A link to a thread opens it, even if it is resolved and collapsed.
const target = document.getElementById(location.hash.slice(1));
target?.querySelector("details.thread-card")?.setAttribute("open", "");
target?.focus({ preventScroll: true });
