//! One dispute: its facts, its steps, its files, and the forms of the merchant's answers.

use std::sync::Arc;

use axum::extract::Path;
use axum::response::Response;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::dispute::evidence::Evidence;
use tillgate_domain::dispute::{DisputeAction, DisputeStep};
use tillgate_domain::id::DisputeId;
use tillgate_domain::review::queue::MAX_NOTE;
use tillgate_gateway::dispute::user_act::DisputeDetails;

use super::dispute_acts::{ACCEPTANCE, NOTE, REPRESENTMENT};
use super::evidence::FILE;
use super::{money_text, render_turn, stage_badge, stage_text};
use crate::BASE;
use crate::access::people::KnownPeople;
use crate::components::badge::Tone;
use crate::components::copy::copyable;
use crate::components::dialog::Dialog;
use crate::components::facts::{facts, summary};
use crate::components::field::Field;
use crate::components::notice::notice;
use crate::components::result::result_with_code;
use crate::components::table::{Column, Shown, Table};
use crate::components::time::time;
use crate::components::timeline::{Step, timeline};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::find_zone;

/// The file types that a browser offers for evidence. The gateway decides by the content.
const EVIDENCE_TYPES: &str = "application/pdf,image/jpeg,image/png";

/// A dispute as one user sees it.
pub(super) struct ShownDispute {
    pub(super) case: DisputeDetails,
    owner: Arc<Entity>,
    zone: TimeZone,
    /// True if the user may answer.
    can_answer: bool,
}

/// Handles `GET /money/disputes/{id}`.
pub(super) async fn show_dispute(office: Office, Path(id): Path<String>) -> Response {
    match ShownDispute::load(&office, &id).await {
        Ok(view) => view.show(&office, "", None),
        Err(refused) => *refused,
    }
}

impl ShownDispute {
    /// Loads a dispute. A dispute of another tenant is as unknown as one that does not exist.
    ///
    /// # Errors
    /// The page about that, or about data that cannot be read.
    pub(super) async fn load(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let unknown = || Box::new(office.show_unknown());
        let id = DisputeId::parse(id).ok_or_else(unknown)?;
        let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
        let loaded = office.read(move |app, _| app.gateway.load_dispute_case(&entities, &id)).await;
        let case = loaded.map_err(|failure| Box::new(office.show_failure(&failure)))?.ok_or_else(unknown)?;
        let owner = office.app().gateway.directory.find_entity(&case.dispute.entity).ok_or_else(unknown)?;
        let can_answer = office.allows_on(Permission::ChangeMoney, &owner.id);
        let zone = find_zone("", std::slice::from_ref(&owner));
        Ok(Self { case, owner, zone, can_answer })
    }

    /// Loads a dispute that the user may answer.
    ///
    /// # Errors
    /// Same as [`ShownDispute::load`]; also the page about the missing permission, if the user may only see the
    /// dispute.
    pub(super) async fn load_to_answer(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let view = Self::load(office, id).await?;
        if view.can_answer {
            return Ok(view);
        }
        Err(Box::new(office.show_missing_permission(Permission::ChangeMoney).await))
    }

    /// Returns the path of the page.
    pub(super) fn path(&self) -> String {
        format!("/money/disputes/{}", self.case.dispute.id)
    }

    /// Shows the page. `typed` is the note of a form that was refused, with its fault.
    pub(super) fn show(&self, office: &Office, typed: &str, fault: Option<&str>) -> Response {
        let amount = money_text(office.texts, self.case.dispute.amount);
        let title = office.texts.fill("dispute_page.title", &[("amount", &amount)]);
        let main = self.render(office, typed);
        match fault {
            Some(fault) => office.show_fault(Section::Money, &title, fault, &main),
            None => office.show_page(Section::Money, &title, main),
        }
    }

    /// Shows the page with the fault of a file that was refused.
    pub(super) fn show_file_fault(&self, office: &Office, fault: &str) -> Response {
        self.show(office, "", Some(fault))
    }

