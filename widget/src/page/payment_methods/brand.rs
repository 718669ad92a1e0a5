//! The form of one brand that is no card, as the gateway describes it.

use std::rc::Rc;

use tillgate_shared::brand::{AccountType, Flow, FormKind};
use tillgate_shared::field::{self, FormField, Input};
use tillgate_shared::frame_messages::{Config, OfferedBrand};
use wasm_bindgen::prelude::*;
use web_sys::{HtmlElement, HtmlInputElement};
use yew::prelude::*;

use super::brand_part::BrandPart;
use super::{billing, mark};
use crate::page::bridge::{Value, document, format_number};
use crate::page::callbacks::ErrorName;
use crate::page::country;
use crate::page::dom::{self, Listener};
use crate::page::engine::field::Field;
use crate::page::engine::form::{Form, Part, Setup};
use crate::page::engine::form_message::{Message, Notice};
use crate::page::engine::view;
use crate::page::handle::{FormHandle, HandleKind};
use crate::page::options::Options;
use crate::page::readiness::Progress;
use crate::page::session::Session;
use crate::page::text::keys;

/// Name of the inputs that say how an account at the brand is named.
const MODE: &str = "customParameters[SHOPPER_paymentMode]";

/// Creates the form of a brand in its place.
pub fn mount(session: &Rc<Session>, form: &Rc<FormHandle>, offered: &OfferedBrand, config: &Config) {
    let options = session.options();
    let locale = session.loader.read_locale();
    let is_debit = offered.form == FormKind::DirectDebit;
    let names = offered.fields.iter().cloned().chain(wanted_extras(&options, offered, config));
    let mut fields: Vec<Field> = names.filter_map(|name| make_field(&name, offered, &options, &locale)).collect();
    if is_debit {
        fields.extend(billing::make_fields(&options, &locale));
    }
    if is_debit && config.mandate {
        fields.push(Field::in_page(&field::MANDATE, false));
    }
    let kind = offered.form.as_str();
    let name = if is_debit { kind.to_owned() } else { [kind, "-", &offered.code].concat() };
    let earlier = document::count(&[".wpwl-container-", &name].concat());
    let base = ["wpwl-container-", &name].concat();
    let key = if earlier > 0 { [&base, "-", &format_number(earlier + 1)].concat() } else { base.clone() };
    let own = if earlier > 0 { [&key, " "].concat() } else { String::new() };
    form.container.set_class_name(&["wpwl-container ", &base, " ", &own, "wpwl-clearfix"].concat());
    form.container.set_hidden(false);
    form.container.replace_children_with_node_0();
    let _ = form.container.remove_attribute("aria-busy");
    form.key.replace(key);
    form.kind.set(HandleKind::Brand(offered.form));
    let part = BrandPart {
        has_modes: offered.fields.iter().any(|key| key == "paymentMode"),
        offered: offered.clone(),
        signs_mandate: config.mandate,
        creditor: config.creditor.clone(),
        is_gone: false,
    };
    session.mount(form, Setup { fields, part: Part::Brand(Box::new(part)) }, &form.container);
}

/// Returns the keys of the fields that the merchant has switched on. They are the customer's, and other data of a
/// customer needs the names.
fn wanted_extras(options: &Options<Value>, offered: &OfferedBrand, config: &Config) -> Vec<String> {
    let is_wanted = |key: &&String| match key.as_str() {
        "birthDate" => options.show_birth_date,
        _ => options.show_tax_number,
    };
    let extras: Vec<String> = offered.extras.iter().filter(is_wanted).cloned().collect();
    let names = ["givenName", "surname"].map(str::to_owned);
    let needs_names = config.nameless && !extras.is_empty();
    names.into_iter().filter(|_| needs_names).chain(extras.clone()).collect()
}

/// Creates a field by its key, in which `?` marks a field that may stay empty.
fn make_field(name: &str, offered: &OfferedBrand, options: &Options<Value>, locale: &str) -> Option<Field> {
    let row = FormField::find(name.trim_end_matches('?')).filter(|row| row.input != Input::Choice)?;
    let mut field = Field::in_page(row, name.ends_with('?'));
    if row.input == Input::Country {
        let own = options.sofort_countries.clone().filter(|_| offered.code == "SOFORTUEBERWEISUNG");
        field.choices = own.unwrap_or_else(|| country::list_countries(locale));
    }
    Some(field)
}

