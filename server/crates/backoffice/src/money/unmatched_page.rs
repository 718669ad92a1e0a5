//! One line of an institute's file: the payments that it names, and the decisions about it.

use std::collections::BTreeSet;

use axum::extract::Path;
use axum::response::Response;
use maud::{Markup, html};
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::id::{PaymentId, RecordId};
use tillgate_domain::settlement::reconciliation::MatchingStatus;
use tillgate_gateway::administration::{ActError, Administration};
use tillgate_gateway::settlement::file_import::unmatched::MatchCandidate;
use tillgate_gateway::settlement::file_import::user_act::SettlementFileLine;
use tillgate_shared::money::Amount;

use super::money_text;
use super::settlement_list::day_text;
use super::settlement_page::line_type_text;
use super::unmatched_list::{PATH, line_amount_text, reason_text, reference_of};
use crate::BASE;
use crate::access::Fields;
use crate::components::badge::{Tone, badge};
use crate::components::facts::facts;
use crate::components::field::Field;
use crate::components::table::{Column, Shown, Table};
use crate::layout::page::Section;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// Name of the field of the payment.
const PAYMENT: &str = "payment";
/// Name of the field of the reason.
const REASON: &str = "reason";
/// Name of the mismatch of a payment that the line can only settle together with others.
const ABOVE_OPEN_AMOUNT: &str = "above_open_amount";
/// Id of the form that matches the line with payments.
const MATCH_FORM: &str = "match";
/// Longest text with the ids of payments, 100 with their separators.
const MAX_TYPED: u16 = 3300;
/// Longest reason of a rejection.
const MAX_REASON: u16 = 500;

/// A line as one user sees it.
struct ShownLine {
    line: SettlementFileLine,
    /// True if the user may decide about it.
    can_decide: bool,
}

/// Handles `GET /money/unmatched/{id}`.
pub(super) async fn show_line(office: Office, Path(id): Path<String>) -> Response {
    match ShownLine::load(&office, &id).await {
        Ok(line) => line.show(&office, &Fields::default(), None).await,
        Err(refused) => *refused,
    }
}

/// Handles `POST /money/unmatched/{id}/match`: matches the line with payments.
pub(super) async fn match_line(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    // Checkboxes of candidates, and ids that were typed.
    let typed = fields.all(PAYMENT).flat_map(|text| text.split([' ', ',', ';', '\r', '\n', '\t']));
    let wanted: BTreeSet<&str> = typed.filter(|id| !id.is_empty()).collect();
    let payments: Option<Vec<PaymentId>> = wanted.into_iter().map(PaymentId::parse).collect();
    let Some(payments) = payments.filter(|payments| !payments.is_empty()) else {
        return match ShownLine::load_to_decide(&office, &id).await {
            Ok(line) => line.show(&office, &fields, Some(office.texts.get("unmatched.no_payment"))).await,
            Err(refused) => *refused,
        };
    };
    let act =
        move |administration: &Administration, record: &RecordId| administration.match_line_for_user(record, &payments);
    decide(&office, &id, &fields, act, "line_matched").await
}

/// Handles `POST /money/unmatched/{id}/rejection`: rejects the line, which settles no payment.
pub(super) async fn reject_line(office: Office, Path(id): Path<String>, fields: Fields) -> Response {
    let reason = fields.get(REASON).to_owned();
    let act =
        move |administration: &Administration, record: &RecordId| administration.reject_line_for_user(record, &reason);
    decide(&office, &id, &fields, act, "line_rejected").await
}

/// Decides about a line, and leads to the list.
async fn decide(
    office: &Office,
    id: &str,
    fields: &Fields,
    act: impl FnOnce(&Administration, &RecordId) -> Result<(), ActError> + Send + 'static,
    done: &str,
) -> Response {
    let shown = match ShownLine::load_to_decide(office, id).await {
        Ok(shown) => shown,
        Err(refused) => return *refused,
    };
    let (reach, record) = (Reach::Entity(shown.line.import.entity.clone()), shown.line.record.id.clone());
    let act = move |administration: &Administration| act(administration, &record);
    match office.administer(Permission::ChangeMoney, reach, act).await {
        Ok(()) => office.lead_to(PATH, done),
        Err(error) => {
            let show = async |message: &str| match ShownLine::load(office, id).await {
                // Loaded again, because somebody else may have decided meanwhile.
                Ok(shown) => shown.show(office, fields, Some(message)).await,
                Err(refused) => *refused,
            };
            office.show_refusal(&error, show).await
        }
    }
}

