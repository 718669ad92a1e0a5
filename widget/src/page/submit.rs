//! The submit: checks, the merchant's say, one request from the number frame, and where the shopper goes.

use wasm_bindgen::JsValue;
use yew::prelude::*;

use super::app::{App, Message};
use super::fields::Field;
use super::runtime::{loader, word};
use super::{callbacks, collect, frames, js, options};

impl App {
    /// Somebody wants to pay. Asking twice is asking once.
    pub(super) fn pay(&mut self, context: &Context<Self>) {
        if self.busy || js::flag(&self.handle.object, "ended") {
            return;
        }
        self.notice = None;
        if !self.handle.is_whole() {
            self.notice = Some(word("formError"));
            let text = "the page took the form or a frame out of the document";
            callbacks::error("PciIframeCommunicationError", text);
            return;
        }
        // Fields that options added are not ours; whoever made them marks what is wrong there.
        let check = js::function(&self.handle.object, "check");
        let others = check.and_then(|check| check.call0(&JsValue::UNDEFINED).ok()?.as_bool()) != Some(false);
        if !self.is_valid() {
            self.show_faults();
            return;
        }
        if !others {
            return;
        }
        self.busy = true;
        self.fill_hidden();
        let (link, handle, brand) = (context.link().clone(), self.handle.clone(), self.brand.clone());
        wasm_bindgen_futures::spawn_local(async move {
            let allowed = callbacks::before_submit(&handle, &brand).await;
            link.send_message(Message::Allowed(allowed));
        });
    }

    /// The merchant has decided.
    pub(super) fn allowed(&mut self, checkout: Option<String>) {
        if let Some("") = checkout.as_deref() {
            self.notice = Some(word("unsentError"));
        }
        let Some(checkout) = checkout.filter(|id| !id.is_empty()) else {
            self.busy = false;
            return;
        };
        self.announcement = word("processing");
        self.fill_hidden();
        let mut fields = collect::fields(&self.handle.form);
        // Groups that were moved out of the form still belong to it.
        let mut need = |name: &str, value: String| {
            if !value.is_empty() && !fields.iter().any(|(known, _)| known == name) {
                fields.push((name.to_owned(), value));
            }
        };
        need("paymentBrand", self.brand.clone());
        need("card.holder", self.live_value("card.holder", &self.handle.holder));
        if let Some(date) = self.expiry_date() {
            need("card.expiryMonth", date.month_text());
            need("card.expiryYear", date.year_text());
        }
        // An empty optional field is one that was not sent.
        fields.retain(|(name, value)| !value.is_empty() || name != "card.holder");
        fields.push(collect::surroundings());
        let code = options::on_by_default("requireCvv");
        let required = code && !options::is_on("allowEmptyCvv");
        let message = js::object(&[
            ("fields", &collect::pairs(&fields)),
            ("checkout", &JsValue::from_str(&checkout)),
            ("code", &JsValue::from_bool(code)),
            ("codeRequired", &JsValue::from_bool(required)),
        ]);
        frames::say(&self.handle.number, &self.frames_base, &self.handle.nonce, "submit", &message);
        callbacks::of_form("onAfterSubmit", &[], &self.handle);
    }

    /// Month and year in the form's hidden fields, in the gateway's format.
    fn fill_hidden(&self) {
        let Some(date) = self.expiry_date() else {
            return;
        };
        for (name, value) in [("Month", date.month_text()), ("Year", date.year_text())] {
            let selector = js::cat(&["input[name=\"card.expiry", name, "\"]"]);
            if let Some(input) = self.handle.find_input(&selector) {
                input.set_value(&value);
            }
        }
    }

    /// The number frame's own checks found these fields wrong.
    pub(super) fn refused(&mut self, names: &[String]) {
        self.busy = false;
        for field in names.iter().filter_map(|name| Field::of_parameter(name)) {
            self.fault(field, Some(field.plain_error()));
        }
        self.show_faults();
    }

    /// The request did not get through, or nobody knows whether it did.
    pub(super) fn unsent(&mut self, key: &str) {
        self.busy = false;
        self.notice = Some(word(key));
        self.announcement.clear();
        callbacks::error("PciIframeSubmitError", "the payment request was not answered");
    }

    /// The gateway answered.
    pub(super) fn answered(&mut self, data: &JsValue) {
        let answer = js::get(data, "answer");
        let status = js::get(&answer, "status").as_f64().unwrap_or_default();
        if status == 200.0 {
            // Still busy: nothing can be sent while the page goes away.
            self.leave(&answer);
            return;
        }
        self.busy = false;
        self.announcement.clear();
        let description = js::text(&answer, "description");
        let wrong = js::texts(&answer, "wrong");
        let ours: Vec<String> = wrong.iter().filter(|name| Field::of_parameter(name).is_some()).cloned().collect();
        if !ours.is_empty() {
            self.refused(&ours);
        } else if status == 404.0 || status == 410.0 {
            self.end("checkoutError");
            callbacks::error("InvalidCheckoutIdError", &description);
        } else if status == 400.0 && !description.is_empty() {
            let mut text = description;
            for name in &wrong {
                text.push(' ');
                text.push_str(name);
            }
            callbacks::error("WidgetError", &text);
            let withdrawn = wrong.iter().any(|name| name == "paymentBrand");
            let handle = std::slice::from_ref(&self.handle.object);
            let notice = if withdrawn { loader("withdrawn", handle).as_string() } else { None };
            self.notice = Some(notice.unwrap_or(text));
        } else {
            self.unsent(if status > 0.0 { "unsentError" } else { "communicationError" });
        }
    }

    /// Takes the shopper to the brand's page, or to the result page.
    fn leave(&mut self, answer: &JsValue) {
        self.busy = loader("leave", &[self.handle.object.clone(), answer.clone()]).is_truthy();
        if !self.busy {
            self.announcement.clear();
        }
    }
}