impl Form {
    pub(in crate::page) fn view_brand(&self, part: &BrandPart) -> Html {
        let is_alone = self.fields.is_empty() && !part.has_modes;
        let code = &part.offered.code;
        let text = match is_alone && self.session.options().button_purpose != "order" {
            true => self.session.text_about(keys::PAY_WITH, &part.offered.name),
            false => self.button_amount().1,
        };
        let button = if is_alone {
            // Scripts press the brand inside the button.
            let content = html! { <span ~className={mark::mark_classes(&self.session, code)}>{ text }</span> };
            self.view_button("brand", &["brand-", code].concat(), &["brand wpwl-button-brand-", code].concat(), content)
        } else {
            self.view_button("submit", "submit", "pay", html! { { text } })
        };
        let mut groups: Vec<Html> = Vec::new();
        for (at, field) in self.fields.iter().enumerate() {
            if !billing::is_field(field) && field.row.input != Input::Checkbox {
                groups.push(self.view_group(at));
            }
        }
        html! {
            <>
                <form ref={self.form_ref.clone()} ~className={self.form_class(part)} method="POST" action={self.session.submit_address(&self.session.loader.checkout_id())}
                    target={[&self.handle.container.id(), "-target"].concat()}
                    novalidate={true} accept-charset="UTF-8">
                    <input type="hidden" name="paymentBrand" value={code.clone()} />
                    <input type="hidden" name="shopperResultUrl" value={self.handle.result_address()} />
                    if part.has_modes { { self.view_modes(part) } }
                    { groups }
                    if self.fields.iter().any(billing::is_field) {
                        <div class="wpwl-group wpwl-group-billing wpwl-clearfix" role="group" aria-label={self.session.text(keys::BILLING_ADDRESS)}>
                            { self.view_billing() }
                        </div>
                    }
                    { self.view_mandate(part) }
                    { button }
                    { self.view_live_region() }
                </form>
                { self.view_notice() }
            </>
        }
    }

    fn form_class(&self, part: &BrandPart) -> String {
        let kind = part.offered.form.as_str();
        let own = if part.offered.form == FormKind::DirectDebit {
            String::new()
        } else {
            [" wpwl-form-", kind, "-", &part.offered.code].concat()
        };
        let inputs = if self.fields.is_empty() { "" } else { " wpwl-form-has-inputs" };
        ["wpwl-form wpwl-form-", kind, &own, inputs, " wpwl-clearfix"].concat()
    }

