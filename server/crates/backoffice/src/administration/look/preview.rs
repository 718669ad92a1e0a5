//! The preview of the form's look: the markup of a card form with the form's real style sheet, on a light and on a dark
//! page. It has neither a script nor a form that can be sent, so nobody can pay in it.

use axum::extract::{Path, RawQuery};
use axum::http::header;
use axum::response::{IntoResponse as _, Response};
use maud::{DOCTYPE, Markup, html};
use tillgate_domain::access::form_look::{FormLook, LookPart};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::settings::SettingsChange;
use tillgate_gateway::administration::Administration;

use crate::BASE;
use crate::access::{Fields, FramePart};
use crate::administration::settings::WAS;
use crate::layout::preview_style_addresses;
use crate::layout::response::mark_as_personal;
use crate::layout::texts::Texts;
use crate::office::Office;

/// Maximum length of a value that is repeated in an address or a field, in characters. No valid one is longer.
const MAX_VALUE: usize = 16;

/// Values of the look that were typed, and those with which their form was made. A part that is missing is as it is
/// stored; an empty one is inherited.
#[derive(Default)]
pub(in crate::administration) struct TypedLook {
    values: Vec<(LookPart, String)>,
    was: Vec<(LookPart, String)>,
}

impl TypedLook {
    /// Reads the values from a query. The first value of a name counts, as in a form, and unknown names are ignored.
    pub(in crate::administration) fn read(query: &str) -> Self {
        let find = |name: &str| {
            let found = form_urlencoded::parse(query.as_bytes()).find(|(known, _)| known == name);
            found.map(|(_, value)| value.into_owned())
        };
        Self::collect(find)
    }

    /// Reads the values from a form.
    pub(in crate::administration) fn of_fields(fields: &Fields) -> Self {
        Self::collect(|name| fields.has(name).then(|| fields.get(name).to_owned()))
    }

    fn collect(find: impl Fn(&str) -> Option<String>) -> Self {
        let read = |prefix: &str, part: LookPart| {
            let value = find(&format!("{prefix}{}", part.setting()))?;
            Some((part, value.trim().chars().take(MAX_VALUE).collect()))
        };
        Self {
            values: LookPart::ALL.into_iter().filter_map(|part| read("", part)).collect(),
            was: LookPart::ALL.into_iter().filter_map(|part| read(WAS, part)).collect(),
        }
    }

    /// Returns the typed value of a part.
    pub(in crate::administration) fn get(&self, part: LookPart) -> Option<&str> {
        find_value(&self.values, part)
    }

    /// Returns the value of a part with which the form was made.
    pub(in crate::administration) fn was(&self, part: LookPart) -> Option<&str> {
        find_value(&self.was, part)
    }

    /// Returns the address of the preview with these values.
    pub(in crate::administration) fn address(&self, entity: &EntityId) -> String {
        format!("{}?{}", base_address(entity), self.to_query())
    }

    fn to_query(&self) -> String {
        let pairs = self.values.iter().map(|(part, value)| (part.setting(), value));
        form_urlencoded::Serializer::new(String::new()).extend_pairs(pairs).finish()
    }

    /// Returns the change that saving the values would make, and the messages about values that would be refused, which
    /// are left out of it.
    fn to_change(&self) -> (SettingsChange, Vec<(LookPart, String)>) {
        let (mut change, mut faults) = (SettingsChange::default(), Vec::new());
        for (part, value) in &self.values {
            match part.parse(value) {
                _ if value.is_empty() => change.inherit.push(part.setting().to_owned()),
                Ok(value) => change.look.push((*part, value)),
                Err(message) => faults.push((*part, message)),
            }
        }
        (change, faults)
    }
}

fn find_value(values: &[(LookPart, String)], part: LookPart) -> Option<&str> {
    values.iter().find(|(known, _)| *known == part).map(|(_, value)| &**value)
}

/// Returns the address of the preview of an entity's form, without a query.
pub(in crate::administration) fn base_address(entity: &EntityId) -> String {
    format!("{BASE}/administration/entities/{entity}/look/preview")
}

/// The look that a request asks for, with the messages about values that would be refused.
struct PreviewedLook {
    look: FormLook,
    faults: Vec<(LookPart, String)>,
}

/// Reads the look that a request asks for.
///
/// # Errors
/// The page in its place, if the user may not see the entity or it cannot be read.
async fn read_look(office: &Office, id: &str, typed: &TypedLook) -> Result<PreviewedLook, Box<Response>> {
    let entity = office.find_entity(Permission::ViewPayments, id)?;
    let (change, mut faults) = typed.to_change();
    let id = entity.id.clone();
    let load = move |administration: &Administration| administration.preview_look(&id, &change);
    let look = match office.examine(Permission::ViewPayments, Reach::Entity(entity.id.clone()), load).await {
        Ok(look) => look,
        Err(error) => return Err(Box::new(office.show_refusal(&error, async |_| office.show_unknown()).await)),
    };
    faults.extend(look.check_contrast().err().map(|message| (LookPart::OnAccent, message)));
    Ok(PreviewedLook { look, faults })
}

