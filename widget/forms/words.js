// What a page loads for every way to pay but a card that is typed in: the forms of other brands, stored cards, and what
// options add to a card form. Plain nodes made from tables: which fields a brand has, the gateway says.

const state = window.__tillgate;
const { make, group, frame, targetOf, guard, options, purpose, relay, missing, hidden } = state.tools;

// Ends with the forms: listeners on the window.
const life = new AbortController();

// The checkout's configuration, once the relay has brought it.
let config;

const english = %ENGLISH%;

// The merchant's own word, or the language's, or English.
const word = (key) => {
  const { labels = {}, errorMessages = {} } = options();
  const { labels: theirs = {}, errors = {} } = state.language || {};
  const sayings = state.sayings || {};
  const all = [errorMessages, labels, sayings, theirs, errors, english];
  return (all.find((words) => words[key]) || {})[key] || "";
};

const say = (key, brand) => word(key).replace("{brand}", brand);

const { raise, notify } = state;

const cards = () => state.forms.filter((form) => !form.kind);
const others = () => state.forms.filter((form) => form.kind);
