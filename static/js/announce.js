// Announce something to users of screen readers, by a live region.

const READ_MS = 2000;

// Not among the messages, where it would shift the content below.
function addRegion() {
  const region = document.createElement("p");
  region.className = "visually-hidden";
  region.setAttribute("role", "status");
  (document.querySelector("dialog:modal") ?? document.querySelector("main"))?.append(region);
  setTimeout(() => region.remove(), READ_MS);
  return region;
}

export function announce(message, region = addRegion()) {
  // Changes of a live region are read, not its initial content.
  setTimeout(() => (region.textContent = message), 100);
}
