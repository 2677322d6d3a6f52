// Conversations: filters without a reload, marked matches, keys, copying.

const theThread = () => document.getElementById("thread");

// Filters: hide the same items as the server, without a request.
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
  setParam(group.dataset.filterName, link.dataset.show);
}

// The filter and the search are in the URL, for reloads and links.
function setParam(name, value) {
  if (document.querySelector("#dialogs > dialog[open]")) return; // the URL is the dialog's
  history.replaceState(history.state, "", urlWith(name, value));
  for (const link of document.querySelectorAll("[data-filter-for] a")) {
    const { filterName } = link.closest("[data-filter-for]").dataset;
    link.href = `?${urlWith(filterName, link.dataset.show).searchParams}${link.hash}`;
  }
  // An empty conversation has no form. Without a filter the form sends none.
  const show = document.querySelector("[data-search] [name=show]");
  if (!show) return;
  show.value = new URL(location.href).searchParams.get("show") ?? "";
  show.disabled = !show.value;
}

function urlWith(name, value) {
  const url = new URL(location.href);
  if (value) url.searchParams.set(name, value);
  else url.searchParams.delete(name);
  return url;
}

// An item is shown if it passes the filter and, in the thread, if it contains a match.
function narrow() {
  const found = document.getElementById("found")?.dataset;
  const matches = found?.words ? new Set(found.messages.split(" ")) : null;
  const thread = theThread();
  for (const group of document.querySelectorAll("[data-filter-for]")) {
    const list = document.getElementById(group.dataset.filterFor);
    const kind = group.querySelector("[aria-current]")?.dataset.show;
    for (const item of list?.querySelectorAll(":scope > [data-kinds]") ?? []) {
      const isFilteredOut = kind && !item.dataset.kinds.split(" ").includes(kind);
      const hasNoMatch = matches && list === thread && !matches.has(item.id);
      item.hidden = Boolean(isFilteredOut || hasNoMatch);
    }
  }
  if (thread) {
    document.getElementById("none-left").hidden = Boolean(thread.querySelector("li.message:not([hidden])"));
  }
}

// A link to an item hidden by a filter or the search clears these first; then the browser follows
// the link. If only the URL's fragment changed, the browser has tried already and found nothing.
document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  if (link) reveal(link.hash);
});
addEventListener("hashchange", () => {
  const place = reveal(location.hash);
  place?.scrollIntoView();
  place?.focus({ preventScroll: true });
});

// Return the element only if it was hidden.
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

// Remove the matches at once; the request is still sent, and returns the page without a search.
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

// Search: the server finds the items with matches, closed folds included; mark the matches here.
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
  const words = fold(document.getElementById("found")?.dataset.words ?? "").text;
  const thread = theThread();
  marks?.clear();
  at = -1;
  if (!words || !thread) return;
  for (const message of thread.querySelectorAll("li.message:not([hidden])")) markIn(message, words);
  const steps = document.querySelector("[data-steps]");
  if (steps) steps.hidden = !marks?.size;
}

// A match may span elements, as in “a **bold** word”.
function markIn(message, words) {
  const nodes = textNodes(message);
  const starts = [];
  let text = "";
  for (const node of nodes) {
    starts.push(text.length);
    text += node.data;
  }
  const folded = fold(text);
  let found = folded.text.indexOf(words);
  for (; found >= 0; found = folded.text.indexOf(words, found + words.length)) {
    const [from, to] = [folded.start(found), folded.end(found + words.length - 1)];
    const first = starts.findLastIndex((start) => start <= from);
    const last = starts.findLastIndex((start) => start < to);
    const range = new Range();
    range.setStart(nodes[first], Math.min(from - starts[first], nodes[first].length));
    range.setEnd(nodes[last], Math.min(to - starts[last], nodes[last].length));
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

// Compare like the server (dashboard/folding.py): ignore case and accents, treat all blanks alike.
// A letter may fold to several and an accent to none, so each stores its position in the text.
function fold(text) {
  if (/^[\0-\x7f]*$/.test(text)) {
    const folded = text.toLowerCase().replace(/\s/g, " ");
    return { text: folded, start: (place) => place, end: (place) => place + 1 };
  }
  const starts = [];
  let folded = "";
  let start = 0;
  for (const letter of text) {
    const plain = foldLetter(letter);
    for (let each = 0; each < plain.length; each += 1) starts.push(start);
    folded += plain;
    start += letter.length;
  }
  const end = (place) => {
    let next = place + 1;
    while (starts[next] === starts[place]) next += 1;
    return starts[next] ?? text.length;
  };
  return { text: folded, start: (place) => starts[place], end };
}

const BASE_LETTERS = { æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ħ: "h", ł: "l", þ: "th" };

function foldLetter(letter) {
  if (letter < "\x80") return letter.toLowerCase().replace(/\s/, " ");
  const plain = letter.normalize("NFKD").toUpperCase().toLowerCase().normalize("NFKD");
  return plain.replace(/\p{Mn}|\s|[æœøđðħłþ]/gu, (each) => {
    return BASE_LETTERS[each] ?? (/\s/.test(each) ? " " : "");
  });
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

// Enter goes to the next match if the typed words were searched; otherwise it searches at once.
document.addEventListener("keydown", (event) => {
  const field = event.target;
  if (!theThread() || field.id !== "q") return;
  // The current match is selected. Further typing goes to the end of the field.
  const isMatchSelected = theThread()?.contains(getSelection().anchorNode);
  if (isMatchSelected) field.setSelectionRange(field.value.length, field.value.length);
  const isSearched = field.value.trim() === document.getElementById("found").dataset.words;
  if (event.key !== "Enter" || !isSearched || !marks?.size) return;
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

// A fold fetched during a search contains the text around its match.
document.addEventListener("htmx:configRequest", (event) => {
  const words = document.getElementById("found")?.dataset.words;
  if (words && event.detail.elt.matches("details.fold")) event.detail.parameters.q = words;
});

document.addEventListener("htmx:afterSwap", (event) => {
  // A history restore swaps the page without a target.
  const part = event.detail.target?.id ?? "";
  if (part === "found") {
    setParam("q", document.getElementById("q").value.trim());
    showFound();
  } else if (part.endsWith("-in")) mark();
  else if (part === "newer") narrow();
});

// Folds: restore the open ones after a reload, in this tab.
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
  j: () => go("li.message", 1),
  k: () => go("li.message", -1),
  e: () => go("li.message[data-error]", 1),
  c: () => go("li.message:has(.changes)", 1),
};

document.addEventListener("pressroom:key", (event) => {
  if (!theThread() || !keys[event.detail]) return;
  event.preventDefault();
  keys[event.detail]();
});

// Start from the focused message, or from the topmost visible one.
function go(selector, by) {
  const all = [...theThread().querySelectorAll("li.message")].filter((each) => !each.hidden);
  const focused = all.indexOf(document.activeElement.closest("li.message"));
  const top = all.findIndex((each) => each.getBoundingClientRect().bottom > 80);
  const from = focused >= 0 ? focused : top - 1;
  const next = by > 0 ? all.slice(from + 1) : all.slice(0, Math.max(from, 0)).reverse();
  const target = next.find((each) => each.matches(selector));
  target?.focus({ preventScroll: true });
  target?.scrollIntoView({ block: "start" });
}

// Copy an element's text, by means of copy.js.
document.addEventListener(
  "click",
  (event) => {
    const button = event.target.closest("[data-copies]");
    if (button) button.dataset.copy = document.getElementById(button.dataset.copies).textContent;
  },
  true,
);

document.addEventListener("DOMContentLoaded", showFound);
