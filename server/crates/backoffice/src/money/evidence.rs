//! Evidence files: their upload, and their downloads, which a browser stores and never shows or runs.

use axum::body::Body;
use axum::extract::Path;
use axum::http::{HeaderValue, header};
use axum::response::Response;
use tillgate_domain::access::role::Permission;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::id::{DisputeId, EvidenceId};

use super::dispute_page::ShownDispute;
use crate::access::{Problem, Upload};
use crate::layout::response::mark_as_personal;
use crate::office::Office;
use crate::payment::collect_ids;

/// Name of the field of a file.
pub(super) const FILE: &str = "file";

/// Handles `GET /money/disputes/{id}/evidence/{file}`.
pub(super) async fn send_evidence(office: Office, Path((id, file)): Path<(String, String)>) -> Response {
    let (Some(id), Some(file)) = (DisputeId::parse(&id), EvidenceId::parse(&file)) else {
        return office.show_unknown();
    };
    let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
    // A file takes memory and computation, so one user must not open many at once. The places of the API stay free.
    let Some(_download) = office.state.downloads.start(&office.signed_in.user.id) else {
        return office.show_problem(&Problem::RunningDownload);
    };
    match office.read(move |app, _| app.gateway.open_evidence_of(&entities, (&id, &file))).await {
        Ok(Some((evidence, content))) => build_file(&evidence, content.to_vec()),
        Ok(None) => office.show_unknown(),
        Err(failure) => office.show_failure(&failure),
    }
}

/// Handles `POST /money/disputes/{id}/evidence`: adds a file to the dispute.
pub(super) async fn add_evidence(office: Office, Path(id): Path<String>, mut upload: Upload) -> Response {
    let view = match ShownDispute::load_to_answer(&office, &id).await {
        Ok(view) => view,
        Err(refused) => return *refused,
    };
    let texts = office.texts;
    if upload.is_too_large {
        return view.show_file_fault(&office, texts.get("dispute_page.file_too_large"));
    }
    let Some(mut file) = upload.take_file(FILE) else {
        return view.show_file_fault(&office, texts.get("dispute_page.no_file"));
    };
    let dispute = &view.case.dispute;
    let content = std::mem::take(&mut *file.content);
    let (actor, target) = (office.actor(), (&dispute.entity, &dispute.id));
    match office.app().add_evidence_of_user(&actor, target, &file.name, content).await {
        Ok(_) => office.lead_to(&view.path(), "evidence_added"),
        Err(error) => {
            let show = async |message: &str| match ShownDispute::load(&office, &id).await {
                // Loaded again, because the dispute may have ended meanwhile.
                Ok(view) => view.show_file_fault(&office, message),
                Err(refused) => *refused,
            };
            office.show_refusal(&error, show).await
        }
    }
}

/// Builds the response with a file.
fn build_file(evidence: &Evidence, content: Vec<u8>) -> Response {
    let mut response = Response::new(Body::from(content));
    mark_as_personal(response.headers_mut());
    let media_type = HeaderValue::from_static(evidence.media_type.as_str());
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    response.headers_mut().insert(header::CONTENT_DISPOSITION, describe_attachment(&evidence.name));
    response
}

/// Returns the header that names an attachment. Names are made safe when a file is stored; a letter with a meaning in a
/// header is replaced here as well, because the header decides about what a browser does with the file.
fn describe_attachment(name: &str) -> HeaderValue {
    let is_safe = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_' | ' ');
    let safe: String = name.chars().map(|letter| if is_safe(letter) { letter } else { '_' }).collect();
    HeaderValue::from_str(&format!("attachment; filename=\"{safe}\"")).unwrap_or(HeaderValue::from_static("attachment"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_marks_of_a_header_stays_one_name() {
        for (name, header) in [
            ("receipt 1.pdf", "attachment; filename=\"receipt 1.pdf\""),
            ("a\"; filename=evil.html", "attachment; filename=\"a__ filename_evil.html\""),
            ("../x\r\nset-cookie: a=b", "attachment; filename=\".._x__set-cookie_ a_b\""),
            ("\u{202e}gpj.é", "attachment; filename=\"_gpj._\""),
        ] {
            assert_eq!(describe_attachment(name), header);
        }
    }
}
