//! The editor of a rules file. Every save is a new version, and the versions that were saved stay as they are.

use std::borrow::Cow;
use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::risk::rules::check_rules_text;
use tillgate_gateway::risk::versions::RulesFile;
use tillgate_risk::{MAX_FILE_BYTES, RuleSet, TextError};
use tillgate_shared::format::mask::{Strictness, has_card_number, mask_card_numbers};

use super::{Area, examine, page_title, path_of};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::Tone;
use crate::components::notice::notice;
use crate::layout::page::Section;
use crate::office::Office;
use crate::review::analyst_of;

/// Field with the text.
const RULES: &str = "rules";
/// Field with the name of the pressed button.
const ACTION: &str = "action";
/// Number of errors on the page.
const SHOWN: usize = 20;
/// The text with which an entity without rules begins.
const FIRST_FILE: &str = "[thresholds]\nreview = 50\n\n[[rule]]\nname = \"high amount\"\nnote = \"Expensive orders are checked.\"\nwhen = 'amount > 500 and currency = \"EUR\"'\nscore = 20\n";

/// The version with which the editor begins.
#[derive(Deserialize)]
pub(super) struct EditedVersion {
    #[serde(default)]
    from: String,
}

/// Result of the check of a text.
#[derive(Serialize)]
struct CheckedText {
    errors: Vec<TextError>,
}

/// State of the text on the page.
enum TextState {
    /// It was not checked.
    Unchecked,
    /// It has no error.
    Good(Box<RuleSet>),
    /// It has errors.
    Bad(Vec<TextError>),
}

/// Handles `GET /risk/{entity}/edit`.
pub(super) async fn show_editor(
    office: Office,
    Path(id): Path<String>,
    Query(EditedVersion { from }): Query<EditedVersion>,
) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let owner = Arc::clone(&entity);
    let load = move |acts: &Administration| {
        let version = match from.is_empty() {
            true => acts.load_rule_versions(&owner)?.0.active,
            false => Some(from),
        };
        Ok(match version {
            Some(version) => acts.load_rules_text(&owner.id, &version).ok(),
            None => Some(FIRST_FILE.to_owned()),
        })
    };
    match examine(&office, &entity, load).await {
        Ok(Some(text)) => show_page(&office, &entity, &text, &TextState::Unchecked),
        Ok(None) => office.show_unknown(),
        Err(response) => *response,
    }
}

/// Handles `POST /risk/{entity}/check`: checks a text while it is typed.
pub(super) async fn check_file(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    match check(&office, &entity, &fields).await {
        Ok(checked) => Json(CheckedText { errors: checked.err().unwrap_or_default() }).into_response(),
        Err(error) => office.show_refusal(&error, async |_| office.show_unknown()).await,
    }
}

/// Handles `POST /risk/{entity}/edit`: checks a text, or stores it as a version.
pub(super) async fn receive_file(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ChangeRules, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let text = read_text(&fields);
    let checked = match check(&office, &entity, &fields).await {
        Ok(checked) => checked,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let rules = match checked {
        Err(errors) => return show_page(&office, &entity, &text, &TextState::Bad(errors)),
        Ok(rules) if fields.get(ACTION) == "check" => {
            return show_page(&office, &entity, &text, &TextState::Good(Box::new(rules)));
        }
        Ok(rules) => rules,
    };
    let version = rules.version().to_string();
    let (owner, author, stored) = (Arc::clone(&entity), analyst_of(&office.signed_in.user), text.clone());
    let add = move |acts: &Administration| {
        let file = RulesFile { name: RULES, text: &stored, rules: &rules };
        acts.add_rules(&owner, &file, author)
    };
    match office.administer(Permission::ChangeRules, Reach::Entity(entity.id.clone()), add).await {
        Ok(is_new) => {
            let done = if is_new { "rules_saved" } else { "rules_known" };
            office.lead_to(&format!("{}/versions/{version}", path_of(&entity)), done)
        }
        Err(error) => {
            let show = async |message: &str| {
                let error = TextError { line: 1, column: 1, message: message.to_owned() };
                show_page(&office, &entity, &text, &TextState::Bad(vec![error]))
            };
            office.show_refusal(&error, show).await
        }
    }
}

/// Returns the text of a form. A browser sends line breaks as two characters, which would change the columns of errors.
fn read_text(fields: &Fields) -> String {
    fields.get(RULES).replace("\r\n", "\n")
}

/// Returns a text as the page repeats it. A text that is refused for its card numbers has them masked. Any other text
/// stays as it is, because the next save would store the mask.
fn show_text(text: &str) -> Cow<'_, str> {
    if has_card_number(text, Strictness::InUse) { mask_card_numbers(text) } else { Cow::Borrowed(text) }
}

