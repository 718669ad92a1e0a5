//! Partial approvals: the acquirer approves less than a payment asks for, such as all that is left on a prepaid card.
//!
//! A merchant that accepts such an approval gets a payment of the approved amount. For any other merchant the payment
//! is reversed at the acquirer and declined, because its order would be paid only in part.

use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;

use super::Payment;

/// Name of the parameter that accepts partial approvals.
const PARTIAL_APPROVAL: &str = "partialApproval";

/// Returns true if the parameters of a payment accept an approval of a part of its amount.
pub fn accepts_partial_approval(parameters: &Parameters) -> bool {
    parameters.get(PARTIAL_APPROVAL) == Some("accept")
}

impl Payment {
    /// Returns the payment with the amount that its connector has approved, and keeps the requested one.
    #[must_use]
    pub fn with_approved_amount(self, approved: Amount) -> Self {
        Self { requested: Some(self.connector_amount()), amount: approved, ..self }
    }

    /// Returns the amount of its own request to the connector. Inquiries and reversals refer to the request by it.
    pub fn connector_amount(&self) -> Amount {
        self.requested.unwrap_or(self.amount)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;
    use tillgate_shared::result::codes;

    use super::super::sample::sample_payment;
    use super::*;

    #[test]
    fn a_payment_that_is_approved_in_part_is_read_as_it_was_written() {
        let whole = sample_payment(1, Timestamp::UNIX_EPOCH, codes::TEST_CONNECTOR);
        assert_eq!(whole.connector_amount(), whole.amount);
        let part = Amount::from_hundredths(1, whole.amount.currency()).unwrap();
        let reduced = whole.clone().with_approved_amount(part);
        assert_eq!((reduced.amount, reduced.connector_amount()), (part, whole.amount));
        // A second approval, such as that of the capture of a debit in two steps, keeps the first amount.
        assert_eq!(reduced.clone().with_approved_amount(part), reduced);
        let stored = serde_json::to_string(&reduced).unwrap();
        assert_eq!(serde_json::from_str::<Payment>(&stored).unwrap(), reduced);
        assert!(!serde_json::to_string(&whole).unwrap().contains("requested"));
    }

    #[test]
    fn only_the_word_accept_accepts_a_part() {
        let with_value = |value: &str| {
            let mut parameters = Parameters::default();
            parameters.set(PARTIAL_APPROVAL, value);
            accepts_partial_approval(&parameters)
        };
        assert!(with_value("accept"));
        assert!(!accepts_partial_approval(&Parameters::default()));
        for other in ["", "decline", "ACCEPT", "accept "] {
            assert!(!with_value(other), "{other}");
        }
    }
}
