//! The form of a card that is typed in. The loader has placed its groups and the frames of number and code, which have
//! to be in their final place: a frame that moves loads again. The page module fills the groups.

use std::rc::Rc;

use tillgate_shared::field;
use tillgate_shared::field::FormField;
use tillgate_shared::frame_messages::{FrameField, OfferedBrand};
use wasm_bindgen::prelude::*;
use web_sys::{Element, HtmlElement};
use yew::NodeRef;

use super::billing;
use crate::page::engine::field::Field;
use crate::page::engine::form::{Part, Setup};
use crate::page::engine::view::label_id;
use crate::page::handle::FormHandle;
use crate::page::options::{Options, StoreOffer};
use crate::page::session::Session;
use crate::page::text::keys;
use crate::page::{bridge::Value, dom, frames};

/// Nodes of a card form that the loader has placed, or that were added before anything is shown.
#[derive(Debug)]
pub struct Skeleton {
    /// Groups by the last part of their class.
    groups: Vec<(String, HtmlElement)>,
    /// The place of the brand's logo.
    pub logo: Option<Element>,
}

impl Skeleton {
    /// Finds the groups of a form that the loader has placed.
    fn find(form: &FormHandle) -> Self {
        let names = ["brand", "cardNumber", "expiry", "cardHolder", "cvv", "submit"];
        let find = |name: &str| {
            let group = form.container.query_selector(&[".wpwl-group-", name].concat()).ok()??;
            Some((name.to_owned(), group.dyn_into().ok()?))
        };
        let logo = form.container.query_selector(".wpwl-brand-card").ok().flatten();
        Self { groups: names.into_iter().filter_map(find).collect(), logo }
    }

    /// Returns a group.
    pub fn group(&self, name: &str) -> Option<&HtmlElement> {
        self.groups.iter().find(|(known, _)| known == name).map(|(_, group)| group)
    }

    /// Returns true if the loader has hidden the list of brands.
    pub fn hides_brand_list(&self) -> bool {
        self.group("brand").is_some_and(|group| group.class_name().contains("wpwl-brand-quiet"))
    }

    /// Returns the label or the wrapper of a group.
    fn part(&self, name: &str, part: &str) -> Option<Element> {
        self.group(name)?.query_selector(&[":scope > .wpwl-", part].concat()).ok()?
    }

    /// Returns the label of a group.
    pub fn label(&self, name: &str) -> Option<Element> {
        self.part(name, "label")
    }

    /// Returns the wrapper of a group's control.
    pub fn wrapper(&self, name: &str) -> Option<Element> {
        self.part(name, "wrapper")
    }

    /// Adds an empty group before another one.
    fn add_group(&mut self, name: &str, before: &str) {
        let group = dom::make("div", &["wpwl-group wpwl-group-", name, " wpwl-clearfix"].concat(), &[], "");
        if let Some(next) = self.group(before) {
            let _ = next.before_with_node_1(&group);
            self.groups.push((name.to_owned(), group));
        }
    }

    /// Adds an empty group with label and wrapper before another one.
    fn add_field_group(&mut self, container: &HtmlElement, name: &str, before: &str) {
        self.add_group(name, before);
        if let Some(group) = self.group(name) {
            let id = label_id(container, name);
            let label = dom::make("div", &["wpwl-label wpwl-label-", name].concat(), &[("id", &id)], "");
            let wrapper = dom::make("div", &["wpwl-wrapper wpwl-wrapper-", name].concat(), &[], "");
            let _ = group.append_with_node_2(&label, &wrapper);
        }
    }
}

/// The particulars of the form of a card.
#[derive(Debug)]
pub struct CardPart {
    /// Its nodes.
    pub skeleton: Skeleton,
    /// The brands that the checkout offers, of those that the page names. Empty until the configuration has come.
    pub cards: Vec<OfferedBrand>,
    /// True if the shopper has chosen the brand. The number does not change it while it fits.
    pub(super) is_chosen_by_hand: bool,
    /// The brands that the merchant was last told.
    pub(super) detected: Vec<String>,
    /// Brands of a card with two of them, between which the shopper chooses.
    pub(super) choices: Vec<String>,
    /// True while the number tells the brand.
    pub(super) is_told: bool,
    /// Count of the changes of the first digits that the merchant was last told.
    pub(super) bin: Option<u32>,
    /// True if the gateway has refused the brand, so that the shopper knows already that it is not offered.
    pub(super) is_withdrawn: bool,
    /// The brand that list and logo show. Empty if they have to be set again.
    pub(super) shown_brand: String,
    /// True once frames and configuration have come: the form is ready after the next rendering.
    pub(in crate::page) is_complete: bool,
    /// The list of brands.
    pub(super) select: NodeRef,
}

/// Calls a function when an element changes its size.
#[derive(Debug)]
pub struct SizeObserver {
    observer: web_sys::ResizeObserver,
    _closure: Closure<dyn FnMut()>,
}

impl SizeObserver {
    /// Observes an element. `None` in a browser that cannot.
    pub fn new(element: &Element, react: impl FnMut() + 'static) -> Option<Self> {
        crate::page::bridge::find_global("ResizeObserver")?;
        let closure = Closure::<dyn FnMut()>::new(react);
        let observer = web_sys::ResizeObserver::new(closure.as_ref().unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _closure: closure })
    }
}

impl Drop for SizeObserver {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}

/// Starts the page module in a card form.
pub fn mount(session: &Rc<Session>, form: &Rc<FormHandle>) {
    let options = session.options();
    let mut skeleton = Skeleton::find(form);
    let locale = session.loader.read_locale();
    if let Some(node) = form.form_node() {
        node.set_attribute("lang", &locale);
        let direction = session.text_direction();
        if !direction.is_empty() {
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

impl CardPart {
    /// Returns the brands' codes.
    pub fn codes(&self) -> Vec<String> {
        self.cards.iter().map(|brand| brand.code.clone()).collect()
    }
}
