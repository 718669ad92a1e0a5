// Shows several ways to pay as one choice: a list of radio buttons, each with its form below it, or a row of tabs. Only
// pages with the option `methodLayout` load this script. Forms stay where they are, because a frame that moves loads
// again: heads are put before the containers, and containers that are not chosen are hidden.
//
import { copyBare, globalOf, listen, nativeGet, runSoon, setStyle } from "../loader/native.js";
import { addRows, addTabs, copyLook } from "./heads.js";
import { stepOf } from "./keys.js";
import { describeChoice } from "./ways.js";
import { blockOf, closeAccounts, listAccounts, openAccounts, ownedRows } from "./stored.js";

// Key of the choice in the tab's storage, which also a page without any storage has to do without.
const MEMORY = "tillgate.method";
// Attribute of a container that is not chosen. The page module does not show it either.
const CLOSED = "data-closed";

let groups = [];
let count = 0;

function remember(key) {
  try { globalOf("sessionStorage").setItem(MEMORY, key); } catch { /* The next page begins with its first way. */ }
}
function recall() {
  try { return globalOf("sessionStorage").getItem(MEMORY); } catch { return null; }
}

function setOpen(container, isOpen) {
  container.toggleAttribute(CLOSED, !isOpen);
  setStyle(container, "display", isOpen ? "block" : "none");
}

function isBefore(one, other) {
  return one.container.compareDocumentPosition(other.container) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1;
}

// Returns the ways to pay by their parents, in the order of the document. Elsewhere in the page is another choice.
function byParent(ways) {
  const found = new Map();
  for (const way of ways) {
    const block = blockOf(way);
    const parent = block && nativeGet(block, "parentNode");
    if (parent) found.set(parent, (found.get(parent) || []).concat(way));
  }
  for (const siblings of found.values()) {
    siblings.sort(isBefore);
  }
  return found;
}

function addGroup(ways, choice, open, tools) {
  const group = copyBare({ id: `wpwl-choice-${++count}`, ways, choice, open, tools, account: null });
  group.hasTabs = choice.layout === "tabs";
  group.stops = () => ways.flatMap((way) => {
    const nodes = way.key === "stored" && !group.hasTabs ? listAccounts(way) : [way.node];
    return nodes.map((node) => ({ node, way }));
  });
  const active = nativeGet(document, "activeElement");
  const known = recall();
  group.open = ways.find((way) => way.container === open) || ways.find((way) => way.container.contains(active)) ||
    ways.find((way) => way.key === known) || ways[0];
  group.isChosen = !!open;
  group.end = new AbortController();
  group.listen = (target, kind, react, capture) =>
    listen(target, kind, react, copyBare({ capture, signal: group.end.signal }));
  (group.hasTabs ? addTabs : addRows)(group);
  listenTo(group);
  apply(group);
  return group;
}

function listenTo(group) {
  for (const way of group.ways) {
    const { container, node } = way;
    // A script of the page may press the button of a form that is not open.
    group.listen(container, "submit", () => choose(group, way, false), true);
    if (node) {
      group.listen(node, "click", () => choose(group, way, true));
      group.listen(node, "keydown", (event) => move(group, event));
    } else {
      const isAccount = ({ target }) => target.name === "registrationId";
      group.listen(container, "click", (event) => { if (isAccount(event)) choose(group, way, true); });
      group.listen(container, "keydown", (event) => { if (isAccount(event)) move(group, event); });
    }
  }
}

// Moves the choice by a key. Browsers do so only inside of a form, and the stored accounts have one of their own.
function move(group, event) {
  const stops = group.stops();
  const at = stops.findIndex(({ node }) => node === event.target);
  const to = stepOf(event, at, stops.length, group.hasTabs);
  if (to < 0) return;
  event.preventDefault();
  stops[to].node.focus();
  stops[to].node.click();
}

function choose(group, way, byShopper) {
  // A submit is under way there: its outcome may not be hidden.
  if (byShopper && group.open.container.matches(".wpwl-challenge, :has(.wpwl-button-pay[aria-busy=true])")) return apply(group);
  if (byShopper) remember(way.key);
  const wasOpen = group.open === way;
  group.open = way;
  group.isChosen = true;
  apply(group);
  const accounts = way.node ? [] : listAccounts(way);
  if (accounts.length && !accounts.some((radio) => radio.checked)) accounts[0].click();
  if (!wasOpen) group.tools.restyle();
}