    fn render(&self, office: &Office, typed: &str) -> Markup {
        let texts = office.texts;
        html! {
            (self.render_title(office))
            (self.render_double_payout(texts))
            (self.render_summary(texts))
            div.split {
                section.card aria-labelledby="steps" {
                    header { h2 id="steps" { (texts.get("dispute_page.steps")) } }
                    (timeline(&self.collect_steps(office)))
                }
                div.stack {
                    (self.render_answers(texts, typed))
                    (self.render_evidence(office))
                    (self.render_upload(texts))
                    (self.render_facts(texts))
                }
            }
        }
    }

    fn render_title(&self, office: &Office) -> Markup {
        let (texts, dispute) = (office.texts, &self.case.dispute);
        html! {
            div.title {
                p.crumb { a href={ (BASE) "/money/disputes" } { (texts.get("disputes.title")) } }
                h1 { (money_text(texts, dispute.amount)) }
                (stage_badge(texts, dispute.position.stage))
                @if office.allows_on(Permission::ViewPayments, &dispute.entity) {
                    div.actions {
                        a.button href={ (BASE) "/payments/" (dispute.payment) } { (texts.get("dispute_page.payment")) }
                    }
                }
                p { (copyable(texts, dispute.id.as_str())) }
            }
        }
    }

    /// Renders the warning that the shopper gets an amount twice, with the proposed defence.
    fn render_double_payout(&self, texts: &Texts) -> Markup {
        let Some(amount) = self.case.dispute.double_payout_amount() else { return html! {} };
        let text = texts.fill("dispute_page.double_payout", &[("amount", &money_text(texts, amount))]);
        notice(Tone::Warn, &html! { (text) })
    }

    /// Renders the most important facts beside each other.
    fn render_summary(&self, texts: &Texts) -> Markup {
        let dispute = &self.case.dispute;
        let has_ended = dispute.position.stage.has_ended();
        let time = |moment| time(texts, &self.zone, moment);
        summary(&[
            (texts.get("disputes.left"), (!has_ended).then(|| render_turn(texts, dispute, self.case.now))),
            (texts.get("dispute.deadline"), dispute.deadline.map(time)),
            (texts.get("dispute_page.ended"), dispute.ended.map(time)),
            (texts.get("disputes.opened"), Some(time(dispute.opened))),
            (texts.get("payments.reference"), dispute.merchant_transaction_id.as_ref().map(|text| html! { (text) })),
            (texts.get("payments.channel"), Some(html! { (self.owner.name) })),
        ])
    }

    fn render_facts(&self, texts: &Texts) -> Markup {
        let dispute = &self.case.dispute;
        let reason = result_with_code(texts, dispute.reason);
        let payment = |id: &tillgate_domain::id::PaymentId| html! { code { (id) } };
        html! {
            section.card aria-labelledby="facts" {
                header { h2 id="facts" { (texts.get("dispute_page.facts")) } }
                div.body {
                    (facts(&[
                        (texts.get("dispute.reason"), Some(reason)),
                        (texts.get("dispute_page.scheme_reason"), dispute.scheme_reason.as_ref().map(|code| html! { (code) })),
                        (texts.get("payments.method"), Some(html! { (dispute.brand) })),
                        (texts.get("dispute_page.payment"), Some(payment(&dispute.payment))),
                        (texts.get("type.CB"), dispute.chargeback.as_ref().map(payment)),
                        (texts.get("type.CR"), dispute.reversal.as_ref().map(payment)),
                    ]))
                }
            }
        }
    }

    /// Collects the steps, oldest first.
    fn collect_steps(&self, office: &Office) -> Vec<Step> {
        self.case.dispute.steps.iter().map(|step| self.build_step(office, step)).collect()
    }

    fn build_step(&self, office: &Office, step: &DisputeStep) -> Step {
        let (texts, people) = (office.texts, KnownPeople::of_reader(office));
        let key = format!("dispute.{}", step.action.as_str());
        let title = texts.find(&key).unwrap_or(step.action.as_str()).to_owned();
        let tone = if step.stage.has_ended() { Tone::Calm } else { Tone::Warn };
        let detail = facts(&[
            (texts.get("disputes.stage"), Some(html! { (stage_text(texts, step.stage)) })),
            (texts.get("step.actor"), step.actor.as_deref().map(|actor| people.render_actor(texts, Some(actor)))),
            (texts.get("review.note"), step.note.as_ref().map(|note| html! { (note) })),
        ]);
        Step {
            tone,
            title: html! { (title) },
            time: texts.exact_time(&step.at.to_zoned(self.zone.clone())),
            date_time: step.at.to_string(),
            text: None,
            detail: Some(detail),
        }
    }

