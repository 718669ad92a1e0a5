//! The card of the decision: the claim, the forms of the acts, or the end of a review.

use maud::{Markup, html};
use tillgate_domain::review::queue::{MAX_NOTE, MAX_REASON_DIGITS, ReviewState};

use super::case::ReviewCase;
use crate::BASE;
use crate::access::Fields;
use crate::components::field::Field;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::risk::list_choice::ListChoice;

/// Name of the field of the note.
pub(super) const NOTE: &str = "note";
/// Name of the field of the note in the form of a cancellation.
pub(super) const CANCEL_NOTE: &str = "cancel-note";
/// Name of the field of the reason of a cancellation.
pub(super) const REASON: &str = "reason";

/// A form that was refused.
pub(super) struct SentForm<'a> {
    /// The fields as they were sent.
    pub(super) fields: &'a Fields,
    /// The fault.
    pub(super) message: &'a str,
}

/// Renders the card. `sent` is a form that was refused, of which the texts are kept.
pub(super) fn render(office: &Office, case: &ReviewCase, sent: Option<&SentForm<'_>>) -> Markup {
    let texts = office.texts;
    let none = Fields::default();
    let sent = sent.map_or(&none, |sent| sent.fields);
    let review = &case.item.review;
    let claim = review.active_claim(case.item.clock.now);
    let is_free = !review.has_ended && claim.is_none_or(|claim| claim.analyst == case.analyst);
    html! {
        section.card id="decision" aria-labelledby="decision-title" {
            header { h2 id="decision-title" { (texts.get("decision.title")) } }
            @if review.has_ended {
                div.body { p { (describe_end(texts, case)) } }
            } @else {
                (render_claim(texts, case))
            }
            @if case.can_decide {
                (render_acts(texts, case, sent, is_free))
                @if is_free { (render_cancellation(office, case, sent)) }
            }
        }
    }
}

/// Returns the sentence about the end of a review.
fn describe_end(texts: &Texts, case: &ReviewCase) -> String {
    let Some(decision) = &case.item.review.decision else { return texts.get("decision.ended").to_owned() };
    let values = [("analyst", &*decision.analyst), ("time", &case.format_time(texts, decision.at))];
    match case.item.review.state() {
        ReviewState::Approved => texts.fill("decision.ended_approved", &values),
        ReviewState::Expired => texts.fill("decision.ended_expired", &values),
        ReviewState::Open | ReviewState::Cancelled => texts.fill("decision.ended_cancelled", &values),
    }
}

/// Renders the claim of an open review, and the buttons that change it.
fn render_claim(texts: &Texts, case: &ReviewCase) -> Markup {
    let clock = case.item.clock;
    let claim = case.item.review.active_claim(clock.now);
    let is_own = claim.is_some_and(|claim| claim.analyst == case.analyst);
    let text = match claim {
        None => texts.get("decision.unclaimed").to_owned(),
        Some(claim) => {
            let until = case.format_time(texts, clock.to_entity_time(claim.end()));
            let key = if is_own { "decision.own_claim" } else { "decision.other_claim" };
            texts.fill(key, &[("analyst", &claim.analyst), ("time", &until)])
        }
    };
    html! {
        @if case.can_decide && (is_own || claim.is_none()) {
            form.row method="post" action=(act_address(case, "claim")) {
                p { (text) }
                div.acts {
                    button type="submit" aria-keyshortcuts="l" { (texts.get(if is_own { "decision.renew" } else { "decision.claim" })) }
                    @if is_own {
                        button type="submit" formaction=(act_address(case, "release")) { (texts.get("decision.release")) }
                    }
                }
            }
        } @else {
            div.body { p { (text) } }
        }
    }
}

/// Renders the form with a note. Somebody who may not decide now can still add one.
fn render_acts(texts: &Texts, case: &ReviewCase, sent: &Fields, is_free: bool) -> Markup {
    let note = Field {
        name: NOTE,
        label: texts.get("decision.note"),
        value: sent.get(NOTE),
        hint: is_free.then(|| texts.get("decision.note_hint")),
        max_length: u16::try_from(MAX_NOTE).ok(),
        key: Some("n"),
        ..Field::default()
    };
    html! {
        form method="post" action=(act_address(case, "note")) {
            (note.text_area(3))
            div.acts {
                @if is_free {
                    button.primary type="submit" aria-keyshortcuts="a" formaction=(act_address(case, "approve")) { (texts.get("decision.approve")) }
                    button type="submit" aria-keyshortcuts="p" formaction=(act_address(case, "pend")) { (texts.get("decision.pend")) }
                }
                button type="submit" { (texts.get("decision.add_note")) }
            }
        }
    }
}

/// Renders the form of a cancellation, which opens without a script.
fn render_cancellation(office: &Office, case: &ReviewCase, sent: &Fields) -> Markup {
    let texts = office.texts;
    let choice = ListChoice::find(office, case.payment());
    let is_sent = [CANCEL_NOTE, REASON].iter().any(|name| !sent.get(name).is_empty());
    let reason = Field {
        name: REASON,
        label: texts.get("decision.reason"),
        value: sent.get(REASON),
        hint: Some(texts.get("decision.reason_hint")),
        input_mode: Some("numeric"),
        max_length: u16::try_from(MAX_REASON_DIGITS).ok(),
        is_required: true,
        ..Field::default()
    };
    let note = Field {
        name: CANCEL_NOTE,
        label: texts.get("decision.note"),
        value: sent.get(CANCEL_NOTE),
        max_length: u16::try_from(MAX_NOTE).ok(),
        ..Field::default()
    };
    html! {
        details id="cancel" open[is_sent] {
            summary.danger aria-keyshortcuts="c" { (texts.get("decision.cancel")) }
            form method="post" action=(act_address(case, "cancel")) {
                p.soft { (texts.get("decision.cancel_text")) }
                (reason.input("text"))
                (note.text_area(2))
                @if let Some(choice) = choice { (choice.render(texts, sent)) }
                button.danger type="submit" { (texts.get("decision.cancel")) }
            }
        }
    }
}

/// Returns the address of an act.
fn act_address(case: &ReviewCase, act: &str) -> String {
    format!("{BASE}/reviews/{}/{act}", case.payment().id)
}
