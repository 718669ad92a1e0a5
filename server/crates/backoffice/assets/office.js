// Comfort for pages that work without a script: keys that move the focus, amounts and rules that are checked, and
// buttons that copy.
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

// Parts that change by themselves are read again while somebody looks at them, and at once when the page is shown again.
// A part in which somebody works stays. The server does not count these requests as use of the session.
const LIVE_SECONDS = 30;
let reading = false;

function refreshParts() {
  if (reading || document.hidden || !document.querySelector("[data-live]")) return;
  reading = true;
  // The browser parses the page without running anything in it, which needs no exception from the policy.
  const request = new XMLHttpRequest();
  request.open("GET", location.pathname + location.search);
  request.responseType = "document";
  request.setRequestHeader("x-automatic", "1");
  request.onload = () => {
    for (const part of document.querySelectorAll("[data-live]")) {
      // The page of the sign-in, after the end of the session, has no such part.
      const next = request.response?.getElementById(part.id);
      const isInUse = part.contains(document.activeElement) || part.querySelector(":checked");
      if (next && !isInUse) part.replaceWith(document.adoptNode(next));
    }
  };
  request.onloadend = () => { reading = false; };
  request.send();
}

setInterval(refreshParts, LIVE_SECONDS * 1000);
addEventListener("visibilitychange", refreshParts);

// An amount above the largest one is named while it is typed. The server checks it again.
addEventListener("input", event => {
  const { largest, fault } = event.target.dataset ?? {};
  if (!largest) return;
  const isTooMuch = Number(event.target.value.trim().replace(",", ".")) > Number(largest);
  event.target.setCustomValidity(isTooMuch ? fault : "");
  event.target.ariaInvalid = isTooMuch ? "true" : null;
});

// Rules are checked by the server half a second after the last key. The button on the page does the same.
const rules = document.querySelector("[data-check]");

function showErrors(errors) {
  const list = document.createElement("ul");
  list.className = "errors";
  for (const { line, column, message } of errors.slice(0, 20)) {
    const item = document.createElement("li");
    const place = document.createElement("button");
    place.type = "button";
    place.className = "quiet";
    place.textContent = rules.dataset.place.replace("{line}", line).replace("{column}", column);
    place.addEventListener("click", () => {
      const before = rules.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      rules.focus();
      rules.setSelectionRange(before + column - 1, before + column - 1);
    });
    item.append(place, " ", message);
    list.append(item);
  }
  document.getElementById("check").replaceChildren(list);
}

async function checkRules() {
  checkRules.running?.abort();
  const { signal } = checkRules.running = new AbortController();
  const state = document.getElementById("check");
  try {
    const body = new URLSearchParams({ rules: rules.value });
    const response = await fetch(rules.dataset.check, { method: "POST", body, signal, redirect: "error" });
    if (!response.ok) throw new Error(response.statusText);
    const { errors } = await response.json();
    if (signal.aborted) return;
    rules.ariaInvalid = errors.length ? "true" : null;
    if (errors.length) showErrors(errors);
    else state.textContent = rules.dataset.good;
  } catch {
    if (!signal.aborted) state.textContent = rules.dataset.failed;
  }
}

rules?.addEventListener("input", () => {
  clearTimeout(checkRules.timer);
  checkRules.timer = setTimeout(checkRules, 500);
});

// A toast that was closed does not come back when the page is read again.
addEventListener("click", event => {
  const toast = event.target.closest?.("[data-close]")?.closest(".toast");
  if (!toast) return;
  toast.remove();
  const address = new URL(location.href);
  address.searchParams.delete("done");
  history.replaceState(null, "", address);
});

// The preview of the form's look follows the fields. The button on the page does the same.
const look = document.querySelector("form[data-preview]");

function showPreview() {
  const fields = [...look.querySelectorAll("input[type=text]")];
  const values = new URLSearchParams(fields.map(field => [field.name, field.value]));
  // An address that is replaced adds no step to the way back.
  document.getElementById("preview").contentWindow.location.replace(`${look.dataset.preview}?${values}`);
}

look?.addEventListener("input", ({ target }) => {
  if (target.dataset.field) document.getElementById(target.dataset.field).value = target.value;
  const picker = target.parentElement.querySelector("[type=color]");
  const digits = /^#(?:([\da-f])([\da-f])([\da-f])|[\da-f]{6})$/i.exec(target.value);
  if (picker && picker !== target && digits) {
    const [all, ...single] = digits;
    picker.value = single[0] ? `#${single.map(digit => digit + digit).join("")}` : all;
  }
  clearTimeout(showPreview.timer);
  showPreview.timer = setTimeout(showPreview, 300);
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
