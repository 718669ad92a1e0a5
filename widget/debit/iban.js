// Rules of IBANs (ISO 13616): how one is written, and how a mistyped one differs from a right one.

// Countries with the lengths of their IBANs, and those whose IBANs name the bank: "AD24 AE23 …" and "AT BE …".
const LENGTHS = new Map("%LENGTHS%".split(" ").map((row) => [row.slice(0, 2), Number(row.slice(2))]));
const EEA = "%EEA%".split(" ");
// Digits of other scripts. Those of Devanagari and Bengali do not begin at a multiple of 16.
const FOREIGN = /[\u0660-\u0669\u06f0-\u06f9\u0966-\u096f\u09e6-\u09ef]/g;

function toAscii(digit) {
  const code = digit.charCodeAt();
  return (code - (code > 0x965 ? 6 : 0)) & 15;
}

// Keeps the letters and digits of a text, in capitals and as ASCII, also if an input method has typed them.
export function keepCharacters(text) {
  return text.normalize("NFKC").replace(FOREIGN, toAscii).toUpperCase().replace(/[^A-Z0-9]/g, "");
}

// Returns an account as it is posted. People copy IBANs together with that word.
export function readAccount(text) { return keepCharacters(text).replace(/^IBAN/, ""); }

// Returns true for a national account number: every IBAN begins with a letter.
export function isNational(account) { return /^\d/.test(account); }

// Returns an account as it is shown: an IBAN in groups of four, and a national number as it was typed.
export function showAccount(text) {
  const account = readAccount(text);
  return isNational(account) ? text : account.replace(/.{4}(?=.)/g, "$& ");
}

// Returns the country of an account by its letters. Empty if there is none with IBANs.
export function readCountry(account) {
  const country = account.slice(0, 2);
  return LENGTHS.has(country) ? country : "";
}

// Returns true if somebody has to say which bank has the account.
export function needsBank(account) {
  const country = readCountry(account);
  return isNational(account) || !!country && !EEA.includes(country);
}

// Returns the remainder by which an IBAN is judged (ISO 7064, MOD 97-10): 1 if no character is wrong.
function readRemainder(iban) {
  let rest = 0;
  for (const character of iban.slice(4) + iban.slice(0, 4)) {
    const number = parseInt(character, 36);
    rest = (rest * (number > 9 ? 100 : 10) + number) % 97;
  }
  return rest;
}

// Returns the key of the text about an account that is wrong. Empty for a right one, and for a national number, of
// which only its bank knows more.
export function findAccountFault(account) {
  if (!account) return "accountNumberErrorEmpty";
  if (isNational(account)) return "";
  const length = LENGTHS.get(account.slice(0, 2));
  if (!length && account.length > 1) return "accountNumberErrorCountry";
  if (!length || account.length < length) return "accountNumberErrorShort";
  const isRight = account.length === length && /^..\d\d/.test(account) && readRemainder(account) === 1;
  return isRight ? "" : "accountNumberErrorDigits";
}
