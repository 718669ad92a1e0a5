//! The key pairs of a merchant or channel that wallets encrypt their tokens for: creation, retirement, and a token to
//! try out a sandbox. A secret half is never shown.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::EntityId;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::keys::wallet_key::{TestTokenRequest, TokenDerivation};
use tillgate_store::keys::wallet::StoredWalletKey;

use super::account_data::entity_title;
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::field::Field;
use crate::components::notice::notice;
use crate::components::table::{Column, Shown, Table, empty};
use crate::components::time::time;
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::filter::find_zone;

/// Number of keys on the page.
const MAX_KEYS: usize = 60;
/// The card of test tokens. Numbers are not typed into these pages, because somebody would type a real one.
const TEST_CARD: (&str, &str, &str) = ("4200000000000000", "05", "2034");
/// Time for which a test token is valid.
const TOKEN_VALIDITY: SignedDuration = SignedDuration::from_mins(10);

/// Handles `GET /administration/entities/{id}/wallet-keys`.
pub(super) async fn show_keys(office: Office, Path(id): Path<String>) -> Response {
    match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => show(&office, &entity, None).await,
        Err(unknown) => *unknown,
    }
}

/// Handles `POST /administration/entities/{id}/wallet-keys`: creates a key pair. The form names the newest key that it
/// has seen, so that one that is sent twice creates one.
pub(super) async fn create_key(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let newest = fields.get("newest").to_owned();
    let create = move |administration: &Administration, owner: &EntityId| {
        let keys = administration.load_wallet_keys(owner)?;
        if keys.last().map_or("", |key| &key.id) != newest {
            return Ok(());
        }
        administration.create_wallet_key(owner).map(drop)
    };
    act(&office, &id, "wallet_key_created", create).await
}

/// Handles `POST /administration/entities/{id}/wallet-keys/{key}/retire`.
pub(super) async fn retire_key(office: Office, Path((id, key)): Path<(String, String)>, _: Fields) -> Response {
    let retire = move |administration: &Administration, owner: &EntityId| {
        let keys = administration.load_wallet_keys(owner)?;
        // A form that is sent twice finds the state that it asks for.
        let is_retired = keys.iter().any(|known| known.id == key && known.retired.is_some());
        if is_retired { Ok(()) } else { administration.retire_wallet_key(owner, &key).map(drop) }
    };
    act(&office, &id, "wallet_key_retired", retire).await
}

/// Handles `POST /administration/entities/{id}/wallet-keys/token`: makes a token with a test card, and shows it.
pub(super) async fn make_token(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, &id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let derivation = if fields.get("derivation") == "x963" { TokenDerivation::X963 } else { TokenDerivation::Hkdf };
    let (number, month, year) = TEST_CARD;
    let request = TestTokenRequest {
        key: None,
        derivation,
        number: number.to_owned(),
        expiry_month: month.to_owned(),
        expiry_year: year.to_owned(),
        holder: None,
        eci: "05".to_owned(),
        valid: TOKEN_VALIDITY,
    };
    let owner = entity.id.clone();
    let make = move |administration: &Administration| administration.make_wallet_token(&owner, request);
    match office.examine(Permission::ManageTokens, Reach::Entity(entity.id.clone()), make).await {
        Ok(token) => show_token(&office, &entity, &serde_json::to_string(&token).unwrap_or_default()),
        Err(error) => office.show_refusal(&error, async |message| show(&office, &entity, Some(message)).await).await,
    }
}

/// Runs an act on the keys of an entity, and leads back to them.
async fn act(
    office: &Office,
    id: &str,
    done: &str,
    act: impl FnOnce(&Administration, &EntityId) -> Result<(), ActError> + Send + 'static,
) -> Response {
    let entity = match office.find_entity(Permission::ManageTokens, id) {
        Ok(entity) => entity,
        Err(unknown) => return *unknown,
    };
    let owner = entity.id.clone();
    let work = move |administration: &Administration| act(administration, &owner);
    match office.administer(Permission::ManageTokens, Reach::Entity(entity.id.clone()), work).await {
        Ok(()) => office.lead_to(&format!("/administration/entities/{}/wallet-keys", entity.id), done),
        Err(error) => office.show_refusal(&error, async |message| show(office, &entity, Some(message)).await).await,
    }
}

