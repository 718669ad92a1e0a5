//! The steps of a payment's timeline about messages between the gateway and an external connector.

use std::collections::BTreeMap;

use maud::{Markup, html};
use tillgate_domain::id::PaymentId;
use tillgate_domain::payment::connector_message::{ConnectorMessage, MessageFault, MessageOutcome};
use tillgate_store::NumberedMessage;

use super::timeline_event::{FRAME, TimelineEvent};
use crate::components::badge::Tone;
use crate::components::facts::facts;
use crate::layout::texts::Texts;

/// Order of the steps among steps with the same time: after the payment, whose row is written before its request.
const RANK: u8 = 5;

/// Makes the steps of messages, oldest first. If not all of them fit into `room` bytes, takes the first and the latest
/// ones, and adds a step with the number of the others.
pub(super) fn collect(texts: &Texts, messages: &[NumberedMessage], room: usize) -> Vec<TimelineEvent> {
    let mut first: Vec<TimelineEvent> = Vec::new();
    let mut latest: Vec<TimelineEvent> = Vec::new();
    let mut rest = messages.iter();
    let mut room = room;
    // From both ends in turn: the beginning shows the cause of an unknown outcome, and the end shows the state.
    while let Some(next) = if first.len() <= latest.len() { rest.next() } else { rest.next_back() } {
        let event = message_event(texts, &next.message);
        let Some(left) = room.checked_sub(event.size() + FRAME) else { break };
        room = left;
        if first.len() <= latest.len() { first.push(event) } else { latest.push(event) }
    }
    let hidden = count_messages(messages).saturating_sub(first.len() + latest.len());
    if hidden > 0 {
        let hidden = texts.number(u64::try_from(hidden).unwrap_or(u64::MAX));
        let title = html! { (texts.fill("exchange.more", &[("count", &hidden)])) };
        let at = first.last().or(latest.last()).map(|event| event.at).or(messages.first().map(|one| one.message.sent));
        first.extend(at.map(|at| TimelineEvent::new(at, RANK + 1, Tone::Calm, title)));
    }
    first.extend(latest.into_iter().rev());
    first
}

/// Counts the messages of the payments, also those that are no longer kept.
fn count_messages(messages: &[NumberedMessage]) -> usize {
    let mut last: BTreeMap<&PaymentId, u32> = BTreeMap::new();
    for message in messages {
        let number = last.entry(&message.payment).or_default();
        *number = message.number.max(*number);
    }
    last.values().map(|number| usize::try_from(*number).unwrap_or(usize::MAX)).sum()
}

/// Returns the step of a message.
fn message_event(texts: &Texts, message: &ConnectorMessage) -> TimelineEvent {
    let tone = match message.outcome {
        MessageOutcome::Approved => Tone::Good,
        MessageOutcome::Declined | MessageOutcome::NotExecuted | MessageOutcome::Contradictory => Tone::Bad,
        MessageOutcome::NoAnswer | MessageOutcome::Pending | MessageOutcome::NotFound => Tone::Warn,
        MessageOutcome::Redirect | MessageOutcome::Reversed => Tone::Calm,
    };
    let operation = named(texts, message.operation.as_str());
    let title = html! { (texts.get("exchange.acquirer")) " · " (operation) ": " (describe_outcome(texts, message)) };
    let letter = |value: Option<char>| value.map(String::from);
    let values = [
        (texts.get("exchange.code"), message.response_code.clone()),
        ("AVS", letter(message.avs)),
        ("CVV", letter(message.cvv)),
    ];
    let text = html! {
        @for (name, value) in &values { @if let Some(value) = value { (name) " " code { (value) } " · " } }
        (texts.number(message.milliseconds)) " ms"
    };
    let ids = message.connector_tx_ids.to_array().into_iter().flatten().collect::<Vec<_>>().join(", ");
    let detail = html! {
        (facts(&[
            (texts.get("exchange.reference"), Some(html! { code { (message.reference) } })),
            (texts.get("payment.connector_ids"), Some(html! { code { (ids) } }).filter(|_| !ids.is_empty())),
        ]))
        details {
            summary { (texts.get("exchange.fields")) }
            (field_list(texts.get("exchange.request"), &message.request))
            (field_list(texts.get("exchange.answer"), &message.answer))
        }
    };
    TimelineEvent::new(message.sent, RANK, tone, title).with_text(text).with_detail(detail)
}

/// Describes the outcome of a message. A request without an answer is described by its reason.
fn describe_outcome(texts: &Texts, message: &ConnectorMessage) -> String {
    let outcome = named(texts, message.outcome.as_str());
    match (&message.fault, message.outcome) {
        (None, _) => outcome,
        (Some(fault), MessageOutcome::NoAnswer) => describe_fault(texts, fault),
        // The outcome of an answer without a decision is its reason.
        (Some(_), MessageOutcome::Pending) => outcome,
        (Some(fault), _) => format!("{outcome}, {}", describe_fault(texts, fault)),
    }
}