/// Handles `GET /administration/entities/{id}/look/preview`.
pub(in crate::administration) async fn show_preview(
    office: Office,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    let typed = TypedLook::read(&query.unwrap_or_default());
    let previewed = match read_look(&office, &id, &typed).await {
        Ok(previewed) => previewed,
        Err(page) => return *page,
    };
    let style = format!("preview.css?{}", typed.to_query());
    let mut response = render_document(office.texts, &style, &previewed.faults).into_response();
    mark_as_personal(response.headers_mut());
    response.extensions_mut().insert(FramePart::Inner);
    response
}

/// Handles `GET /administration/entities/{id}/look/preview.css`: the rule that the form would get with these values.
/// A file of its own, because the policy allows no style inside the page.
pub(in crate::administration) async fn send_style(
    office: Office,
    Path(id): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    match read_look(&office, &id, &TypedLook::read(&query.unwrap_or_default())).await {
        Ok(previewed) => {
            let kind = [(header::CONTENT_TYPE, "text/css; charset=utf-8")];
            (kind, previewed.look.to_css()).into_response()
        }
        Err(page) => *page,
    }
}

/// Renders the document. `style` is the address of the look, which comes behind the form's style sheet as it does in
/// the shop.
fn render_document(texts: &Texts, style: &str, faults: &[(LookPart, String)]) -> Markup {
    let [card, around] = preview_style_addresses();
    html! {
        (DOCTYPE)
        html lang=(texts.code) dir=(texts.get("format.direction")) {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="robots" content="noindex";
                title { (texts.get("look.preview")) }
                link rel="stylesheet" href=(card);
                link rel="stylesheet" href=(style);
                link rel="stylesheet" href=(around);
            }
            body {
                main {
                    h1.hidden { (texts.get("look.preview")) }
                    @if !faults.is_empty() {
                        ul.faults {
                            @for (part, message) in faults {
                                li { (texts.get(&format!("setting.{}", part.setting()))) ": " (message) }
                            }
                        }
                    }
                    section.light aria-labelledby="light" {
                        h2 id="light" { (texts.get("look.on_light")) }
                        (render_form(texts, "light", "wpwl-container wpwl-container-card"))
                    }
                    section.dark aria-labelledby="dark" {
                        h2 id="dark" { (texts.get("look.on_dark")) }
                        (render_form(texts, "dark", "wpwl-container wpwl-container-card wpwl-dark"))
                    }
                }
            }
        }
    }
}

/// Renders a card form as the page module does: with a wrong number, the focus in the expiry date, and a message.
/// `prefix` makes ids unique.
fn render_form(texts: &Texts, prefix: &str, class: &str) -> Markup {
    let label_id = |name: &str| format!("{prefix}-{name}");
    let group = |name: &str, label: &str, control: &Markup| {
        html! {
            div class={ "wpwl-group wpwl-group-" (name) " wpwl-clearfix" } {
                div class={ "wpwl-label wpwl-label-" (name) } id=(label_id(name)) { (texts.get(label)) }
                div class={ "wpwl-wrapper wpwl-wrapper-" (name) } { (control) }
            }
        }
    };
    // Nobody types a card into the preview: its fields can be read only.
    let input = |name: &str, value: &str, state: &str, describes: Option<String>| {
        html! {
            input class={ "wpwl-control wpwl-control-" (name) (state) } value=(value) readonly tabindex="-1"
                aria-labelledby=(label_id(name)) aria-invalid=[describes.is_some().then_some("true")]
                aria-describedby=[describes];
        }
    };
    let hint = format!("{prefix}-hint");
    let brand = html! {
        select class="wpwl-control wpwl-control-brand" tabindex="-1" aria-labelledby=(label_id("brand")) {
            option { "Visa" }
        }
    };
    let number = html! {
        (input("cardNumber", "4200 0000 0000 0001", " wpwl-has-error", Some(hint.clone())))
        div id=(hint) class="wpwl-hint wpwl-hint-cardNumberError" { (texts.get("look.form_number_error")) }
    };
    html! {
        div class=(class) {
            div class="wpwl-form wpwl-form-card wpwl-form-has-inputs wpwl-clearfix" {
                div class="wpwl-group wpwl-group-brand wpwl-clearfix" {
                    div class="wpwl-label wpwl-label-brand" id=(label_id("brand")) { (texts.get("look.form_brand")) }
                    div class="wpwl-wrapper wpwl-wrapper-brand" { (brand) }
                    div class="wpwl-brand wpwl-brand-card wpwl-brand-VISA" aria-hidden="true" {}
                }
                (group("cardNumber", "look.form_number", &number))
                (group("expiry", "look.form_expiry", &input("expiry", "12 / 34", " wpwl-focus", None)))
                (group("cardHolder", "look.form_holder", &input("cardHolder", "Maria Kiln", "", None)))
                (group("cvv", "look.form_code", &input("cvv", "•••", "", None)))
                div class="wpwl-group wpwl-group-submit wpwl-clearfix" {
                    div class="wpwl-wrapper wpwl-wrapper-submit" {
                        button class="wpwl-button wpwl-button-pay" type="button" tabindex="-1" { (texts.get("look.form_pay")) }
                    }
                }
            }
            div class="wpwl-message wpwl-has-error" { (texts.get("look.form_message")) }
        }
    }
}
