//! Result codes of the gateway for an acquirer's response codes: ISO 8583 field 39 for cards, reason codes of ISO 20022
//! for bank accounts. Any other code is a decline without a known reason.

use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::result::ResultCode;

use super::protocol::{HostOutcome, HostResponse};
use super::request::from_minor_units;
use crate::web::address::is_redirect_allowed;

/// Response codes of approvals of the full amount (ISO 8583, field 39): approved, no reason to decline.
const APPROVED: [&str; 2] = ["00", "85"];
/// Response code of an approval for a partial amount (ISO 8583, field 39). The gateway neither books such an approval
/// without its amount, nor trusts a decline with this code.
const PARTIALLY_APPROVED: &str = "10";

/// Response code and result code of declines, sorted by response code.
const DECLINED: &[(&str, &str)] = &[
    ("01", "800.100.209"),
    ("02", "800.100.209"),
    ("03", "800.100.190"),
    ("04", "800.100.171"),
    ("05", "800.100.152"),
    ("06", "900.100.201"),
    ("07", "800.100.171"),
    ("12", "800.100.154"),
    ("13", "800.100.174"),
    ("14", "800.100.151"),
    ("15", "800.100.151"),
    ("17", "100.396.101"),
    ("19", "800.100.176"),
    ("1A", "300.100.100"),
    ("21", "800.100.191"),
    ("25", "800.100.167"),
    ("30", "800.100.156"),
    ("41", "800.100.165"),
    ("43", "800.100.159"),
    ("46", "800.100.202"),
    ("51", "800.100.155"),
    ("54", "100.100.303"),
    ("55", "800.100.166"),
    ("57", "800.100.170"),
    ("58", "800.100.170"),
    ("59", "800.100.158"),
    ("61", "800.100.162"),
    ("62", "800.100.168"),
    ("63", "800.100.158"),
    ("65", "800.100.163"),
    ("75", "800.100.178"),
    ("82", "800.100.153"),
    ("91", "900.100.600"),
    ("92", "900.100.201"),
    ("93", "800.100.170"),
    ("94", "800.100.191"),
    ("96", "900.100.201"),
    ("AC01", "800.100.201"),
    ("AC04", "800.100.202"),
    ("AC06", "800.100.172"),
    ("AG01", "800.100.208"),
    ("AM03", "600.200.500"),
    ("AM04", "800.100.203"),
    ("MD01", "800.100.205"),
    ("MS03", "800.100.200"),
    ("N7", "800.100.153"),
    ("R0", "800.100.500"),
    ("R1", "800.100.501"),
    ("R3", "800.100.501"),
    ("RC01", "100.200.103"),
];

/// Result code of a decline without a known reason.
const NO_REASON: &str = "800.100.100";
/// Result code of a request that was certainly not executed: the host could not be reached, or refused it.
const NOT_EXECUTED: &str = "900.100.600";

/// The meaning of a response for the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResponseMeaning {
    /// The request was executed.
    Approved,
    /// The request was not executed.
    Declined(ResultCode),
    /// The response contradicts itself, so money may have moved.
    Contradictory,
    /// The shopper has to visit a page of the host.
    Redirect,
    /// The host has not received the request yet.
    NotFound,
    /// The request has been reversed.
    Reversed,
}

/// Translates a verified response. Outcome and response code have to agree: an approval of the full amount with a code
/// of such approvals, an approval of a part with its code and the approved amount, a decline with a code of no
/// approval. A redirect needs an address that is allowed. Any other combination is contradictory.
pub fn interpret_response(response: &HostResponse) -> ResponseMeaning {
    let code = response.response_code.as_str();
    let is_full_approval = APPROVED.contains(&code);
    let is_decline = !is_full_approval && code != PARTIALLY_APPROVED;
    match response.outcome {
        HostOutcome::Approved if is_full_approval && response.approved_amount.is_none() => ResponseMeaning::Approved,
        HostOutcome::Approved if code == PARTIALLY_APPROVED && read_approved_amount(response).is_some() => {
            ResponseMeaning::Approved
        }
        HostOutcome::Declined if is_decline => ResponseMeaning::Declined(decline_code(code)),
        HostOutcome::Redirect if response.redirect_url.as_deref().is_some_and(is_redirect_allowed) => {
            ResponseMeaning::Redirect
        }
        HostOutcome::NotFound => ResponseMeaning::NotFound,
        HostOutcome::Reversed => ResponseMeaning::Reversed,
        HostOutcome::Approved | HostOutcome::Declined | HostOutcome::Redirect | HostOutcome::Unknown => {
            ResponseMeaning::Contradictory
        }
    }
}

/// Reads the approved amount of a response. `None` if it has none, or one that the gateway cannot express.
pub(super) fn read_approved_amount(response: &HostResponse) -> Option<Amount> {
    from_minor_units(response.approved_amount?, Currency::parse(&response.payment.currency)?)
}

