// A page in place of a brand's, which also works without this script. A page that is done closes itself if a script has
// opened it. Where it stays, the shopper goes back to the shop, as by the link.
// The only script of its page.
const { close: closes, visit } = document.querySelector("script").dataset;
let isAnswered = false;
// The form asks the gateway if its shopper has left: a window that cuts itself off from its opener tells nothing.
const leave = () => {
  if (!isAnswered) navigator.sendBeacon(location.href, new URLSearchParams({ left: visit }));
};
if (closes !== undefined) {
  close();
  setTimeout(() => location.replace(document.querySelector("a").href), 500);
} else {
  addEventListener("submit", () => { isAnswered = true; });
  addEventListener("pagehide", leave);
  // Kept by the browser meanwhile: the gateway hears that the shopper is back.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });
  // The key Escape is passed on to the form around this page.
  addEventListener("keydown", ({ key }) => {
    if (key === "Escape" && parent !== window) parent.postMessage({ tillgateKey: key }, "*");
  });
}