impl ShownLine {
    /// Loads a line from a file that was imported for an entity of the user.
    ///
    /// # Errors
    /// The page for what does not exist, or about data that cannot be read.
    async fn load(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let unknown = || Box::new(office.show_unknown());
        let id = RecordId::parse(id).ok_or_else(unknown)?;
        let entities = collect_ids(&office.entities_with(Permission::ViewMoney));
        let loaded = office.read(move |app, _| app.gateway.find_settlement_line(&entities, &id)).await;
        let line = loaded.map_err(|failure| Box::new(office.show_failure(&failure)))?.ok_or_else(unknown)?;
        let can_decide = office.allows_on(Permission::ChangeMoney, &line.import.entity);
        Ok(Self { line, can_decide })
    }

    /// Loads a line about which the user may decide.
    ///
    /// # Errors
    /// Same as [`ShownLine::load`]; also the page about the missing permission, if the user may only see the line.
    async fn load_to_decide(office: &Office, id: &str) -> Result<Self, Box<Response>> {
        let shown = Self::load(office, id).await?;
        if shown.can_decide {
            return Ok(shown);
        }
        Err(Box::new(office.show_missing_permission(Permission::ChangeMoney).await))
    }

    /// Shows the page. `sent` are the fields of a form that was refused, with its fault.
    async fn show(&self, office: &Office, sent: &Fields, fault: Option<&str>) -> Response {
        let candidates = match self.load_candidates(office).await {
            Ok(candidates) => candidates,
            Err(error) => return office.show_refusal(&error, async |_| office.show_unknown()).await,
        };
        let (texts, record) = (office.texts, &self.line.record);
        let title = texts.fill("unmatched.line_title", &[("amount", &line_amount_text(texts, record))]);
        let tone = if self.line.is_open() { Tone::Warn } else { Tone::Calm };
        let main = html! {
            div.title {
                p.crumb { a href={ (BASE) (PATH) } { (texts.get("unmatched.title")) } }
                h1 { (title) }
                (badge(tone, self.state_text(texts)))
            }
            div.split {
                section.card aria-labelledby="line" {
                    header { h2 id="line" { (texts.get("unmatched.line")) } }
                    div.body { (self.render_facts(texts)) }
                }
                div.stack {
                    (self.render_candidates(office, &candidates))
                    (self.render_forms(texts, sent))
                }
            }
        };
        match fault {
            Some(fault) => office.show_fault(Section::Money, &title, fault, &main),
            None => office.show_page(Section::Money, &title, main),
        }
    }

    /// Loads the payments that the line names, if nobody has decided.
    async fn load_candidates(&self, office: &Office) -> Result<Vec<MatchCandidate>, ActError> {
        if !self.line.is_open() {
            return Ok(Vec::new());
        }
        let (record, reach) = (self.line.record.clone(), Reach::Entity(self.line.import.entity.clone()));
        office.examine(Permission::ViewMoney, reach, move |it| it.find_line_candidates(&record)).await
    }

