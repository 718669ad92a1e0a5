//! A field of a form: its row in the table, and the place where the shopper fills it in.

use tillgate_shared::field::{FormField, Input};
use tillgate_shared::frame_messages::{FieldState, FrameField};
use wasm_bindgen::JsCast as _;
use web_sys::{HtmlElement, HtmlIFrameElement, HtmlInputElement, HtmlSelectElement, Window};
use yew::prelude::*;

use super::fault::{Fault, tidy_value};
use crate::page::bridge::{self, FormNode, Value};

/// The place where a field is filled in.
#[derive(Debug)]
pub enum Place {
    /// An input of the page.
    Input(NodeRef),
    /// An input in a frame on the gateway's origin.
    Frame {
        /// The field's name in messages.
        field: FrameField,
        /// The frame.
        element: HtmlIFrameElement,
        /// True if the loader has put it into the page, and false if the form renders it.
        is_placed: bool,
        /// The window that has said hello. A frame that the page has moved has another one, which says hello in its
        /// turn.
        window: Option<Window>,
        /// The state that the frame reported.
        state: FieldState,
    },
}

/// A field of a form.
#[derive(Debug)]
pub struct Field {
    /// Its row in the table of fields.
    pub row: &'static FormField,
    /// Last part of its class names and ids.
    pub class: String,
    /// Name of its input. Mostly that of the row.
    pub name: &'static str,
    /// The place where it is filled in.
    pub place: Place,
    /// True if it may stay empty.
    pub optional: bool,
    /// False if it is neither checked nor sent.
    pub enabled: bool,
    /// Its fault, as far as the shopper has been told.
    pub fault: Option<Fault>,
    /// The fault that its control shows.
    pub shown: Option<Fault>,
    /// True if our own check found it wrong the last time, whether or not the shopper was told.
    pub was_wrong: bool,
    /// Choices of a select, as values and names.
    pub choices: Vec<(String, String)>,
    /// Value of the beginning.
    pub initial: String,
    /// Key of its placeholder, and of its label if it has no visible one.
    pub caption: &'static str,
}

impl Field {
    /// Creates a field that is an input of the page.
    pub fn in_page(row: &'static FormField, optional: bool) -> Self {
        // The contract's class of the expiry date is shorter than its key.
        let class = if row.key == "expiryDate" { "expiry" } else { row.key };
        Self {
            row,
            class: class.to_owned(),
            name: row.name,
            place: Place::Input(NodeRef::default()),
            optional,
            enabled: true,
            fault: None,
            shown: None,
            was_wrong: false,
            choices: Vec::new(),
            initial: String::new(),
            caption: row.label,
        }
    }

    /// Creates a field whose input is in a frame.
    pub fn in_frame(row: &'static FormField, field: FrameField, element: HtmlIFrameElement, is_placed: bool) -> Self {
        let place = Place::Frame { field, element, is_placed, window: None, state: FieldState::empty() };
        Self { place, was_wrong: true, ..Self::in_page(row, false) }
    }

    /// Returns true if this frame is the one of the field.
    pub fn is_frame(&self, wanted: FrameField) -> bool {
        matches!(&self.place, Place::Frame { field, .. } if *field == wanted)
    }

    /// Returns its control: a frame, or an input of the page.
    pub fn control(&self) -> Option<HtmlElement> {
        match &self.place {
            Place::Frame { element, .. } => Some(element.clone().into()),
            Place::Input(node) => node.cast(),
        }
    }

    /// Returns its frame.
    pub fn frame(&self) -> Option<&HtmlIFrameElement> {
        match &self.place {
            Place::Frame { element, .. } => Some(element),
            Place::Input(_) => None,
        }
    }

    /// Returns its frame if the document in it listens. Browsers warn of messages to one that is still loading.
    pub fn listening_frame(&self) -> Option<&HtmlIFrameElement> {
        match &self.place {
            Place::Frame { element, window, .. } if window.is_some() && element.content_window() == *window => {
                Some(element)
            }
            _ => None,
        }
    }

    /// Returns the state of its frame.
    pub fn frame_state(&self) -> Option<&FieldState> {
        match &self.place {
            Place::Frame { state, .. } => Some(state),
            Place::Input(_) => None,
        }
    }

    /// Returns true if the check knows enough about the field to call it right or wrong. A frame without its checks, or
    /// one that has checked against another brand than this one, says nothing about what is typed.
    pub fn has_verdict(&self, brand: &str) -> bool {
        let Place::Frame { state, .. } = &self.place else { return true };
        state.empty || state.known && (!self.row.secret || state.brand == brand)
    }

    /// Returns true if nothing is filled in.
    pub fn is_empty(&self, form: &FormNode) -> bool {
        match &self.place {
            Place::Frame { state, .. } => state.empty,
            Place::Input(_) => self.value(form).is_empty(),
        }
    }

    /// Returns the tidied value of an input of the page. A page may have replaced it by a copy in the form, which
    /// counts then. Empty for a frame. A ticked box has the value `true`.
    pub fn value(&self, form: &FormNode) -> String {
        let Place::Input(node) = &self.place else { return String::new() };
        let own: Option<HtmlElement> = node.cast::<HtmlElement>().filter(|node| node.is_connected());
        let found = own.or_else(|| form.find(&["[name=\"", self.name, "\"]"].concat())?.dyn_into().ok());
        let Some(control) = found else { return String::new() };
        match control.dyn_ref::<HtmlInputElement>() {
            Some(input) if self.row.input == Input::Checkbox => if input.checked() { "true" } else { "" }.to_owned(),
            Some(input) => tidy_value(self.row, &input.value()),
            None => control.dyn_ref::<HtmlSelectElement>().map(HtmlSelectElement::value).unwrap_or_default(),
        }
    }

    /// Returns the fault that a script has found which only some forms load. It puts a function at the control. A copy
    /// in the place of the control has none.
    pub fn find_later_fault(&self) -> Option<Fault> {
        let control = Value(self.control().filter(|control| control.is_connected())?.into());
        let key = bridge::call(&control.function("findFault")?, &control.0, &[]).ok()?.as_string()?;
        (!key.is_empty()).then(|| Fault::of_account(self.row, &key))
    }

    /// Sets the value of an input of the page.
    pub fn set_value(&self, value: &str) {
        let Some(control) = self.control() else { return };
        if let Some(input) = control.dyn_ref::<HtmlInputElement>() {
            if self.row.input == Input::Checkbox { input.set_checked(value == "true") } else { input.set_value(value) }
        } else if let Some(select) = control.dyn_ref::<HtmlSelectElement>() {
            select.set_value(value);
        }
    }
}

/// Returns the id of a label.
pub fn label_id(container: &HtmlElement, class: &str) -> String {
    [&container.id(), "-label-", class].concat()
}

/// Returns the id of a field's hint.
pub fn hint_id(container: &str, class: &str) -> String {
    [container, "-hint-", class].concat()
}
