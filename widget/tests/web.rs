//! The page part in a real browser, without a gateway: the test plays the loader and the frames.
//! Run with `wasm-pack test --headless --chrome widget`.
#![cfg(all(target_arch = "wasm32", feature = "page"))]
#![allow(clippy::unwrap_used)]

use tillgate_widget::page::runtime;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

// A loader's work in short: the bones of one form, and frames that say what the test wants.
#[wasm_bindgen(inline_js = r#"
export function mount(options) {
  window.wpwlOptions = options;
  window.wpwl = { checkout: {} };
  const groups = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"];
  const container = document.createElement("div");
  container.id = "card_1";
  container.className = "wpwl-container wpwl-loading";
  container.innerHTML = "<form>" + groups.map((name) =>
    `<div class="wpwl-group-${name}"><div class="wpwl-label-${name}"></div>` +
    `<div class="wpwl-wrapper-${name}"></div></div>`).join("") +
    `<div class="wpwl-brand-card"></div><div class="slot"></div></form>`;
  document.body.append(container);
  const form = container.querySelector("form");
  const frame = (name) => {
    const element = document.createElement("iframe");
    container.querySelector(`.wpwl-wrapper-${name}`).append(element);
    return element;
  };
  const object = {
    nonce: String(Math.random()), brands: ["VISA", "MASTER"], form, container,
    slot: container.querySelector(".slot"), number: frame("cardNumber"), code: frame("cvv"), result: "/",
  };
  const state = window.__tillgate;
  // What the page part asks of the loader beside this is about frames and callbacks, and may be missing.
  Object.assign(state, { base: location.origin + "/", locale: "en", forms: [object], inbox: [] });
  state.start(state);
  window.testForm = object;
}
export function say(number, data) {
  const frame = number ? testForm.number : testForm.code;
  __tillgate.receive(new MessageEvent("message", { source: frame.contentWindow, data }));
}
export function pay() { testForm.pay(); }
export function end() { __tillgate.stop(); testForm.container.remove(); }
export function html(selector) {
  const found = testForm.container.querySelector(selector);
  return found ? found.outerHTML : "";
}
export function count(selector) { return testForm.container.querySelectorAll(selector).length; }
export function type(selector, text) {
  const input = testForm.container.querySelector(selector);
  input.value = text;
  input.dispatchEvent(new Event("input"));
}
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
    fn type_in(selector: &str, text: &str);
    async fn tick();
    fn options(source: &str) -> JsValue;
}

/// A form of the loader with these options.
fn skeleton(source: &str) {
    runtime::offer();
    mount(options(source));
}

/// A form whose frames are ready.
async fn form(source: &str) {
    skeleton(source);
    let config = "{type:'ready',config:{checkout:{id:'A.b',amount:'92.00'},test:true,\
                  brands:{VISA:{kind:'card',name:'Visa'},MASTER:{kind:'card',name:'Mastercard'}}}}";
    say(true, options(config));
    say(false, options("{type:'ready'}"));
    until(|| html("select").contains("Mastercard")).await;
}

/// Waits until yew has rendered what is expected; it yields to the browser when it has much to do.
async fn until(expected: impl Fn() -> bool) {
    for _ in 0..1000 {
        if expected() {
            return;
        }
        tick().await;
    }
    panic!("the form never looked as expected: {}", html("form"));
}

#[wasm_bindgen_test]
async fn a_form_is_shown_once_both_frames_are_ready() {
    skeleton("{}");
    until(|| count(".wpwl-control-expiry") == 1 && count(".wpwl-button-pay") == 1).await;
    assert!(html("select").contains("<option value=\"MASTER\">"));
    end();
    form("{}").await;
    assert!(html("select").contains(">Mastercard</option>"));
    end();
}

#[wasm_bindgen_test]
async fn the_merchants_words_are_shown() {
    form("{labels: {cvv: 'Code', submit: 'Go'}, showPlaceholders: false}").await;
    assert!(html(".wpwl-label-cvv").contains(">Code</div>"));
    assert!(html(".wpwl-button-pay").contains(">Go</button>"));
    assert!(!html(".wpwl-control-expiry").contains("placeholder"));
    end();
}

#[wasm_bindgen_test]
async fn faults_are_shown_at_the_fields_and_go_when_corrected() {
    form("{}").await;
    pay();
    // Number, expiry and code.
    until(|| count(".wpwl-hint") == 3 && html(".wpwl-button-pay").contains("disabled")).await;
    let good = "{type:'state',empty:false,known:true,complete:true,valid:true,brands:['VISA']}";
    say(true, options(good));
    say(false, options(good));
    type_in(".wpwl-control-expiry", "12/2049");
    until(|| count(".wpwl-hint") == 0 && !html(".wpwl-button-pay").contains("disabled")).await;
    end();
}

#[wasm_bindgen_test]
async fn detection_follows_the_number_where_the_merchant_wants_it() {
    form("{brandDetection: true}").await;
    say(true, options("{type:'state',empty:false,known:true,brands:['MASTER']}"));
    until(|| html(".wpwl-brand-card").contains("wpwl-brand-MASTER")).await;
    end();
}

#[wasm_bindgen_test]
async fn a_dead_checkout_takes_the_forms_place() {
    skeleton("{}");
    say(true, options("{type:'ready',config:{error:{name:'InvalidCheckoutIdError',message:'x'}}}"));
    until(|| html(".wpwl-message.wpwl-has-error").contains("<br>")).await;
    assert!(html("form").contains("hidden"));
    end();
}

#[wasm_bindgen_test]
async fn nothing_is_left_after_the_end() {
    form("{}").await;
    pay();
    until(|| count(".wpwl-hint") == 3).await;
    end();
    until(|| count("input, select, button, .wpwl-hint") == 0).await;
}
