//! Answers: their check against the request, and their meaning.

use tillgate_domain::payment::ConnectorTxIds;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, ResultGroup};

use super::call::IsoCall;
use crate::ConnectorResult;
use crate::http::codes::no_reason_code;
use crate::http::request::from_minor_units;
use crate::iso8583::{DataTable, Datum, Dialect, IsoMessage, IsoRequestKind};

/// Data that an answer repeats. An answer to another request must not decide about this one.
const REPEATED: [Datum; 5] =
    [Datum::TraceNumber, Datum::Reference, Datum::Terminal, Datum::Currency, Datum::MerchantId];

/// The meaning of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum AnswerMeaning {
    /// The request was executed.
    Approved,
    /// A part of the amount was approved.
    ApprovedPart(Amount),
    /// The request was not executed.
    Declined(ResultCode),
    /// The answer differs from the request in this datum, or contradicts itself. Money may have moved.
    Contradictory(&'static str),
}

/// Returns the meaning of an answer.
///
/// `message` is the request that was sent.
pub(super) fn interpret_answer(
    dialect: &Dialect,
    call: IsoCall<'_>,
    message: &IsoMessage,
    answer: &IsoMessage,
) -> AnswerMeaning {
    let data = dialect.data();
    if let Some(datum) = find_difference(data, message, answer) {
        return AnswerMeaning::Contradictory(datum.key());
    }
    let Some(code) = answer.text(dialect.response_field()) else {
        return AnswerMeaning::Contradictory("response code");
    };
    if dialect.is_partial_approval(code) {
        return interpret_part(data, call, answer);
    }
    // Some hosts leave the amount out of declines and reversals, so only another amount is a contradiction.
    let amount = |message| data.get(message, Datum::Amount).map(|text| trim_zeros(&text));
    if amount(answer).is_some_and(|found| Some(found) != amount(message)) {
        return AnswerMeaning::Contradictory(Datum::Amount.key());
    }
    let is_reversal = matches!(call.kind, IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat);
    let may_be_reversed = call.is_repeated || !call.is_original_known;
    match dialect.result_code(code) {
        // The first reversal of a request that was approved cannot find it reversed: the host looks in the wrong place.
        _ if is_reversal && may_be_reversed && dialect.is_already_reversed(code) => AnswerMeaning::Approved,
        // The host refuses the repetition only. It may have executed the request the first time.
        _ if call.is_repeated && dialect.is_duplicate(code) => AnswerMeaning::Contradictory("response code"),
        Some(result) if result.is_success() => AnswerMeaning::Approved,
        // A table may have codes of a payment that is pending. No later answer would decide about it.
        Some(result) if result.is_pending() => AnswerMeaning::Contradictory("response code"),
        // A technical failure of the repetition says nothing about the first time.
        Some(result) if call.is_repeated && result.group() == ResultGroup::RejectedCommunication => {
            AnswerMeaning::Contradictory("response code")
        }
        Some(result) => AnswerMeaning::Declined(result),
        None => AnswerMeaning::Declined(no_reason_code()),
    }
}

/// Returns the meaning of an approval of a part: its amount is more than nothing and less than the requested one.
fn interpret_part(data: &DataTable, call: IsoCall<'_>, answer: &IsoMessage) -> AnswerMeaning {
    let units = data.get_number(answer, Datum::Amount);
    let part = units.and_then(|units| from_minor_units(units, call.amount.currency()));
    match part.filter(|part| !part.is_zero() && *part < call.amount) {
        Some(part) if call.allows_part => AnswerMeaning::ApprovedPart(part),
        _ => AnswerMeaning::Contradictory(Datum::Amount.key()),
    }
}

/// Returns the datum that an answer repeats with another value. `None` if all are the same or absent.
fn find_difference(data: &DataTable, request: &IsoMessage, answer: &IsoMessage) -> Option<Datum> {
    REPEATED.into_iter().find(|datum| match (data.get(request, *datum), data.get(answer, *datum)) {
        (Some(sent), Some(found)) => sent.trim_end() != found.trim_end(),
        _ => false,
    })
}

fn trim_zeros(digits: &str) -> String {
    digits.trim_start_matches('0').to_owned()
}

/// Makes the result of an answer: its data, and the ids that follow-up payments need.
pub(super) fn make_result(
    dialect: &Dialect,
    code: ResultCode,
    request: &IsoMessage,
    answer: &IsoMessage,
) -> ConnectorResult {
    let data = dialect.data();
    let letter = |datum| data.get(answer, datum).and_then(|text| text.chars().next());
    let text = |message, datum| data.get(message, datum).map(|text| text.trim().to_owned());
    let ids = [
        text(request, Datum::TraceNumber),
        text(request, Datum::Reference),
        text(answer, Datum::AuthorizationCode).or_else(|| text(request, Datum::AuthorizationCode)),
    ];
    let mut result = ConnectorResult {
        avs: letter(Datum::AvsResult),
        cvv: letter(Datum::CvvResult),
        connector_tx_ids: ConnectorTxIds::new(ids),
        ..ConnectorResult::from(code)
    };
    if let Some(scheme) = text(answer, Datum::SchemeTransactionId) {
        result.details.insert("SchemeTransactionId".to_owned(), scheme);
    }
    if let Some(advice) = text(answer, Datum::AdviceCode) {
        result = result.with_advice_code(&advice);
    }
    match answer.text(dialect.response_field()) {
        Some(code) => result.with_acquirer_response(code),
        None => result,
    }
}
