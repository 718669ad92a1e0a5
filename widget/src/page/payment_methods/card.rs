//! The form of a card that is typed in. The loader has placed its groups and the frames of number and code, which have
//! to be in their final place: a frame that moves loads again. The page module fills the groups.

use std::rc::Rc;

use tillgate_shared::field;
use tillgate_shared::field::FormField;
use tillgate_shared::frame_messages::FrameField;
use wasm_bindgen::prelude::*;
use web_sys::HtmlElement;
use yew::NodeRef;

use super::billing;
use super::card_part::{CardPart, Skeleton};
use crate::page::engine::field::Field;
use crate::page::engine::form::{Part, Setup};
use crate::page::handle::FormHandle;
use crate::page::options::{Options, StoreOffer};
use crate::page::session::Session;
use crate::page::text::keys;
use crate::page::{bridge::Value, dom, frames};

/// Starts the page module in a card form.
pub fn mount(session: &Rc<Session>, form: &Rc<FormHandle>) {
    let options = session.options();
    let mut skeleton = Skeleton::find(form);
    let locale = session.loader.read_locale();
    if let Some(node) = form.form_node() {
        node.set_attribute("lang", &locale);
        if let Some(direction) = session.text_direction() {
            node.set_attribute("dir", &direction);
        }
    }
    let fields = make_fields(session, form, &options, &mut skeleton, &locale);
    let root = form.container.query_selector(".wpwl-slot").ok().flatten();
    let Some(root) = root.and_then(|root| root.dyn_into::<HtmlElement>().ok()) else { return };
    let part = CardPart {
        skeleton,
        cards: Vec::new(),
        is_chosen_by_hand: false,
        detected: Vec::new(),
        choices: Vec::new(),
        is_told: false,
        bin: None,
        is_withdrawn: false,
        shown_brand: String::new(),
        is_complete: false,
        select: NodeRef::default(),
    };
    session.mount(form, Setup { fields, part: Part::Card(Box::new(part)) }, &root);
}

/// Creates the fields of a card form in the order in which the focus looks for faults, and the groups that options add.
fn make_fields(
    session: &Session,
    form: &Rc<FormHandle>,
    options: &Options<Value>,
    skeleton: &mut Skeleton,
    locale: &str,
) -> Vec<Field> {
    let placed = |row: &'static FormField, kind: FrameField, text: &str| {
        let frame = form.frame(kind)?;
        let title = session.text(text);
        frame.set_title(&title);
        let _ = frame.set_attribute("placeholder", &title);
        Some(Field::in_frame(row, kind, frame, true))
    };
    let own = |row: &'static FormField, kind: FrameField, class: &str| {
        let frame = frames::make_frame(&session.loader, &form.nonce, kind, class, &session.text(row.label));
        form.frames.borrow_mut().push((kind, frame.clone()));
        Field::in_frame(row, kind, frame, false)
    };
    let mut fields = Vec::new();
    fields.extend(placed(&field::CARD_NUMBER, FrameField::Number, "cardNumber"));
    fields.push(match options.frames_only {
        true => own(&field::EXPIRY_DATE, FrameField::Expiry, "expiry"),
        false => Field::in_page(&field::EXPIRY_DATE, false),
    });
    // Two names in the page make up the holder's.
    fields.push(match options.frames_only && !options.split_holder {
        true => own(&field::CARD_HOLDER, FrameField::Holder, "cardHolder"),
        false => Field::in_page(&field::CARD_HOLDER, false),
    });
    if options.split_holder {
        for key in ["givenName", "surname"] {
            skeleton.add_field_group(&form.container, key, "cvv");
            fields.extend(FormField::find(key).map(|row| Field::in_page(row, false)));
        }
        if let Some(group) = skeleton.group("cardHolder") {
            dom::set_visible(group, false);
        }
    }
    if let Some(mut code) = placed(&field::SECURITY_CODE, FrameField::Code, "cvv") {
        code.enabled = options.require_code;
        fields.push(code);
    }
    if let Some(group) = skeleton.group("cvv") {
        group.set_hidden(!options.require_code);
    }
    add_optional_groups(session, options, skeleton, locale, &mut fields);
    fields
}

/// Adds the groups and fields of the billing address and of the box that stores the card, if the merchant wants them.
fn add_optional_groups(
    session: &Session,
    options: &Options<Value>,
    skeleton: &mut Skeleton,
    locale: &str,
    fields: &mut Vec<Field>,
) {
    let billing = billing::make_fields(options, locale);
    if !billing.is_empty() {
        skeleton.add_group("billing", "submit");
        if let Some(group) = skeleton.group("billing") {
            let _ = group.set_attribute("role", "group");
            let _ = group.set_attribute("aria-label", &session.text(keys::BILLING_ADDRESS));
        }
    }
    fields.extend(billing);
    if options.store_offer != StoreOffer::None && session.loader.purpose() == "payment" {
        skeleton.add_group("createRegistration", "submit");
        let mut store = Field::in_page(&field::CREATE_REGISTRATION, true);
        if options.store_offer == StoreOffer::Ticked {
            store.initial = "true".to_owned();
        }
        fields.push(store);
    }
}
