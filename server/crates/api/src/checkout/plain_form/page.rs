//! The plain form as HTML: one form for all cards, one for each other brand. It uses no scripts, and only styles that
//! browsers of 2013 support. A form submits to the whole window, because the shop's page is replaced in the end.

use maud::{Markup, html};
use tillgate_domain::access::form_look::{Colour, FormLook, LookPart, MIN_CONTRAST};
use tillgate_shared::brand::{AccountType, Brand, FormKind};
use tillgate_shared::field::{CARD_HOLDER, FormField, Input, MANDATE, SECURITY_CODE};
use tillgate_shared::format::country;
use tillgate_shared::parameter::Parameters;

use crate::checkout::plain_form::input::redisplayed_value;
use crate::checkout::plain_form::input::{CARD_FIELDS, FieldError, StoredAccount};
use crate::checkout::plain_form::texts::FormTexts;

/// The style of every page.
const STYLE: &str = include_str!("plain.css");

/// Returns the style of a page with the look that was chosen for the entity. The rules are plain ones, because browsers
/// of 2013 have no custom properties. A colour for errors that cannot be read on the white page is left out: it is for
/// dark pages.
pub(super) fn style_with_look(look: &FormLook) -> String {
    let mut style = STYLE.to_owned();
    if let Some((accent, text)) = look.button_colours() {
        style.push_str(&format!("button {{ border-color: {accent}; background: {accent}; color: {text}; }}\n"));
    }
    let error = look.colour(LookPart::Error);
    if look.error.is_some() && error.contrast(Colour::WHITE) >= MIN_CONTRAST {
        style.push_str(&format!(".wrong, .alert {{ border-color: {error}; }}\n.error, .alert {{ color: {error}; }}\n"));
        style.push_str(".alert { background: #fff; }\n");
    }
    let controls = "input, select, button, .alert";
    if let Some(radius) = look.length(LookPart::Radius) {
        style.push_str(&format!("{controls} {{ border-radius: {radius}; }}\n"));
    }
    if let Some(height) = look.length(LookPart::Height) {
        style.push_str(&format!("input, select, button {{ min-height: {height}; }}\n"));
        style.push_str(".tick input { min-height: 24px; }\n");
    }
    if let Some(gap) = look.length(LookPart::Gap) {
        style.push_str(&format!("p {{ margin-bottom: {gap}; }}\n"));
    }
    style
}

/// Data for the forms.
pub(super) struct PlainForms<'a> {
    pub(super) texts: &'a FormTexts,
    /// The amount, such as `92.00 EUR`, or `None` if an account is only stored.
    pub(super) amount: Option<String>,
    /// The offered brands.
    pub(super) brands: Vec<&'static Brand>,
    /// The stored accounts that the shopper may choose from.
    pub(super) stored: Vec<StoredAccount>,
    /// True if the page names no brand, so that any card is accepted.
    pub(super) any_card: bool,
    /// The address to which the forms are submitted.
    pub(super) action: String,
    /// The shop's page to return to, as its own page names it.
    pub(super) result: &'a str,
    /// The current date, if a mandate has to be signed.
    pub(super) mandate: Option<String>,
    /// The name of the merchant to whom the mandate is given.
    pub(super) creditor: String,
    /// The previous input to show again.
    pub(super) typed: &'a Parameters,
    /// Errors of the previous input.
    pub(super) errors: &'a [FieldError],
    /// An error that does not belong to a field.
    pub(super) alert: Option<String>,
}

