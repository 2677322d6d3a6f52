// Filters of a conversation: hide the same items as the server, without a request.

export const theThread = () => document.getElementById("thread");

document.addEventListener("click", (event) => {
  const link = event.target.closest("[data-filter-for] a");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  choose(link);
  narrow();
});

export function choose(link) {
  const group = link.closest("[data-filter-for]");
  for (const other of group.querySelectorAll("a")) other.removeAttribute("aria-current");
  link.setAttribute("aria-current", "true");
  setParam(group.dataset.filterName, link.dataset.show);
}

// The filter and the search are in the URL, for reloads and links.
export function setParam(name, value) {
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
export function narrow() {
  const search = document.getElementById("matches")?.dataset;
  const matches = search?.words ? new Set(search.messages.split(" ")) : null;
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