/// Checks the text of a form in the user's turn of long reads, so that checks never delay payments.
async fn check(office: &Office, entity: &Entity, fields: &Fields) -> Result<Result<RuleSet, Vec<TextError>>, ActError> {
    // A form that is too large has no fields, and must not be saved as a version without rules.
    let text = fields.has(RULES).then(|| read_text(fields));
    let check = move |_: &Administration| {
        Ok(match text {
            Some(text) => check_rules_text(&text),
            None => {
                let message = format!("a rules file has at most {MAX_FILE_BYTES} bytes");
                Err(vec![TextError { line: 1, column: 1, message }])
            }
        })
    };
    office.examine(Permission::ChangeRules, Reach::Entity(entity.id.clone()), check).await
}

fn show_page(office: &Office, entity: &Entity, text: &str, state: &TextState) -> Response {
    let texts = office.texts;
    let title = texts.get("rules_editor.title");
    let path = path_of(entity);
    let has_errors = matches!(state, TextState::Bad(_));
    let main = html! {
        (page_title(office, entity, Area::Versions, title, &html! {}))
        p.soft { (texts.get("rules_editor.text")) }
        section.card aria-label=(title) {
            form method="post" action={ (BASE) (path) "/edit" } {
                div.field {
                    label for="f-rules" { (texts.get("rules.file")) }
                    textarea.code id="f-rules" name=(RULES) rows="24" spellcheck="false" autocapitalize="off" wrap="off"
                        autocomplete="off" aria-describedby="check" aria-invalid=[has_errors.then_some("true")]
                        data-check={ (BASE) (path) "/check" } data-good=(texts.get("rules_editor.good"))
                        data-place=(texts.get("rules_editor.place")) data-failed=(texts.get("rules_editor.not_checked")) {
                        // A browser leaves out the first line break of the content.
                        "\n" (show_text(text))
                    }
                }
                div.check id="check" role="status" { (render_state(office, state)) }
                div.acts {
                    button.primary type="submit" name=(ACTION) value="save" { (texts.get("rules_editor.save")) }
                    button type="submit" name=(ACTION) value="check" { (texts.get("rules_editor.check")) }
                    a.button.quiet href={ (BASE) (path) } { (texts.get("rules_editor.cancel")) }
                }
            }
        }
    };
    let status = if has_errors { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    office.show_with_status(status, Section::Rules, title, main)
}

/// Renders the result of the check, as the script does while somebody types.
fn render_state(office: &Office, state: &TextState) -> Markup {
    let texts = office.texts;
    match state {
        TextState::Unchecked => html! {},
        TextState::Good(rules) => {
            let values = [("version", rules.version().to_string()), ("count", rules.rules().len().to_string())];
            let values = values.each_ref().map(|(name, value)| (*name, value.as_str()));
            notice(Tone::Good, &html! { (texts.fill("rules_editor.good_with", &values)) })
        }
        TextState::Bad(errors) => html! {
            ul.errors {
                @for error in errors.iter().take(SHOWN) {
                    @let place = [error.line.to_string(), error.column.to_string()];
                    li {
                        strong { (texts.fill("rules_editor.place", &[("line", &place[0]), ("column", &place[1])])) }
                        " " (error.message)
                    }
                }
            }
            @if errors.len() > SHOWN { p.soft {
                (texts.fill("rules_editor.more_errors", &[("count", &(errors.len() - SHOWN).to_string())]))
            } }
        },
    }
}
