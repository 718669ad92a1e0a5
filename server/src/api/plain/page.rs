//! The plain form as HTML: one form for all cards, one for each other brand. No scripts, and styles that browsers of 2013
//! understand. A form opens in the whole window, as the shop's page is what has to make way in the end.

use maud::{Markup, html};
use tillgate_shared::brand::{Brand, FormKind, Kind};
use tillgate_shared::field::{CARD_HOLDER, Field, Input, MANDATE, SECURITY_CODE};
use tillgate_shared::format::country;
use tillgate_shared::parameter::Parameters;

use super::entry::{CARD, Fault, Stored, shown};
use super::texts::Texts;

/// The style of every page.
pub(super) const STYLE: &str = include_str!("plain.css");

/// What the forms have to know.
pub(super) struct Forms<'a> {
    pub(super) texts: &'a Texts,
    /// What is paid, such as `92.00 EUR`; nothing where an account is stored.
    pub(super) amount: Option<String>,
    /// The brands that are offered.
    pub(super) brands: Vec<&'static Brand>,
    /// The stored accounts that the shopper may choose from.
    pub(super) stored: Vec<Stored>,
    /// Whether the page names no brand at all: any card is welcome then.
    pub(super) any_card: bool,
    /// Where the forms are sent.
    pub(super) action: String,
    /// The shop's page to come back to, as its own page says.
    pub(super) result: &'a str,
    /// Whether a mandate has to be signed; the day, then.
    pub(super) mandate: Option<String>,
    /// What has been typed and is kept.
    pub(super) typed: &'a Parameters,
    /// What is wrong with it.
    pub(super) faults: &'a [Fault],
    /// What is wrong beside the fields.
    pub(super) alert: Option<String>,
}