/// Returns the result code for the response code of a decline; 800.100.100 if the response code is unknown.
pub fn decline_code(response_code: &str) -> ResultCode {
    let known = DECLINED.binary_search_by(|(code, _)| (*code).cmp(response_code)).ok();
    let code = known.and_then(|index| DECLINED.get(index)).map_or(NO_REASON, |(_, code)| *code);
    documented_code(code)
}

/// Returns the result code of a decline without a known reason.
pub(crate) fn no_reason_code() -> ResultCode {
    documented_code(NO_REASON)
}

/// Returns the result code of a request that was certainly not executed.
pub fn not_executed_code() -> ResultCode {
    documented_code(NOT_EXECUTED)
}

/// Finds a code of the tables above; an undocumented one would be `INTERNAL_ERROR`. A test checks that all are
/// documented.
fn documented_code(code: &str) -> ResultCode {
    ResultCode::find(code).unwrap_or(tillgate_shared::result::codes::INTERNAL_ERROR)
}

#[cfg(test)]
mod tests {
    use super::super::protocol::{HostOperation, PaymentData};
    use super::*;

    /// Makes a response with this outcome and response code, and empty data otherwise.
    fn sample_response(outcome: HostOutcome, code: &str) -> HostResponse {
        HostResponse {
            operation: HostOperation::Authorize,
            idempotency_key: String::new(),
            payment: PaymentData {
                merchant_id: String::new(),
                payment_id: String::new(),
                amount: 0,
                currency: String::new(),
            },
            outcome,
            response_code: code.to_owned(),
            advice_code: None,
            approved_amount: None,
            avs: None,
            cvv: None,
            connector_tx_id1: None,
            connector_tx_id2: None,
            connector_tx_id3: None,
            redirect_url: None,
        }
    }

    #[test]
    fn every_code_of_the_table_is_documented_and_a_decline() {
        assert!(DECLINED.is_sorted_by(|one, other| one.0 < other.0), "sorted, each once");
        let codes = DECLINED.iter().map(|(_, code)| *code).chain([NO_REASON, NOT_EXECUTED]);
        for code in codes {
            let known = ResultCode::find(code);
            assert!(known.is_some_and(|known| !known.is_success() && !known.is_pending()), "{code}");
        }
    }

    #[test]
    fn an_answer_is_an_approval_only_if_both_of_its_parts_say_so() {
        use HostOutcome::{Approved, Declined, NotFound, Reversed, Unknown};
        assert_eq!(interpret_response(&sample_response(Approved, "00")), ResponseMeaning::Approved);
        assert_eq!(
            interpret_response(&sample_response(Declined, "51")),
            ResponseMeaning::Declined(documented_code("800.100.155"))
        );
        assert_eq!(interpret_response(&sample_response(Approved, "85")), ResponseMeaning::Approved);
        // The code 10 approves a part of the amount only.
        for (outcome, code) in [
            (Approved, "05"),
            (Approved, "10"),
            (Approved, "ZZ"),
            (Declined, "00"),
            (Declined, "10"),
            (Unknown, "00"),
            (Unknown, "68"),
        ] {
            assert_eq!(
                interpret_response(&sample_response(outcome, code)),
                ResponseMeaning::Contradictory,
                "{outcome:?} {code}"
            );
        }
        for (page, meaning) in [
            (Some("https://acquirer.example/pay?id=1"), ResponseMeaning::Redirect),
            (Some("javascript:alert(1)"), ResponseMeaning::Contradictory),
            (None, ResponseMeaning::Contradictory),
        ] {
            let redirect =
                HostResponse { redirect_url: page.map(str::to_owned), ..sample_response(HostOutcome::Redirect, "00") };
            assert_eq!(interpret_response(&redirect), meaning, "{page:?}");
        }
        assert_eq!(interpret_response(&sample_response(NotFound, "25")), ResponseMeaning::NotFound);
        assert_eq!(interpret_response(&sample_response(Reversed, "00")), ResponseMeaning::Reversed);
    }

    #[test]
    fn a_part_is_approved_only_with_its_code_and_an_amount_that_can_be_booked() {
        for (code, currency, part, meaning) in [
            ("10", "EUR", Some(1), ResponseMeaning::Approved),
            ("10", "EUR", None, ResponseMeaning::Contradictory),
            ("00", "EUR", Some(1), ResponseMeaning::Contradictory),
            ("10", "XXX", Some(1), ResponseMeaning::Contradictory),
            // 0.001 KWD is no whole number of hundredths.
            ("10", "KWD", Some(1), ResponseMeaning::Contradictory),
            ("10", "KWD", Some(10), ResponseMeaning::Approved),
        ] {
            let mut response = sample_response(HostOutcome::Approved, code);
            (response.payment.currency, response.approved_amount) = (currency.to_owned(), part);
            assert_eq!(interpret_response(&response), meaning, "{code} {currency} {part:?}");
        }
    }

    #[test]
    fn an_unknown_response_code_is_a_decline_without_a_reason() {
        for code in ["", "ZZ", "051", "5", "1a"] {
            assert_eq!(decline_code(code).code(), NO_REASON, "{code}");
        }
    }
}
