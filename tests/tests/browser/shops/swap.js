// A shop without a framework: its router replaces the markup of the page.
const main = document.querySelector("main");

function show() {
  const [, number] = /^#\/pay\/(\d)/.exec(location.hash) || [];
  const form = '<form class="paymentWidgets" action="/result?own=2" data-brands="VISA MASTER"></form>';
  main.innerHTML = number ? `<h1>Pay</h1>${form}` : "<h1>Cart</h1>";
  if (number) main.append(shop.makeScript(number));
}

addEventListener("hashchange", show);
show();
