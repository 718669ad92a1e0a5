//! The page part in a real browser, without a gateway: the test plays the loader and the frames.
//! `cargo xtask test` runs it; `wasm-pack test --headless --chrome widget` runs it alone.
#![cfg(all(target_arch = "wasm32", feature = "page"))]
#![allow(clippy::unwrap_used)]

use tillgate_widget::page::runtime;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

// A loader's work in short: one form, and frames that say what the test wants.
#[wasm_bindgen(inline_js = r#"
export function mount(options) {
  window.wpwlOptions = options;
  const make = (tag, name, children) => {
    const element = Object.assign(document.createElement(tag), { className: `wpwl-${name}` });
    element.append(...(children || []));
    return element;
  };
  const named = (tag, name) => Object.assign(make(tag, `control-${name}`), { name });
  const [select, expiry, holder] = [named("select", "brand"), named("input", "card.expiry"), named("input", "card.holder")];
  const [number, code] = [make("iframe", "number"), make("iframe", "code")];
  for (const brand of ["VISA", "MASTER"]) select.append(new Option(brand, brand));
  const [slot, logo, button] = [make("div", "slot"), make("div", "brand-card"), make("button", "button-pay")];
  const fields = { brand: select, cardNumber: number, expiry, cardHolder: holder, cvv: code, submit: button };
  const wrappers = {};
  for (const name in fields) wrappers[name] = make("div", "wrapper", [fields[name]]);
  const form = make("form", "form", [...Object.values(wrappers), logo, slot]);
  const container = Object.assign(make("div", "container", [form]), { id: "card_1" });
  document.body.append(container);
  const object = {
    nonce: String(Math.random()), cards: ["VISA", "MASTER"], up: true,
    form, container, slot, logo, select, number, expiry, holder, code, button, wrappers,
  };
  const state = window.__tillgate;
  // Whatever else the page part asks of the loader is about frames and callbacks, and may be missing.
  Object.assign(state, {
    base: location.origin + "/", forms: [object], inbox: [],
    word: (key) => `The text of ${key}`, options: () => options,
  });
  state.start(state);
  window.testForm = object;
}
export function say(number, data) {
  const frame = number ? testForm.number : testForm.code;
  Object.assign(data, { form: testForm.nonce, field: number ? "card.number" : "card.cvv" });
  __tillgate.receive(new MessageEvent("message", { source: frame.contentWindow, data }));
}
export function pay() { testForm.act("pay", "VISA"); }
export function end() { __tillgate.stop(); testForm.container.remove(); }
export function html(selector) {
  const found = testForm.container.querySelector(selector);
  return found ? found.outerHTML : "";
}
export function count(selector) { return testForm.container.querySelectorAll(selector).length; }
export function type(text) {
  const input = testForm.expiry;
  input.value = text;
  testForm.act("expiry", "VISA");
}
export function now() { return performance.now(); }
export function tick() { return new Promise((done) => setTimeout(done)); }
export function options(source) { return new Function("return " + source)(); }
"#)]
extern "C" {
    fn mount(options: JsValue);
    fn say(number: bool, data: JsValue);
    fn pay();
    fn end();
    fn html(selector: &str) -> String;
    fn count(selector: &str) -> u32;
    #[wasm_bindgen(js_name = type)]
    fn type_in(text: &str);
    async fn tick();
    fn now() -> f64;
    fn options(source: &str) -> JsValue;
}

/// A form of the loader with these options, whose frames are ready.
fn form(source: &str) {
    runtime::offer();
    mount(options(source));
    say(true, options("{type:'ready'}"));
    say(false, options("{type:'ready'}"));
}

/// Waits until yew has rendered what is expected; it yields to the browser when it has much to do.
async fn until(expected: impl Fn() -> bool) {
    let started = now();
    // Half a minute: a machine may be busy.
    while now() - started < 30_000.0 {
        if expected() {
            return;
        }
        tick().await;
    }
    panic!("the form never looked as expected: {}", html("form"));
}

#[wasm_bindgen_test]
async fn faults_are_shown_at_the_fields_and_go_when_corrected() {
    form("{}");
    pay();
    // Number, expiry and code.
    until(|| count(".wpwl-hint") == 3 && html("button").contains("disabled")).await;
    assert!(html(".wpwl-hint-cvvError").contains("The text of cvvError"));
    assert!(html("[name='card.expiry']").contains("aria-invalid=\"true\""));
    let good = "{type:'state',empty:false,known:true,complete:true,valid:true,brand:'VISA',brands:['VISA']}";
    say(true, options(good));
    say(false, options(good));
    type_in("12/2049");
    until(|| count(".wpwl-hint") == 0 && !html("button").contains("disabled")).await;
    assert!(html("[name='card.expiry']").contains("aria-invalid=\"false\""));
    end();
}

#[wasm_bindgen_test]
async fn detection_follows_the_number_where_the_merchant_wants_it() {
    form("{brandDetection: true}");
    say(true, options("{type:'state',empty:false,known:true,brands:['MASTER']}"));
    until(|| html("div.wpwl-brand-MASTER").contains("wpwl-brand-card")).await;
    end();
}

#[wasm_bindgen_test]
async fn nothing_is_left_after_the_end() {
    form("{}");
    pay();
    until(|| count(".wpwl-hint") == 3).await;
    end();
    until(|| count(".wpwl-hint, .wpwl-live") == 0).await;
}