    fn state_text<'a>(&self, texts: &'a Texts) -> &'a str {
        if self.line.import.rejected.is_some() {
            return texts.get("unmatched.rejected");
        }
        reason_text(texts, &self.line.record)
    }

    fn render_facts(&self, texts: &Texts) -> Markup {
        let (record, import) = (&self.line.record, &self.line.import);
        let text = |value: &str| Some(value.to_owned()).filter(|it| !it.is_empty()).map(|value| html! { (value) });
        let ids = record.institute.tx_ids.iter().flatten().cloned().collect::<Vec<_>>().join(", ");
        let matched = record.matching.as_ref().filter(|matching| matching.status == MatchingStatus::Matched);
        let matched = matched.map(|matching| {
            html! { @for payment in &matching.payments { a href={ (BASE) "/payments/" (payment) } { code { (payment) } } " " } }
        });
        facts(&[
            (texts.get("payments.type"), Some(html! { (line_type_text(texts, record)) })),
            (texts.get("settlements.day"), Some(html! { (day_text(texts, record.settlement.date)) })),
            (texts.get("settlement.institute"), text(&record.institute.name)),
            (texts.get("settlements.fees"), record.settlement.fee.map(|fee| html! { (money_text(texts, fee)) })),
            (texts.get("payments.reference"), text(reference_of(record))),
            (texts.get("payment.connector_ids"), text(&ids)),
            (texts.get("unmatched.institute_reference"), text(import.reference.as_deref().unwrap_or_default())),
            (texts.get("unmatched.named_payment"), import.payment.as_ref().map(|id| html! { code { (id) } })),
            (texts.get("unmatched.number"), Some(html! { (texts.number(import.line)) })),
            (texts.get("unmatched.matched"), matched),
            (texts.get("unmatched.rejected_because"), import.rejected.as_ref().map(|it| html! { (it.reason) })),
        ])
    }

    /// Renders the payments that the line names, each with the reason why the line does not settle it.
    fn render_candidates(&self, office: &Office, candidates: &[MatchCandidate]) -> Markup {
        let texts = office.texts;
        if candidates.is_empty() {
            return html! {};
        }
        let columns = vec![
            Column::number(texts.get("payments.amount")),
            Column::number(texts.get("unmatched.open_amount")),
            Column::new(texts.get("unmatched.fits")),
            Column::new(texts.get("payments.reference")).from(Shown::Wide),
        ];
        let rows = candidates.iter().map(|candidate| self.render_candidate(office, candidate)).collect();
        let caption = texts.get("unmatched.candidates");
        html! { section.card { (Table { caption, hides_caption: false, is_linked: false, columns, rows }.render()) } }
    }

    fn render_candidate(&self, office: &Office, candidate: &MatchCandidate) -> Vec<Markup> {
        let (texts, payment) = (office.texts, &candidate.payment);
        let open = Amount::from_hundredths(candidate.open, payment.amount.currency());
        let reason = candidate.mismatch_name.map(|name| format!("mismatch.{name}"));
        let action = format!("{BASE}{PATH}/{}/match", self.line.record.id);
        vec![
            html! { a.nowrap href={ (BASE) "/payments/" (payment.id) } { (money_text(texts, payment.amount)) } },
            html! { @if let Some(open) = open { span.nowrap { (money_text(texts, open)) } } },
            html! {
                @if let Some(reason) = &reason {
                    (texts.get(reason))
                    // A line with more than the open amount may settle several payments together.
                    @if self.can_decide && candidate.mismatch_name == Some(ABOVE_OPEN_AMOUNT) {
                        label.check {
                            input type="checkbox" name=(PAYMENT) value=(payment.id) form=(MATCH_FORM);
                            " " (texts.get("unmatched.together"))
                        }
                    }
                } @else if self.can_decide {
                    form method="post" action=(action) {
                        input type="hidden" name=(PAYMENT) value=(payment.id);
                        button type="submit" { (texts.get("unmatched.match")) }
                    }
                } @else {
                    (texts.get("unmatched.yes"))
                }
            },
            html! { span.cut { (payment.merchant_transaction_id().unwrap_or_default()) } },
        ]
    }

    /// Renders the forms of the decisions, for somebody who may decide.
    fn render_forms(&self, texts: &Texts, sent: &Fields) -> Markup {
        if !self.can_decide || !self.line.is_open() {
            return html! {};
        }
        let typed: Vec<&str> = sent.all(PAYMENT).collect();
        let typed = typed.join("\n");
        let payment = Field {
            name: PAYMENT,
            label: texts.get("unmatched.payment"),
            value: &typed,
            hint: Some(texts.get("unmatched.payment_hint")),
            max_length: Some(MAX_TYPED),
            ..Field::default()
        };
        let reason = Field {
            name: REASON,
            label: texts.get("unmatched.reason"),
            value: sent.get(REASON),
            max_length: Some(MAX_REASON),
            is_required: true,
            ..Field::default()
        };
        let action = format!("{BASE}{PATH}/{}", self.line.record.id);
        html! {
            section.card aria-labelledby="decision" {
                header { h2 id="decision" { (texts.get("unmatched.decision")) } }
                form id=(MATCH_FORM) method="post" action={ (action) "/match" } {
                    (payment.text_area(2))
                    div.acts { button.primary type="submit" { (texts.get("unmatched.match")) } }
                }
                form method="post" action={ (action) "/rejection" } {
                    p.soft { (texts.get("unmatched.reject_text")) }
                    (reason.input("text"))
                    div.acts { button.danger type="submit" { (texts.get("unmatched.reject")) } }
                }
            }
        }
    }
}
