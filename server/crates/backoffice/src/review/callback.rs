//! Configuration of the callbacks about reviews of an entity, and a test message.

use std::sync::Arc;

use axum::extract::{Path, RawQuery};
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::review::decision::DecisionType;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::review::callback_form::{AppliedCallback, CallbackForm, MAX_URLS};

use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::field::Field;
use crate::components::filter_bar::FilterForm;
use crate::components::list_address::ListAddress;
use crate::components::notice::notice;
use crate::delivery::describe_causes;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::money::entity_choice::{ENTITY, EntityChoice};
use crate::office::Office;

/// Path of the page.
pub(super) const PATH: &str = "/reviews/callbacks";
/// Name of the field of a destination. It is sent several times.
const URL: &str = "urls";
/// Longest text of the pairs or headers.
const MAX_LINES: u16 = 8000;

/// The page of the configuration of an entity.
struct CallbackPage {
    choice: EntityChoice,
    entity: Arc<Entity>,
    /// The configuration that applies. `None` if there is none, or the user may not see it.
    applied: Option<AppliedCallback>,
    /// True if an entity above has it whose deliveries the user does not see.
    is_hidden: bool,
    can_change: bool,
}

/// Handles `GET /reviews/callbacks`.
pub(super) async fn show_callbacks(office: Office, RawQuery(query): RawQuery) -> Response {
    let address = ListAddress::read(PATH, &[ENTITY], query.as_deref().unwrap_or_default());
    let choice = EntityChoice::from_id(&office, Permission::ViewDeliveries, address.find(ENTITY));
    match CallbackPage::load(&office, choice).await {
        Ok(page) => page.show(&office, None, None, &html! {}),
        Err(refused) => *refused,
    }
}

