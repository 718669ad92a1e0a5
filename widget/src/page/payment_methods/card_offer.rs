//! The offer of a checkout to a card form, and the form's way to being ready.

use tillgate_shared::frame_messages::{Config, FieldState, FrameField};
use web_sys::Element;
use yew::prelude::Context;

use crate::page::bridge::document;
use crate::page::callbacks::{Callback, ErrorName};
use crate::page::dom::{self, SizeObserver};
use crate::page::engine::field::Place;
use crate::page::engine::form::{Form, Part};
use crate::page::engine::form_message::{Message, Notice};
use crate::page::readiness::Progress;
use crate::page::text::keys;

/// The time after which changes of the form's size are observed, in milliseconds. The first rendering is over by then.
const OBSERVE_DELAY: i32 = 500;

impl Form {
    /// A frame has loaded: for the first time, or again because the page has moved it.
    pub(in crate::page) fn frame_ready(
        &mut self,
        context: &Context<Self>,
        at: usize,
        kind: FrameField,
        config: Option<Config>,
    ) {
        let Some(field) = self.fields.get_mut(at) else { return };
        field.shown = None;
        let is_rendered = matches!(field.place, Place::Frame { is_placed: false, .. });
        let Place::Frame { window, state, element, .. } = &mut field.place else { return };
        let was_ready = std::mem::replace(window, element.content_window()).is_some();
        *state = FieldState::empty();
        let element = element.clone();
        if kind == FrameField::Number {
            self.follow_lost_frame(context);
        }
        if let Some(config) = config {
            self.configure_card(&config);
        }
        if self.handle.progress.get() == Progress::Ready {
            self.send_look(at);
            if document::active_element().is_some_and(|active| active == *AsRef::<Element>::as_ref(&element)) {
                self.focus_field(at);
            }
        }
        if is_rendered && !was_ready {
            let (session, handle) = (self.session.clone(), self.handle.clone());
            self.session.after_ready(move || {
                let callback = Callback::FrameReady(&element);
                crate::page::callbacks::notify(&session, &callback, handle.form_node().as_ref());
            });
        }
        self.complete_card();
    }

    /// Takes over which brands the checkout offers, the first time.
    fn configure_card(&mut self, config: &Config) {
        let (session, handle) = (self.session.clone(), self.handle.clone());
        if handle.has_ended() || self.card_part().is_none_or(|part| !part.cards.is_empty()) {
            return;
        }
        if let Some(closed) = &config.closed {
            self.end(if closed.paid { keys::PAID_ERROR } else { keys::CHECKOUT_ERROR });
            return session.raise(ErrorName::InvalidCheckout, &closed.message);
        }
        let cards = config.offered_cards(&handle.brands);
        let is_missing = |code: &&String| !code.is_empty() && config.find_brand(code).is_none();
        super::report_missing(&session, &handle.brands.iter().filter(is_missing).cloned().collect::<Vec<_>>());
        if cards.is_empty() {
            return self.give_way(config);
        }
        self.set_cards(cards);
    }

    /// None of the brands is an offered card: the form gives way to the others. That is a mistake of the page, so the
    /// developer is told, and not the shopper.
    fn give_way(&mut self, config: &Config) {
        let (session, handle) = (self.session.clone(), self.handle.clone());
        let is_only = session.forms.borrow().len() == 1 && !config.has_registrations;
        handle.progress.set(Progress::Ended);
        session.put_away(&handle);
        if is_only {
            super::show_nothing_offered(&session);
        }
        session.announce_forms();
    }

    fn set_cards(&mut self, cards: Vec<tillgate_shared::frame_messages::OfferedBrand>) {
        let codes: Vec<String> = cards.iter().map(|brand| brand.code.clone()).collect();
        let Some(part) = self.card_part() else { return };
        part.cards = cards;
        part.shown_brand.clear();
        let old = self.brand.clone();
        match codes.first() {
            Some(first) if !codes.contains(&old) => {
                // The list of brands is rendered with the new ones before the brand is set there.
                self.brand.clone_from(first);
            }
            _ => {}
        }
    }

