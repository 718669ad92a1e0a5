//! The upload of a file, which is read without writing anything, and the import of the same bytes.

use std::sync::Arc;

use axum::response::Response;
use jiff::Timestamp;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::settlement::file_import::FilePreview;
use tillgate_gateway::settlement::file_import::kept::{KeptFile, KeptUpload};
use tillgate_store::Cancellation;

use super::list::{FormFault, can_have_files, show_list};
use super::preview::show_preview;
use super::{FILE, INSTITUTE, MAPPING, PATH, SKIP, UPLOAD};
use crate::access::{Fields, Upload};
use crate::money::entity_choice::ENTITY;
use crate::office::Office;

/// Largest size of a mapping, in bytes.
const MAX_MAPPING: usize = 64 * 1024;
/// Notice about a file that is imported.
const DONE: &str = "file_imported";

/// Handles `POST /money/imports`: reads a file, and shows the result of its import before anything is written.
pub(in crate::money) async fn receive_file(office: Office, mut upload: Upload) -> Response {
    let texts = office.texts;
    if upload.is_too_large {
        return refuse(&office, &upload.fields, Some((FILE, texts.get("imports.too_large")))).await;
    }
    let id = upload.fields.get(ENTITY);
    let entity = match office.find_entity(Permission::ChangeMoney, id) {
        Ok(entity) => entity,
        // Somebody who may only see the entity is told which permission is missing.
        Err(_) if office.find_entity(Permission::ViewMoney, id).is_ok() => {
            return office.show_missing_permission(Permission::ChangeMoney).await;
        }
        Err(unknown) => return *unknown,
    };
    if !can_have_files(&entity) {
        return refuse(&office, &upload.fields, Some((ENTITY, texts.get("imports.wrong_entity")))).await;
    }
    let mapping = upload.take_file(MAPPING).map(|file| String::from_utf8(file.content.to_vec()));
    let mapping = match mapping {
        None => String::new(),
        Some(Ok(text)) if text.len() <= MAX_MAPPING => text,
        Some(_) => return refuse(&office, &upload.fields, Some((MAPPING, texts.get("imports.no_mapping")))).await,
    };
    let Some(sent) = upload.take_file(FILE).filter(|file| !file.content.is_empty()) else {
        return refuse(&office, &upload.fields, Some((FILE, texts.get("imports.no_file")))).await;
    };
    let file = Arc::new(KeptFile {
        content: sent.content,
        name: sent.name,
        institute: upload.fields.get(INSTITUTE).trim().to_owned(),
        entity: entity.id.clone(),
        mapping,
    });
    let preview = match preview_file(&office, &file).await {
        Ok(preview) => preview,
        Err(error) => return show_refused(&office, &upload.fields, &error).await,
    };
    // A file that was imported before has no form, so nothing of it is kept.
    if preview.already_imported {
        return show_preview(&office, &entity, &file, &preview, None);
    }
    match office.state.uploads.keep(&office.signed_in.user.id, Arc::clone(&file), Timestamp::now()) {
        Ok(key) => show_preview(&office, &entity, &file, &preview, Some(&key)),
        Err(failure) => office.show_failure(&failure),
    }
}

/// Handles `POST /money/imports/confirmation`: imports the file that was previewed. A form that is sent twice imports
/// once, because the gateway knows the file then.
pub(in crate::money) async fn import_file(office: Office, fields: Fields) -> Response {
    let (texts, user, key) = (office.texts, &office.signed_in.user.id, fields.get(UPLOAD));
    let file = match office.state.uploads.find(user, key, Timestamp::now()) {
        Some(KeptUpload::Waiting(file)) => file,
        Some(KeptUpload::Imported) => return office.lead_to(PATH, DONE),
        None => return refuse(&office, &fields, Some((FILE, texts.get("imports.ended")))).await,
    };
    let skips_broken = !fields.get(SKIP).is_empty();
    let reach = Reach::Entity(file.entity.clone());
    let (state, owner, name) = (Arc::clone(&office.state), user.clone(), key.to_owned());
    let act = move |administration: &Administration| {
        let summary = administration.import_uploaded_file(&file.as_upload(skips_broken))?;
        // Here and not after the answer, because the import also ends if the browser has gone.
        if !summary.stopped {
            state.uploads.drop_imported(&owner, &name);
        }
        Ok(summary)
    };
    match office.administer_in(&office.state.imports, Permission::ChangeMoney, reach, act).await {
        Ok(summary) if summary.stopped => {
            let message = texts.fill("imports.stopped", &[("count", &texts.number(summary.broken))]);
            refuse(&office, &fields, Some((FILE, &message))).await
        }
        Ok(_) => office.lead_to(PATH, DONE),
        Err(error) => show_refused(&office, &fields, &error).await,
    }
}

/// Reads a file without importing it. That takes no place of an act, because it writes nothing.
async fn preview_file(office: &Office, file: &Arc<KeptFile>) -> Result<FilePreview, ActError> {
    let (file, reach) = (Arc::clone(file), Reach::Entity(file.entity.clone()));
    let read = move |administration: &Administration, cancelled: &Cancellation<'_>| {
        administration.preview_uploaded_file(&file.as_upload(false), cancelled)
    };
    office.examine_cancellable(Permission::ChangeMoney, reach, read).await
}

async fn show_refused(office: &Office, fields: &Fields, error: &ActError) -> Response {
    let field = match error {
        ActError::Refused { parameter, .. } => *parameter,
        _ => FILE,
    };
    office.show_refusal(error, async |message: &str| refuse(office, fields, Some((field, message))).await).await
}

/// Shows the list with the form that was refused.
async fn refuse(office: &Office, fields: &Fields, fault: FormFault<'_>) -> Response {
    show_list(office, "", fields, fault).await
}