    /// Renders the files with their downloads.
    fn render_evidence(&self, office: &Office) -> Markup {
        let texts = office.texts;
        if self.case.evidence.is_empty() {
            return html! {};
        }
        let people = KnownPeople::of_reader(office);
        let row = |file: &Evidence| {
            let address = format!("{BASE}{}/evidence/{}", self.path(), file.id);
            vec![
                html! { a href=(address) download=(file.name) { span.cut { (file.name) } } },
                html! { (texts.fill("dispute_page.bytes", &[("count", &texts.number(file.bytes))])) },
                time(texts, &self.zone, file.at),
                people.render_actor(texts, Some(&file.actor)),
            ]
        };
        let columns = vec![
            Column::new(texts.get("dispute_page.file")),
            Column::number(texts.get("dispute_page.size")),
            Column::new(texts.get("dispute_page.added")).from(Shown::Medium),
            Column::new(texts.get("step.actor")).from(Shown::Wide),
        ];
        let rows = self.case.evidence.iter().map(row).collect();
        let caption = texts.get("dispute_page.evidence");
        html! { section.card { (Table { caption, hides_caption: false, is_linked: false, columns, rows }.render()) } }
    }

    /// Renders the form that adds a file, for somebody who may answer.
    fn render_upload(&self, texts: &Texts) -> Markup {
        if !self.can_answer || self.case.dispute.position.stage.has_ended() {
            return html! {};
        }
        let file = Field {
            name: FILE,
            label: texts.get("dispute_page.file"),
            hint: Some(texts.get("dispute_page.file_hint")),
            is_required: true,
            ..Field::default()
        };
        html! {
            section.card aria-labelledby="upload" {
                header { h2 id="upload" { (texts.get("dispute_page.upload")) } }
                form method="post" action={ (BASE) (self.path()) "/evidence" } enctype="multipart/form-data" {
                    (file.file(EVIDENCE_TYPES))
                    div.acts { button type="submit" { (texts.get("dispute_page.upload_button")) } }
                }
            }
        }
    }

    /// Renders the forms of the answers that are possible, for somebody who may answer.
    fn render_answers(&self, texts: &Texts, typed: &str) -> Markup {
        let answers = self.case.possible_answers();
        if !self.can_answer || answers.is_empty() {
            return html! {};
        }
        let has_file = !self.case.evidence.is_empty();
        let note = Field {
            name: NOTE,
            label: texts.get("dispute_page.note"),
            value: typed,
            hint: Some(texts.get(if has_file { "dispute_page.note_hint" } else { "dispute_page.note_needed" })),
            max_length: u16::try_from(MAX_NOTE).ok(),
            is_required: !has_file,
            ..Field::default()
        };
        html! {
            section.card aria-labelledby="answer" {
                header { h2 id="answer" { (texts.get("dispute_page.answer")) } }
                @if answers.contains(&DisputeAction::Represent) {
                    form method="post" action={ (BASE) (self.path()) "/" (REPRESENTMENT) } {
                        p.soft { (texts.get("dispute_page.represent_text")) }
                        (note.text_area(4))
                        div.acts { button.primary type="submit" { (texts.get("dispute_page.represent")) } }
                    }
                }
                @if answers.contains(&DisputeAction::Accept) { (self.render_acceptance(texts)) }
            }
        }
    }

    /// Renders the acceptance, which cannot be undone and is therefore asked for twice.
    fn render_acceptance(&self, texts: &Texts) -> Markup {
        let amount = money_text(texts, self.case.dispute.amount);
        let action = format!("{BASE}{}/{ACCEPTANCE}", self.path());
        let dialog = Dialog {
            name: "accept",
            title: texts.get("dispute_page.accept"),
            content: html! { p { (texts.fill("dispute_page.accept_text", &[("amount", &amount)])) } },
            close: texts.get("act.back"),
        };
        let act = html! {
            form action=(action) method="post" {
                button.danger type="submit" { (texts.get("dispute_page.accept")) }
            }
        };
        html! { div.body { (dialog.opener("danger", texts.get("dispute_page.accept"))) } (dialog.render(&act)) }
    }
}
