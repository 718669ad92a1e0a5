// What a page loads for every way to pay but a card that is typed in: the forms of other brands, stored cards, and what
// options add to a card form. Plain nodes made from tables: which fields a brand has, the gateway says.

const state = window.__tillgate;
const { make, group, frame, targetOf, guard, options, purpose, relay, missing, message, hidden, nativeGet, nativeSet, nativeCall, listen } = state.tools;
const { findIn } = state;

// Ends with the forms: listeners on the window.
const life = new AbortController();

// The checkout's configuration, once the relay has brought it.
let config;

state.english = "%ENGLISH%";
const { word } = state;

const say = (key, brand) => word(key).replace("{brand}", brand);

const { raise, notify } = state;

const cards = () => state.forms.filter((form) => !form.kind);
const others = () => state.forms.filter((form) => form.kind);