/// Handles `POST /reviews/callbacks/{entity}`: sets the configuration.
pub(super) async fn set_callbacks(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let page = match CallbackPage::load_to_change(&office, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let form = read_form(&fields);
    let (app, entity, typed) = (Arc::clone(office.app()), page.entity.id.clone(), form.clone());
    let act = move |administration: &Administration| administration.set_callback_form(&entity, &typed, &app.outgoing);
    let reach = Reach::Entity(page.entity.id.clone());
    match office.administer(Permission::ChangeDeliveries, reach, act).await {
        Ok(()) => office.lead_to(&page.path(), "callbacks_set"),
        // A destination that may not be called is no failure of the gateway.
        Err(error @ ActError::Step { .. }) => {
            page.show(&office, Some(&form), Some((URL, &describe_causes(&error))), &html! {})
        }
        Err(error) => {
            let field = match &error {
                ActError::Refused { parameter, .. } => *parameter,
                _ => "",
            };
            let show = async |message: &str| page.show(&office, Some(&form), Some((field, message)), &html! {});
            office.show_refusal(&error, show).await
        }
    }
}

/// Handles `POST /reviews/callbacks/{entity}/test`: sends a sample decision to the active destination, and shows the
/// request with its answer.
pub(super) async fn test_callbacks(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let page = match CallbackPage::load_to_change(&office, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    // The message has the secrets of its configuration, so somebody who may not change that one sends none.
    let owner = page.applied.as_ref().map(|applied| applied.owner.clone());
    let Some(owner) = owner.filter(|owner| office.allows_on(Permission::ChangeDeliveries, owner)) else {
        return page.show(&office, None, Some(("", office.texts.get("callback.no_test"))), &html! {});
    };
    let decision = match fields.get("decision") {
        "cancel" => DecisionType::Cancel,
        "pending" => DecisionType::Pending,
        _ => DecisionType::Approve,
    };
    // A receiver may take its time, so one tenant must not fill the gateway with tests.
    let Some(_place) = office.state.receiver_tests.try_take(owner.as_str()) else {
        return page.show(&office, None, Some(("", office.texts.get("webhook.busy"))), &html! {});
    };
    match send_sample(&office, &page, decision).await {
        Ok(sent) => page.show(&office, None, None, &sent),
        Err(error) => {
            let show = async |message: &str| page.show(&office, None, Some(("", message)), &html! {});
            office.show_refusal(&error, show).await
        }
    }
}

/// Sends a sample between two acts, and renders the request with its answer. No act waits for the receiver.
async fn send_sample(office: &Office, page: &CallbackPage, decision: DecisionType) -> Result<Markup, ActError> {
    let (texts, reach) = (office.texts, Reach::Entity(page.entity.id.clone()));
    let id = page.entity.id.clone();
    let prepare = move |administration: &Administration| {
        administration.prepare_sample_callback(&administration.load_entity(&id)?, decision)
    };
    let sample = office.administer(Permission::ChangeDeliveries, reach.clone(), prepare).await?;
    let answered = sample.send(&office.app().outgoing).await;
    let (tone, answer) = match &answered {
        Ok(status) => (Tone::Good, texts.fill("callback.accepted_with", &[("status", &status.to_string())])),
        Err(error) => (Tone::Bad, describe_causes(error)),
    };
    let (request, recorded) = (sample.describe_request(), answer.clone());
    let record = move |administration: &Administration| administration.record_sample(&sample, &recorded);
    office.administer(Permission::ChangeDeliveries, reach, record).await?;
    Ok(html! {
        section.card aria-labelledby="sent" {
            header { h2 id="sent" { (texts.get("callback.sent")) } (badge(tone, texts.get("callback.answer"))) }
            div.body {
                p { (answer) }
                pre.wrap { (request) }
                p.soft { (texts.get("callback.masked")) }
            }
        }
    })
}

/// Reads the form. Browsers send the line breaks of a text area as CR and LF.
fn read_form(fields: &Fields) -> CallbackForm {
    let text = |name: &str| fields.get(name).replace("\r\n", "\n");
    CallbackForm {
        urls: fields.all(URL).take(MAX_URLS).map(str::to_owned).collect(),
        active: text("active"),
        retry_minutes: text("retry_minutes"),
        retries: text("retries"),
        accepted: text("accepted"),
        keys: text("keys"),
        headers: text("headers"),
    }
}

impl CallbackPage {
    async fn load(office: &Office, choice: EntityChoice) -> Result<Self, Box<Response>> {
        let entity = choice.chosen.clone().ok_or_else(|| Box::new(office.show_unknown()))?;
        let (id, reach) = (entity.id.clone(), Reach::Entity(entity.id.clone()));
        let read = office.examine(Permission::ViewDeliveries, reach, move |it| it.load_callback_form(&id)).await;
        let applied = match read {
            Ok(applied) => applied,
            Err(error) => {
                let show = async |_: &str| office.show_unknown();
                return Err(Box::new(office.show_refusal(&error, show).await));
            }
        };
        // The configuration of an entity above may be none of the user's business.
        let is_visible = |it: &AppliedCallback| office.allows_on(Permission::ViewDeliveries, &it.owner);
        let is_hidden = applied.as_ref().is_some_and(|applied| !is_visible(applied));
        let can_change = office.allows_on(Permission::ChangeDeliveries, &entity.id);
        Ok(Self { choice, entity, applied: applied.filter(is_visible), is_hidden, can_change })
    }

    /// Loads the page for somebody who may change the configuration.
    async fn load_to_change(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let page = Self::load(office, EntityChoice::from_id(office, Permission::ViewDeliveries, Some(id))).await?;
        if page.can_change {
            return Ok(page);
        }
        Err(Box::new(office.show_missing_permission(Permission::ChangeDeliveries).await))
    }

    fn path(&self) -> String {
        format!("{PATH}?{ENTITY}={}", self.entity.id)
    }

    /// Shows the page. `typed` is a form that was refused, with the field at fault and the message; `sent` is a test.
    fn show(
        &self,
        office: &Office,
        typed: Option<&CallbackForm>,
        fault: Option<(&str, &str)>,
        sent: &Markup,
    ) -> Response {
        let texts = office.texts;
        let title = texts.get("callback.title");
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) "/reviews" } { (texts.get("reviews.title")) } }
                h1 { (title) }
                p { (self.entity.name) " · " (texts.get("callback.text")) }
            }
            div.card { div.filter { (self.render_choice(texts)) } }
            @if self.is_hidden { (notice(Tone::Warn, &html! { (texts.get("callback.hidden")) })) }
            @if let Some(applied) = &self.applied {
                @if applied.owner != self.entity.id { (notice(Tone::Warn, &html! { (texts.get("callback.inherited")) })) }
                @if applied.receives { (notice(Tone::Warn, &html! { (texts.get("callback.receives")) })) }
            }
            (sent)
            (self.render_form(texts, typed, fault))
            @if self.can_change && self.applied.is_some() { (self.render_test(texts)) }
        };
        match fault {
            Some((_, message)) => office.show_fault(Section::Reviews, title, message, &main),
            None => office.show_page(Section::Reviews, title, main),
        }
    }

    fn render_choice(&self, texts: &Texts) -> Markup {
        FilterForm {
            title: texts.get("payments.filters"),
            active: 0,
            chips: Vec::new(),
            has_error: false,
            action: &format!("{BASE}{PATH}"),
            fields: self.choice.render(texts, self.entity.id.as_str(), false),
            apply: texts.get("payments.apply"),
            clear: texts.get("payments.clear"),
        }
        .render()
    }

    /// Renders the configuration as a form. Somebody who may not change it sees the values without the button.
    fn render_form(&self, texts: &Texts, typed: Option<&CallbackForm>, fault: Option<(&str, &str)>) -> Markup {
        let empty = default_form();
        let form = typed.or(self.applied.as_ref().map(|applied| &applied.form)).unwrap_or(&empty);
        let error = |name: &str| fault.filter(|(field, _)| *field == name).map(|(_, message)| message);
        let field = |name: &'static str, key, value| Field {
            name,
            label: texts.get(key),
            value,
            error: error(name),
            ..Field::default()
        };
        let lines = |name, key, hint, value| Field {
            hint: Some(texts.get(hint)),
            max_length: Some(MAX_LINES),
            ..field(name, key, value)
        };
        html! {
            section.card aria-labelledby="configuration" {
                header { h2 id="configuration" { (texts.get("callback.configuration")) } }
                form.change method="post" action={ (BASE) (PATH) "/" (self.entity.id) } {
                    fieldset disabled[!self.can_change] {
                        (render_urls(texts, form, error(URL)))
                        (Field { input_mode: Some("numeric"), ..field("active", "callback.active", &form.active) }.input("text"))
                        (Field { input_mode: Some("numeric"), ..field("retry_minutes", "callback.wait", &form.retry_minutes) }.input("text"))
                        (Field { input_mode: Some("numeric"), ..field("retries", "callback.retries", &form.retries) }.input("text"))
                        (field("accepted", "callback.accepted", &form.accepted).input("text"))
                        (lines("keys", "callback.keys", "callback.keys_hint", &form.keys).text_area(10))
                        (lines("headers", "callback.headers", "callback.headers_hint", &form.headers).text_area(3))
                        @if self.can_change {
                            div.acts { button.primary type="submit" { (texts.get("callback.save")) } }
                        }
                    }
                }
            }
        }
    }

    fn render_test(&self, texts: &Texts) -> Markup {
        let decision =
            Field { name: "decision", label: texts.get("callback.decision"), value: "approve", ..Field::default() };
        let decisions = [("approve", "APPROVE"), ("cancel", "CANCEL"), ("pending", "PENDING")];
        html! {
            section.card aria-labelledby="test" {
                header { h2 id="test" { (texts.get("callback.test")) } }
                form method="post" action={ (BASE) (PATH) "/" (self.entity.id) "/test" } {
                    p.soft { (texts.get("callback.test_text")) }
                    (decision.select(&decisions))
                    div.acts { button type="submit" { (texts.get("callback.send")) } }
                }
            }
        }
    }
}

