// Folds of a conversation: restore the open ones after a reload, in this tab.
import { theThread } from "./conversation-filters.js";

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
