// What pages do beyond plain HTML. Nothing here is needed to read or to act, and on a page that has
// nothing for it a part does nothing.
//
// A browser that is given this file fetches its parts. As served, they stand in it, each in a block
// of its own: so none may import or export anything, or declare a var. webauthn-json.js is of
// django-allauth's.
import "./shell.js";
import "./copy.js";
import "./palette.js";
import "./keys.js";
import "./ages.js";
import "./morph.js";
import "./conversation.js";
import "./people.js";
import "./versions.js";
import "./webhooks.js";
import "./page-form.js";
import "../mfa/js/webauthn-json.js";
import "./passkeys.js";
