// Progressive enhancement: every page works without scripts, and each module does nothing on a page
// without its elements. releases.js and page-form.js are linked by the pages that need them.
//
// In development the browser fetches the modules. As served, they are inlined here, each in a block
// of its own, so none may import or export anything, or declare a var. webauthn-json.js is
// django-allauth's.
import "./back-forward.js";
import "./shell.js";
import "./dialogs.js";
import "./offline.js";
import "./copy.js";
import "./bell.js";
import "./palette.js";
import "./keys.js";
import "./relative-times.js";
import "./morph.js";
import "./conversation.js";
import "./help.js";
import "./rows.js";
import "./selection.js";
import "./people.js";
import "./versions.js";
import "./columns.js";
import "./webhooks.js";
import "../mfa/js/webauthn-json.js";
import "./passkeys.js";
