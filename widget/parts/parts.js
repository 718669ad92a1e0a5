// Parts of the form that no page needs at its first paint: the merchant's spinner, and everything that is opened once the
// shopper has paid. The loader loads this script with the texts that are said later.

import { copyBare, globalOf } from "../loader/native.js";
import { openChallenge, permitIssuer } from "./challenge.js";
import { openSheet } from "./sheet.js";
import { drawSpinner } from "./spinner.js";
import { watchVisit } from "./visit.js";

// Functions that take back what was opened and is still open.
let opened = [];

// Returns a function that opens something, and notes how it is closed. That may be called at any time, and again.
function noted(open) {
  return (view, shop) => {
    let undo = open(view, shop);
    const close = () => {
      opened = opened.filter((other) => other !== close);
      if (undo) undo();
      undo = null;
    };
    opened.push(close);
    return close;
  };
}

function end() { opened.forEach((close) => close()); }

const loader = globalOf("__tillgate");
if (loader && loader.takeParts) {
  loader.takeParts(copyBare({
    permit: permitIssuer, challenge: noted(openChallenge), sheet: noted(openSheet), visit: noted(watchVisit), end,
  }));
  noted(drawSpinner)(loader.readOptions());
}
