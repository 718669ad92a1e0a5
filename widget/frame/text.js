// A frame on our own origin holds the name of the card's holder or its expiry date, where the merchant wants no field of the
// card in its page (`enableSAQACompliance`). The page hears only whether the field is empty or right, or the date is over;
// what stands in it goes from frame to frame, into the one request that the number's frame makes. The gateway judges both by
// the catalogue.

const isDate = field === "card.expiry";

// What people, keyboards and browsers put between month and year.
const between = /[ /\-.\u00a0\u2000-\u200f\u2010-\u2015\u202f\u2044\u2215\u2212\uff0f\uff0d\u3000]/;
const isMonth = (text) => text > 0 && text < 13;
const isYear = (text) => /^(19|20)../.test(text);
const lengthOfYear = (text) => (/^(19|20)/.test(text) ? 4 : 2);

// The digits before the first separator and those behind it.
const cut = (text) => {
  const [first, ...rest] = ascii(text).replace(/^\D+/, "").split(between);
  const bare = (part) => part.replace(/\D/g, "");
  return { first: bare(first), rest: bare(rest.join("")), separated: rest.length > 0 };
};

// Month and year of `12/29`, `12/2029`, `2029-12`, `29/12` and `1/29`.
const ofTwo = (first, second) => {
  const lengths = `${first.length}${second.length}`;
  if (/^[12]2$/.test(lengths) && isMonth(first)) return [first, second];
  if (/^[12]4$/.test(lengths) && isMonth(first) && isYear(second)) return [first, second];
  if (/^4[12]$/.test(lengths) && isMonth(second) && isYear(first)) return [second, first];
  if (lengths === "22" && isMonth(second)) return [second, first];
};
// Of `1229`, `2912`, `122029`, `202912`, `929` and `12029`. 129 can still become 12/9x.
const ofOne = (digits) => {
  const { length } = digits;
  if (length < 3 || length > 6 || (length === 3 && digits < "2")) return undefined;
  const at = (place) => ofTwo(digits.slice(0, place), digits.slice(place));
  return at(2 - (length % 2)) || at(length - 2);
};
const apart = ({ first, rest }) => (rest ? ofTwo(first, rest) : ofOne(first));

// Year and month as numbers; a year of two digits is the nearest.
const date = () => {
  const text = ascii(input.value);
  const found = !text.replace(new RegExp(between, "g"), "").match(/\D/) && apart(cut(text));
  if (!found) return undefined;
  let year = +found[1];
  if (found[1].length === 2) {
    const first = new Date().getFullYear() - 50;
    year += first - (first % 100);
    if (year < first) year += 100;
  }
  return { year, month: +found[0] };
};

// Month and year of a text that is still being typed: from 2 on a digit is a month by itself.
const unfinished = ({ first, rest }) => {
  let places = first ? 1 : 0;
  if (/^(0[1-9]|1\d)/.test(first) || (first.length === 2 && rest && first[0] !== "0")) places = 2;
  const month = first.slice(0, places);
  const year = (month === "0" ? "" : first.slice(places)) + rest;
  return [month, year.slice(0, lengthOfYear(year))];
};
const formatted = (text) => {
  const typed = cut(text);
  typed.rest = typed.rest.slice(0, lengthOfYear(typed.rest));
  let found = apart(typed);
  if (!found) {
    found = unfinished(typed);
    found = ofTwo(...found) || found;
  }
  let [month, year] = found;
  if (month.length === 1 && (month > "1" || (month === "1" && (typed.separated || year)))) month = `0${month}`;
  return year || (typed.separated && month.length === 2 && !text.endsWith(" /")) ? `${month} / ${year}` : month;
};

// At the end of the text only: a caret in the middle is left alone.
const arrange = () => {
  if (!isDate || input.selectionStart !== input.value.length) return;
  const shown = formatted(input.value);
  if (shown !== input.value) input.value = shown;
};

const state = () => {
  const text = input.value.trim();
  if (!isDate) {
    const digits = ascii(text).replace(/\D/g, "").length;
    return { empty: !text, valid: text.length > 2 && text.length < 129 && digits < 6 };
  }
  const found = date();
  const now = new Date();
  const past = !!found && found.year * 12 + found.month <= now.getFullYear() * 12 + now.getMonth();
  return { empty: !text, valid: !!found, past };
};

Object.assign(own, {
  dress,
  told({ dir }) {
    document.documentElement.dir = dir;
  },
  // Puts what stands here into the request.
  post(body) {
    if (!isDate) {
      const name = input.value.trim();
      if (name) body.set(field, name);
      else body.delete(field);
      return;
    }
    const { year, month } = date() || { year: "", month: "" };
    body.set("card.expiryMonth", `${month}`.padStart(2, "0"));
    body.set("card.expiryYear", year);
  },
  // Takes what the browser filled in where the number is.
  fill(value) {
    if (input.value) return;
    input.value = value;
    arrange();
    tell();
  },
});

input.autocomplete = isDate ? "cc-exp" : "cc-name";
if (!isDate) {
  input.removeAttribute("dir");
  input.removeAttribute("inputmode");
}
