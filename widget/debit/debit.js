// Completes the form of a direct debit: groups and checks the IBAN, names its country and its bank, shows of the other
// fields those that the IBAN does not make needless, and says to whom the mandate is given. Only pages with such a form
// load this script. Without it the form has all its fields, and the gateway checks them.

import { showGroups, skipSpace } from "../frame/spaces.js";
import { define, globalOf, listen, make, nativeCall } from "../loader/native.js";
import { findBank } from "./bank.js";
import { findAccountFault, isNational, keepCharacters, needsBank } from "./iban.js";
import { readAccount, readCountry, showAccount } from "./iban.js";
import { completeMandate } from "./mandate.js";

// Inputs that were completed before.
const known = new WeakSet();

function findControl(container, name) { return nativeCall(container, "querySelector", `.wpwl-control-${name}`); }

function setShown(control, isShown) {
  const group = control && control.closest(".wpwl-group");
  if (!group || group.hidden === !isShown) return;
  group.hidden = !isShown;
  // A value that the shopper does not see any more belongs to another account.
  if (!isShown) control.value = "";
}

function nameCountry(code, locale) {
  try { return new Intl.DisplayNames([locale], { type: "region" }).of(code); } catch { return code; }
}

// Adds a line about the account, such as its country. It is read aloud once something is there.
function addNote(input, name) {
  const note = make("div", `wpwl-account-${name}`, { role: "status" });
  const group = input.closest(".wpwl-group");
  if (group) nativeCall(group, "append", note);
  return note;
}

function completeFields(container, locale) {
  const input = findControl(container, "accountNumber");
  if (!input || known.has(input)) return;
  known.add(input);
  const [bank, country] = [findControl(container, "accountBank"), findControl(container, "country")];
  const [countryNote, bankNote] = [addNote(input, "country"), addNote(input, "bank")];
  let shown = "";
  let named = "";
  // The name of a bank is no word of any language.
  nativeCall(bankNote, "setAttribute", "translate", "no");

  // Follows the account in the fields that depend on it.
  const follow = () => {
    const account = readAccount(input.value);
    const code = readCountry(account);
    setShown(country, isNational(account));
    setShown(bank, needsBank(account));
    if (bank) bank.setAttribute("aria-required", needsBank(account));
    const name = findBank(account);
    if (name !== named) bankNote.textContent = named = name;
    if (code === shown) return;
    shown = code;
    if (country) country.value = code;
    countryNote.textContent = code && nameCountry(code, locale);
  };
  // An input method replaces its own text: to format that would type it once more. Its end formats the text.
  const arrange = ({ isComposing }) => {
    if (isComposing) return;
    const before = keepCharacters(input.value.slice(0, input.selectionStart));
    const isWord = keepCharacters(input.value).startsWith("IBAN");
    showGroups(input, showAccount(input.value), Math.max(0, before.length - (isWord ? 4 : 0)));
    follow();
  };
  listen(input, "beforeinput", skipSpace);
  // Before the page module's own listeners, which judge the text, and also if a script of the page changes it.
  for (const kind of ["input", "change", "compositionend"]) listen(input, kind, arrange, true);
  // The page module asks for these when it judges the fields.
  define(input, "findFault", () => {
    follow();
    return findAccountFault(readAccount(input.value));
  });
  const lacksBank = () => needsBank(readAccount(input.value)) && !bank.value.trim();
  if (bank) define(bank, "findFault", () => (lacksBank() ? "accountBankError" : ""));
  follow();
}

const loader = globalOf("__tillgate");
if (loader) loader.debit = (offer) => {
  for (const { container } of loader.listForms()) {
    if (!container.classList.contains("wpwl-container-directDebit")) continue;
    completeFields(container, loader.readLocale());
    completeMandate(container, offer, loader);
  }
};