impl Forms<'_> {
    /// All forms, under what is paid.
    pub(super) fn markup(&self) -> Markup {
        let cards: Vec<&Brand> = self.brands.iter().copied().filter(|brand| brand.kind == Kind::Card).collect();
        let save = self.texts.get("register");
        html! {
            h1 id=[(!self.stored.is_empty()).then_some("paid")] { (self.amount.as_deref().unwrap_or(save)) }
            @if let Some(alert) = &self.alert { p.alert role="alert" { (alert) } }
            @if !self.stored.is_empty() {
                (self.one_click())
                @if self.any_card || !self.brands.is_empty() { h2 { (self.texts.get("showOtherPaymentMethods")) } }
            }
            @if !cards.is_empty() || self.any_card { (self.cards(&cards)) }
            @for brand in self.brands.iter().filter(|brand| brand.kind != Kind::Card) { (self.other(brand)) }
        }
    }

    /// One form for all stored accounts: without scripts, which of them takes the code is for who reads it to know.
    fn one_click(&self) -> Markup {
        let typed = self.typed.get("registrationId");
        let chosen = typed.or(self.stored.first().map(|it| it.id.as_str()));
        let takes_code = self.stored.iter().any(|stored| stored.takes_code);
        let fields = html! {
            div role="radiogroup" aria-labelledby="paid" {
                @for stored in &self.stored {
                    p { label.tick {
                        input type="radio" name="registrationId" value=(stored.id) checked[chosen == Some(&stored.id)];
                        (stored.shown)
                    } }
                    @if let Some(field) = stored.holder {
                        (self.input(&stored.id, field, &stored.holder_name(), false, typed == Some(&stored.id)))
                    }
                }
            }
            @if takes_code { (self.field("stored", &SECURITY_CODE, false, typed.is_some())) }
        };
        self.form("stored", &fields, self.texts.get("submit"))
    }

    fn cards(&self, cards: &[&Brand]) -> Markup {
        let has_code = cards.is_empty() || cards.iter().any(|brand| !brand.code_optional());
        let is_required = |field: &Field| field != &CARD_HOLDER && (field != &SECURITY_CODE || has_code);
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
            @for field in CARD { (self.field("card", field, is_required(field), is_of_card(self.typed))) }
        };
        self.form("card", &fields, self.texts.get(if self.amount.is_some() { "submit" } else { "register" }))
    }

    fn other(&self, brand: &Brand) -> Markup {
        let mine = self.typed.get("paymentBrand") == Some(brand.code);
        let button = self.texts.get("payWith").replace("{brand}", brand.name);
        let fields = html! {
            h2 { (brand.name) }
            input type="hidden" name="paymentBrand" value=(brand.code);
            @for key in brand.fields {
                @if let Some(field) = Field::find_plain(key.trim_end_matches('?')) {
                    (self.field(brand.code, field, !key.ends_with('?'), mine))
                }
            }
            @if let (Some(day), FormKind::DirectDebit) = (&self.mandate, brand.form) {
                (self.tick(brand.code, &MANDATE, day, mine))
            }
        };
        self.form(brand.code, &fields, &button)
    }

    fn form(&self, id: &str, fields: &Markup, button: &str) -> Markup {
        html! {
            form id={ "form-" (id) } method="post" action=(self.action) target="_top" accept-charset="utf-8" {
                (fields)
                @if !self.result.is_empty() { input type="hidden" name="shopperResultUrl" value=(self.result); }
                button type="submit" { (button) }
            }
        }
    }

    /// An input with its label, and what is wrong behind it, where this form is the one that was sent.
    fn field(&self, form: &str, field: &Field, required: bool, sent: bool) -> Markup {
        self.input(form, field, field.name, required, sent)
    }

    /// The same under a name of its own.
    fn input(&self, form: &str, field: &Field, name: &str, required: bool, sent: bool) -> Markup {
        let id = format!("{form}-{}", field.key);
        let fault = self.faults.iter().find(|fault| sent && fault.field == field.key);
        let value = if sent { shown(field, self.typed, name) } else { None };
        let described = [(fault.is_some(), "error"), (field.help.is_some(), "help")];
        let described: Vec<String> =
            described.iter().filter(|(is, _)| *is).map(|(_, what)| format!("{id}-{what}")).collect();
        let described = (!described.is_empty()).then(|| described.join(" "));
        let invalid = fault.is_some().then_some("true");
        let class = match (field.input.is_code(), fault.is_some()) {
            (true, true) => Some("number wrong"),
            (true, false) => Some("number"),
            (false, true) => Some("wrong"),
            (false, false) => None,
        };
        // Telephones' keypads have digits, also on devices from before there were numeric ones.
        let kind = if field.input.has_keypad() { "tel" } else { "text" };
        html! {
            p {
                label for=(id) { (self.texts.get(field.label)) }
                @if field.input == Input::Country {
                    select id=(id) name=(name) class=[class] required[required] aria-invalid=[invalid] aria-describedby=[described] autocomplete=(field.autofill) {
                        option value="" {}
                        @for code in countries() { option value=(code) selected[value == Some(&code)] { (code) } }
                    }
                } @else {
                    input id=(id) type=(kind) name=(name) class=[class] value=[value] required[required] maxlength="128"
                        aria-invalid=[invalid] aria-describedby=[described] autocomplete=(field.autofill) dir=[field.input.is_code().then_some("ltr")]
                        autofocus[self.faults.first() == fault && fault.is_some()];
                }
                @if let Some(fault) = fault { span.error id={ (id) "-error" } { (self.texts.get(fault.text)) br; } }
                @if let Some(key) = field.help { span.help id={ (id) "-help" } { (self.texts.get(key)) } }
            }
        }
    }

    /// A box to tick, with what it means beside it.
    fn tick(&self, form: &str, field: &Field, value: &str, sent: bool) -> Markup {
        let id = format!("{form}-{}", field.key);
        let wrong = sent && self.faults.iter().any(|fault| fault.field == field.key);
        html! {
            p {
                label.tick for=(id) {
                    input id=(id) type="checkbox" name=(field.name) value=(value) required aria-describedby=[wrong.then(|| format!("{id}-error"))];
                    (self.texts.get(field.label))
                }
                @if wrong { span.error id={ (id) "-error" } { (self.texts.get(field.error)) } }
            }
        }
    }
}

/// Whether what was sent is of a card that was typed in: of no brand, or of a card's.
fn is_of_card(typed: &Parameters) -> bool {
    !typed.contains("registrationId")
        && typed.get("paymentBrand").and_then(Brand::find).is_none_or(|brand| brand.kind == Kind::Card)
}

/// ISO 3166-1 codes in their order.
fn countries() -> impl Iterator<Item = String> {
    let letters = || 'A'..='Z';
    letters()
        .flat_map(move |first| letters().map(move |second| format!("{first}{second}")))
        .filter(|code| country::check(code).is_ok())
}