/// Renders the fields of the destinations.
fn render_urls(texts: &Texts, form: &CallbackForm, error: Option<&str>) -> Markup {
    html! {
        @for index in 0..MAX_URLS {
            @let number = (index + 1).to_string();
            @let id = format!("f-url-{number}");
            div.field {
                label for=(id) { (texts.fill("callback.url", &[("number", &number)])) }
                input id=(id) name=(URL) type="text" inputmode="url" maxlength="2048" autocomplete="off"
                    value=(form.urls.get(index).map_or("", String::as_str))
                    aria-invalid=[error.filter(|_| index == 0).map(|_| "true")];
                @if let Some(error) = error.filter(|_| index == 0) { div.error { (error) } }
            }
        }
    }
}

/// Returns the form of an entity without a configuration: the defaults of the command, and the usual pairs.
fn default_form() -> CallbackForm {
    let keys = "transactionid = field transactionId\ndecision = field decision\nuserid = field userId\n\
                cancelreason = field cancelReason\nnote = field note\nprocessdate = field processDate";
    CallbackForm {
        urls: Vec::new(),
        active: "1".to_owned(),
        retry_minutes: "5".to_owned(),
        retries: "5".to_owned(),
        accepted: "200".to_owned(),
        keys: keys.to_owned(),
        headers: String::new(),
    }
}
