// The sheet of a simulated wallet, in a dialog over the page.

import { listen, make, nativeGet } from "../loader/native.js";

// Opens the sheet. `view` has its title, its address, and the function `cancel` for a shopper who presses Escape. Returns
// a function that closes it, and gives the focus back to where it was.
export function openSheet({ title, source, cancel }) {
  const frame = make("iframe", "wpwl-wallet-sheet", {
    title, width: "360", height: "500", frameborder: "0", src: source,
  });
  const dialog = make("dialog", "wpwl-wallet", { "aria-label": title }, [frame]);
  listen(dialog, "cancel", (event) => {
    event.preventDefault();
    cancel();
  });
  nativeGet(document, "body").append(dialog);
  dialog.showModal();
  return () => {
    dialog.close();
    dialog.remove();
  };
}
