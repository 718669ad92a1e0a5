// The playground: builds controls from the table of options, and the form from their values.
// Every change unloads the form and loads it again with a new checkout, like a single-page application.
"use strict";

(async () => {
  const $ = (id) => document.getElementById(id);
  const [stage, note, log, form] = ["stage", "note", "log", "controls"].map($);
  const table = await (await fetch("/playground/options.json")).json();
  // `trunk serve` removes this line from the page, and loads the page module itself.
  const underTrunk = !document.querySelector("link[data-trunk]");

  // ---- controls

  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const name in attributes) element.setAttribute(name, attributes[name]);
    element.append(...children);
    return element;
  };

  // Returns a text's nodes, with an element for each `code`.
  const prose = (text) => text.split("`").map((part, at) => (at % 2 ? make("code", {}, part) : part));

  const inputs = {
    switch: ({ default: on }) => {
      const input = make("input", { type: "checkbox" });
      input.defaultChecked = on;
      return input;
    },
    choice: ({ values, value: first }) =>
      make("select", {}, ...values.map((value) => {
        const option = make("option", { value }, value || "(none)");
        option.defaultSelected = value === first;
        return option;
      })),
    text: ({ example }) => make("input", { placeholder: example || "", spellcheck: "false" }),
    brands: ({ example }) => make("input", { placeholder: example || "VISA MASTER", spellcheck: "false" }),
    words: ({ example }) => make("textarea", { placeholder: example, spellcheck: "false", rows: 3 }),
    object: ({ example }) => make("textarea", { placeholder: example, spellcheck: "false", rows: 3 }),
  };

  const control = (row, at) => {
    const id = `c${at}`;
    const input = inputs[row.kind](row);
    Object.assign(input, { id, name: row.name });
    input.setAttribute("aria-describedby", `${id}-about`);
    if (row.value && row.kind !== "choice") input.defaultValue = row.value;
    const title = make("code", {}, row.name);
    const label =
      row.kind === "switch"
        ? make("label", { class: "switch", for: id }, input, title)
        : make("label", { for: id }, title);
    const about = make("p", { id: `${id}-about` }, ...prose(row.meaning));
    const box = make("div", { class: "control" }, label, ...(row.kind === "switch" ? [] : [input]), about);
    return Object.assign(row, { input, box });
  };

  const rows = table.flatMap(({ rows }) => rows).map(control);
  for (const [at, group] of table.entries()) {
    const details = make("details", {}, make("summary", {}, group.title), ...group.rows.map(({ box }) => box));
    details.open = at === 0;
    $("groups").append(details);
  }

  const valueOf = ({ kind, input }) => (kind === "switch" ? String(input.checked) : input.value);
  const defaultOf = ({ kind, input }) => {
    if (kind === "switch") return String(input.defaultChecked);
    if (kind !== "choice") return input.defaultValue;
    return (Array.from(input.options).find((option) => option.defaultSelected) || input.options[0]).value;
  };
  const changed = (row) => valueOf(row) !== defaultOf(row);
  // An option that the page sets at the beginning is not the form's own default.
  const isSet = (row) => (row.kind === "choice" && row.value ? valueOf(row) !== row.values[0] : changed(row));

  // ---- the address

  const addressQuery = new URLSearchParams(location.search);
  for (const row of rows) {
    const value = addressQuery.get(row.name);
    if (value === null) continue;
    if (row.kind === "switch") row.input.checked = value === "true";
    else if (row.kind !== "choice" || row.values.includes(value)) row.input.value = value;
    row.box.closest("details").open = true;
  }
  const address = () => {
    const query = new URLSearchParams(rows.filter(changed).map((row) => [row.name, valueOf(row)]));
    return location.pathname + (String(query) && `?${query}`);
  };

  // ---- values of the controls

  const parsers = {
    switch: (text) => text === "true",
    brands: (text) => text.split(/[\s,]+/).filter(Boolean),
    words: (text) =>
      Object.fromEntries(
        text.split("\n").filter((line) => line.trim()).map((line) => {
          const at = line.indexOf("=");
          if (at < 1) throw new Error("no =");
          return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
        }),
      ),
    object: (text) => JSON.parse(text),
  };

  // Sets a property; a name with dots is a path into nested objects.
  const setPath = (object, name, value) => {
    const path = name.split(".");
    const last = path.pop();
    for (const step of path) object = object[step] ||= {};
    object[last] = value;
  };

  const read = (part) => {
    const found = {};
    for (const row of rows.filter((row) => row.part === part)) {
      row.input.removeAttribute("aria-invalid");
      try {
        if (isSet(row)) setPath(found, row.name, (parsers[row.kind] || String)(valueOf(row)));
      } catch {
        row.input.setAttribute("aria-invalid", "true");
      }
    }
    return found;
  };
  const setting = (name) => valueOf(rows.find((row) => row.name === name));

  // ---- callbacks

  const shown = (value) => {
    if (value instanceof Error || (value && value.name && value.message)) return `${value.name}: ${value.message}`;
    if (value instanceof Event) return `[${value.type} event]`;
    if (value instanceof Element || (value && value[0] instanceof Element)) return "[element]";
    try {
      return JSON.stringify(value);
    } catch {
      return String(value);
    }
  };
  const report = (name, text) => {
    log.append(make("p", {}, make("b", {}, name), " ", text));
    log.scrollTop = log.scrollHeight;
  };
  const answers = { "go on": undefined, stop: false };
  const callback = (row) =>
    function (...values) {
      report(row.name, values.map(shown).join(", "));
      if (row.name === "createCheckout") return prepare().then(({ checkoutId, error }) => checkoutId || Promise.reject(new Error(error)));
      if (row.kind === "choice" && valueOf(row) === "stop after a second") {
        return new Promise((done) => setTimeout(() => done(false), 1000));
      }
      return answers[valueOf(row)];
    };
  const listening = () => rows.filter((row) => row.part === "callback" && valueOf(row) !== "false");

  // ---- the snippets

  const literal = (value, indent = "") => {
    if (!value || typeof value !== "object" || Array.isArray(value)) return JSON.stringify(value);
    const key = (name) => (/^\w+$/.test(name) ? name : JSON.stringify(name));
    const lines = Object.entries(value).map(([name, it]) => `${indent}  ${key(name)}: ${literal(it, `${indent}  `)},`);
    return lines.length ? `{\n${lines.join("\n")}\n${indent}}` : "{}";
  };
  // True if the checkout is prepared only when the shopper pays.
  const isLate = () => setting("createCheckout") === "true";
  const LATE = `  async createCheckout({ brand }) {
    const answer = await fetch("/your/checkout", { method: "POST", body: new URLSearchParams({ brand }) });
    return (await answer.json()).id;
  },
`;
  const escaped = (text) => text.replace(/[&"<]/g, (it) => `&#${it.charCodeAt(0)};`);
  const quoted = (text) => (/^[\w.,:/@=-]+$/.test(text) ? text : `'${text.replace(/'/g, "'\\''")}'`);

  // In one piece, the end tag would end this script if it were inline.
  const inScript = (inside, attributes = "") => `<script${attributes}>${inside}</${"script"}>`;
  const RESULT = "https://shop.example/result";
  const sheetOf = (rules) => rules && `.wpwl-container {\n${rules}}\n`;
  const inStyle = (rules) => (rules ? [`<style>\n${sheetOf(rules)}</style>`] : []);
  const importOf = (kind) => `import { PaymentWidgets } from "@tillgate/payment-widgets/${kind}";\n`;
  // Attributes of React know no escapes, so unusual text is an expression.
  const brandsAttribute = (brands) => (/["&\\]/.test(brands) ? `brands={${JSON.stringify(brands)}}` : `brands="${brands}"`);
  const indented = (lines, by) => lines.map((line) => `${by}${line}\n`).join("");

  // The snippets by the page that they are for. `text` has the options, `rules` the theme; both may be empty.
  const pages = {
    script: ({ gateway, brands, text, rules }) => [
      ...inStyle(rules),
      ...(text ? [inScript(`\nvar wpwlOptions = ${text};\n`)] : []),
      inScript("", isLate() ? ` src="${gateway}v1/paymentWidgets.js"` : ` src="${gateway}v1/paymentWidgets.js?checkoutId={id}" integrity="{integrity}" crossorigin="anonymous"`),
      `<form class="paymentWidgets" action="${RESULT}" data-brands="${escaped(brands)}"></form>`,
    ],
    react: ({ gateway, brands, text, rules }) => {
      const checkout = isLate() ? [] : ["checkoutId={checkoutId}", "integrity={integrity}"];
      const lines = [`gateway="${gateway}"`, ...checkout, brandsAttribute(brands), `action="${RESULT}"`];
      if (text) lines.push("options={options}");
      return [
        importOf("react") + (text && `\nconst options = ${text};\n`),
        `export function Payment(${isLate() ? "" : "{ checkoutId, integrity }"}) {\n  return (\n    <PaymentWidgets\n${indented(lines, "      ")}    />\n  );\n}`,
        ...(rules ? [`\n/* In your style sheet */\n${sheetOf(rules)}`] : []),
      ];
    },
    vue: ({ gateway, brands, text, rules }) => {
      const checkout = isLate() ? [] : [':checkout-id="checkoutId"', ':integrity="integrity"'];
      const lines = [`gateway="${gateway}"`, ...checkout, `brands="${escaped(brands)}"`, `action="${RESULT}"`];
      if (text) lines.push(':options="options"');
      const props = isLate() ? "" : '\ndefineProps(["checkoutId", "integrity"]);\n';
      return [
        inScript(`\n${importOf("vue")}${props}${text && `\nconst options = ${text};\n`}`, " setup"),
        `<template>\n  <PaymentWidgets\n${indented(lines, "    ")}  />\n</template>`,
        ...inStyle(rules),
      ];
    },
  };

  // Writes the snippet for the page that the visitor has chosen. `snippet` is made of the latest form.
  let snippet = null;
  const writeSnippet = () => {
    if (snippet) $("snippet").textContent = pages[$("made-with").value](snippet).join("\n");
  };

  const write = (options, theme, { gateway, registrations = [] }) => {
    // Only callbacks that stop the form have a snippet.
    const stops = listening().filter((row) => row.kind === "choice" && changed(row));
    const functions = stops.map(({ name }) => `  async ${name}(event) {\n    return false;\n  },\n`).join("") + (isLate() ? LATE : "");
    const text = literal(options).replace(/\n?\}$/, functions ? `\n${functions}}` : "$&");
    const rules = indented(Object.entries(theme).map(([name, value]) => `${name}: ${value};`), "  ");
    snippet = { gateway, brands: setting("brands"), text: text === "{}" ? "" : text.replace(/</g, "\\u003c"), rules };
    writeSnippet();
    const parameters = checkoutFields().filter(([name]) => !name.includes(" "));
    registrations.forEach((id, n) => parameters.push([`registrations[${n}].id`, id]));
    const fields = parameters.map(([name, value]) => `-d ${quoted(`${name}=${value}`)}`);
    $("curl").textContent =
      `curl ${gateway}v1/checkouts \\\n  -H "Authorization: Bearer $TOKEN" \\\n` +
      `  -d entityId=$ENTITY_ID \\\n  ${[...fields, "-d integrity=true"].join(" \\\n  ")}`;
  };

  // ---- the form

  const checkoutFields = () =>
    rows
      .filter((row) => row.part === "checkout" && (row.kind === "switch" ? changed(row) : valueOf(row)))
      .map((row) => [row.name, valueOf(row)]);

  const sheet = new CSSStyleSheet();
  sheet.insertRule("#stage .wpwl-container {}");
  const applyTheme = (theme) => {
    document.documentElement.classList.toggle("dark", setting("dark page") === "true");
    const { style } = sheet.cssRules[0];
    style.cssText = "";
    for (const name in theme) style.setProperty(name, theme[name]);
    // The form adds and removes its own sheets; this one stays last.
    document.adoptedStyleSheets = [...document.adoptedStyleSheets.filter((it) => it !== sheet), sheet];
  };

  const prepare = () => {
    const body = new URLSearchParams(checkoutFields());
    return fetch("/dev/checkout", { method: "POST", body }).then((it) => it.json()).catch(() => ({}));
  };

  let latest = 0;
  const load = async () => {
    const current = ++latest;
    for (const status of document.querySelectorAll("[data-copies] + *")) status.textContent = "";
    const theme = read("theme");
    const options = read("option");
    history.replaceState(null, "", address());
    note.textContent = "Asking for a checkout …";
    const checkout = await prepare();
    // A later change loads the form again.
    if (current !== latest) return;
    if (window.wpwl) wpwl.unload();
    document.querySelectorAll("script[src*='paymentWidgets.js']").forEach((script) => script.remove());
    stage.replaceChildren();
    const gateway = underTrunk ? `${location.origin}/` : checkout.gateway;
    if (!checkout.checkoutId) {
      note.textContent = checkout.error || "No checkout: is `cargo xtask demo` running?";
      return;
    }
    note.textContent = "";
    applyTheme(theme);
    write(options, theme, checkout);
    for (const row of listening()) setPath(options, row.name, callback(row));
    window.wpwlOptions = options;
    const place = make("form", { class: "paymentWidgets", action: location.href, "data-brands": setting("brands") });
    const loader = make("script", { src: `${gateway}v1/paymentWidgets.js${isLate() ? "" : `?checkoutId=${checkout.checkoutId}`}` });
    if (underTrunk) loader.dataset.pagePart = "external";
    else Object.assign(loader, { integrity: checkout.integrity || "", crossOrigin: "anonymous" });
    stage.append(place, loader);
  };

  // ---- events of the page

  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", ({ target }) => target.id !== "search" && load());
  // The event precedes the reset.
  form.addEventListener("reset", () => setTimeout(load));
  $("made-with").addEventListener("change", writeSnippet);
  $("search").addEventListener("input", ({ target }) => {
    const query = target.value.trim().toLowerCase();
    for (const { name, meaning, box } of rows) {
      box.hidden = !`${name} ${meaning}`.toLowerCase().includes(query);
    }
    for (const details of document.querySelectorAll("#groups details")) {
      const some = details.querySelector(".control:not([hidden])");
      details.hidden = !some;
      if (query) details.open = Boolean(some);
    }
    const count = rows.filter(({ box }) => !box.hidden).length;
    $("found").textContent = query ? `${count} of ${rows.length} options` : "";
  });
  document.addEventListener("click", async ({ target }) => {
    const source = target.dataset && target.dataset.copies;
    if (!source) return;
    await navigator.clipboard.writeText($(source).textContent).catch(() => getSelection().selectAllChildren($(source)));
    target.nextElementSibling.textContent = "Copied.";
  });

  // After the return from a payment, read its status, as a merchant's server does.
  const path = addressQuery.get("resourcePath");
  if (path) {
    const query = new URLSearchParams({ resourcePath: path });
    const status = await fetch(`/dev/status?${query}`).then((it) => it.json()).catch((error) => ({ error: String(error) }));
    $("result").hidden = false;
    $("result").querySelector("pre").textContent = `GET ${path}\n\n${JSON.stringify(status, null, 2)}`;
  }
  load();
})();