    /// The form is ready once both frames have loaded and the configuration has come.
    fn complete_card(&mut self) {
        let Part::Card(part) = &self.part else { return };
        let is_ready = |field: &crate::page::engine::field::Field| match &field.place {
            Place::Frame { window, is_placed, .. } => window.is_some() || !*is_placed,
            Place::Input(_) => true,
        };
        if part.cards.is_empty() || !self.fields.iter().all(is_ready) || self.handle.has_ended() {
            return;
        }
        if self.handle.progress.get() == Progress::Loading {
            let (session, handle) = (self.session.clone(), self.handle.clone());
            // After this rendering, in which the list of brands gets its options. A timer would wait for the frames to
            // be painted.
            session.loader.run_soon(&dom::make_callback(move || handle.send(Message::Complete)));
            self.observe_size();
        }
    }

    /// Frames and configuration have come: the form is ready after this rendering.
    pub(in crate::page) fn complete_parts(&mut self) {
        if let Some(part) = self.card_part() {
            part.is_complete = true;
        }
    }

    /// Text that grows in the page grows in the frames too.
    fn observe_size(&mut self) {
        let handle = self.handle.clone();
        let Some(frame) = handle.frame(FrameField::Number) else { return };
        let weak = std::rc::Rc::downgrade(&handle);
        dom::call_later(OBSERVE_DELAY, move || {
            let observed = weak.clone();
            let react = move || {
                if let Some(handle) = observed.upgrade() {
                    handle.send(Message::Restyle);
                }
            };
            if let (Some(handle), Some(observer)) = (weak.upgrade(), SizeObserver::new(&frame, react)) {
                handle.size_observer.replace(Some(observer));
            }
        });
    }

    /// Follows a change of what the checkout offers.
    pub(in crate::page) fn follow_offer(&mut self, config: &Config) {
        match &self.part {
            Part::None => {}
            Part::Card(_) => self.follow_card_offer(config),
            Part::Brand(_) => self.follow_brand_offer(config),
            Part::Stored(_) => self.follow_stored_offer(config),
        }
    }

    /// A card form without any offered brand says so until there is one again.
    fn follow_card_offer(&mut self, config: &Config) {
        let handle = self.handle.clone();
        let Some(part) = self.card_part().filter(|part| !part.cards.is_empty() || !handle.has_ended()) else { return };
        let known = part.codes();
        let was_told = std::mem::take(&mut part.is_withdrawn);
        let cards = config.offered_cards(&handle.brands);
        let codes: Vec<String> = cards.iter().map(|brand| brand.code.clone()).collect();
        if known == codes || (known.is_empty() && handle.progress.get() == Progress::Loading) {
            return;
        }
        let is_gone = cards.is_empty();
        let text = self.unavailable_text();
        if !was_told {
            self.notice = is_gone.then(|| Notice::error(text));
        }
        if let Some(form) = self.node() {
            form.set_visible(!is_gone);
        }
        let old = self.brand.clone();
        self.set_cards(cards);
        if !is_gone && old != self.brand {
            let new = std::mem::replace(&mut self.brand, old);
            self.set_brand(&new);
        }
        self.send_looks();
    }

    /// Returns the text that the brand is not offered any more.
    fn unavailable_text(&mut self) -> String {
        let brand = self.brand.clone();
        let name = self
            .card_part()
            .and_then(|part| part.cards.iter().find(|card| card.code == brand).map(|card| card.name.clone()));
        self.session.text_about(keys::UNAVAILABLE, &name.unwrap_or(brand))
    }

    /// The gateway has refused the brand. Reads what is offered instead, and returns the text for the shopper.
    pub(in crate::page) fn withdraw_brand(&mut self) -> String {
        self.session.refresh();
        if let Part::Card(part) = &mut self.part {
            part.is_withdrawn = true;
            return self.unavailable_text();
        }
        self.session.text_about(keys::UNAVAILABLE, &super::brand_name(self))
    }
}
