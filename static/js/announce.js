// Announce a text to users of screen readers with a live region.

const READ_MS = 2000;

// The region isn't among the messages, where it would shift the content below.
function addRegion() {
  const region = document.createElement("p");
  region.className = "visually-hidden";
  region.setAttribute("role", "status");
  (document.querySelector("dialog:modal") ?? document.querySelector("main"))?.append(region);
  setTimeout(() => region.remove(), READ_MS);
  return region;
}

export function announce(message, region = addRegion()) {
  // Screen readers read changes of a live region, but not its initial content.
  setTimeout(() => (region.textContent = message), 100);
}
