//! Calls: a message is sent on a line, and its answer is checked.

use std::time::Duration;

use tillgate_domain::payment::connector_message::FaultKind;
use tillgate_shared::money::Amount;
use tokio::time::{Instant, sleep};

use super::answer::interpret_answer;
use super::connection::HostMessages;
use super::late_answers::LateApprovals;
use super::message_key::request_key;
use super::record::{CallEnd, RecordedCall};
use super::request::RequestFault;
use crate::iso8583::{DecodeError, IsoFault, IsoMessage, IsoRequestKind};
use crate::line::{GroupFault, KeyUse, LineGroup, NotSentReason, SendFault, UnknownReason};

/// Wait before a number in use is tried again. Requests last longer, so a shorter one would only cost time.
const NUMBER_RETRY: Duration = Duration::from_millis(50);
/// Maximum wait for a number in use. It is short, so that no payment is sent after the gateway has reversed it: another
/// process does so 30 seconds after the payment's creation.
const MAX_NUMBER_WAIT: Duration = Duration::from_secs(3);
/// Number of trace numbers that a reversal may use in turn.
const MAX_ATTEMPTS: u32 = 20;

/// A request to send.
#[derive(Debug, Clone, Copy)]
pub(super) struct IsoCall<'a> {
    /// Kind.
    pub(super) kind: IsoRequestKind,
    /// Reference, for the recorded message.
    pub(super) reference: &'a str,
    /// Requested amount.
    pub(super) amount: Amount,
    /// True if hosts can approve a part of the amount. The gateway reverses a part that its merchant does not accept.
    pub(super) allows_part: bool,
    /// True if the request may have been sent before.
    pub(super) is_repeated: bool,
    /// True if the outcome of the original of a reversal is known: the host has approved it.
    pub(super) is_original_known: bool,
    /// True if the request may have another trace number each time: a verification, which moves no money, and a
    /// reversal, whose meaning is in the original data elements, and which changes nothing if it is executed twice. A
    /// host knows a repeated capture by its number.
    pub(super) can_renumber: bool,
}

impl HostMessages {
    /// Sends a request, and interprets its answer. `build` makes the message with the number of an attempt. Waits for a
    /// trace number in use, at most three seconds or `answer_timeout`, and then for the answer. Returns the message
    /// that was sent or refused; `None` if it could not be made.
    pub(super) async fn send_call(
        &self,
        (group, late): (&LineGroup, &LateApprovals),
        call: IsoCall<'_>,
        answer_timeout: Duration,
        build: impl Fn(u32) -> Result<IsoMessage, RequestFault> + Send + Sync,
    ) -> (Option<IsoMessage>, CallEnd) {
        let mut record = RecordedCall::begin(self.dialect(), call.kind, call.reference);
        let end = self.send_with_number((group, late), call, answer_timeout, &build, &mut record).await;
        record.end(end)
    }

    async fn send_with_number(
        &self,
        (group, late): (&LineGroup, &LateApprovals),
        call: IsoCall<'_>,
        answer_timeout: Duration,
        build: &(impl Fn(u32) -> Result<IsoMessage, RequestFault> + Send + Sync),
        record: &mut RecordedCall<'_>,
    ) -> CallEnd {
        let deadline = Instant::now() + answer_timeout.min(MAX_NUMBER_WAIT);
        let key_use = if call.is_repeated { KeyUse::Repeated } else { KeyUse::New };
        let mut attempt = 0;
        loop {
            let message = match build(attempt) {
                Ok(message) => message,
                Err(fault) => return CallEnd::NotSent(FaultKind::Request, fault.to_string()),
            };
            record.set_request(message.clone());
            let bytes = match self.encode(&message) {
                Ok(bytes) => bytes,
                Err(error) => return CallEnd::NotSent(FaultKind::Request, error.to_string()),
            };
            let Some(key) = request_key(self.dialect(), &message) else {
                let fault = "the request lacks a field of the correlation".to_owned();
                return CallEnd::NotSent(FaultKind::Request, fault);
            };
            // Remembered until the answer arrives: the caller may give up, and the host may answer later.
            late.remember_request(call.kind, &key, call.reference);
            let fault = match group.send_request(&key, key_use, &bytes).await {
                Ok(answer) => {
                    late.forget_request(&key);
                    return self.read_answer(call, &message, &answer.message);
                }
                Err(fault) => fault,
            };
            let is_in_use = matches!(fault.fault, SendFault::NotSent(NotSentReason::KeyInUse(_)));
            if matches!(fault.fault, SendFault::NotSent(_)) && !is_in_use {
                late.forget_request(&key);
            }
            if is_in_use && call.can_renumber && attempt < MAX_ATTEMPTS {
                attempt += 1;
            } else if is_in_use && Instant::now() < deadline {
                sleep(NUMBER_RETRY).await;
            } else {
                return describe_fault(&fault);
            }
        }
    }

    /// Decodes an answer, and interprets it.
    fn read_answer(&self, call: IsoCall<'_>, message: &IsoMessage, answer: &[u8]) -> CallEnd {
        match self.decode(answer) {
            Ok(answer) => {
                let meaning = interpret_answer(self.dialect(), call, message, &answer);
                CallEnd::Answered(Box::new(answer), meaning)
            }
            Err(error) => CallEnd::Unknown(fault_kind(&error), error.to_string()),
        }
    }
}

/// Returns the kind of an unreadable answer.
fn fault_kind(error: &DecodeError) -> FaultKind {
    match error.fault {
        IsoFault::MacMissing | IsoFault::MacMismatch => FaultKind::Unsigned,
        _ => FaultKind::Unreadable,
    }
}

/// Describes a request without an answer.
fn describe_fault(fault: &GroupFault) -> CallEnd {
    let text = fault.to_string();
    match &fault.fault {
        SendFault::NotSent(reason) => {
            let kind = match reason {
                NotSentReason::InvalidMessage(_) => FaultKind::Request,
                NotSentReason::QueueFull(_) | NotSentReason::KeyInUse(_) | NotSentReason::TooManyUnanswered(_) => {
                    FaultKind::Busy
                }
                _ => FaultKind::Connection,
            };
            CallEnd::NotSent(kind, text)
        }
        SendFault::Unknown(UnknownReason::Timeout(milliseconds)) => {
            CallEnd::Unknown(FaultKind::Late, milliseconds.to_string())
        }
        SendFault::Unknown(_) => CallEnd::Unknown(FaultKind::Broken, text),
    }
}