/// Shows the page. `fault` is the reason why an act was refused.
async fn show(office: &Office, entity: &Arc<Entity>, fault: Option<&str>) -> Response {
    let texts = office.texts;
    let owner = entity.id.clone();
    let load = move |administration: &Administration| administration.load_wallet_keys(&owner);
    let keys = match office.examine(Permission::ManageTokens, Reach::Entity(entity.id.clone()), load).await {
        Ok(keys) => keys,
        Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
    };
    let title = texts.get("wallet.title");
    let zone = find_zone("", std::slice::from_ref(entity));
    let has_active = keys.iter().any(|key| key.retired.is_none());
    let main = html! {
        (entity_title(texts, entity, title))
        div.stack {
            div.card {
                header { h2 { (texts.get("wallet.keys")) } }
                @if keys.is_empty() {
                    (empty(texts.get("wallet.none"), texts.get("wallet.none_advice")))
                } @else {
                    (key_table(texts, &zone, entity, &keys))
                }
                @if keys.len() > MAX_KEYS { div.pages { span { (texts.get("wallet.cut")) } } }
            }
            @if entity.level.allows_payments() {
                section.card.narrow aria-labelledby="new-key" {
                    header { h2 id="new-key" { (texts.get("wallet.new")) } }
                    (creation_form(texts, entity, &keys))
                }
                @if has_active && !entity.live { (render_test(texts, entity)) }
            } @else {
                (notice(Tone::Calm, &html! { (texts.get("wallet.no_payments")) }))
            }
        }
    };
    match fault {
        Some(fault) => office.show_fault(Section::Administration, title, fault, &main),
        None => office.show_page(Section::Administration, title, main),
    }
}

/// Shows a token for tests.
fn show_token(office: &Office, entity: &Entity, token: &str) -> Response {
    let texts = office.texts;
    let title = texts.get("wallet.token");
    let main = html! {
        div.title {
            p.crumb { a href={ (BASE) "/administration/entities/" (entity.id) "/wallet-keys" } { (texts.get("wallet.title")) } }
            h1 { (title) }
            p { (texts.get("wallet.token_text")) }
        }
        section.card aria-label=(title) { div.body { p.wrap id="token" { (copyable(texts, token)) } } }
    };
    office.show_page(Section::Administration, title, main)
}

fn key_table(texts: &Texts, zone: &TimeZone, entity: &Entity, keys: &[StoredWalletKey]) -> Markup {
    let time = |moment: Timestamp| time(texts, zone, moment);
    let row = |key: &StoredWalletKey| {
        vec![
            html! { code { (key.id) } },
            html! { div.wrap { (copyable(texts, &STANDARD.encode(&key.public))) } },
            time(key.created),
            match key.retired {
                None => badge(Tone::Good, texts.get("wallet.active")),
                Some(retired) => html! { (badge(Tone::Calm, texts.get("wallet.retired"))) " " (time(retired)) },
            },
            html! { @if key.retired.is_none() { (retirement(texts, entity, key)) } },
        ]
    };
    let column = |key: &'static str| Column::new(texts.get(key));
    Table {
        caption: texts.get("wallet.keys"),
        hides_caption: true,
        is_linked: false,
        columns: vec![
            column("wallet.id"),
            column("wallet.public").from(Shown::Medium),
            column("wallet.created").from(Shown::Wide),
            column("wallet.state"),
            column("wallet.act"),
        ],
        rows: keys.iter().rev().take(MAX_KEYS).map(row).collect(),
    }
    .render()
}

/// Renders the retirement of a key, with a question before it.
fn retirement(texts: &Texts, entity: &Entity, key: &StoredWalletKey) -> Markup {
    let title = texts.fill("wallet.retire_question", &[("id", &key.id)]);
    let name = format!("retire-{}", key.id);
    let content = html! { p.soft { (texts.get("wallet.retire_text")) } };
    let dialog = Dialog { name: &name, title: &title, content, close: texts.get("wallet.keep") };
    let act = html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/wallet-keys/" (key.id) "/retire" } method="post" {
            button.danger type="submit" { (texts.get("wallet.retire")) }
        }
    };
    html! { (dialog.opener("quiet", texts.get("wallet.retire"))) (dialog.render(&act)) }
}

fn creation_form(texts: &Texts, entity: &Entity, keys: &[StoredWalletKey]) -> Markup {
    html! {
        form action={ (BASE) "/administration/entities/" (entity.id) "/wallet-keys" } method="post" {
            p.soft { (texts.get("wallet.new_text")) }
            input type="hidden" name="newest" value=(keys.last().map_or("", |key| &key.id));
            button.primary type="submit" { (texts.get("wallet.create")) }
        }
    }
}

fn render_test(texts: &Texts, entity: &Entity) -> Markup {
    let field = Field { name: "derivation", label: texts.get("wallet.derivation"), value: "hkdf", ..Field::default() };
    html! {
        section.card.narrow aria-labelledby="test" {
            header { h2 id="test" { (texts.get("wallet.test")) } }
            form action={ (BASE) "/administration/entities/" (entity.id) "/wallet-keys/token" } method="post" {
                p.soft { (texts.get("wallet.test_text")) }
                (field.select(&[("hkdf", "HKDF"), ("x963", "ANSI X9.63")]))
                button type="submit" { (texts.get("wallet.make")) }
            }
        }
    }
}
