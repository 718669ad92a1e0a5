//! The steps of a payment's timeline, from all subjects, in the order of time.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::{Markup, html};
use tillgate_domain::access::audit::AuditEntry;
use tillgate_domain::dispute::Dispute;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::review::queue::ReviewActionKind;
use tillgate_domain::risk::RiskOutcome;
use tillgate_domain::settlement::reconciliation::ReconciliationRecord;
use tillgate_gateway::payment::listing::ListedState;
use tillgate_gateway::payment::story::PaymentStory;
use tillgate_store::{PaymentComment, StoryMessage};

use super::comments::render_short;
use super::exchanges;
use super::labels::{account_end, amount_text, state_text, state_tone, type_text};
use super::timeline_event::{FRAME, TimelineEvent};
use crate::BASE;
use crate::access::people::KnownPeople;
use crate::components::badge::Tone;
use crate::components::facts::facts;
use crate::components::result::result_with_code;
use crate::components::timeline::Step;
use crate::layout::texts::Texts;

/// Parameters about 3-D Secure that are shown, with the keys of their texts.
const THREE_DS: [(&str, &str); 4] = [
    ("threeDSecure.eci", "ECI"),
    ("threeDSecure.version", "Version"),
    ("threeDSecure.authenticationStatus", "Status"),
    ("threeDSecure.dsTransactionId", "DS id"),
];

/// The reader of a timeline.
pub(super) struct TimelineReader<'a> {
    pub(super) texts: &'a Texts,
    pub(super) zone: &'a TimeZone,
    /// The people whose names the reader may see.
    pub(super) people: &'a KnownPeople,
    /// True if the reader may open entries of the audit log.
    pub(super) sees_audit: bool,
}

/// Collects the steps, oldest first. Messages of connectors are shown while the steps take at most `room` bytes.
pub(super) fn collect(reader: &TimelineReader<'_>, story: &PaymentStory, room: usize) -> Vec<Step> {
    let TimelineReader { texts, zone, .. } = *reader;
    let mut events = Vec::new();
    add_checkout(texts, story, &mut events);
    for other in story.attempts.iter().chain(&story.related) {
        events.push(payment_event(reader, story, other));
    }
    if !story.related.iter().any(|other| other.id == story.payment.id) {
        events.push(payment_event(reader, story, &story.payment));
    }
    add_screening(texts, &story.payment, &mut events);
    add_three_ds(texts, &story.payment, &mut events);
    add_review(texts, zone, story, &mut events);
    story.disputes.iter().for_each(|dispute| add_dispute(reader, dispute, &mut events));
    story.messages.iter().for_each(|message| events.push(message_event(texts, zone, message)));
    add_ledger(reader, story, &mut events);
    story.comments.iter().for_each(|comment| events.push(comment_event(texts, story, comment)));
    let used: usize = events.iter().map(|event| event.size() + FRAME).sum();
    let messages = &story.connector_messages;
    events.extend(exchanges::collect(texts, messages, room.saturating_sub(used)));
    let mut steps: Vec<(Timestamp, u8, Step)> =
        events.into_iter().map(|event| (event.at, event.rank, event.into_step(texts, zone))).collect();
    // The day of a settlement has no time, so its lines come at the end of the day.
    steps.extend(story.records.iter().map(|record| record_step(texts, zone, record)));
    steps.sort_by_key(|(at, rank, _)| (*at, *rank));
    steps.into_iter().map(|(_, _, step)| step).collect()
}

/// Adds the beginning of the checkout.
fn add_checkout(texts: &Texts, story: &PaymentStory, events: &mut Vec<TimelineEvent>) {
    let Some(checkout) = &story.payment.checkout else { return };
    let Some(at) = checkout.creation_time() else { return };
    let title = html! { (texts.get("step.checkout")) };
    events.push(TimelineEvent::new(at, 0, Tone::Calm, title).with_text(html! { code { (checkout.as_str()) } }));
}

