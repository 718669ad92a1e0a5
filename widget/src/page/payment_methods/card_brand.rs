//! The brand of a card: it follows the number, unless the shopper has chosen it and the number allows the choice.

use tillgate_shared::frame_messages::{FieldMessage, FieldState, FrameField, FrameLook};
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlSelectElement};

use super::card_part::CardPart;
use crate::page::callbacks::Callback;
use crate::page::collect;
use crate::page::detect;
use crate::page::dom;
use crate::page::engine::form::{Form, Part};
use crate::page::frames;

impl Form {
    /// Follows the number of the card with its brand.
    pub(in crate::page) fn follow_number(&mut self, field: FrameField) {
        if field != FrameField::Number {
            return;
        }
        let Some(state) = self.number_state().cloned() else { return };
        let options = self.session.options();
        let Part::Card(part) = &mut self.part else { return };
        if !state.known {
            return;
        }
        if state.brands.is_empty() {
            part.is_chosen_by_hand = false;
        }
        let found = detect::order_brands(&state.brands, &options.brand_detection_priority);
        let next = detect::select_brand(&found, &self.brand, part.is_chosen_by_hand);
        part.is_told = !state.brands.is_empty();
        let offers_choice = options.brand_detection || part.skeleton.hides_brand_list();
        part.choices = if offers_choice && state.bin.is_some() { state.brands.clone() } else { Vec::new() };
        if let Some(brand) = next {
            self.set_brand(&brand);
        }
        let told = detect::reported_brands(found, &self.brand, options.brand_detection);
        self.tell_detection(told, &state, options.detects_bin && options.brand_detection);
    }

    fn number_state(&self) -> Option<&FieldState> {
        self.fields.iter().find(|field| field.is_frame(FrameField::Number))?.frame_state()
    }

    /// Tells the merchant which brands the number fits, if they are others than before.
    fn tell_detection(&mut self, told: Vec<String>, state: &FieldState, tells_bin: bool) {
        let Part::Card(part) = &mut self.part else { return };
        if told != part.detected {
            part.detected.clone_from(&told);
            let key = self.handle.key.borrow().clone();
            self.notify(&Callback::BrandsDetected { brands: &told, active: &self.brand, container: &key });
        }
        let Part::Card(part) = &mut self.part else { return };
        if state.bin == part.bin {
            return;
        }
        part.bin = state.bin;
        if state.bin.is_some() && tells_bin {
            self.notify(&Callback::BinDetected { brands: &state.brands, active: &self.brand });
        }
    }

    /// The shopper chose a brand.
    pub(in crate::page) fn brand_chosen(&mut self, brand: String) {
        if let Part::Card(part) = &mut self.part {
            part.is_chosen_by_hand |= brand != self.brand;
            self.set_brand(&brand);
        }
    }

    /// Changes the brand: in the list, the logo, and the frames, whose checks depend on it.
    pub(in crate::page) fn set_brand(&mut self, brand: &str) {
        let old = std::mem::replace(&mut self.brand, brand.to_owned());
        self.show_brand();
        if old == brand {
            return;
        }
        for field in &self.fields {
            if field.row.secret {
                self.send_to_frame(field, &FieldMessage::Brand(brand.to_owned()));
            }
        }
        // The explanation of the code depends on the brand.
        if self.session.options().show_code_hint {
            self.send_looks();
        }
        self.notify(&Callback::BrandChanged(brand));
    }

    /// Shows the brand in the list and by the logo. A brand whose option is still to be rendered follows after that.
    pub(in crate::page) fn show_brand(&mut self) {
        let (brand, session) = (self.brand.clone(), self.session.clone());
        let Some(part) = self.card_part() else { return };
        if part.shown_brand == brand || part.cards.is_empty() {
            return;
        }
        session.loader.show_mark(&brand);
        if let Some(logo) = &part.skeleton.logo {
            let shown = logo.class_name();
            for class in
                shown.split_whitespace().filter(|class| class.starts_with("wpwl-brand-") && *class != "wpwl-brand-card")
            {
                dom::toggle_class(logo, class, false);
            }
            dom::toggle_class(logo, &["wpwl-brand-", &brand].concat(), true);
        }
        if let Some(select) = part.select.cast::<HtmlSelectElement>() {
            select.set_value(&brand);
            if select.value() == brand {
                part.shown_brand = brand;
            }
        }
    }

