//! The merchant's answers to a dispute.

use axum::extract::Path;
use axum::response::Response;
use tillgate_domain::dispute::DisputeAction;

use super::dispute_page::ShownDispute;
use crate::access::Fields;
use crate::office::Office;

/// Name of the field of the note.
pub(super) const NOTE: &str = "note";
/// Name of the act in the address: contests a dispute, or sends the requested documents.
pub(super) const REPRESENTMENT: &str = "representment";
/// Name of the act in the address: accepts a dispute.
pub(super) const ACCEPTANCE: &str = "acceptance";

/// Handles `POST /money/disputes/{id}/representment`.
pub(super) async fn represent(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    answer(&office, &id, (DisputeAction::Represent, "dispute_represented"), &fields).await
}

/// Handles `POST /money/disputes/{id}/acceptance`.
pub(super) async fn accept(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    answer(&office, &id, (DisputeAction::Accept, "dispute_accepted"), &fields).await
}

/// Answers a dispute, and leads to its page.
async fn answer(office: &Office, id: &str, (action, done): (DisputeAction, &str), fields: &Fields) -> Response {
    let view = match ShownDispute::load_to_answer(office, id).await {
        Ok(view) => view,
        Err(refused) => return *refused,
    };
    let typed = fields.get(NOTE);
    // Browsers send the line breaks of a text area as CR and LF.
    let note = typed.replace("\r\n", "\n");
    let dispute = &view.case.dispute;
    let target = (&dispute.entity, &dispute.id);
    match office.app().gateway.answer_dispute(&office.actor(), target, action, &note).await {
        Ok(_) => office.lead_to(&view.path(), done),
        Err(error) => {
            let show = async |message: &str| match ShownDispute::load(office, id).await {
                // Loaded again, because another answer may have arrived meanwhile.
                Ok(view) => view.show(office, typed, Some(message)),
                Err(refused) => *refused,
            };
            office.show_refusal(&error, show).await
        }
    }
}
