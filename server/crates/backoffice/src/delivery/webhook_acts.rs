//! Acts on a webhook: test, rotation of its secret, deletion, and sending a message again.

use std::error::Error as _;

use axum::extract::Path;
use axum::response::Response;
use maud::html;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::delivery::webhook::{AcceptedTest, CreatedSecret, TestEvent};

use super::webhook_page::WebhookPage;
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::Tone;
use crate::components::copy::copyable;
use crate::components::facts::facts;
use crate::components::notice::notice;
use crate::layout::page::Section;
use crate::office::Office;

/// Handles `POST /deliveries/{id}/test`: sends a test event, and activates the webhook if its receiver accepts it.
pub(super) async fn test(office: Office, Path(id): Path<String>) -> Response {
    let page = match WebhookPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let prepare =
        |administration: &Administration, id: &str, build: &str| administration.prepare_webhook_test(id, build);
    let finish = |administration: &Administration, accepted| administration.activate_webhook(accepted).map(drop);
    let tested = send_test(&office, &page, prepare, finish).await;
    lead_back(&office, &page, tested, "webhook_tested").await
}

/// Handles `POST /deliveries/{id}/rotation`: begins, finishes or cancels the rotation of the secret.
pub(super) async fn rotate(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let page = match WebhookPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    match fields.get("act") {
        "begin" => {
            let begun =
                administer(&office, &page, |administration, id| administration.begin_webhook_rotation(id)).await;
            match begun {
                Ok((_, secret)) => show_secret(&office, page.webhook.id.as_str(), &secret, true),
                Err(error) => lead_back(&office, &page, Err(error), "").await,
            }
        }
        "finish" => {
            let prepare = |administration: &Administration, id: &str, build: &str| {
                administration.prepare_rotation_test(id, build)
            };
            let finish =
                |administration: &Administration, accepted| administration.finish_webhook_rotation(accepted).map(drop);
            let finished = send_test(&office, &page, prepare, finish).await;
            lead_back(&office, &page, finished, "webhook_rotated").await
        }
        _ => {
            let cancel =
                |administration: &Administration, id: &str| administration.cancel_webhook_rotation(id).map(drop);
            let cancelled = administer(&office, &page, cancel).await;
            lead_back(&office, &page, cancelled, "webhook_kept").await
        }
    }
}

/// Handles `POST /deliveries/{id}/delete`.
pub(super) async fn delete(office: Office, Path(id): Path<String>) -> Response {
    let page = match WebhookPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    match administer(&office, &page, |administration, id| administration.delete_webhook(id)).await {
        Ok(_) => office.lead_to("/deliveries", "webhook_deleted"),
        Err(error) => lead_back(&office, &page, Err(error), "").await,
    }
}

/// Handles `POST /deliveries/{id}/messages/{message}/replay`.
pub(super) async fn replay(office: Office, Path((id, message)): Path<(String, String)>) -> Response {
    let page = match WebhookPage::load(&office, Permission::ChangeDeliveries, &id).await {
        Ok(page) => page,
        Err(refused) => return *refused,
    };
    let webhook = page.webhook.id.clone();
    let replay =
        move |administration: &Administration, _: &str| administration.replay_message(Some(&webhook), &message);
    let replayed = administer(&office, &page, replay).await;
    lead_back(&office, &page, replayed, "message_replayed").await
}

/// Runs an act on a webhook.
async fn administer<T: Send + 'static>(
    office: &Office,
    page: &WebhookPage,
    act: impl FnOnce(&Administration, &str) -> Result<T, ActError> + Send + 'static,
) -> Result<T, ActError> {
    let (reach, id) = (Reach::Entity(page.webhook.entity.clone()), page.webhook.id.clone());
    office.administer(Permission::ChangeDeliveries, reach, move |administration| act(administration, id.as_str())).await
}

/// Sends a test event between two acts. No act waits for the receiver.
async fn send_test(
    office: &Office,
    page: &WebhookPage,
    prepare: impl FnOnce(&Administration, &str, &str) -> Result<TestEvent, ActError> + Send + 'static,
    finish: impl FnOnce(&Administration, AcceptedTest) -> Result<(), ActError> + Send + 'static,
) -> Result<(), ActError> {
    // A receiver may take its time, so one tenant must not fill the gateway with tests.
    let place = office.state.receiver_tests.try_take(page.webhook.entity.as_str());
    let _place = place.ok_or_else(|| ActError::refuse("webhook", office.texts.get("webhook.busy")))?;
    let build = office.state.build;
    let event = administer(office, page, move |administration, id| prepare(administration, id, build)).await?;
    let accepted = event.send(&office.app().outgoing).await?;
    administer(office, page, move |administration, _| finish(administration, accepted)).await
}

/// Leads to the page of the webhook after an act, or shows the page with the reason of a refusal. That a receiver does
/// not accept a test is no failure of the gateway.
async fn lead_back(office: &Office, page: &WebhookPage, outcome: Result<(), ActError>, done: &str) -> Response {
    match outcome {
        Ok(()) => office.lead_to(&format!("/deliveries/{}", page.webhook.id), done),
        Err(error @ ActError::Step { .. }) => page.show(office, Some(&describe_causes(&error))),
        Err(error) => office.show_refusal(&error, async |message| page.show(office, Some(message))).await,
    }
}

/// Returns the text of a failure with its causes, as the command line prints it.
pub(crate) fn describe_causes(error: &ActError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        text.push_str(": ");
        text.push_str(&inner.to_string());
        cause = inner.source();
    }
    text
}

/// Shows a new secret, which is known only now. `is_next`: the old one stays in use until the rotation is finished.
pub(crate) fn show_secret(office: &Office, id: &str, secret: &CreatedSecret, is_next: bool) -> Response {
    let texts = office.texts;
    let title = texts.get("webhook.secret");
    let text = texts.get(if is_next { "webhook.next_secret_text" } else { "webhook.secret_text" });
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/deliveries" } { (texts.get("deliveries.title")) } }
            h1 { (title) }
        }
        (notice(Tone::Warn, &html! { (text) }))
        section.card aria-label=(title) { div.body {
            (facts(&[
                (texts.get("webhook.key"), Some(html! { span id="key" { (copyable(texts, &secret.key)) } })),
                (texts.get("webhook.signature_key"), Some(copyable(texts, &secret.signature_key))),
                (texts.get("webhook.key_id"), Some(copyable(texts, &secret.key_id))),
            ]))
            div.acts { a.button.primary href={ (BASE) "/deliveries/" (id) } { (texts.get("webhook.go_on")) } }
        } }
    };
    office.show_page(Section::Deliveries, title, main)
}