/// Returns the text of an operation or an outcome.
fn named(texts: &Texts, name: &str) -> String {
    texts.get(&format!("exchange.{name}")).to_owned()
}

fn describe_fault(texts: &Texts, fault: &MessageFault) -> String {
    texts.fill(&format!("exchange.fault_{}", fault.kind.as_str()), &[("detail", &fault.detail)])
}

/// Renders names and values with their heading. Nothing if there are none.
fn field_list(title: &str, fields: &[(String, String)]) -> Markup {
    html! {
        @if !fields.is_empty() {
            h4 { (title) }
            dl.facts.small { @for (name, value) in fields { dt { code { (name) } } dd.wrap { (value) } } }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_domain::payment::ConnectorTxIds;
    use tillgate_domain::payment::connector_message::{ConnectorOperation, FaultKind};

    use super::*;

    /// Returns a message of the payment with this letter. Its number is also its time in seconds.
    fn sample_message(payment: char, number: u32, fault: Option<(FaultKind, &str)>) -> NumberedMessage {
        let outcome = if fault.is_some() { MessageOutcome::NoAnswer } else { MessageOutcome::Approved };
        let message = ConnectorMessage {
            sent: Timestamp::from_second(number.into()).unwrap(),
            milliseconds: 1234,
            operation: ConnectorOperation::Inquiry,
            reference: format!("reference-{number}"),
            outcome,
            fault: fault.map(|(kind, detail)| MessageFault { kind, detail: detail.to_owned() }),
            response_code: Some("00".to_owned()),
            avs: Some('Z'),
            cvv: None,
            connector_tx_ids: ConnectorTxIds::default(),
            request: vec![("descriptor".to_owned(), "<b>".to_owned())],
            answer: Vec::new(),
        };
        let payment = PaymentId::parse(&String::from(payment).repeat(32)).unwrap();
        NumberedMessage { payment, number, message }
    }

    /// Returns the titles of steps.
    fn titles(events: &[TimelineEvent]) -> Vec<String> {
        events.iter().map(|event| event.title.0.clone()).collect()
    }

    #[test]
    fn a_message_says_what_was_asked_and_what_came_back() {
        let english = Texts::choose("en");
        let lost = [sample_message('a', 1, Some((FaultKind::Late, "8000")))];
        let [event] = &*collect(english, &lost, 9000) else { panic!("one step") };
        assert_eq!(event.title.0, "Acquirer · Inquiry: no answer within 8000 ms");
        let (text, detail) = (&event.text.as_ref().unwrap().0, &event.detail.as_ref().unwrap().0);
        assert!(text.contains("1,234 ms") && text.contains("AVS <code>Z</code>"), "{text}");
        assert!(detail.contains("reference-1") && detail.contains("&lt;b&gt;") && !detail.contains("<b>"), "{detail}");
        let approved = [sample_message('a', 1, None)];
        assert_eq!(titles(&collect(Texts::choose("de"), &approved, 9000)), ["Acquirer · Abfrage: genehmigt"]);
    }

    #[test]
    fn messages_beyond_the_room_of_the_page_are_counted() {
        let texts = Texts::choose("en");
        let messages: Vec<_> = (1..=5).chain(91..=95).map(|number| sample_message('a', number, None)).collect();
        let size = collect(texts, &messages[..1], 9000)[0].size() + FRAME;
        let shown = collect(texts, &messages, 3 * size + size / 2);
        let times: Vec<i64> = shown.iter().map(|event| event.at.as_second()).collect();
        assert_eq!(times, [1, 2, 2, 95]);
        assert_eq!(titles(&shown)[2], "92 more messages of the acquirer");
        assert_eq!(titles(&collect(texts, &messages, 0)), ["95 more messages of the acquirer"]);
        // Numbers are counted for each payment, because each payment counts its own messages.
        let two = [sample_message('a', 1, None), sample_message('b', 1, None)];
        assert_eq!(titles(&collect(texts, &two, 0)), ["2 more messages of the acquirer"]);
        assert!(collect(texts, &[], 0).is_empty());
    }

    #[test]
    fn every_operation_outcome_and_fault_has_a_text() {
        let operations =
            ["authorization", "credit", "verification", "capture", "increment", "refund", "reversal", "inquiry"];
        let outcomes = [
            "approved",
            "declined",
            "pending",
            "redirect",
            "notFound",
            "reversed",
            "notExecuted",
            "noAnswer",
            "contradictory",
        ];
        let faults = [
            "connection",
            "request",
            "busy",
            "late",
            "broken",
            "tooLong",
            "unsigned",
            "unreadable",
            "mismatch",
            "refused",
            "undecided",
        ];
        for texts in [Texts::choose("en"), Texts::choose("de")] {
            for name in operations.into_iter().chain(outcomes) {
                assert!(texts.find(&format!("exchange.{name}")).is_some(), "{name}");
            }
            for name in faults {
                assert!(texts.find(&format!("exchange.fault_{name}")).is_some(), "{name}");
            }
        }
    }
}
