// Which checkout and which gateway: both stand in the address of this very script, so that its bytes
// are the same for every checkout and one integrity value serves all.

const build = "%BUILD%";

const own =
  document.currentScript ||
  Array.from(document.scripts)
    .reverse()
    .find((script) => /\/paymentWidgets\.js\?/.test(script.src));

const address = new URL(own.src);
const base = address.href.replace(/\/+v\d+\/paymentWidgets\.js.*$/, "/");
// The suffix "/registration" marks the tokenisation twin of a checkout.
const [checkoutId, purpose = "payment"] = (address.searchParams.get("checkoutId") || "").split("/");

// Under `trunk serve` the page part comes from trunk.
const external = own.dataset.pagePart === "external";

// Read when needed and no earlier: merchants assign and change them late.
const options = () => window.wpwlOptions || {};
const isOn = (name) => String(options()[name]) === "true";