    /// Returns the choice between a picture and a phone number, by which an account at the brand is found.
    fn view_modes(&self, part: &BrandPart) -> Html {
        let mode = |value: &'static str, key: &str| {
            html! {
                <label ~className={["wpwl-agree wpwl-wrapper-radio wpwl-wrapper-radio-", value].concat()}>
                    <input ~className={["wpwl-tick wpwl-control-radio-", value].concat()} type="radio" name={MODE} {value} />
                    <span>{ self.session.text(key) }</span>
                </label>
            }
        };
        html! {
            <div class="wpwl-group wpwl-group-paymentMode wpwl-clearfix" role="radiogroup" aria-label={part.offered.name.clone()}>
                { mode("qrcode", keys::QR_CODE) }{ mode("mobile", keys::MOBILE_PHONE_NUMBER) }
            </div>
        }
    }

    /// Returns what the shopper agrees to by a direct debit.
    fn view_mandate(&self, part: &BrandPart) -> Html {
        let text = self.session.text_about(keys::MANDATE, &part.creditor);
        match self.find_field(field::MANDATE.key) {
            _ if part.offered.form != FormKind::DirectDebit => Html::default(),
            Some(at) if part.signs_mandate => self.view_box(at, &text),
            _ => html! { <div class="wpwl-group wpwl-group-mandate wpwl-clearfix">{ text }</div> },
        }
    }

    /// Completes the form of a brand, or of stored accounts, once it is rendered.
    pub(super) fn complete_rendered_form(&mut self, context: &Context<Self>) {
        let Some(form) = self.node() else { return };
        view::hide_live_region(&form);
        self.handle.target_frame();
        if matches!(&self.part, Part::Brand(part) if part.has_modes) {
            let link = context.link().clone();
            let listen = |kind| {
                let link = link.clone();
                Listener::new(form.as_ref(), kind, move |event: Event| {
                    let input = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok());
                    if let Some(input) = input.filter(|input| input.name() == MODE) {
                        link.send_message(Message::ModeChosen(input.value()));
                    }
                })
            };
            self.listeners.extend([listen("change"), listen("click")]);
            if let Some(first) =
                form.find("input[type=radio]").and_then(|input| input.dyn_into::<HtmlInputElement>().ok())
            {
                first.set_checked(true);
            }
            self.choose_mode("qrcode");
        }
        self.focus_by_labels(context, &form);
    }

    /// Completes the form once everything in it is final: merchants read `checked`, classes and brand in `onReady`. So
    /// a form is ready after a rendering: of the brand of a card, and of the chosen account.
    pub(in crate::page) fn complete_final(&mut self) {
        let is_final = match &self.part {
            Part::Brand(_) => true,
            Part::Stored(part) => part.is_settled(),
            Part::Card(part) => part.is_complete,
            Part::None => false,
        };
        let (session, handle) = (self.session.clone(), self.handle.clone());
        if is_final && handle.progress.get() == Progress::Loading {
            self.send_looks();
            session.complete(&handle);
        }
    }

    /// Sets the focus to a field when its label is pressed.
    fn focus_by_labels(&mut self, context: &Context<Self>, form: &crate::page::bridge::FormNode) {
        for (at, field) in self.fields.iter().enumerate() {
            if let Some(label) = form.find(&[".wpwl-label-", &field.class].concat()) {
                let link = context.link().clone();
                self.listeners
                    .push(Listener::new(&label, "click", move |_| link.send_message(Message::FocusWanted(at))));
            }
        }
    }

    /// The shopper chose how the account is named. A picture needs no phone number.
    pub(in crate::page) fn choose_mode(&mut self, mode: &str) {
        let needs_phone = mode != "qrcode";
        let Some(field) = self.find_field("mobilePhone").and_then(|at| self.fields.get_mut(at)) else { return };
        field.enabled = needs_phone;
        field.fault = None;
        if let Some(input) = field.control().and_then(|control| control.dyn_into::<HtmlInputElement>().ok()) {
            input.set_disabled(!needs_phone);
        }
        let group = self.node().and_then(|form| form.find(".wpwl-group-mobilePhone"));
        if let Some(group) = group.and_then(|group| group.dyn_into::<HtmlElement>().ok()) {
            dom::set_visible(&group, needs_phone);
        }
    }

    /// Follows what was typed into one field in others: two names make the holder's.
    pub(in crate::page) fn follow_typing(&mut self, at: usize) {
        let (Some(field), Some(form)) = (self.fields.get(at), self.node()) else { return };
        if matches!(field.row.key, "givenName" | "surname") && matches!(self.part, Part::Card(_)) {
            self.join_holder(&form);
        }
    }

    /// Shows or hides the form by what the checkout offers now.
    pub(super) fn follow_brand_offer(&mut self, config: &Config) {
        let Part::Brand(part) = &mut self.part else { return };
        let is_gone = config.find_brand(&part.offered.code).is_none();
        if part.is_gone == is_gone {
            return;
        }
        part.is_gone = is_gone;
        let name = part.offered.name.clone();
        if let Some(form) = self.node() {
            form.set_visible(!is_gone);
        }
        self.notice = is_gone.then(|| Notice::error(self.session.text_about(keys::UNAVAILABLE, &name)));
    }

    /// Returns true if the brand's page opens in a frame of the form, as the merchant wants.
    pub(in crate::page) fn is_inline(&self) -> bool {
        let options = self.session.options();
        let Part::Brand(part) = &self.part else { return false };
        part.offered.flow != Flow::Now
            && !self.keeps_for_summary()
            && options.inline_brands.contains(&part.offered.code)
    }

    /// Returns true if the gateway only keeps what the shopper fills in, for a summary page of the merchant.
    pub(in crate::page) fn keeps_for_summary(&self) -> bool {
        self.session.options().summary_page && self.session.loader.purpose() == "payment"
    }

    /// Opens the window or frame in which the brand's page is going to be shown, if it is.
    pub(in crate::page) fn open_window(&self) {
        let flow = match &self.part {
            Part::Brand(part) => Some(part.offered.flow),
            Part::Stored(part) => part.chosen_account().and_then(|account| account.flow),
            Part::Card(_) | Part::None => None,
        };
        if self.is_inline() {
            self.session.windows.open_frame(&self.handle, &super::brand_name(self));
        } else if flow == Some(Flow::Popup) && !self.keeps_for_summary() {
            self.session.windows.open_window(&self.handle);
        }
        if !matches!(self.part, Part::Card(_)) {
            self.session.windows.abandon();
        }
    }

    /// Returns true if the wallet's token has to come from a sheet: the merchant has put none into the form.
    pub(in crate::page) fn wants_sheet(&self) -> bool {
        let Part::Brand(part) = &self.part else { return false };
        let token = self.node().and_then(|form| form.find("[name=\"walletPay.paymentToken\"]"));
        let token = token.and_then(|input| input.dyn_into::<HtmlInputElement>().ok()).map(|input| input.value());
        part.offered.kind == AccountType::Wallet && token.unwrap_or_default().is_empty()
    }

    /// Returns true if a wallet's token is missing and no sheet can bring it. The shopper and the developer are told.
    pub(in crate::page) fn lacks_token(&mut self) -> bool {
        let Part::Brand(part) = &self.part else { return false };
        if !self.wants_sheet() || part.offered.has_sheet {
            return false;
        }
        let (code, name) = (part.offered.code.clone(), part.offered.name.clone());
        self.notice = Some(Notice::error(self.session.text_about(keys::UNAVAILABLE, &name)));
        let text = [&code, ": put the wallet's token into an input named walletPay.paymentToken"].concat();
        self.session.raise(ErrorName::Widget, &text);
        true
    }

    /// Opens the wallet's sheet, and sends the form once the shopper has agreed.
    pub(in crate::page) fn open_sheet(&mut self, context: &Context<Self>, checkout: String) {
        let (link, session, handle) = (context.link().clone(), self.session.clone(), self.handle.clone());
        let name = super::brand_name(self);
        let id = checkout.clone();
        session.clone().sheets.open(&session, &handle, &name, &checkout, move |agreed| {
            link.send_message(Message::SheetClosed { checkout: id, agreed });
        });
    }
}
