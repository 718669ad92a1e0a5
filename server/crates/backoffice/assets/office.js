// Comfort for pages that work without a script: keys that move the focus, amounts that are checked, and buttons that
// copy.
document.documentElement.classList.add("scripted");
// On a phone the navigation scrolls, and the current area may be beyond its end.
document.querySelector(".nav [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });

// Keys only move the focus, so that none of them decides about a payment by mistake.
function moveFocus(event) {
  if (event.key === "j" || event.key === "k") {
    const links = [...document.querySelectorAll(".linked tbody th a")];
    const place = links.indexOf(document.activeElement) + (event.key === "j" ? 1 : -1);
    links[Math.min(Math.max(place, 0), links.length - 1)]?.focus();
    return;
  }
  const control = document.querySelector(`[aria-keyshortcuts="${CSS.escape(event.key)}"]`);
  if (!control) return;
  event.preventDefault();
  const details = control.matches("summary") ? control.parentElement : null;
  if (details) details.open = true;
  (details?.querySelector("input") ?? control).focus();
  control.select?.();
}

// Decisions that can be undone for some seconds: the page sends them when the time has passed. A closed page sends nothing.
const held = document.querySelector("form[data-after]");
if (held) {
  const timer = setTimeout(() => held.requestSubmit(), Number(held.dataset.after) * 1000);
  // A page that the browser keeps for "back" must not go on counting.
  addEventListener("pagehide", () => clearTimeout(timer));
}

addEventListener("keydown", event => {
  const typing = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (!typing && !event.ctrlKey && !event.metaKey && !event.altKey) moveFocus(event);
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
