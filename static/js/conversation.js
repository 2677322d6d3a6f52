// A conversation beyond plain HTML: filters without a reload, matches marked, keys, copying.

const theThread = () => document.getElementById("thread");

// Filters: the server hid what does not stay; here the same is done without asking.
document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-filter-for] a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link);
  narrow();
});

function choose(link) {
  const group = link.closest("[data-filter-for]");
  for (const each of group.querySelectorAll("a")) each.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  remember(group.dataset.filterName, link.dataset.show);
}

// What is shown is in the address, so that a reload and a link show the same.
function remember(name, value) {
  history.replaceState(history.state, "", addressWith(name, value));
  for (const link of document.querySelectorAll("[data-filter-for] a")) {
    const { filterName } = link.closest("[data-filter-for]").dataset;
    link.href = `?${addressWith(filterName, link.dataset.show).searchParams}${link.hash}`;
  }
  // Where nothing was said yet there is no form. Without a filter it sends none.
  const show = document.querySelector("[data-search] [name=show]");
  if (!show) return;
  show.value = new URL(location.href).searchParams.get("show") ?? "";
  show.disabled = !show.value;
}

function addressWith(name, value) {
  const address = new URL(location.href);
  if (value) address.searchParams.set(name, value);
  else address.searchParams.delete(name);
  return address;
}

// An item stays under the chosen filter and, in the thread, where the words were found.
function narrow() {
  const found = document.getElementById("found")?.dataset;
  const places = found?.words ? new Set(found.messages.split(" ")) : null;
  const thread = theThread();
  for (const group of document.querySelectorAll("[data-filter-for]")) {
    const list = document.getElementById(group.dataset.filterFor);
    const kind = group.querySelector("[aria-current]")?.dataset.show;
    for (const item of list?.querySelectorAll(":scope > [data-kinds]") ?? []) {
      const isOut = kind && !item.dataset.kinds.split(" ").includes(kind);
      const isSilent = places && list === thread && !places.has(item.id);
      item.hidden = Boolean(isOut || isSilent);
    }
  }
  if (thread) {
    document.getElementById("none-left").hidden = Boolean(thread.querySelector("li.msg:not([hidden])"));
  }
}

// A link to what a filter or the search hides shows all that stands beside it first; the browser
// then goes there. Where the address alone became another, it has been and found nothing.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.hash);
});
addEventListener("hashchange", () => {
  const place = reveal(location.hash);
  place?.scrollIntoView();
  place?.focus({ preventScroll: true });
});

// Returns the place only where it was hidden.
function reveal(hash) {
  const place = document.getElementById(hash.slice(1));
  const list = place?.closest("[data-kinds][hidden]")?.parentElement;
  if (!list) return null;
  const all = document.querySelector(`[data-filter-for="${list.id}"] [data-show=""]`);
  if (all) choose(all);
  if (list === theThread()) leaveSearch();
  narrow();
  return place;
}

// What was found goes at once; the server is asked all the same, and answers that nothing is sought.
function leaveSearch() {
  const found = document.getElementById("found");
  if (!found.dataset.words) return;
  delete found.dataset.words;
  found.replaceChildren();
  marks?.clear();
  clearField();
}

function clearField() {
  const field = document.getElementById("q");
  field.value = "";
  field.dispatchEvent(new Event("input", { bubbles: true }));
}

// Search: the server says where the words are, folded calls included; here they are marked.
const marks = globalThis.Highlight ? new Highlight() : null;
if (marks) CSS.highlights.set("found", marks);
let at = -1;

function showFound() {
  const found = document.getElementById("found")?.dataset;
  narrow();
  for (const place of found?.calls?.split(" ").filter(Boolean) ?? []) {
    document.getElementById(place).open = true;
  }
  mark();
}

function mark() {
  const words = flat(document.getElementById("found")?.dataset.words ?? "");
  const thread = theThread();
  marks?.clear();
  at = -1;
  if (!words || !thread) return;
  for (const message of thread.querySelectorAll("li.msg:not([hidden])")) markIn(message, words);
  const steps = document.querySelector("[data-steps]");
  if (steps) steps.hidden = !marks?.size;
}

// Words may begin in one element and end in another, as in “a **bold** word”.
function markIn(message, words) {
  const nodes = textNodes(message);
  const starts = [];
  let text = "";
  for (const node of nodes) {
    starts.push(text.length);
    text += node.data;
  }
  text = flat(text);
  for (let from = text.indexOf(words); from >= 0; from = text.indexOf(words, from + words.length)) {
    const first = starts.findLastIndex((start) => start <= from);
    const last = starts.findLastIndex((start) => start < from + words.length);
    const range = new Range();
    range.setStart(nodes[first], Math.min(from - starts[first], nodes[first].length));
    range.setEnd(nodes[last], Math.min(from + words.length - starts[last], nodes[last].length));
    marks?.add(range);
  }
}

