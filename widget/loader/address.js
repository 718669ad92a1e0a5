// Which checkout and which gateway: both stand in the address of this very script, so that its bytes
// are the same for every checkout and one integrity value serves all.

var build = "%BUILD%";

var address = new URL(own.src);
// In the form in which browsers give it back.
framesBase = new URL(framesBase).href;
var framesOrigin = new URL(framesBase).origin;
// The suffix "/registration" marks the tokenisation twin of a checkout.
var asked = (address.searchParams.get("checkoutId") || "").split("/");
var checkoutId = asked[0];
var purpose = asked[1] || "payment";

// Returns true unless another loader has taken over, or unload() has been called.
var isCurrent = function (state) {
  return globalOf("__tillgate") === state;
};

// Under `trunk serve` the page part comes from trunk.
var external = own.dataset.pagePart === "external";

// Read when needed and no earlier: merchants assign and change them late. Callbacks see the merchant's own object.
var givenOptions = function () {
  return globalOf("wpwlOptions") || {};
};
var options = function () {
  return bare(givenOptions(), 2);
};
var isOn = function (name) {
  return String(options()[name]) === "true";
};
var isOff = function (name) {
  return String(options()[name]) === "false";
};
