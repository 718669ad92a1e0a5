// Wallets. A merchant that has one of its own puts the token into a field of the form. In a test system a sheet of the
// gateway's stands in for the wallet's, in a dialog over the page; its token goes to the relay beside it, and the page hears
// only whether there is one.

let sheet;

// Whether the form has to ask for a token.
const asksWallet = (form) => {
  const about = config.brands && config.brands[form.brands[0]];
  const own = findIn(form, '[name="walletPay.paymentToken"]');
  return !!about && about.kind === "wallet" && !(own && own.value);
};

// Whether the shopper has agreed.
const openSheet = (form, checkout) =>
  new Promise((done) => {
    const query = new URLSearchParams({ brand: form.brands[0], form: form.nonce });
    const src = `${state.base}v1/simulator/wallet/${checkout}?${query}`;
    const inside = make("iframe", "wpwl-wallet-sheet", { title: form.label, width: "360", height: "500", frameborder: "0", src });
    const dialog = make("dialog", "wpwl-wallet", { "aria-label": form.label }, [inside]);
    const close = (agreed) => {
      if (sheet !== own) return;
      sheet = null;
      // Gives the focus back.
      dialog.close();
      dialog.remove();
      done(agreed);
    };
    const own = (sheet = { form, close });
    // Escape.
    dialog.addEventListener("cancel", () => close(false));
    state.nodes.push(dialog);
    nativeGet(document, "body").append(dialog);
    dialog.showModal();
  });

// What the sheet has told the relay.
const heardWallet = ({ form, agreed }) => {
  if (sheet && sheet.form.nonce === form) sheet.close(agreed);
};