function textNodes(message) {
  const walker = document.createTreeWalker(message, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) {
    if (!walker.currentNode.parentElement.closest("header")) nodes.push(walker.currentNode);
  }
  return nodes;
}

// As the server compares: without case, and any blank is a blank.
function flat(text) {
  return text.toLowerCase().replace(/\s/g, " ");
}

function step(by) {
  const ranges = [...(marks ?? [])];
  if (!ranges.length) return;
  at = (at + by + ranges.length) % ranges.length;
  const range = ranges[at];
  const fold = range.startContainer.parentElement.closest("details:not([open])");
  if (fold) fold.open = true;
  range.startContainer.parentElement.scrollIntoView({ block: "center" });
  getSelection().setBaseAndExtent(range.startContainer, range.startOffset, range.endContainer, range.endOffset);
  document.querySelector("[data-place]").textContent = `${at + 1} of ${ranges.length} shown`;
}

// Enter goes on to the next match, once what is typed was sought; until then it asks at once.
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!theThread() || field.id !== "q" || event.isComposing) return;
  // A match that was gone to is selected. What is typed next goes to the end of the field.
  const isAway = theThread()?.contains(getSelection().anchorNode);
  if (isAway) field.setSelectionRange(field.value.length, field.value.length);
  const isSought = field.value.trim() === document.getElementById("found").dataset.words;
  if (event.key !== "Enter" || !isSought || !marks?.size) return;
  event.preventDefault();
  step(event.shiftKey ? -1 : 1);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-step]");
  if (button) step(Number(button.dataset.step));
  const clear = event.target.closest("[data-clear]");
  if (!clear) return;
  event.preventDefault();
  document.getElementById("q").focus();
  clearField();
});

// A fold fetched during a search comes with what is around its match.
document.addEventListener("htmx:configRequest", (event) => {
  const words = document.getElementById("found")?.dataset.words;
  if (words && event.detail.elt.matches("details.fold")) event.detail.parameters.q = words;
});

document.addEventListener("htmx:afterSwap", (event) => {
  // A page that Back restores is swapped in without a target.
  const part = event.detail.target?.id ?? "";
  if (part === "found") {
    remember("q", document.getElementById("q").value.trim());
    showFound();
  } else if (part.endsWith("-in")) mark();
  else if (part === "newer") narrow();
});

// Folds: those opened are open again when the page is loaded again, in this tab.
const folds = `folds of ${location.pathname}`;
const opened = new Set(theThread() && JSON.parse(sessionStorage.getItem(folds)));
for (const id of opened) {
  const fold = document.getElementById(id);
  if (fold) fold.open = true;
}
document.addEventListener(
  "toggle",
  ({ target }) => {
    if (!target.id || !theThread()?.contains(target)) return;
    if (target.open) opened.add(target.id);
    else opened.delete(target.id);
    sessionStorage.setItem(folds, JSON.stringify([...opened]));
  },
  true, // it does not bubble
);

// Keys: j and k between messages, e to the next error, c to the next change.
const keys = {
  j: () => go("li.msg", 1),
  k: () => go("li.msg", -1),
  e: () => go("li.msg[data-error]", 1),
  c: () => go("li.msg:has(.changes)", 1),
};

document.addEventListener("pressroom:key", (event) => {
  if (!theThread() || !keys[event.detail]) return;
  event.preventDefault();
  keys[event.detail]();
});

// From the message that has the focus, or the one at the top of what is seen.
function go(selector, by) {
  const all = [...theThread().querySelectorAll("li.msg")].filter((each) => !each.hidden);
  const focused = all.indexOf(document.activeElement.closest("li.msg"));
  const top = all.findIndex((each) => each.getBoundingClientRect().bottom > 80);
  const from = focused >= 0 ? focused : top - 1;
  const next = by > 0 ? all.slice(from + 1) : all.slice(0, Math.max(from, 0)).reverse();
  const target = next.find((each) => each.matches(selector));
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "start" });
}

// What stands in an element, as text; the shell's copying does the rest.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-copies]");
    if (button) button.dataset.copy = document.getElementById(button.dataset.copies).textContent;
  },
  true,
);

document.addEventListener("DOMContentLoaded", showFound);
