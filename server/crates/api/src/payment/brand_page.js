// A page that a script has opened may close itself. Where it stays, the shopper goes back to the shop, as by the link.
close();
setTimeout(() => location.replace(document.querySelector("a").href), 500);
