//! The page module in a real browser, without a gateway: the test acts as the loader and the frames.
//! `cargo xtask test` runs it; `wasm-pack test --headless --chrome widget` runs it alone.
#![cfg(all(target_arch = "wasm32", feature = "page"))]
#![allow(clippy::unwrap_used)]

use tillgate_widget::page::start;
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

// The loader's work in short: one card form whose frames say what the test wants.
#[wasm_bindgen(inline_js = r#"
export function mount(options, brands) {
  window.wpwlOptions = options;
  const make = (tag, classes, children) => {
    const element = Object.assign(document.createElement(tag), { className: classes });
    element.append(...(children || []));
    return element;
  };
  const frame = (field) => Object.assign(make("iframe", "wpwl-control"), { name: field });
  const [number, code] = [frame("card.number"), frame("card.cvv")];
  const group = (name, control) => make("div", `wpwl-group wpwl-group-${name}`, [
    make("div", `wpwl-label wpwl-label-${name}`), make("div", `wpwl-wrapper wpwl-wrapper-${name}`, control ? [control] : []),
  ]);
  const groups = [group("brand"), group("cardNumber", number), group("expiry"), group("cardHolder"), group("cvv", code), group("submit")];
  groups[0].append(make("div", "wpwl-brand wpwl-brand-card"));
  const form = make("form", "wpwl-form wpwl-form-card", [...groups, make("div", "wpwl-slot")]);
  const container = Object.assign(make("div", "wpwl-container wpwl-container-card", [form]), { id: "card_1" });
  document.body.append(container);
  const placed = { nonce: String(Math.random()), brands, isCard: true, key: "wpwl-container-card", container, form, number, code, readResult: () => "" };
  const loader = {
    version: 1, base: location.origin + "/", framesBase: location.origin + "/", build: "0", checkoutId: "1.a", purpose: "payment", framePermissions: "",
    readTexts: () => new Proxy({}, { getOwnPropertyDescriptor: (_, key) => key === "dir" ? undefined : ({ value: `The text of ${key}`, configurable: true }), get: (_, key) => key === "dir" ? undefined : `The text of ${String(key)}` }),
    readOptions: () => window.wpwlOptions, loadLaterParts: work => work && work(), readLocale: () => "en",
    listForms: () => [placed], findRelay: () => null, openRelay: () => frame("relay"),
    runSoon: (work) => setTimeout(work), showMark() {}, explain() {}, showChoice() {}, openPart: () => null,
    releaseForm() {}, completeForm() { container.dataset.complete = "true"; }, fail(error) { throw error; },
    connect(functions) { window.testPage = functions; },
  };
  window.wpwl = { checkout: {} };
  window.testForm = placed;
  window.__tillgate.start(loader);
}
export function say(number, data) {
  const frame = number ? testForm.number : testForm.code;
  testPage.receive({ source: frame.contentWindow, data: { tillgate: 1, form: testForm.nonce, field: frame.name, ...data } });
}
export function press() { testForm.container.querySelector(".wpwl-button-pay").click(); }
export function end() { testPage.stop(); }
export function html(selector) {
  const found = testForm.container.querySelector(selector);
  return found ? found.outerHTML : "";
}
export function value(selector) { return testForm.container.querySelector(selector).value; }
export function count(selector) { return document.querySelectorAll(selector).length; }
export function type(selector, text) {
  const input = testForm.container.querySelector(selector);
  input.value = text;
  input.dispatchEvent(new Event("input"));
}
export function now() { return performance.now(); }
export function tick() { return new Promise((done) => setTimeout(done)); }
export function parse(source) { return new Function("return " + source)(); }
"#)]
extern "C" {
    fn mount(options: JsValue, brands: JsValue);
    fn say(number: bool, data: JsValue);
    fn press();
    fn end();
    fn html(selector: &str) -> String;
    fn value(selector: &str) -> String;
    fn count(selector: &str) -> u32;
    #[wasm_bindgen(js_name = type)]
    fn type_in(selector: &str, text: &str);
    async fn tick();
    fn now() -> f64;
    fn parse(source: &str) -> JsValue;
}

const CONFIG: &str = "{type:'ready',config:{checkout:{id:'1.a'},brands:{
    VISA:{kind:'card',name:'Visa',flow:'now'},MASTER:{kind:'card',name:'Mastercard',flow:'now'}}}}";

/// Creates a card form with these options, whose frames are ready.
async fn create_form(options: &str) {
    start::offer_module();
    mount(parse(options), parse("['VISA','MASTER']"));
    wait_until(|| count(".wpwl-button-pay") == 1).await;
    say(true, parse(CONFIG));
    say(false, parse("{type:'ready'}"));
    wait_until(|| html(".wpwl-control-brand").contains("Mastercard") && count("[data-complete]") == 1).await;
}

/// Waits until yew has rendered what is expected; it yields to the browser when it has much to do.
async fn wait_until(expected: impl Fn() -> bool) {
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
async fn faults_appear_at_the_fields_and_disappear_when_corrected() {
    create_form("{}").await;
    press();
    // Number, expiry date and code.
    wait_until(|| count(".wpwl-hint") == 3 && html(".wpwl-button-pay").contains("disabled")).await;
    assert!(html(".wpwl-hint-cvvError").contains("The text of cvvEmpty"));
    assert!(html("[name='card.expiry']").contains("aria-invalid=\"true\""));
    let good = "{type:'state',empty:false,known:true,complete:true,valid:true,brand:'VISA',brands:['VISA']}";
    say(true, parse(good));
    say(false, parse(good));
    type_in("[name='card.expiry']", "12/2049");
    wait_until(|| count(".wpwl-hint") == 0 && !html(".wpwl-button-pay").contains("disabled")).await;
    assert!(html("[name='card.expiry']").contains("aria-invalid=\"false\""));
    end();
}

#[wasm_bindgen_test]
async fn the_brand_follows_the_number_without_an_option() {
    create_form("{}").await;
    say(true, parse("{type:'state',empty:false,known:true,brand:'VISA',brands:['MASTER']}"));
    wait_until(|| html("div.wpwl-brand-MASTER").contains("wpwl-brand-card")).await;
    assert_eq!(value(".wpwl-control-brand"), "MASTER");
    end();
}

#[wasm_bindgen_test]
async fn options_that_are_texts_count_like_booleans() {
    create_form("{showLabels: 'false', showPlaceholders: 'false'}").await;
    assert!(html(".wpwl-label-expiry").contains("hidden"));
    assert!(!html("[name='card.holder']").contains("placeholder"));
    end();
}

#[wasm_bindgen_test]
async fn nothing_is_left_after_the_end() {
    create_form("{}").await;
    press();
    wait_until(|| count(".wpwl-hint") == 3).await;
    end();
    wait_until(|| count("[class*=wpwl]") == 0).await;
}
