// A swap that changes only what differs, to preserve focus, scroll, choices and open folds.
// hx-swap-oob="morph:#id" makes the element with that id equal to the first child of the response.

// Set by scripts or by the user: ignored in the response.
const PRESERVED = new Set(["open", "aria-busy", "data-label", "tabindex", "data-fresh"]);

// Match rows by id, other elements by position and name.
function counterpart(parent, wanted, here) {
  if (wanted.id) return [...parent.children].find((child) => child.id === wanted.id);
  return here && !here.id && here.nodeName === wanted.nodeName ? here : null;
}

function patchAttributes(element, wanted) {
  for (const { name, value } of wanted.attributes) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }
  for (const { name } of [...element.attributes]) {
    if (!wanted.hasAttribute(name) && !PRESERVED.has(name)) element.removeAttribute(name);
  }
}

// Remove old elements first, so that the others needn't be moved. A move would lose the focus.
function dropGone(element, wanted) {
  const staying = new Set([...wanted.children].map((child) => child.id));
  for (const child of [...element.children]) {
    if (child.id && !staying.has(child.id)) child.remove();
  }
}

function patchChildren(element, wanted) {
  const isContinued = element.hasAttribute("data-continued");
  if (!isContinued) dropGone(element, wanted);
  let here = element.firstChild;
  for (const child of [...wanted.childNodes]) {
    const match = counterpart(element, child, here);
    if (!match) element.insertBefore(child, here);
    else if (match === here) here = here.nextSibling;
    else element.insertBefore(match, here);
    if (match) patch(match, child);
  }
  // Keep the rows that "load more" added beyond those in the response.
  while (here && !isContinued) {
    const next = here.nextSibling;
    here.remove();
    here = next;
  }
}

export function patch(node, wanted) {
  if (node.isEqualNode(wanted) || node.dataset?.kept !== undefined) return; // loaded since
  if (node.matches?.("form:popover-open")) return; // the user is changing it
  if (node.nodeType !== Node.ELEMENT_NODE) {
    node.data = wanted.data;
    return;
  }
  const { value } = node;
  patchAttributes(node, wanted);
  patchChildren(node, wanted);
  if (node.nodeName === "SELECT") node.value = value; // new options may have moved the chosen one
}

// The login page has no htmx.
globalThis.htmx?.defineExtension("morph", {
  isInlineSwap: () => false,
  handleSwap(style, target, response) {
    if (style !== "morph" || !response.firstElementChild) return false;
    patch(target, response.firstElementChild);
    return [target];
  },
});
