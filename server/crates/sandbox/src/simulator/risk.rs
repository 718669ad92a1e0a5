//! Test data of the risk check: the given name `simulate` and a surname ask for an outcome.

use tillgate_domain::risk::{RiskDecision, RiskOutcome};
use tillgate_shared::parameter::Parameters;

use crate::test_data::RISK_NAMES;

/// The given name that asks for an outcome.
const GIVEN_NAME: &str = "simulate";

/// Returns the decision that the customer's name asks for. `None` for every other name. Case is ignored.
pub(super) fn predefined_decision(parameters: &Parameters) -> Option<RiskDecision> {
    parameters.get("customer.givenName").filter(|name| name.trim().eq_ignore_ascii_case(GIVEN_NAME))?;
    let surname = parameters.get("customer.surname")?.trim();
    let (name, outcome) = RISK_NAMES.iter().find(|(name, _)| surname.eq_ignore_ascii_case(name))?;
    let inputs = vec!["customer.givenName".to_owned(), "customer.surname".to_owned()];
    let applies_after = *outcome == RiskOutcome::Challenge;
    Some(RiskDecision {
        fired: vec![format!("simulate {name}")],
        inputs,
        applies_after,
        ..RiskDecision::of_outcome(*outcome)
    })
}