/// Returns the step of a payment, attempt or follow-up payment.
fn payment_event(reader: &TimelineReader<'_>, story: &PaymentStory, payment: &Payment) -> TimelineEvent {
    let texts = reader.texts;
    let state = ListedState::of(payment.payment_type, payment.result);
    let is_chargeback = payment.payment_type == PaymentType::Chargeback;
    let tone = if is_chargeback { Tone::Bad } else { state_tone(state) };
    let mut label = format!("{}: {}", type_text(texts, payment.payment_type.code()), amount_text(texts, payment));
    // The result of a chargeback is its reason, and no approval.
    if !is_chargeback {
        label = format!("{label} · {}", state_text(texts, state));
    }
    let is_shown = payment.id == story.payment.id;
    let title =
        html! { @if is_shown { (label) } @else { a href={ (BASE) "/payments/" (payment.id.as_str()) } { (label) } } };
    let text = html! {
        (payment.brand) @if let Some(end) = account_end(payment) { " •• " (end) } " · "
        (result_with_code(texts, payment.result))
    };
    let event = TimelineEvent::new(payment.created, 4, tone, title).with_text(text);
    let details: Vec<(&str, Option<Markup>)> = payment
        .details
        .iter()
        .map(|(name, value)| (name.as_str(), Some(html! { (value) })))
        .chain(
            payment
                .actor
                .as_deref()
                .map(|actor| (texts.get("step.actor"), Some(reader.people.render_actor(texts, Some(actor))))),
        )
        .collect();
    if details.is_empty() { event } else { event.with_detail(facts(&details)) }
}

/// Adds the risk check with the rules that fired.
fn add_screening(texts: &Texts, payment: &Payment, events: &mut Vec<TimelineEvent>) {
    let Some(risk) = &payment.risk else { return };
    let Some(decision) = &risk.decision else { return };
    let (tone, outcome) = match decision.outcome {
        RiskOutcome::Accept => (Tone::Good, texts.get("risk.accept")),
        RiskOutcome::Challenge => (Tone::Warn, texts.get("risk.challenge")),
        RiskOutcome::Review => (Tone::Held, texts.get("risk.review")),
        RiskOutcome::Deny => (Tone::Bad, texts.get("risk.deny")),
        RiskOutcome::Error => (Tone::Bad, texts.get("risk.error")),
    };
    let list = |names: &[String]| {
        let names = names.iter().map(|name| html! { code { (name) } " " });
        Some(html! { @for name in names { (name) } }).filter(|shown| !shown.0.is_empty())
    };
    let shadow = risk.shadow.as_ref().map(|shadow| {
        html! { (shadow.outcome.as_str()) " · " (shadow.score) @for name in &shadow.fired { " " code { (name) } } }
    });
    let detail = facts(&[
        (texts.get("risk.score"), Some(html! { (decision.score) })),
        (texts.get("risk.fired"), list(&decision.fired)),
        (texts.get("risk.inputs"), list(&decision.inputs)),
        (texts.get("risk.version"), decision.version.as_ref().map(|version| html! { code { (version) } })),
        (texts.get("risk.shadow"), shadow),
    ]);
    let title = html! { (texts.get("step.risk")) ": " (outcome) };
    let event = TimelineEvent::new(payment.created, 1, tone, title);
    let has_detail = decision.score != 0 || !decision.fired.is_empty() || risk.shadow.is_some();
    events.push(if has_detail { event.with_detail(detail) } else { event });
}

/// Adds the authentication of the cardholder.
fn add_three_ds(texts: &Texts, payment: &Payment, events: &mut Vec<TimelineEvent>) {
    let values: Vec<(&str, Option<Markup>)> = THREE_DS
        .iter()
        .filter_map(|(name, label)| Some((*label, Some(html! { code { (payment.parameters.get(name)?) } }))))
        .collect();
    let session = payment.three_ds_session();
    if values.is_empty() && session.is_none() {
        return;
    }
    let is_waiting = session.is_some() && payment.awaits_shopper();
    let (tone, text) = match is_waiting {
        true => (Tone::Warn, texts.get("step.three_ds_waiting")),
        false => (Tone::Calm, texts.get("step.three_ds_done")),
    };
    let title = html! { "3-D Secure: " (text) };
    let event = TimelineEvent::new(payment.created, 2, tone, title);
    events.push(if values.is_empty() { event } else { event.with_detail(facts(&values)) });
}

