// Sentences for developers, each about one fault of a page, with the line to write.

const FORM = '<form class="paymentWidgets" action="https://shop.example/result" data-brands="VISA MASTER"></form>';

// Returns a number that is smaller the more similar two words are: letters to insert, remove or replace.
function distance(one, other) {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 0; at < one.length; at++) {
    const next = [at + 1];
    for (let to = 0; to < other.length; to++) {
      next.push(Math.min(next[to] + 1, row[to + 1] + 1, row[to] + (one[at] === other[to] ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length];
}

// Returns the known brand that is most similar to a word, or nothing: a third of the letters may differ.
export function nearestBrand(word, brands) {
  const plain = (text) => text.toUpperCase().replace(/[^A-Z0-9]/g, "");
  const wanted = plain(word);
  // The page wrote the word, and comparing takes time.
  if (!wanted || wanted.length > 40) return "";
  let best = "", least = Math.floor(wanted.length / 3) + 1;
  for (const brand of brands) {
    const found = distance(wanted, plain(brand));
    if (found < least) [best, least] = [brand, found];
  }
  return best;
}

// Returns sentences about brands that the form leaves out.
export function describeBrands(words, brands) {
  return words.map((word) => {
    if (brands.includes(word)) {
      return `data-brands names ${word}, which this channel does not offer. Offer it, or leave it out of data-brands.`;
    }
    const nearest = nearestBrand(word, brands);
    const line = nearest ? `The nearest one is ${nearest}. Write: data-brands="${nearest}"` : "Leave it out of data-brands.";
    return `data-brands names ${word}, and there is no such brand. ${line}`;
  });
}

// Returns a sentence about what a policy of the page has blocked.
export function describeViolation({ directive, policy, origin }) {
  const rows = policy.split(";").map((text) => text.trim().split(/\s+/));
  // Browsers name the most specific directive, also where the policy has a more general one.
  const general = directive.replace(/-elem$/, "");
  const names = [directive, general, "default-src"];
  const sources = names.map((wanted) => rows.find(([name]) => name.toLowerCase() === wanted)).find(Boolean) || [];
  const kept = sources.slice(1).filter((source) => source !== "'none'");
  const written = sources[0] === directive ? directive : general;
  const line = [written, ...(kept.length ? kept : ["'self'"]), origin].join(" ");
  return `The directive ${directive} of the page's Content-Security-Policy blocks ${origin}. Write: ${line}`;
}

// Sentences by the beginning of the loader's message.
const FAULTS = [
  ["this page has no origin", 'The page is in a sandbox. Write: sandbox="allow-scripts allow-forms allow-same-origin"'],
  ["there is no form.paymentWidgets", `Write: ${FORM}`],
  ["a frame does not answer", "The gateway %BASE% cannot be reached, frame-src of a policy forbids it, or the checkout "
    + "is that of a merchant whose origins (entity set --origin) do not name %PAGE%. Write: frame-src %BASE%"],
  ["the page module did not come", "The gateway %BASE% cannot be reached, or script-src of a policy forbids it. Write: script-src %BASE%"],
  ["two scripts", "The page has several scripts paymentWidgets.js, and the form is that of the last one. Remove the others."],
  ["checkoutId", "The script's address has no checkoutId, and wpwlOptions no createCheckout. Write: "
    + '<script src="%BASE%/v1/paymentWidgets.js?checkoutId={id}" integrity="{integrity}" crossorigin="anonymous"></script>'],
];

// Returns a sentence about a fault of which the loader has a message, or nothing. `page` is the page's origin.
export function describeFault(message, base, page) {
  const found = FAULTS.find(([start]) => message.startsWith(start));
  return found && found[1].replace(/%BASE%/g, base).replace("%PAGE%", page);
}

// Returns a sentence about a checkout that cannot be paid.
export function describeCheckout({ message }, id) {
  return `${message} checkoutId is ${id || "empty"}. Create another checkout on your server, and write its id into the script's address.`;
}
