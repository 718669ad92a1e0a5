//! Errors and mistakes that the merchant and the developer of the page hear of.

use super::Session;
use crate::page::callbacks::{self, Callback, ErrorName};
use crate::page::wpwl;

impl Session {
    /// Tells the merchant an error.
    pub fn raise(&self, name: ErrorName, message: &str) {
        let submitting = self.submitting.borrow().clone();
        if name == ErrorName::FrameSubmit {
            self.uncertain_checkout.replace(Some(wpwl::checkout_id()).filter(|id| !id.is_empty()));
        }
        let about = submitting.clone().or_else(|| self.forms.borrow().first().cloned());
        let brand = about.and_then(|form| form.brands.first().cloned());
        let while_submitting = submitting.is_some();
        callbacks::notify(self, &Callback::Failed { name, message, brand: brand.as_deref(), while_submitting }, None);
    }

    /// Tells the developer about a mistake in the page: on the console and by `onError`.
    pub fn report_mistake(&self, message: &str) {
        web_sys::console::warn_1(&["Tillgate: ", message].concat().into());
        self.raise(ErrorName::Widget, message);
    }
}