    /// Tells all frames of the form how they look.
    pub(in crate::page) fn send_looks(&mut self) {
        let container = &self.handle.container;
        dom::toggle_class(container, "wpwl-dark", frames::is_on_dark(container));
        for at in 0..self.fields.len() {
            self.send_look(at);
        }
    }

    /// Tells the frame of a field how it looks and what it is called, if it has said that it is ready.
    pub(in crate::page) fn send_look(&self, at: usize) {
        use crate::page::engine::field::Place;
        let Some(field) = self.fields.get(at) else { return };
        let (Place::Frame { field: kind, .. }, Some(element)) = (&field.place, field.listening_frame()) else { return };
        let options = self.session.options();
        // An input of the page shows how placeholders look.
        let like = self.fields.iter().find(|field| field.frame().is_none()).and_then(|field| field.control());
        let caption = if field.row.key == "expiryDate" { "mmyy" } else { field.row.label };
        let placeholder = if options.show_placeholders { self.session.text(caption) } else { String::new() };
        let brands = match &self.part {
            Part::Card(part) => part.codes(),
            _ => vec![self.brand.clone()],
        };
        let look = FrameLook {
            label: self.session.text(field.row.label),
            placeholder,
            brand: self.brand.clone(),
            brands,
            help: if *kind == FrameField::Code { self.code_help() } else { String::new() },
            ..frames::read_look(&self.session, element, like.as_ref(), &options)
        };
        self.send_to_frame(field, &FieldMessage::Options(Box::new(look)));
    }

    /// Sets the focus to the field that the merchant wants.
    pub(in crate::page) fn focus_wanted_field(&self) {
        let wanted = self.session.options().autofocus.clone();
        if wanted.is_empty() {
            return;
        }
        let is_wanted = |field: &crate::page::engine::field::Field| {
            field.name == wanted || field.frame().is_some_and(|frame| frame.name() == wanted)
        };
        if let Some(at) = self.fields.iter().position(is_wanted) {
            return self.focus_field(at);
        }
        let selector = ["[name=\"", &wanted.split(['"', '\\']).collect::<String>(), "\"]"].concat();
        let found = self.node().and_then(|form| form.find(&selector));
        if let Some(element) = found.and_then(|element| element.dyn_into::<HtmlElement>().ok()) {
            let _ = element.focus();
        }
    }

    /// The browser has filled in the whole card where the number stands. Input of the shopper stays.
    pub(in crate::page) fn fill_in(&mut self, holder: &str, expiry: &str) {
        let Some(form) = self.node() else { return };
        for (key, value) in [("cardHolder", holder), ("expiryDate", expiry)] {
            let field = self.find_field(key).and_then(|at| self.fields.get(at)).filter(|field| field.frame().is_none());
            if let Some(field) = field.filter(|field| !value.is_empty() && field.is_empty(&form)) {
                field.set_value(value);
                if let Some(control) = field.control() {
                    dom::fire(&control, "input");
                }
            }
        }
    }

    /// Joins given name and surname to the name on the card.
    pub(super) fn join_holder(&self, form: &crate::page::bridge::FormNode) {
        let names = ["givenName", "surname"].map(|key| {
            let field = self.find_field(key).and_then(|at| self.fields.get(at));
            field.map(|field| field.value(form)).unwrap_or_default()
        });
        collect::set_hidden(form, "card.holder", names.join(" ").trim());
    }

    /// Returns the part of a card form.
    pub(super) fn card_part(&mut self) -> Option<&mut CardPart> {
        match &mut self.part {
            Part::Card(part) => Some(part),
            _ => None,
        }
    }
}
