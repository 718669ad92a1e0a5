//! The billing address, which options add to the forms of cards and direct debits.

use tillgate_shared::field::{FormField, Input};
use yew::prelude::*;

use crate::page::bridge::Value;
use crate::page::country;
use crate::page::engine::field::Field;
use crate::page::engine::form::Form;
use crate::page::options::{BILLING_KEYS, Options};
use crate::page::text::keys;

/// Prefix of the keys of its fields.
const PREFIX: &str = "billing-";

/// Returns the fields of the billing address, if the merchant wants it.
pub fn make_fields(options: &Options<Value>, locale: &str) -> Vec<Field> {
    let Some(wanted) = &options.billing_address else { return Vec::new() };
    let make = |(key, given): (&str, &crate::page::options::BillingField)| {
        let row = FormField::find(&[PREFIX, key].concat())?;
        let mut field = Field::in_page(row, !given.mandatory);
        field.initial.clone_from(&given.value);
        if row.input == Input::Country {
            field.choices = country::list_countries(locale);
        }
        if key == "street2" && given.mandatory {
            field.caption = keys::BILLING_STREET2_MANDATORY;
        }
        Some(field)
    };
    BILLING_KEYS.into_iter().zip(wanted).filter_map(make).collect()
}

/// Returns true for a field of the billing address.
pub fn is_field(field: &Field) -> bool {
    field.row.key.starts_with(PREFIX)
}

impl Form {
    /// Returns the content of the group with the billing address.
    pub(in crate::page) fn view_billing(&self) -> Html {
        let mut parts: Vec<Html> = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            let Some(key) = field.row.key.strip_prefix(PREFIX) else { continue };
            parts.push(html! {
                <div ~className={["wpwl-wrapper wpwl-sup-wrapper wpwl-sup-wrapper-", key].concat()}>{ self.view_control(at, None) }</div>
            });
        }
        html! {
            <>
                <div class="wpwl-label wpwl-label-billing" hidden={!self.session.options().show_labels}>
                    { self.session.text(keys::BILLING_ADDRESS) }
                </div>
                <div class="wpwl-wrapper wpwl-wrapper-billing">{ parts }</div>
            </>
        }
    }
}