impl PlainForms<'_> {
    /// Renders all forms, below the amount and the alert: stored accounts, one form for all cards, and one for each
    /// other brand.
    pub(super) fn render_all(&self) -> Markup {
        let cards: Vec<&Brand> = self.brands.iter().copied().filter(|brand| brand.kind == AccountType::Card).collect();
        let save = self.texts.get("register");
        html! {
            h1 id=[(!self.stored.is_empty()).then_some("paid")] { (self.amount.as_deref().unwrap_or(save)) }
            @if let Some(alert) = &self.alert { p.alert role="alert" { (alert) } }
            @if !self.stored.is_empty() {
                (self.render_stored_accounts())
                @if self.any_card || !self.brands.is_empty() { h2 { (self.texts.get("showOtherPaymentMethods")) } }
            }
            @if !cards.is_empty() || self.any_card { (self.render_card_form(&cards)) }
            @for brand in self.brands.iter().filter(|brand| brand.kind != AccountType::Card) { (self.render_brand_form(brand)) }
        }
    }

    /// Renders one form for all stored accounts, with the submitted or the first one chosen. Without scripts, the field
    /// of the security code is shown for all of them if one requires it, and a field for the holder below each account
    /// that lacks one.
    fn render_stored_accounts(&self) -> Markup {
        let typed = self.typed.get("registrationId");
        let chosen = typed.or(self.stored.first().map(|it| it.id.as_str()));
        let takes_code = self.stored.iter().any(|stored| stored.requires_code);
        let fields = html! {
            div role="radiogroup" aria-labelledby="paid" {
                @for stored in &self.stored {
                    p { label.tick {
                        input type="radio" name="registrationId" value=(stored.id) checked[chosen == Some(&stored.id)];
                        (stored.description)
                    } }
                    @if let Some(field) = stored.holder {
                        (self.render_input(&stored.id, field, &stored.holder_input_name(), false, typed == Some(&stored.id)))
                    }
                }
            }
            @if takes_code { (self.render_field("stored", &SECURITY_CODE, false, typed.is_some())) }
        };
        self.render_form("stored", &fields, self.texts.get("submit"))
    }

    /// Renders one form for all cards. Several brands become a select box, one a hidden input, none means any card. All
    /// fields are required but the holder, and the security code if every brand has cards without one.
    fn render_card_form(&self, cards: &[&Brand]) -> Markup {
        let has_code = cards.is_empty() || cards.iter().any(|brand| !brand.is_code_optional());
        let is_required = |field: &FormField| field != &CARD_HOLDER && (field != &SECURITY_CODE || has_code);
        let is_chosen = |brand: &Brand| self.typed.get("paymentBrand") == Some(brand.code);
        let fields = html! {
            @match cards {
                [] => {},
                [brand] => input type="hidden" name="paymentBrand" value=(brand.code);,
                several => p {
                    label for="card-brand" { (self.texts.get("brand")) }
                    select id="card-brand" name="paymentBrand" {
                        @for brand in several {
                            option value=(brand.code) selected[is_chosen(brand)] { (brand.name) }
                        }
                    }
                },
            }
            @for field in CARD_FIELDS { (self.render_field("card", field, is_required(field), is_new_card(self.typed))) }
        };
        self.render_form("card", &fields, self.texts.get(if self.amount.is_some() { "submit" } else { "register" }))
    }

    /// Renders the form of a brand that is not a card: its fields, and for a direct debit the mandate if that has to be
    /// signed. A key that ends with `?` is an optional field; one that the plain form does not have is left out.
    fn render_brand_form(&self, brand: &Brand) -> Markup {
        let submitted = self.typed.get("paymentBrand") == Some(brand.code);
        let button = self.texts.get("payWith").replace("{brand}", brand.name);
        let fields = html! {
            h2 { (brand.name) }
            input type="hidden" name="paymentBrand" value=(brand.code);
            @for key in brand.fields {
                @if let Some(field) = FormField::find_plain(key.trim_end_matches('?')) {
                    (self.render_field(brand.code, field, !key.ends_with('?'), submitted))
                }
            }
            @if brand.form == FormKind::DirectDebit {
                (self.render_mandate(brand.code, submitted))
            }
        };
        self.render_form(brand.code, &fields, &button)
    }

    /// Renders the mandate of a direct debit, with a box to tick if it has to be signed.
    fn render_mandate(&self, form: &str, submitted: bool) -> Markup {
        let text = self.texts.get(MANDATE.label).replace("{creditor}", &self.creditor);
        match &self.mandate {
            Some(day) => self.render_checkbox(form, &MANDATE, &text, day, submitted),
            None => html! { p { (text) } },
        }
    }

    /// Renders a form with its fields, the shop's address if it is known, and a button. It submits to the whole window.
    fn render_form(&self, id: &str, fields: &Markup, button: &str) -> Markup {
        html! {
            form id={ "form-" (id) } method="post" action=(self.action) target="_top" accept-charset="utf-8" {
                (fields)
                @if !self.result.is_empty() { input type="hidden" name="shopperResultUrl" value=(self.result); }
                button type="submit" { (button) }
            }
        }
    }

    /// Renders an input with its label and help. If this form was the `submitted` one, also with its error and the
    /// previous value, unless that is secret.
    fn render_field(&self, form: &str, field: &FormField, required: bool, submitted: bool) -> Markup {
        self.render_input(form, field, field.name, required, submitted)
    }

    /// Renders a field as [`Self::render_field`] does, but with an input called `name`. `form` makes its id unique. The
    /// first error gets the focus. A country is chosen from all codes.
    fn render_input(&self, form: &str, field: &FormField, name: &str, required: bool, submitted: bool) -> Markup {
        let id = format!("{form}-{}", field.key);
        let error = self.errors.iter().find(|error| submitted && error.field == field.key);
        let value = if submitted { redisplayed_value(field, self.typed, name) } else { None };
        let described = [(error.is_some(), "error"), (field.help.is_some(), "help")];
        let described: Vec<String> =
            described.iter().filter(|(is, _)| *is).map(|(_, what)| format!("{id}-{what}")).collect();
        let described = (!described.is_empty()).then(|| described.join(" "));
        let invalid = error.is_some().then_some("true");
        let class = match (field.input.is_code(), error.is_some()) {
            (true, true) => Some("number wrong"),
            (true, false) => Some("number"),
            (false, true) => Some("wrong"),
            (false, false) => None,
        };
        // The telephone keypad has digits, also on devices that have no numeric keypad.
        let kind = if field.input.has_keypad() { "tel" } else { "text" };
        html! {
            p {
                label for=(id) { (self.texts.get(field.label)) }
                @if field.input == Input::Country {
                    select id=(id) name=(name) class=[class] required[required] aria-invalid=[invalid] aria-describedby=[described] autocomplete=(field.autofill) {
                        option value="" {}
                        @for code in country_codes() { option value=(code) selected[value == Some(&code)] { (code) } }
                    }
                } @else {
                    input id=(id) type=(kind) name=(name) class=[class] value=[value] required[required] maxlength="128"
                        aria-invalid=[invalid] aria-describedby=[described] autocomplete=(field.autofill) dir=[field.input.is_code().then_some("ltr")]
                        autofocus[self.errors.first() == error && error.is_some()];
                }
                @if let Some(error) = error { span.error id={ (id) "-error" } { (self.texts.get(error.text)) br; } }
                @if let Some(key) = field.help { span.help id={ (id) "-help" } { (self.texts.get(key)) } }
            }
        }
    }

    /// Renders a required checkbox with its label, never checked, and with its error if this form was the `submitted`
    /// one. `value` is what it posts.
    fn render_checkbox(&self, form: &str, field: &FormField, text: &str, value: &str, submitted: bool) -> Markup {
        let id = format!("{form}-{}", field.key);
        let wrong = submitted && self.errors.iter().any(|error| error.field == field.key);
        html! {
            p {
                label.tick for=(id) {
                    input id=(id) type="checkbox" name=(field.name) value=(value) required aria-describedby=[wrong.then(|| format!("{id}-error"))];
                    (text)
                }
                @if wrong { span.error id={ (id) "-error" } { (self.texts.get(field.error)) } }
            }
        }
    }
}

/// Returns true if the submitted input is of a newly entered card: no stored account, and a card's brand, an unknown
/// one or none. Also true for no input.
fn is_new_card(typed: &Parameters) -> bool {
    !typed.contains("registrationId")
        && typed.get("paymentBrand").and_then(Brand::find).is_none_or(|brand| brand.kind == AccountType::Card)
}

/// Returns the ISO 3166-1 codes of two letters, in alphabetical order.
fn country_codes() -> impl Iterator<Item = String> {
    let letters = || 'A'..='Z';
    letters()
        .flat_map(move |first| letters().map(move |second| format!("{first}{second}")))
        .filter(|code| country::check(code).is_ok())
}
