//! The work that waits: each kind that the user may see, most urgent first.

use std::collections::HashSet;
use std::path::PathBuf;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use maud::{Markup, html};
use tillgate_domain::access::approval::{ApprovalRequest, ApprovalState};
use tillgate_domain::access::role::Permission;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::id::{EntityId, UserId};
use tillgate_domain::payment::Payment;
use tillgate_gateway::{App, Failure};
use tillgate_shared::money::Amount;
use tillgate_store::dispute::list::DisputeView;
use tillgate_store::{MAX_COUNT, OpenWork};

use crate::BASE;
use crate::administration::certificates::read_end;
use crate::approval::{ApprovalScope, describe_act};
use crate::components::badge::{Tone, badge, count};
use crate::components::table::empty;
use crate::components::tasks::{Task, tasks};
use crate::components::time::time;
use crate::layout::texts::Texts;
use crate::office::Office;
use crate::payment::collect_ids;

/// Time before the end of an access token or a certificate from which the first page tells of it.
const END_NOTICE: SignedDuration = SignedDuration::from_hours(14 * 24);
/// Number of reviews and disputes that have a line each.
const LINES: usize = 5;
/// Number of requests for a second person that are loaded, so that those that end first are among them.
const MAX_APPROVALS: u32 = 1_000;

/// The entities whose work a user sees, for each kind of work.
pub(super) struct WorkScope {
    reviews: Vec<EntityId>,
    deliveries: Vec<EntityId>,
    money: Vec<EntityId>,
    payments: Vec<EntityId>,
    tokens: HashSet<EntityId>,
    approvals: ApprovalScope,
    /// The user, who does not approve the own requests, and carries out only these.
    user: UserId,
    /// The certificate of the FTP server, for those who run the gateway.
    certificate: Option<PathBuf>,
}

/// The work that was found.
pub(super) struct LoadedWork {
    work: OpenWork,
    /// The held payments whose review began first, each with that time.
    held: Vec<(Payment, Timestamp)>,
    /// The acts that the user may approve, and the approved ones that wait for the user.
    approvals: Vec<ApprovalRequest>,
    /// The open disputes with the nearest deadlines.
    disputes: Vec<Dispute>,
    /// Time in which an analyst decides about a held payment.
    review_lifetime: SignedDuration,
    /// The access tokens that end soon: the end and the entity of each, the earliest first.
    tokens: Vec<(Timestamp, EntityId)>,
    /// The end of the certificate of the FTP server, if that is soon or was.
    certificate: Option<Timestamp>,
}

impl WorkScope {
    /// Collects the entities of a user.
    pub(super) fn new(office: &Office) -> Self {
        let of = |permission| collect_ids(&office.entities_with(permission));
        let runs_gateway = office.signed_in.permissions.allows_everywhere(Permission::ViewSystem);
        Self {
            reviews: of(Permission::ViewReviews),
            deliveries: of(Permission::ViewDeliveries),
            money: of(Permission::ViewMoney),
            payments: of(Permission::ViewPayments),
            tokens: of(Permission::ManageTokens).into_iter().collect(),
            approvals: ApprovalScope::new(office),
            user: office.signed_in.user.id.clone(),
            certificate: office.state.ftp_certificate.clone().filter(|_| runs_gateway),
        }
    }

    /// Loads the work. Connectors that were asked after `unknown_since` may still answer.
    pub(super) fn load(&self, app: &App, unknown_since: Timestamp) -> Result<LoadedWork, Failure> {
        let store = &app.gateway.store;
        let mut work = OpenWork::default();
        for entity in &self.payments {
            let found = store.count_open_work(entity, unknown_since)?;
            let is_reviewer = self.reviews.contains(entity);
            work.add(OpenWork {
                held: if is_reviewer { found.held } else { 0 },
                oldest_held: if is_reviewer { found.oldest_held } else { Vec::new() },
                failing: if self.deliveries.contains(entity) { found.failing } else { 0 },
                unmatched: if self.money.contains(entity) { found.unmatched } else { 0 },
                unknown: found.unknown,
            });
        }
        work.oldest_held.sort_by_key(|(_, since)| *since);
        work.oldest_held.truncate(LINES);
        let mut held = Vec::new();
        for (id, since) in &work.oldest_held {
            held.extend(store.load_payment_of_any(&self.reviews, id)?.map(|payment| (payment, *since)));
        }
        let mut disputes = store.load_dispute_view(&self.money, DisputeView::Open, None, LINES)?;
        disputes.retain(|dispute| dispute.deadline.is_some());
        let now = app.gateway.now();
        let ending = (now, now.checked_add(END_NOTICE).unwrap_or(Timestamp::MAX));
        let tokens = app.gateway.directory.find_ending_tokens(&self.tokens, ending);
        let certificate = self.certificate.as_deref().and_then(read_end).filter(|end| *end < ending.1);
        let mut approvals = self.approvals.load(app, true, MAX_APPROVALS)?;
        approvals.retain(|request| (request.asker == self.user) == (request.stored_state == ApprovalState::Approved));
        approvals.sort_by_key(ApprovalRequest::expires);
        approvals.truncate(LINES);
        Ok(LoadedWork {
            work,
            held,
            approvals,
            disputes,
            review_lifetime: app.gateway.options.review_lifetime,
            tokens,
            certificate,
        })
    }
}

