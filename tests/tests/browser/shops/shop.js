// The part that all shops share. `shop.gateway` and `shop.checkouts` are set before.

// Returns the script of a checkout, by its number.
shop.makeScript = (number) => {
  const script = document.createElement("script");
  script.src = `${shop.gateway}v1/paymentWidgets.js?checkoutId=${shop.checkouts[number]}`;
  return script;
};

// Creates a checkout, which takes longer each time, and resolves with its number.
let created = 0;
shop.createCheckout = async () => {
  const number = created++;
  await new Promise((done) => setTimeout(done, number * shop.pause));
  return number;
};

// Notes each script of a checkout that has run, whoever inserted it, also if it has left the page by then.
new MutationObserver((changes) => {
  const nodes = changes.flatMap((change) => [...change.addedNodes]).filter((node) => node.nodeType === 1);
  const scripts = nodes.flatMap((node) => [node, ...node.querySelectorAll("script")]);
  for (const script of scripts.filter(({ src }) => src && src.includes("paymentWidgets.js"))) {
    script.addEventListener("load", () => witness.note("ran", script.src.split("checkoutId=")[1]));
  }
}).observe(document, { childList: true, subtree: true });
