// Heads of ways to pay: rows with a radio button, or tabs.

import { make, nativeCall, setStyle } from "../loader/native.js";
import { blockOf } from "./stored.js";

// Attribute of everything that a loader adds to the page.
const MARK = "data-tillgate";
// Most emblems of cards in a head.
const EMBLEMS = 4;
// Styles that a head takes over from its container, which the page may have styled.
const LOOK = ["--wpwl-accent", "--wpwl-radius", "--tillgate-scheme", "max-width"];

function makeEmblems(group, way) {
  const emblems = way.brands.slice(0, EMBLEMS).map((code) => {
    group.tools.showMark(code);
    return make("span", `wpwl-brand wpwl-brand-${code} wpwl-brand-inline`);
  });
  return make("span", "wpwl-method-brands", { "aria-hidden": "true" }, emblems);
}

function markOf(group) {
  const marked = group.ways.map(blockOf).find((block) => block.hasAttribute(MARK));
  return marked ? marked.getAttribute(MARK) : "";
}

// Makes an element of the choice, in the language of the form.
function makePart(group, classes, attributes, children) {
  const part = make("div", classes, attributes, children);
  const { lang, dir } = group.choice;
  if (lang) part.lang = lang;
  if (dir) part.dir = dir;
  part.setAttribute(MARK, markOf(group));
  return part;
}

function makeRow(group, way, at) {
  // Without a form around it: it is not posted, and a form of the page does not group it with its own.
  const attributes = { type: "radio", name: group.id, value: way.key, form: "" };
  const texts = [make("span", "wpwl-method-name", null, [way.name])];
  if (way.hint) texts.push(make("span", "wpwl-method-hint", null, [way.hint]));
  way.node = make("input", "wpwl-tick", attributes);
  const label = make("label", "", null, [way.node, make("span", "wpwl-method-text", null, texts), makeEmblems(group, way)]);
  way.head = makePart(group, "wpwl-method", { id: `${group.id}-${at}` }, [label]);
  nativeCall(blockOf(way), "before", way.head);
  return way.head;
}

// Adds a row before each container. The accounts' rows are there already. The rows are no children of one element, so
// an empty one says to screen readers that they belong together.
export function addRows(group) {
  const [first] = group.ways;
  group.list = makePart(group, "wpwl-methods", { role: "radiogroup", "aria-label": group.choice.label });
  nativeCall(blockOf(first), "before", group.list);
  group.added = [group.list];
  group.ways.forEach((way, at) => {
    if (way.key !== "stored") group.added.push(makeRow(group, way, at));
  });
}

// Adds a row of tabs before the first container.
export function addTabs(group) {
  const tabs = group.ways.map((way, at) => {
    const attributes = { type: "button", role: "tab", id: `${group.id}-${at}`, "aria-controls": way.container.id };
    const name = make("span", "wpwl-method-name", null, [way.name]);
    way.node = make("button", "wpwl-tab", attributes, [makeEmblems(group, way), name]);
    way.head = way.node;
    way.container.setAttribute("role", "tabpanel");
    way.container.setAttribute("aria-labelledby", way.node.id);
    return way.node;
  });
  group.list = makePart(group, "wpwl-tabs", { role: "tablist", "aria-label": group.choice.label }, tabs);
  group.note = makePart(group, "wpwl-tab-note");
  const [first] = group.ways;
  nativeCall(blockOf(first), "before", group.list, group.note);
  group.added = [group.list, group.note];
}

// Gives the heads the look of their containers.
export function copyLook(group) {
  for (const node of group.added) {
    const way = group.ways.find(({ head }) => head === node) || group.ways[0];
    const style = getComputedStyle(way.container);
    for (const name of LOOK) setStyle(node, name, style.getPropertyValue(name));
  }
}