/// Renders the list.
pub(super) fn render(texts: &Texts, zone: &TimeZone, loaded: &LoadedWork) -> Markup {
    let lines = collect_lines(texts, zone, loaded);
    html! {
        section.card id="open-work" data-live aria-labelledby="work" {
            header { h2 id="work" { (texts.get("home.work")) } (count(u64::try_from(lines.len()).unwrap_or(0))) }
            @if lines.is_empty() {
                (empty(texts.get("home.no_work"), texts.get("home.no_work_advice")))
            } @else {
                (tasks(&lines))
            }
        }
    }
}

/// Collects the lines, those with a deadline first.
fn collect_lines(texts: &Texts, zone: &TimeZone, loaded: &LoadedWork) -> Vec<Task> {
    let mut dated = collect_dated(texts, zone, loaded);
    dated.sort_by_key(|(end, _)| *end);
    dated.into_iter().map(|(_, task)| task).chain(collect_counts(texts, &loaded.work)).collect()
}

/// Collects the lines with a deadline or an end, in any order.
fn collect_dated(texts: &Texts, zone: &TimeZone, loaded: &LoadedWork) -> Vec<(Timestamp, Task)> {
    let money = |amount: Amount| format!("{} {}", texts.amount(&amount.to_string()), amount.currency().code());
    let line = |end: Timestamp, text: String, path: String, badge: Markup| {
        let until = html! { (texts.get("home.until")) " " (time(texts, zone, end)) };
        (end, Task { text, address: Some(format!("{BASE}{path}")), badge, end: until })
    };
    let reviews = loaded.held.iter().map(|(payment, since)| {
        let deadline = since.checked_add(loaded.review_lifetime).unwrap_or(Timestamp::MAX);
        let reference = payment.merchant_transaction_id().map(|text| format!(" · {text}")).unwrap_or_default();
        let text = texts.fill("home.held_payment", &[("amount", &money(payment.amount))]) + &reference;
        line(deadline, text, format!("/reviews/{}", payment.id), badge(Tone::Held, texts.get("home.review")))
    });
    let approvals = loaded.approvals.iter().map(|request| {
        let text = describe_act(texts, &request.act);
        let is_approved = request.stored_state == ApprovalState::Approved;
        let badge = if is_approved {
            badge(Tone::Good, texts.get("approvals.is_approved"))
        } else {
            badge(Tone::Warn, texts.get("home.approval"))
        };
        line(request.expires(), text, format!("/approvals/{}", request.id), badge)
    });
    let disputes = loaded.disputes.iter().filter_map(|dispute| {
        let text = texts.fill("home.disputed_payment", &[("amount", &money(dispute.amount))]);
        let badge = badge(Tone::Warn, texts.get("home.dispute"));
        Some(line(dispute.deadline?, text, format!("/money/disputes/{}", dispute.id), badge))
    });
    let tokens = loaded.tokens.first().map(|(end, entity)| {
        let count = texts.number(u64::try_from(loaded.tokens.len()).unwrap_or(u64::MAX));
        let text = texts.fill("home.ending_tokens", &[("count", &count)]);
        line(*end, text, format!("/administration/entities/{entity}"), badge(Tone::Warn, texts.get("home.token")))
    });
    let certificate = loaded.certificate.map(|end| {
        let text = texts.get("home.ending_certificate").to_owned();
        line(end, text, "/administration/system".to_owned(), badge(Tone::Warn, texts.get("home.certificate")))
    });
    reviews.chain(approvals).chain(disputes).chain(tokens).chain(certificate).collect()
}

/// Collects the lines of kinds that are only counted.
fn collect_counts(texts: &Texts, work: &OpenWork) -> Vec<Task> {
    let more = work.held.saturating_sub(u64::try_from(work.oldest_held.len()).unwrap_or(0));
    let counts = [
        (more, Tone::Held, "home.review", "home.more_held", "/reviews"),
        (work.unknown, Tone::Warn, "home.outcome", "home.unknown", "/payments?state=pending"),
        (work.failing, Tone::Bad, "home.delivery", "home.failing", "/deliveries"),
        (work.unmatched, Tone::Warn, "home.settlement", "home.unmatched", "/money/unmatched"),
    ];
    let waiting = counts.into_iter().filter(|(number, ..)| *number > 0);
    let lines = waiting.map(|(number, tone, name, text, path)| {
        let text = texts.fill(text, &[("count", &texts.bounded_count(number, MAX_COUNT))]);
        Task { text, address: Some(format!("{BASE}{path}")), badge: badge(tone, texts.get(name)), end: html! {} }
    });
    lines.collect()
}
