//! What the script of the frame calls.

use gloo_net::http::Request;
use js_sys::Array;
use wasm_bindgen::prelude::*;

use super::checks;

/// See [`checks::number`]; `offered` are codes with spaces between them.
#[wasm_bindgen]
pub fn number(digits: &str, chosen: &str, offered: &str) -> String {
    let offered: Vec<String> = offered.split(' ').map(String::from).collect();
    checks::number(digits, chosen, &offered)
}

/// See [`checks::code`].
#[wasm_bindgen]
pub fn code(digits: &str, chosen: &str) -> String {
    checks::code(digits, chosen)
}

/// See [`checks::groups`].
#[wasm_bindgen]
pub fn groups(digits: &str) -> String {
    checks::groups(digits)
}

/// Posts the payment: the page's fields, already encoded, with number and code, which are digits.
/// Brings status and body of the answer.
///
/// # Errors
/// When there is no answer.
#[wasm_bindgen]
pub async fn submit(address: String, fields: String, number: String, code: String) -> Result<Array, JsValue> {
    let mut body = [&fields, "&card.number=", &number].concat();
    if !code.is_empty() {
        body.push_str("&card.cvv=");
        body.push_str(&code);
    }
    let lost = |_| JsValue::UNDEFINED;
    let answer = Request::post(&address)
        .header("content-type", "application/x-www-form-urlencoded")
        .body(body)
        .map_err(lost)?
        .send()
        .await
        .map_err(lost)?;
    let status = JsValue::from_f64(f64::from(answer.status()));
    let text = answer.text().await.map_err(lost)?;
    Ok(Array::of2(&status, &JsValue::from_str(&text)))
}
