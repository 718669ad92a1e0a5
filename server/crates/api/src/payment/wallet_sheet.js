// Hands the token, or that there is none, to the form's hidden frame beside this one. Only a frame of the frames' origin
// receives it, and only one with the same checkout uses it.
const { frames: framesBase, checkout } = document.currentScript.dataset;
const frames = new URL(framesBase || "/", location.href).origin;
const form = new URLSearchParams(location.search).get("form");
const hand = (token) => {
  for (let i = 0; i < parent.length; i++) parent[i].postMessage({ tillgateWallet: 1, form, checkout, token }, frames);
};
const made = document.getElementById("token");
if (made) hand(made.textContent);
const cancel = document.getElementById("cancel");
if (cancel) cancel.onclick = () => hand("");
addEventListener("keydown", ({ key }) => key === "Escape" && hand(""));
