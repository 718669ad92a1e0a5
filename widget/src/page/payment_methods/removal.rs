//! The removal of a stored account: a quiet button, and the question that takes its place.
//!
//! Both are always rendered, and hidden and shown, because a page may have moved the one before which the other would
//! have to be inserted.

use tillgate_shared::frame_messages::{RelayCall, Source as _};
use wasm_bindgen::JsCast as _;
use wasm_bindgen_futures::spawn_local;
use web_sys::HtmlElement;
use yew::prelude::*;

use super::stored_part::StoredEntry;
use crate::page::bridge::Value;
use crate::page::button::Button;
use crate::page::dom::{self, Listener};
use crate::page::engine::form::Form;
use crate::page::engine::form_message::{Message, RemoveStep};
use crate::page::text::keys;
use crate::page::wpwl;

/// Class of the button that asks.
const ASKS: &str = "wpwl-button-delete";
/// Class of the button that keeps the account.
const KEEPS: &str = "wpwl-button-keep";

impl Form {
    /// Returns the buttons about the removal of an account.
    pub(super) fn view_removal(&self, at: usize, entry: &StoredEntry) -> Html {
        let button = |class: &'static str, action: &'static str, key: &str, step: RemoveStep| {
            let handle = self.handle.clone();
            let on_press = Callback::from(move |()| handle.send(Message::RemovePressed { entry: at, step }));
            html! { <Button class={["wpwl-button wpwl-button-small ", class].concat()} {action} text={self.session.text(key)} {on_press} /> }
        };
        let question = self.session.text(keys::REMOVE_SURE);
        html! {
            <div class="wpwl-registration-remove">
                { button(ASKS, "delete-registration", keys::REMOVE, RemoveStep::Ask) }
                <div ref={entry.question.clone()} class="wpwl-registration-question" role="group" aria-label={question.clone()} hidden={true}>
                    <span>{ question }</span>
                    { button("wpwl-button-confirm", "confirm-deletion", keys::REMOVE, RemoveStep::Remove) }
                    { button(KEEPS, "keep-registration", keys::KEEP, RemoveStep::Keep) }
                </div>
            </div>
        }
    }

    /// Keeps an account when Escape is pressed at the question.
    pub(super) fn listen_to_questions(&mut self, context: &Context<Self>) {
        let Some(part) = self.stored_part() else { return };
        let questions: Vec<_> = part.entries.iter().map(|entry| entry.question.cast::<HtmlElement>()).collect();
        for (entry, question) in questions.iter().enumerate() {
            let Some(question) = question else { continue };
            let link = context.link().clone();
            self.listeners.push(Listener::new(question, "keydown", move |event| {
                if Value(event.into()).text("key") == "Escape" {
                    link.send_message(Message::RemovePressed { entry, step: RemoveStep::Keep });
                }
            }));
        }
    }

    /// Shows or hides the question about an account, and sets the focus to the button that keeps the account, or to the
    /// one that asks.
    pub(super) fn show_question(&mut self, at: usize, is_shown: bool) {
        let Some(entry) = self.stored_part().and_then(|part| part.entries.get(at)) else { return };
        let find = |class: &str| {
            let group = entry.group.cast::<HtmlElement>()?;
            group.query_selector(&[".", class].concat()).ok()??.dyn_into::<HtmlElement>().ok()
        };
        if let (Some(question), Some(button)) = (entry.question.cast::<HtmlElement>(), find(ASKS)) {
            dom::set_visible(&question, is_shown);
            dom::set_visible(&button, !is_shown);
        }
        if let Some(button) = find(if is_shown { KEEPS } else { ASKS }) {
            let _ = button.focus();
        }
    }

    /// A button about the removal of an account was pressed.
    pub(in crate::page) fn press_remove(&mut self, context: &Context<Self>, at: usize, step: RemoveStep) {
        let (session, link) = (self.session.clone(), context.link().clone());
        let Some(entry) = self.stored_part().and_then(|part| part.entries.get_mut(at)) else { return };
        if entry.is_leaving {
            return;
        }
        if step != RemoveStep::Remove {
            return self.show_question(at, step == RemoveStep::Ask);
        }
        entry.is_leaving = true;
        let call = RelayCall::Remove { registration: entry.account.id.clone() };
        let checkout = wpwl::checkout_id();
        spawn_local(async move {
            let answer = session.relay.call(&session.loader, call, &checkout).await;
            link.send_message(Message::Removed { entry: at, is_removed: answer.status == 200 });
        });
    }

    /// Sets the focus to the stored accounts if none is chosen, as all have expired. Returns true if that is so.
    pub(in crate::page) fn lacks_account(&mut self) -> bool {
        let Some(part) = self.stored_part().filter(|part| part.chosen.is_none()) else { return false };
        let radio =
            part.entries.iter().find(|entry| entry.is_offered).and_then(|entry| entry.radio.cast::<HtmlElement>());
        if let Some(radio) = radio {
            let _ = radio.focus();
        }
        true
    }
}
