//! Advice for a shopper whose payment was declined: the next step that may help. It tells less than the result code,
//! which is the merchant's: a browser must not learn why risk rules refuse a payment, nor which part of a card's data
//! is wrong.

use tillgate_shared::result::{ResultCode, ResultGroup};

/// The next step that may help a shopper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeclineAdvice {
    /// Another card or account: this one does not cover the amount.
    Funds,
    /// The data have to be checked.
    Data,
    /// The bank wants the shopper to confirm the payment.
    Authentication,
    /// A later try: a system or a connection failed.
    Later,
    /// Another way to pay.
    Other,
}

impl DeclineAdvice {
    /// Returns its name in the answers to the form, which is the end of the key of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Funds => "Funds",
            Self::Data => "Data",
            Self::Authentication => "Authentication",
            Self::Later => "Later",
            Self::Other => "Other",
        }
    }
}

impl From<ResultCode> for DeclineAdvice {
    fn from(result: ResultCode) -> Self {
        match result.code() {
            // The amount or a limit.
            "800.100.155" | "800.100.162" | "800.100.163" | "800.100.174" | "800.100.179" | "800.100.203" => {
                return Self::Funds;
            }
            // Number, date, code, account, holder.
            "800.100.151" | "800.100.153" | "800.100.157" | "800.100.192" | "800.100.195" | "800.100.198"
            | "800.100.201" | "800.100.402" => return Self::Data,
            "800.100.176" => return Self::Later,
            _ => {}
        }
        match result.group() {
            ResultGroup::InvalidAccount
            | ResultGroup::RejectedAddress
            | ResultGroup::InvalidAddress
            | ResultGroup::InvalidContact
            | ResultGroup::InvalidFormat => Self::Data,
            ResultGroup::Rejected3ds | ResultGroup::SoftDecline | ResultGroup::RejectedAsync => Self::Authentication,
            ResultGroup::RejectedCommunication | ResultGroup::RejectedSystem => Self::Later,
            _ => Self::Other,
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn advice(code: &str) -> DeclineAdvice {
        ResultCode::find(code).unwrap().into()
    }

    #[test]
    fn the_advice_follows_from_what_the_bank_says() {
        assert_eq!(advice("800.100.155"), DeclineAdvice::Funds);
        assert_eq!(advice("800.100.153"), DeclineAdvice::Data);
        assert_eq!(advice("100.100.303"), DeclineAdvice::Data);
        assert_eq!(advice("300.100.100"), DeclineAdvice::Authentication);
        assert_eq!(advice("900.100.300"), DeclineAdvice::Later);
        assert_eq!(advice("800.100.152"), DeclineAdvice::Other);
    }

    #[test]
    fn refusals_by_risk_rules_and_of_lost_and_stolen_cards_look_like_any_other() {
        let is_telling = |result: &ResultCode| {
            matches!(
                result.group(),
                ResultGroup::RejectedBlacklist
                    | ResultGroup::RejectedRiskValidation
                    | ResultGroup::RejectedExternalRisk
                    | ResultGroup::Rejected3dsRisk
                    | ResultGroup::InvalidRisk
            )
        };
        let stolen = ["800.100.159", "800.100.165", "800.100.171"].map(|code| ResultCode::find(code).unwrap());
        let silent: Vec<_> = ResultCode::all().filter(is_telling).chain(stolen).collect();
        assert!(silent.len() > 20);
        for result in silent {
            assert_eq!(DeclineAdvice::from(result), DeclineAdvice::Other, "{}", result.code());
        }
    }
}
