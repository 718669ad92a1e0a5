// Stored accounts in a list of radio buttons: each is a row of the same choice. Their form stays visible, and what
// belongs to the chosen account is hidden while another way to pay is open.

import { nativeGet } from "../loader/native.js";

const PARTS = ".wpwl-group-submit, .wpwl-wrapper-registration-date, .wpwl-wrapper-registration-cvv, .wpwl-registration-remove";

// Returns the node that stands beside the other ways to pay. Stored accounts have an element around their container.
export function blockOf(way) { return way.key === "stored" ? nativeGet(way.container, "parentNode") : way.container; }

// Returns the radio buttons of the accounts that are offered.
export function listAccounts(way) {
  const radios = way.container.querySelectorAll("input[name=registrationId]");
  return Array.from(radios).filter((radio) => !radio.disabled);
}

// Returns the ids of the accounts' rows.
export function ownedRows(group, way) {
  return listAccounts(way).map((radio, at) => {
    const row = radio.closest("label") || radio;
    row.id ||= `${group.id}-account-${at}`;
    return row.id;
  });
}

function setParts(way, isOpen) {
  for (const part of way.container.querySelectorAll(PARTS)) part.hidden = !isOpen;
  way.container.classList.toggle("wpwl-method-closed", !isOpen);
}

function mark(radio, isChecked) {
  radio.checked = isChecked;
  const row = radio.closest(".wpwl-group-registration");
  if (row) row.classList.toggle("wpwl-selected", isChecked);
}

// Chooses the account of before again, unless the page module or the shopper has chosen another one.
export function openAccounts(group, way) {
  const radios = listAccounts(way);
  const chosen = radios.find((radio) => radio.checked) || radios.find((radio) => radio === group.account);
  for (const radio of radios) {
    if (chosen) mark(radio, radio === chosen);
    radio.tabIndex = radio === (chosen || radios[0]) ? 0 : -1;
  }
  setParts(way, true);
}

// Keeps the chosen account in mind while another way to pay is open.
export function closeAccounts(group, way) {
  for (const radio of listAccounts(way)) {
    if (radio.checked) group.account = radio;
    mark(radio, false);
    radio.tabIndex = -1;
  }
  setParts(way, false);
}
