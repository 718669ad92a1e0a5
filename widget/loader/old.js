// The first stage: what browsers do that are too old for the form. Everything in this folder is written in ES5, which
// any browser reads (the packing refuses what is newer), and nothing newer is called before this file has found it there.

// Returns true if an element is a script of ours, whatever stands under a name where one is expected.
var isLoader = function (element) {
  return EMPTY.toString.call(element) === "[object HTMLScriptElement]" && /\/v\d+\/paymentWidgets\.js(\?|$)/.test(element.src);
};
var own = nativeGet(document, "currentScript");
if (!isLoader(own)) {
  // The last of our scripts is the one that runs now.
  var scripts = nativeCall(document, "getElementsByTagName", "script");
  for (var at = 0; at < scripts.length; at++) if (isLoader(scripts[at])) own = scripts[at];
}

// The address of the gateway, and that of the form's frames. They are the same unless the frames have a host of their own:
// then the gateway writes that host's address in the place of the second.
var base = own.src.replace(/\/+v\d+\/paymentWidgets\.js.*$/, "/");
var framesBase = "./fields/../".replace(/^\./, base.slice(0, -1));

// Syntax cannot be asked for without running text as code, which policies forbid. The flag of regular expressions comes
// from the engine, and no page can add it; whoever knows it and the two functions knows ES2020, and wasm as we build it.
var isModern = function () {
  try {
    return [].at && HTMLFormElement.prototype.requestSubmit && new RegExp("", "d");
  } catch (old) {
    return false;
  }
};

var cards = " %CARDS% ";
var isCard = function (brand) {
  return cards.indexOf(" " + brand + " ") > -1 || !brand;
};

// About how high a plain form of these brands is: cards share one, and another brand has a button, or four fields more.
var heightOf = function (brands) {
  var height = brands.some(isCard) ? 600 : 70;
  brands.forEach(function (brand) {
    if (!isCard(brand)) height += /DEBIT|SEPA/.test(brand) ? 450 : 130;
  });
  return height;
};

// The address in a placeholder's `action`, whole; empty where it is none of http or https.
var actionOf = function (place) {
  var action = nativeCall(place, "getAttribute", "action") ? nativeGet(place, "action") : "";
  return /^https?:/i.test(action) ? action : "";
};

// A frame of ours with a form that the gateway has written, in the place of each placeholder.
var plain = function () {
  var checkout = /[?&]checkoutId=([^&#]*)/.exec(own.src) || ["", ""];
  var given = bare(globalOf("wpwlOptions"), 2);
  var places = nativeCall(document, "querySelectorAll", "form.paymentWidgets");
  for (var at = 0; at < places.length; at++) {
    var place = places[at];
    var brands = nativeCall(place, "getAttribute", "data-brands") || nativeGet(place, "textContent");
    var frame = nativeCall(document, "createElement", "iframe");
    var fields = {
      brands: brands,
      locale: given.locale || "",
      requireCvv: (given.registrations || {}).requireCvv || "",
      shopperResultUrl: actionOf(place),
    };
    frame.src = framesBase + "v1/plainForm.html?checkoutId=" + checkout[1];
    for (var name in fields)
      if (hasOwn.call(fields, name)) frame.src += "&" + name + "=" + encodeURIComponent(fields[name]);
    frame.title = "Payment";
    frame.className = "wpwl-plain";
    frame.frameBorder = 0;
    frame.style.width = "100%";
    frame.style.height = heightOf(brands.match(/[^\s,]+/g) || [""]) + "px";
    nativeGet(place, "parentNode").replaceChild(frame, place);
  }
};

if (!isModern()) {
  // Also a form that comes after this script.
  if (nativeGet(document, "readyState") === "loading") nativeCall(document, "addEventListener", "DOMContentLoaded", plain);
  else plain();
  return;
}