// Shows what is chosen, and hides everything else.
function apply(group) {
  const owned = [];
  for (const way of group.ways) {
    const isOpen = group.open === way;
    // Again each time, because the page module sets all classes of a form that it renders.
    way.container.classList.add(way.node ? "wpwl-method-panel" : "wpwl-method-stored");
    if (way.node) {
      setOpen(way.container, isOpen);
      way.head.classList.toggle("wpwl-selected", isOpen);
      way.node.tabIndex = isOpen ? 0 : -1;
      if (group.hasTabs) way.node.setAttribute("aria-selected", String(isOpen));
      else way.node.checked = isOpen;
      owned.push(way.head.id);
    } else {
      if (isOpen) openAccounts(group, way);
      else closeAccounts(group, way);
      owned.push(...ownedRows(group, way));
    }
  }
  if (!group.hasTabs) group.list.setAttribute("aria-owns", owned.join(" "));
  else group.note.textContent = group.open.hint;
}

// Looks again once the page module has rendered the stored accounts. If all of them have expired, it has chosen none,
// and the next way to pay is open.
function settle(group) {
  if (group.end.signal.aborted) return;
  const accounts = group.open.node ? [] : listAccounts(group.open);
  const isUsable = (radio) => radio.checked || !radio.closest(".wpwl-expired");
  if (accounts.length && !accounts.some(isUsable)) group.open = group.ways.find((way) => way.node) || group.open;
  apply(group);
  copyLook(group);
}

// Removes what was added. Containers stay as they are: one that was open may say why it is offered no longer.
function removeGroup(group) {
  group.end.abort();
  for (const node of group.added) node.remove();
  for (const way of group.ways) {
    way.container.classList.remove("wpwl-method-panel", "wpwl-method-stored");
    for (const name of ["role", "aria-labelledby"]) if (group.hasTabs) way.container.removeAttribute(name);
    if (!way.node) openAccounts(group, way);
  }
}

// Returns true if a group already shows these ways to pay.
function isSame(group, ways, choice) {
  return group.choice.layout === choice.layout && group.added.every((node) => node.isConnected) &&
    group.ways.length === ways.length &&
    group.ways.every((way, at) => way.container === ways[at].container && way.name === ways[at].name);
}

// Shows what the checkout offers in place of what was shown before. `tools` are functions of the loader.
function show(offer, tools) {
  const choice = describeChoice(offer, tools);
  const kept = [];
  const earlier = groups;
  const isEarlier = (container) => (group) => group.ways.some((way) => way.container === container);
  const wanted = [...byParent(choice.ways)].filter(([, ways]) => ways.length > 1);
  for (const [, ways] of wanted) kept.push(earlier.find((group) => isSame(group, ways, choice)));
  const gone = earlier.filter((group) => !kept.includes(group));
  const focused = gone.find((group) => group.added.some((node) => node.contains(nativeGet(document, "activeElement"))));
  gone.forEach(removeGroup);
  groups = wanted.map(([, ways], at) => {
    const before = gone.find((group) => ways.some((way) => isEarlier(way.container)(group)));
    // A choice that nobody has made is made anew, as the accounts may come after the other forms.
    return kept[at] || addGroup(ways, choice, before && before.isChosen ? before.open.container : null, tools);
  });
  for (const way of choice.ways) if (!groups.some(isEarlier(way.container))) setOpen(way.container, true);
  // A shopper who was in the list is in it again.
  const next = focused && groups.find((group) => !kept.includes(group));
  if (next) next.stops().find(({ way }) => way === next.open)?.node.focus();
  kept.forEach((group) => group && apply(group));
  runSoon(() => groups.forEach(settle));
}

function restyle() { groups.forEach(copyLook); }

function end() {
  groups.forEach(removeGroup);
  groups = [];
}

const loader = globalOf("__tillgate");
if (loader && loader.takeChoice) loader.takeChoice(copyBare({ show, restyle, end }));
