// Progressive enhancement: every page works without scripts, and each module does nothing on a page
// without its elements. desk.js and page-form.js are linked by the pages that need them.
//
// In development the browser fetches the modules. In production they are inlined here in this order. So a
// module may import only those above it, and export only functions and constants, each on one line. It may
// not declare a var. webauthn-json.js comes from django-allauth.
import "./announce.js";
import "./text-folding.js";
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
import "./live-rows.js";
import "./live.js";
import "./here.js";
import "./conversation-filters.js";
import "./conversation-search.js";
import "./conversation-links.js";
import "./conversation-folds.js";
import "./conversation-keys.js";
import "./help.js";
import "./rows.js";
import "./selection.js";
import "./people.js";
import "./versions.js";
import "./columns.js";
import "./webhooks.js";
import "../mfa/js/webauthn-json.js";
import "./passkeys.js";
