//! The messages of this connector for the timeline of a payment: each request with its answer, without secrets.

use std::time::Instant;

use jiff::Timestamp;
use tillgate_domain::payment::ConnectorTxIds;
use tillgate_domain::payment::connector_message::{
    ConnectorMessage, ConnectorOperation, FaultKind, MessageFault, MessageOutcome,
};
use tillgate_os::clock::{Clock as _, SystemClock};

use super::answer::{AnswerMeaning, make_result};
use crate::iso8583::{Datum, Dialect, IsoMessage, IsoRequestKind};
use crate::recorded_messages::{add_message, shorten_value};

/// Text instead of a secret.
const MASK: &str = "•••";
/// Data that no description shows, whatever the dialect says about their fields.
const SECRET_DATA: [Datum; 3] = [Datum::SecurityCode, Datum::Cavv, Datum::Expiry];

/// The end of a call.
#[derive(Debug)]
pub(super) enum CallEnd {
    /// The host has answered. The MAC of the answer is right.
    Answered(Box<IsoMessage>, AnswerMeaning),
    /// No byte was sent.
    NotSent(FaultKind, String),
    /// A part was sent, and no answer arrived that can be trusted.
    Unknown(FaultKind, String),
}

/// A request that is in progress. Its message is collected at its end, or when the caller gives it up.
pub(super) struct RecordedCall<'a> {
    dialect: &'a Dialect,
    kind: IsoRequestKind,
    reference: &'a str,
    /// The latest message that was made. `None` until then.
    request: Option<IsoMessage>,
    sent: Timestamp,
    started: Instant,
    is_open: bool,
}

impl<'a> RecordedCall<'a> {
    /// Begins a request now.
    pub(super) fn begin(dialect: &'a Dialect, kind: IsoRequestKind, reference: &'a str) -> Self {
        let (sent, started) = (SystemClock.now(), Instant::now());
        Self { dialect, kind, reference, request: None, sent, started, is_open: true }
    }

    /// Sets the message that is about to be sent.
    pub(super) fn set_request(&mut self, request: IsoMessage) {
        self.request = Some(request);
    }

    /// Collects the message with its end. Returns the request and the end.
    pub(super) fn end(mut self, end: CallEnd) -> (Option<IsoMessage>, CallEnd) {
        self.is_open = false;
        add_message(|| self.describe(&end));
        (self.request.take(), end)
    }

    fn describe(&self, end: &CallEnd) -> ConnectorMessage {
        let message = ConnectorMessage {
            sent: self.sent,
            milliseconds: u64::try_from(self.started.elapsed().as_millis()).unwrap_or(u64::MAX),
            operation: name_operation(self.kind),
            reference: self.reference.to_owned(),
            outcome: MessageOutcome::NoAnswer,
            fault: None,
            response_code: None,
            avs: None,
            cvv: None,
            connector_tx_ids: ConnectorTxIds::default(),
            request: self.request.as_ref().map(|request| describe_message(self.dialect, request)).unwrap_or_default(),
            answer: Vec::new(),
        };
        let fault = |kind: &FaultKind, detail: &str| Some(MessageFault { kind: *kind, detail: shorten_value(detail) });
        match end {
            CallEnd::Answered(answer, meaning) => self.add_answer(message, answer, meaning),
            CallEnd::NotSent(kind, detail) => {
                ConnectorMessage { outcome: MessageOutcome::NotExecuted, fault: fault(kind, detail), ..message }
            }
            CallEnd::Unknown(kind, detail) => ConnectorMessage { fault: fault(kind, detail), ..message },
        }
    }

    fn add_answer(&self, message: ConnectorMessage, answer: &IsoMessage, meaning: &AnswerMeaning) -> ConnectorMessage {
        let (outcome, fault) = match meaning {
            AnswerMeaning::Approved | AnswerMeaning::ApprovedPart(_) => (MessageOutcome::Approved, None),
            AnswerMeaning::Declined(_) => (MessageOutcome::Declined, None),
            AnswerMeaning::Contradictory(part) => {
                let detail = (*part).to_owned();
                (MessageOutcome::Contradictory, Some(MessageFault { kind: FaultKind::Mismatch, detail }))
            }
        };
        let code = tillgate_shared::result::codes::PENDING;
        let result = self.request.as_ref().map(|request| make_result(self.dialect, code, request, answer));
        ConnectorMessage {
            outcome,
            fault,
            response_code: answer.text(self.dialect.response_field()).map(str::to_owned),
            avs: result.as_ref().and_then(|result| result.avs),
            cvv: result.as_ref().and_then(|result| result.cvv),
            connector_tx_ids: result.map(|result| result.connector_tx_ids).unwrap_or_default(),
            answer: describe_message(self.dialect, answer),
            ..message
        }
    }
}

impl Drop for RecordedCall<'_> {
    fn drop(&mut self) {
        // The caller waits for all requests of an outcome together, and gives up the last one when its time is over.
        if self.is_open {
            let late = CallEnd::Unknown(FaultKind::Late, self.started.elapsed().as_millis().to_string());
            add_message(|| self.describe(&late));
        }
    }
}

/// Returns the operation for people.
fn name_operation(kind: IsoRequestKind) -> ConnectorOperation {
    match kind {
        IsoRequestKind::Verify => ConnectorOperation::Verification,
        IsoRequestKind::Credit => ConnectorOperation::Credit,
        IsoRequestKind::Capture => ConnectorOperation::Capture,
        IsoRequestKind::Increment => ConnectorOperation::Increment,
        IsoRequestKind::Refund => ConnectorOperation::Refund,
        IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat => ConnectorOperation::Reversal,
        IsoRequestKind::Authorize
        | IsoRequestKind::Debit
        | IsoRequestKind::SignOn
        | IsoRequestKind::SignOff
        | IsoRequestKind::Echo => ConnectorOperation::Authorization,
    }
}

/// Returns the masked fields of a message, by number and name.
fn describe_message(dialect: &Dialect, message: &IsoMessage) -> Vec<(String, String)> {
    let label = |datum| dialect.data().label_of(datum);
    let secrets = SECRET_DATA.map(label);
    let card = label(Datum::Pan);
    let describe = |element: crate::iso8583::DescribedElement| {
        let place = Some(&element.label);
        let is_secret = secrets.iter().any(|secret| secret.as_ref() == place);
        let value = match element.value {
            _ if is_secret => MASK.to_owned(),
            // A card number outside of the standard's fields is not masked by the dialect if it is no valid number.
            value if card.as_ref() == place && !value.contains('*') => MASK.to_owned(),
            value => shorten_value(&value),
        };
        (format!("{} {}", element.label, element.name).trim_end().to_owned(), value)
    };
    dialect.describe(message).into_iter().map(describe).collect()
}
