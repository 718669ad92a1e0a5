// The package on a server, by `node --test`: there is neither a window nor a document.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import test from "node:test";
import { createElement, version } from "react";
import { renderToString } from "react-dom/server";
import { createSSRApp, h } from "vue";
import * as vueServer from "vue/server-renderer";
import { loadPaymentWidgets } from "@tillgate/payment-widgets";
import { PaymentWidgets as ReactForm } from "@tillgate/payment-widgets/react";
import { PaymentWidgets as VueForm } from "@tillgate/payment-widgets/vue";

const CHECKOUT = { gateway: "https://pay.example/", checkoutId: "0123", integrity: `sha384-${"A".repeat(64)}` };

test("nothing was put into the global scope", () => {
  assert.equal(typeof window, "undefined");
  assert.equal(typeof document, "undefined");
  assert.equal(globalThis.wpwlOptions, undefined);
});

test("a call on a server is an error that says so", () => {
  assert.throws(() => loadPaymentWidgets(CHECKOUT), /TypeError: loadPaymentWidgets: needs a browser/);
});

test("a wrong setting is named", () => {
  const wrong = [
    ["gateway", { gateway: undefined }],
    ["gateway", { gateway: "/pay/" }],
    ["gateway", { gateway: "//pay.example/" }],
    ["gateway", { gateway: "javascript:alert(1)//" }],
    ["gateway", { gateway: "data:text/javascript,alert(1)//" }],
    ["gateway", { gateway: "blob:https://pay.example/0" }],
    ["checkoutId", { checkoutId: undefined }],
    ["checkoutId", { checkoutId: "" }],
    ["checkoutId", { checkoutId: 7 }],
    ["checkoutId", { checkoutId: {} }],
    // Browsers ignore such a hash, and would run any script.
    ["integrity", { integrity: "" }],
    ["integrity", { integrity: "md5-AAAA" }],
    ["integrity", { integrity: true }],
    ["options", { options: "dark" }],
  ];
  for (const [name, change] of wrong) {
    const call = () => loadPaymentWidgets({ ...CHECKOUT, ...change });
    assert.throws(call, (error) => error instanceof TypeError && error.message.includes(`: ${name} `), JSON.stringify(change));
  }
  assert.throws(() => loadPaymentWidgets(), /gateway|checkoutId/);
  assert.throws(() => loadPaymentWidgets(null), /gateway|checkoutId/);
});

test(`React ${version} and Vue render an empty element`, async () => {
  const settings = { ...CHECKOUT, brands: ["VISA"], options: { onReady() {} } };
  assert.equal(renderToString(createElement(ReactForm, { ...settings, className: "pay" })), '<div class="pay"></div>');
  assert.equal(await vueServer.renderToString(createSSRApp(() => h(VueForm, { ...settings, class: "pay" }))), '<div class="pay"></div>');
});

test("the component for React is a client component, so pages of Next can import it", () => {
  const path = createRequire(import.meta.url).resolve("@tillgate/payment-widgets/react");
  assert.ok(readFileSync(path, "utf8").startsWith('"use client";\n'));
});