/// Adds the review with the acts of analysts.
fn add_review(texts: &Texts, zone: &TimeZone, story: &PaymentStory, events: &mut Vec<TimelineEvent>) {
    let Some((review, actions)) = &story.review else { return };
    let event =
        TimelineEvent::new(review.since.max(story.payment.created), 5, Tone::Held, html! { (texts.get("step.held")) });
    events.push(match story.review_deadline {
        Some(deadline) => {
            let deadline = texts.date_time(&deadline.to_zoned(zone.clone()));
            event.with_text(html! { (texts.fill("step.review_deadline", &[("time", &deadline)])) })
        }
        None => event,
    });
    for action in actions {
        let (tone, text) = match action.kind {
            ReviewActionKind::Claim => (Tone::Calm, texts.get("review.claim")),
            ReviewActionKind::Release => (Tone::Calm, texts.get("review.release")),
            ReviewActionKind::Note => (Tone::Calm, texts.get("review.note")),
            ReviewActionKind::Pend => (Tone::Held, texts.get("review.pend")),
            ReviewActionKind::Approve => (Tone::Good, texts.get("review.approve")),
            ReviewActionKind::Cancel => (Tone::Bad, texts.get("review.cancel")),
            ReviewActionKind::Expire => (Tone::Bad, texts.get("review.expire")),
        };
        let reason = action.reason.map(|reason| format!(" · {reason}")).unwrap_or_default();
        let event = TimelineEvent::new(action.at, 6, tone, html! { (texts.get("step.review")) ": " (text) });
        let event = event.with_text(html! { (action.analyst) (reason) });
        events.push(match &action.note {
            Some(note) => event.with_detail(html! { (note) }),
            None => event,
        });
    }
}

/// Adds the steps of a dispute.
fn add_dispute(reader: &TimelineReader<'_>, dispute: &Dispute, events: &mut Vec<TimelineEvent>) {
    let TimelineReader { texts, zone, .. } = *reader;
    let last = dispute.steps.len().saturating_sub(1);
    for (index, step) in dispute.steps.iter().enumerate() {
        let key = format!("dispute.{}", step.action.as_str());
        let text = texts.find(&key).unwrap_or(step.action.as_str());
        let tone = if step.stage.has_ended() { Tone::Calm } else { Tone::Warn };
        let deadline = dispute.deadline.filter(|_| index == last && !step.stage.has_ended());
        let deadline = deadline.map(|deadline| texts.date_time(&deadline.to_zoned(zone.clone())));
        let title = html! { (texts.get("step.dispute")) ": " (text) };
        let detail = facts(&[
            (texts.get("dispute.reason"), (index == 0).then(|| result_with_code(texts, dispute.reason))),
            (texts.get("dispute.deadline"), deadline.map(|deadline| html! { (deadline) })),
            (
                texts.get("step.actor"),
                step.actor.as_deref().map(|actor| reader.people.render_actor(texts, Some(actor))),
            ),
            (texts.get("review.note"), step.note.as_ref().map(|note| html! { (note) })),
        ]);
        events.push(TimelineEvent::new(step.at, 7, tone, title).with_detail(detail));
    }
}

/// Returns the step of a message with its attempts.
fn message_event(texts: &Texts, zone: &TimeZone, message: &StoryMessage) -> TimelineEvent {
    let last = message.attempts.last();
    let (tone, state) = match (last, message.is_waiting) {
        (Some(attempt), _) if attempt.is_accepted() => (Tone::Good, texts.get("delivery.accepted")),
        (None, true) => (Tone::Calm, texts.get("delivery.waiting")),
        (Some(_), true) => (Tone::Warn, texts.get("delivery.retried")),
        (_, false) => (Tone::Bad, texts.get("delivery.failed")),
    };
    let title = html! { (texts.get("step.message")) ": " (message.what) " · " (state) };
    let event = TimelineEvent::new(message.written, 8, tone, title).with_text(html! { (show_host(&message.address)) });
    if message.attempts.is_empty() {
        return event;
    }
    let lines = message.attempts.iter().map(|attempt| {
        let time = texts.exact_time(&attempt.at.to_zoned(zone.clone()));
        let answer = attempt.status.map(|status| status.to_string()).or_else(|| attempt.fault.clone());
        let milliseconds = u64::try_from(attempt.milliseconds).unwrap_or(0);
        html! { li { (time) " · " (answer.unwrap_or_default()) " · " (texts.number(milliseconds)) " ms" } }
    });
    event.with_detail(html! { ul.small { @for line in lines { (line) } } })
}

