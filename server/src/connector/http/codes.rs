//! Result codes of the gateway for response codes of an acquirer: ISO 8583 field 39 for cards, reason codes of ISO 20022 for
//! bank accounts. A code that is not here is a decline without a known reason.

use tillgate_shared::result::ResultCode;

use super::wire::{HostAnswer, HostOutcome};

/// Response codes of approvals: approved, and approved in a way that VIPs, updates and identification need no more for.
const APPROVED: [&str; 3] = ["00", "10", "85"];

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
    ("RC01", "100.200.103"),
];

/// A decline without a known reason.
const NO_REASON: &str = "800.100.100";
/// A request that was certainly not executed, because the host was not reached or refused it.
const NOT_EXECUTED: &str = "900.100.600";

/// An answer in terms of the gateway.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It was done.
    Approved,
    /// It was not done.
    Declined(ResultCode),
    /// The answer contradicts itself, so money may have moved.
    Contradictory,
    /// The host has not seen the request yet.
    NotFound,
    /// The request is undone.
    Reversed,
}

/// Translates a verified answer. The response code itself belongs into `resultDetails.AcquirerResponse`.
pub fn decide(answer: &HostAnswer) -> Decision {
    let approved = APPROVED.contains(&answer.response_code.as_str());
    match (answer.outcome, approved) {
        (HostOutcome::Approved, true) => Decision::Approved,
        (HostOutcome::Declined, false) => Decision::Declined(declined(&answer.response_code)),
        (HostOutcome::NotFound, _) => Decision::NotFound,
        (HostOutcome::Reversed, _) => Decision::Reversed,
        (HostOutcome::Approved, false) | (HostOutcome::Declined, true) | (HostOutcome::Unknown, _) => {
            Decision::Contradictory
        }
    }
}

/// The result code of a declined response code; 800.100.100 for one that is not known.
pub fn declined(response_code: &str) -> ResultCode {
    let known = DECLINED.binary_search_by(|(code, _)| (*code).cmp(response_code)).ok();
    let code = known.and_then(|place| DECLINED.get(place)).map_or(NO_REASON, |(_, code)| *code);
    found(code)
}

/// The result code of a request that was certainly not executed.
pub fn not_executed() -> ResultCode {
    found(NOT_EXECUTED)
}

/// A code of the tables above, which a test compares with the documented ones.
fn found(code: &str) -> ResultCode {
    ResultCode::find(code).unwrap_or(tillgate_shared::result::codes::INTERNAL_ERROR)
}

#[cfg(test)]
mod tests {
    use super::super::wire::HostOperation;
    use super::*;

    fn answer(outcome: HostOutcome, code: &str) -> HostAnswer {
        HostAnswer {
            operation: HostOperation::Authorize,
            idempotency_key: String::new(),
            merchant_id: String::new(),
            payment_id: String::new(),
            amount: 0,
            currency: String::new(),
            outcome,
            response_code: code.to_owned(),
            avs: None,
            cvv: None,
            connector_tx_id1: None,
            connector_tx_id2: None,
            connector_tx_id3: None,
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
        assert_eq!(decide(&answer(Approved, "00")), Decision::Approved);
        assert_eq!(decide(&answer(Declined, "51")), Decision::Declined(found("800.100.155")));
        for (outcome, code) in [(Approved, "05"), (Approved, "ZZ"), (Declined, "00"), (Unknown, "00"), (Unknown, "68")]
        {
            assert_eq!(decide(&answer(outcome, code)), Decision::Contradictory, "{outcome:?} {code}");
        }
        assert_eq!(decide(&answer(NotFound, "25")), Decision::NotFound);
        assert_eq!(decide(&answer(Reversed, "00")), Decision::Reversed);
    }

    #[test]
    fn an_unknown_response_code_is_a_decline_without_a_reason() {
        for code in ["", "ZZ", "051", "5", "1a"] {
            assert_eq!(declined(code).code(), NO_REASON, "{code}");
        }
    }
}
