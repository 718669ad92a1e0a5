//! Checks: what is wrong with each field, when it is said, and how it shows.

use tillgate_shared::format::expiry;
use wasm_bindgen::JsValue;
use web_sys::HtmlInputElement;

use super::App;
use crate::page::fields::{Fault, Field, code_fault, holder_fault, number_fault};
use crate::page::runtime::word;
use crate::page::{callbacks, frames, js, options};

impl App {
    /// What is wrong with a field as it stands in the document now.
    pub(super) fn judge(&self, field: Field) -> Option<Fault> {
        match field {
            Field::Number => number_fault(&self.number, &self.brand),
            Field::Code if !code_required() => None,
            Field::Code => code_fault(&self.code, !options::is_on("allowEmptyCvv")),
            Field::Holder => {
                let required = !options::on_by_default("allowEmptyCardHolderName");
                holder_fault(&self.live_value("card.holder", &self.handle.holder), required)
            }
            Field::Expiry => {
                let (year, month) = this_month();
                match self.expiry_date() {
                    None => Some(Fault::Month),
                    Some(date) if date.is_past((year, month)) && !options::is_on("disableCardExpiryDateValidation") => {
                        Some(Fault::Past)
                    }
                    Some(_) => None,
                }
            }
        }
    }

    /// Month and year as typed.
    pub(in crate::page) fn expiry_date(&self) -> Option<expiry::Expiry> {
        expiry::Expiry::parse_text(&self.live_value("card.expiry", &self.handle.expiry), this_month().0)
    }

    /// A field's value in the live form; merchants replace nodes by copies of them.
    pub(in crate::page) fn live_value(&self, name: &str, ours: &HtmlInputElement) -> String {
        let selector = js::cat(&["[name=\"", name, "\"]"]);
        let input =
            self.handle.find_input(&selector).or_else(|| Some(ours.clone()).filter(|input| input.is_connected()));
        input.map(|input| input.value()).unwrap_or_default()
    }

    /// Something changed in a field: its fault goes once it is corrected, and the button lives again.
    pub(super) fn corrected(&mut self, field: Field) {
        let fault = &mut self.faults[field as usize];
        if fault.is_some() {
            let now = match (*fault, field) {
                // It is no longer empty; what it becomes is judged when it is left.
                (Some(Fault::NumberEmpty), _) if !self.number.empty => None,
                _ => self.judge(field),
            };
            let fault = &mut self.faults[field as usize];
            *fault = if now.is_some() { *fault } else { None };
        }
        if !self.is_faulty() {
            self.announcement.clear();
        }
        if field == Field::Number || field == Field::Code {
            return;
        }
        // A date that is complete can be judged while it is being typed.
        if field == Field::Expiry && self.expiry_date().is_some() {
            self.fault(field, self.judge(field));
        }
    }

    /// A field was left: judge it, unless nothing was typed.
    pub(super) fn left(&mut self, field: Field) {
        let fault = self.judge(field);
        let empty = match field {
            Field::Number => self.number.empty,
            Field::Code => self.code.empty,
            Field::Expiry => self.live_value("card.expiry", &self.handle.expiry).is_empty(),
            Field::Holder => self.live_value("card.holder", &self.handle.holder).is_empty(),
        };
        if !empty || self.faults[field as usize].is_some() {
            self.fault(field, fault);
            if let Some(fault) = fault {
                self.announcement = word(fault.message());
            }
        }
        let name = match field {
            Field::Number => "onBlurCardNumber",
            Field::Expiry => "onBlurExpiryDate",
            Field::Holder => "onBlurCardHolder",
            Field::Code => "onBlurSecurityCode",
        };
        callbacks::of_form(name, &[JsValue::from_bool(fault.is_none())], &self.handle);
    }

    /// Judges all fields; true when the form may be sent.
    pub(in crate::page) fn is_valid(&mut self) -> bool {
        for field in Field::ALL {
            self.fault(field, self.judge(field));
        }
        !self.is_faulty()
    }

    pub(in crate::page) fn fault(&mut self, field: Field, fault: Option<Fault>) {
        self.faults[field as usize] = fault;
    }

    pub(in crate::page) fn fault_of(&self, field: Field) -> Option<Fault> {
        self.faults[field as usize]
    }

    pub(in crate::page) fn is_faulty(&self) -> bool {
        self.faults.iter().any(Option::is_some)
    }

    /// Says what is wrong and goes there.
    pub(in crate::page) fn show_faults(&mut self) {
        self.halted = true;
        self.announcement.clear();
        for fault in self.faults.iter().flatten() {
            self.announcement.push_str(&word(fault.message()));
            self.announcement.push(' ');
        }
        let first = Field::ALL.into_iter().find(|f| self.faults[*f as usize].is_some());
        if let Some(field) = first {
            let _ = self.handle.control(field).focus();
            if let Some(frame) = self.handle.frame(field) {
                frames::say(frame, &self.frames_base, &self.handle.nonce, "focus", &js::object(&[]));
            }
        }
    }

    /// Puts the state on the loader's nodes.
    pub(super) fn mark(&mut self) {
        for field in Field::ALL {
            let fault = self.faults[field as usize];
            let control = self.handle.control(field);
            let _ = control.class_list().toggle_with_force("wpwl-has-error", fault.is_some());
            if self.told[field as usize] == fault {
                continue;
            }
            self.told[field as usize] = fault;
            if let Some(frame) = self.handle.frame(field) {
                let text = fault.map(|fault| word(fault.message())).unwrap_or_default();
                let message = js::object(&[("text", &JsValue::from_str(&text))]);
                frames::say(frame, &self.frames_base, &self.handle.nonce, "error", &message);
            } else if fault.is_some() {
                let _ = control.set_attribute("aria-invalid", "true");
                let _ = control.set_attribute("aria-describedby", &self.handle.hint_id(field));
            } else {
                let _ = control.set_attribute("aria-invalid", "false");
                let _ = control.remove_attribute("aria-describedby");
            }
        }
        // A fault that was only met in passing leaves the button alive: pressing it leads to the field.
        let (button, halted) = (&self.handle.button, self.halted && self.is_faulty());
        button.set_disabled(halted);
        let _ = button.class_list().toggle_with_force("wpwl-button-error", halted);
        let _ = button.class_list().toggle_with_force("wpwl-button-busy", self.busy);
    }
}

fn code_required() -> bool {
    options::on_by_default("requireCvv")
}

/// Year and month of the shopper's clock.
fn this_month() -> (u16, u8) {
    let now = js_sys::Date::new_0();
    (now.get_full_year() as u16, now.get_month() as u8 + 1)
}

/// Formats while typing, at the end of the text only: a caret in the middle is left alone.
pub(super) fn format_expiry(input: &HtmlInputElement) {
    let typed = input.value();
    let at_end = input.selection_start().ok().flatten() == Some(typed.encode_utf16().count() as u32);
    let shown = expiry::format_typed(&typed);
    if at_end && shown != typed {
        input.set_value(&shown);
    }
}
