//! The view of the form with stored accounts.

use yew::prelude::*;

use super::mark;
use super::stored_part::{StoredEntry, StoredPart};
use crate::page::engine::form::Form;
use crate::page::text::keys;

/// Classes of the group of an account.
const GROUP: &str = "wpwl-group wpwl-group-registration wpwl-clearfix";
/// Classes of the group of a card that has expired.
const EXPIRED_GROUP: &str = "wpwl-group wpwl-group-registration wpwl-expired wpwl-clearfix";

impl Form {
    pub(in crate::page) fn view_stored(&self, part: &StoredPart) -> Html {
        let mut entries: Vec<Html> = Vec::new();
        for (at, entry) in part.entries.iter().enumerate() {
            entries.push(self.view_entry(part, at, entry));
        }
        let (_, text) = self.button_amount();
        html! {
            <>
                <form ref={self.form_ref.clone()} method="POST" action={self.session.submit_address(&self.session.loader.checkout_id())} target="registrations-target"
                    class="wpwl-form wpwl-form-registration wpwl-form-registrations wpwl-form-has-inputs wpwl-clearfix"
                    novalidate={true} accept-charset="UTF-8" data-action="submit-registration">
                    <input type="hidden" name="shopperResultUrl" value={self.handle.result_address()} />
                    { entries }
                    { self.view_button("submit", "submit", "pay", html! { { text } }) }
                    { self.view_live_region() }
                </form>
                { self.view_notice() }
            </>
        }
    }

    fn view_entry(&self, part: &StoredPart, at: usize, entry: &StoredEntry) -> Html {
        let account = &entry.account;
        let detail = |key: &str, text: &str, is_code: bool| {
            let dir = is_code.then_some("ltr");
            html! { if !text.is_empty() { <div ~className={["wpwl-registration-", key].concat()} {dir}>{ text.to_owned() }</div> } }
        };
        let number = if account.last4.is_empty() { String::new() } else { ["**** ", &account.last4].concat() };
        let holder = match entry.holder {
            Some(at) => html! { <div class="wpwl-registration-holder">{ self.view_control(at, None) }</div> },
            None => detail("holder", &account.holder, false),
        };
        let expired = if entry.is_expired { self.session.text(keys::EXPIRED) } else { String::new() };
        let wrapper = |key: &str, content: Html| {
            html! { <div ~className={["wpwl-wrapper-registration wpwl-wrapper-registration-", key].concat()}>{ content }</div> }
        };
        let details = html! {
            <>{ detail("number", &number, true) }{ detail("expiry", &account.expiry, true) }{ detail("expired", &expired, false) }{ holder }{ detail("email", &account.email, false) }</>
        };
        let code = self.fields.iter().position(|field| field.frame().is_some()).filter(|_| part.chosen == Some(at));
        html! {
            <div ref={entry.group.clone()} ~className={if entry.is_expired { EXPIRED_GROUP } else { GROUP }}>
                <label class="wpwl-registration">
                    { wrapper("registrationId", html! {
                        <input ref={entry.radio.clone()} type="radio" name="registrationId" value={account.id.clone()} disabled={entry.is_blocked()} data-action="change-registration" />
                    }) }
                    { wrapper("brand", mark::view_mark(&self.session, account.is_card, &account.brand, &account.name)) }
                    { wrapper("details", details) }
                </label>
                // In an element of its own: a script hides the wrapper while another way to pay is open.
                if let Some(date) = entry.date {
                    { wrapper("date", html! { <div hidden={part.chosen != Some(at)}>{ self.view_group(date) }</div> }) }
                }
                { wrapper("cvv", code.map(|at| self.view_control(at, None)).unwrap_or_default()) }
                if part.is_deletable { { self.view_removal(at, entry) } }
            </div>
        }
    }
}
