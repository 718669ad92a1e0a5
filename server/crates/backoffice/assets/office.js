// Comfort for pages that work without a script: keys for the search, amounts that are checked, and buttons that copy.
document.documentElement.classList.add("scripted");

addEventListener("keydown", event => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
    event.preventDefault();
    document.getElementById("search")?.select();
  }
  // A dialog without a script is open while the address names it.
  if (event.key === "Escape" && document.querySelector(".dialog:target")) location.hash = "_";
});

// An amount above the largest one is named while it is typed. The server checks it again.
addEventListener("input", event => {
  const { largest, fault } = event.target.dataset ?? {};
  if (!largest) return;
  const isTooMuch = Number(event.target.value.trim().replace(",", ".")) > Number(largest);
  event.target.setCustomValidity(isTooMuch ? fault : "");
  event.target.ariaInvalid = isTooMuch ? "true" : null;
});

addEventListener("click", async event => {
  const button = event.target.closest?.("[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.done;
  } catch {
    // The page may not be allowed to copy. The text next to the button can be selected instead.
    button.remove();
  }
});