/// Returns scheme, host and path of an address. Its query may be secret.
fn show_host(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

/// Describes the money that an entry of the audit log moves: what shoppers owe (+) or get back (−), by currency.
pub(crate) fn describe_receivable(texts: &Texts, entry: &AuditEntry) -> String {
    let money = entry.money.iter().filter(|(_, sums)| sums.receivable != 0).map(|(currency, sums)| {
        let amount = tillgate_shared::money::Currency::parse(currency)
            .and_then(|currency| tillgate_shared::money::Amount::from_hundredths(sums.receivable.abs(), currency));
        let sign = if sums.receivable < 0 { "\u{2212}" } else { "+" };
        format!("{sign}{} {currency}", texts.amount(&amount.map(|amount| amount.to_string()).unwrap_or_default()))
    });
    money.collect::<Vec<_>>().join(", ")
}

/// Returns the step of a comment.
fn comment_event(texts: &Texts, story: &PaymentStory, comment: &PaymentComment) -> TimelineEvent {
    let title = html! { (texts.get("comment.step")) ": " (comment.author) };
    let detail = render_short(texts, &story.payment.id, comment);
    TimelineEvent::new(comment.written, 11, Tone::Calm, title).with_detail(detail)
}

/// Adds the entries of the ledger.
fn add_ledger(reader: &TimelineReader<'_>, story: &PaymentStory, events: &mut Vec<TimelineEvent>) {
    let texts = reader.texts;
    for (number, entry) in &story.entries {
        let money = describe_receivable(texts, entry);
        let title = texts.fill("step.ledger", &[("number", &number.to_string())]);
        let title = html! {
            @if reader.sees_audit { a href={ (BASE) "/administration/audit/" (number) } { (title) } } @else { (title) }
        };
        let event = TimelineEvent::new(entry.time, 9, Tone::Calm, title);
        let text = if money.is_empty() { texts.get("step.no_money").to_owned() } else { money };
        let actor = entry.actor.as_deref().map(|actor| reader.people.render_actor(texts, Some(actor)));
        events.push(event.with_text(html! { (text) @if let Some(actor) = actor { " · " (actor) } }));
    }
}

/// Returns the step of a reconciliation record, at the end of its day.
fn record_step(texts: &Texts, zone: &TimeZone, record: &ReconciliationRecord) -> (Timestamp, u8, Step) {
    let part = &record.settlement;
    let amount = |amount: &tillgate_shared::money::Amount| {
        format!("{} {}", texts.amount(&amount.to_string()), amount.currency().code())
    };
    let end_of_day = part.date.at(23, 59, 59, 0).to_zoned(zone.clone());
    let at = end_of_day.as_ref().map_or(Timestamp::MAX, jiff::Zoned::timestamp);
    let day = end_of_day.map(|moment| texts.date(&moment)).unwrap_or_default();
    let detail = facts(&[
        (texts.get("payments.amount"), Some(html! { (amount(&part.amount)) })),
        (texts.get("settlement.fee"), part.fee.as_ref().map(|fee| html! { (amount(fee)) })),
        (texts.get("settlement.batch"), Some(html! { code { (part.id) } })),
        (texts.get("settlement.institute"), Some(html! { (record.institute.name) })),
    ]);
    let title = html! { (texts.get("step.settled")) };
    let step =
        Step { tone: Tone::Good, title, time: day, date_time: part.date.to_string(), text: None, detail: Some(detail) };
    (at, 10, step)
}
