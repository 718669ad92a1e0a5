//! Money: disputes with the merchant's answers, batches with their lines, reconciliation files, and
//! lines of institutes' files that have no payment.

mod account;
mod areas;
mod dispute_acts;
mod dispute_list;
mod dispute_page;
pub(crate) mod entity_choice;
mod evidence;
mod files;
mod imports;
mod ledger;
mod report;
mod settlement_list;
mod settlement_page;
mod unmatched_list;
mod unmatched_page;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::routing::{get, post};
use jiff::Timestamp;
use maud::{Markup, html};
use tillgate_domain::access::role::Permission;
use tillgate_domain::dispute::{Dispute, DisputeStage};
use tillgate_gateway::settlement::file_import::kept::MAX_UPLOAD;
use tillgate_shared::money::Amount;

use crate::OfficeState;
use crate::access::routes::{Need, OfficeRoute, row};
use crate::components::badge::{Tone, badge};
use crate::components::time::time_left_badge;
use crate::layout::texts::Texts;

const VIEW: Need = Need::Permission(Permission::ViewMoney);
const CHANGE: Need = Need::Permission(Permission::ChangeMoney);

/// Room for the fields and the mapping beside a file, in bytes.
const FORM_ROOM: usize = 128 * 1024;

/// The routes of the subject, with what each needs.
pub(crate) const ROUTES: &[OfficeRoute] = &[
    row("GET", "/money/disputes", VIEW),
    row("GET", "/money/disputes/{id}", VIEW),
    row("GET", "/money/disputes/{id}/evidence/{file}", VIEW),
    row("GET", "/money/settlements", VIEW),
    row("GET", "/money/settlements/{entity}/{day}/{currency}", VIEW),
    row("GET", "/money/files", VIEW),
    row("GET", "/money/files/{name}", VIEW),
    row("GET", "/money/reports", VIEW),
    row("GET", "/money/reports/{report}", VIEW),
    row("GET", "/money/reports/{report}/csv", VIEW),
    row("GET", "/money/ledger", VIEW),
    row("GET", "/money/ledger/{entity}/{account}/{currency}", VIEW),
    row("GET", "/money/imports", VIEW),
    row("POST", "/money/imports", CHANGE),
    row("POST", "/money/imports/confirmation", CHANGE),
    row("POST", "/money/disputes/{id}/evidence", CHANGE),
    row("GET", "/money/unmatched", VIEW),
    row("GET", "/money/unmatched/{id}", VIEW),
    row("POST", "/money/unmatched/{id}/match", CHANGE),
    row("POST", "/money/unmatched/{id}/rejection", CHANGE),
    row("POST", "/money/disputes/{id}/representment", CHANGE),
    row("POST", "/money/disputes/{id}/acceptance", CHANGE),
];

/// Builds the routes of the subject.
pub fn build_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/money/disputes", get(dispute_list::show_disputes))
        .route("/money/disputes/{id}", get(dispute_page::show_dispute))
        .route("/money/disputes/{id}/evidence/{file}", get(evidence::send_evidence))
        .route("/money/settlements", get(settlement_list::show_batches))
        .route("/money/settlements/{entity}/{day}/{currency}", get(settlement_page::show_batch))
        .route("/money/files", get(files::show_files))
        .route("/money/files/{name}", get(files::send_file))
        .route("/money/reports", get(report::show_reports))
        .route("/money/reports/{report}", get(report::show_report))
        .route("/money/reports/{report}/csv", get(report::send_csv))
        .route("/money/ledger", get(ledger::show_balances))
        .route("/money/ledger/{entity}/{account}/{currency}", get(account::show_account))
        .route("/money/imports/confirmation", post(imports::import_file))
        .merge(build_upload_routes())
        .route("/money/unmatched", get(unmatched_list::show_lines))
        .route("/money/unmatched/{id}", get(unmatched_page::show_line))
        .route("/money/unmatched/{id}/match", post(unmatched_page::match_line))
        .route("/money/unmatched/{id}/rejection", post(unmatched_page::reject_line))
        .route("/money/disputes/{id}/representment", post(dispute_acts::represent))
        .route("/money/disputes/{id}/acceptance", post(dispute_acts::accept))
}

/// Builds the routes that take files, whose bodies are larger than other forms.
fn build_upload_routes() -> Router<Arc<OfficeState>> {
    Router::new()
        .route("/money/imports", get(imports::show_imports).post(imports::receive_file))
        .route("/money/disputes/{id}/evidence", post(evidence::add_evidence))
        .layer(DefaultBodyLimit::max(MAX_UPLOAD + FORM_ROOM))
}

/// Formats an amount with its currency.
fn money_text(texts: &Texts, amount: Amount) -> String {
    format!("{} {}", texts.amount(&amount.to_string()), amount.currency().code())
}

/// Returns the text of a stage.
fn stage_text(texts: &Texts, stage: DisputeStage) -> String {
    texts.find(&format!("disputes.{}", stage.as_str())).unwrap_or(stage.as_str()).to_owned()
}

/// Renders the stage of a dispute.
fn stage_badge(texts: &Texts, stage: DisputeStage) -> Markup {
    let tone = match stage {
        DisputeStage::RetrievalRequest | DisputeStage::Chargeback | DisputeStage::PreArbitration => Tone::Warn,
        DisputeStage::Representment => Tone::Held,
        DisputeStage::Reversal | DisputeStage::Won => Tone::Good,
        DisputeStage::Lost | DisputeStage::Expired => Tone::Bad,
        DisputeStage::Accepted | DisputeStage::Closed => Tone::Calm,
    };
    badge(tone, &stage_text(texts, stage))
}

/// Renders the time that is left for the merchant's answer, or the side that has to act. Nothing after the end.
fn render_turn(texts: &Texts, dispute: &Dispute, now: Timestamp) -> Markup {
    let Some(deadline) = dispute.deadline else {
        return html! {
            @if !dispute.position.stage.has_ended() { span.soft { (texts.get("disputes.awaits_institute")) } }
        };
    };
    // A stage has its own deadline, which counts from the beginning of the stage.
    let step = dispute.steps.iter().find(|step| step.stage == dispute.position.stage);
    time_left_badge(texts, (step.map_or(dispute.opened, |step| step.at), deadline), now)
}

/// Renders the end of a list: the number of rows, and the ways to its beginning and to more.
fn render_list_end(texts: &Texts, first: Option<&str>, count: u64, next: Option<&str>) -> Markup {
    html! {
        div.pages {
            span { (texts.fill("money.count", &[("count", &texts.number(count))])) }
            div {
                @if let Some(first) = first { a.button href=(first) { (texts.get("money.first")) } }
                @if let Some(next) = next { a.button href=(next) rel="next" { (texts.get("money.more")) } }
            }
        }
    }
}
