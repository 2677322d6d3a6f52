// A link to an item that a filter or the search hides clears these first. Then the browser follows the
// link. If only the URL's fragment changed, the browser has already tried and found nothing.
import { choose, narrow, theThread } from "./conversation-filters.js";
import { leaveSearch } from "./conversation-search.js";

document.addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  // The browser scrolls to an item that was hidden until now, but doesn't always focus it.
  if (link) reveal(link.hash)?.focus({ preventScroll: true });
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
