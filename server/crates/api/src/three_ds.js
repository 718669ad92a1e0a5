// The page on which a cardholder is authenticated. Where the issuer's method page runs, it goes on when that has loaded, or
// after ten seconds. Once all is done, it goes back to the shop, or tells the form around it that it is done, and no more.
const on = document.querySelector("#on");
const back = document.querySelector("#back");
if (on) {
  const goOn = () => location.replace(on.href);
  const time = setTimeout(goOn, 10000);
  document.querySelector("#method").addEventListener("load", () => {
    clearTimeout(time);
    goOn();
  });
} else if (back) {
  back.click();
} else if (parent !== window) {
  parent.postMessage({ threeDSecure: "ended" }, "*");
}
