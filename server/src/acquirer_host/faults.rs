//! Faults on request: what a network or a host does at the worst moment, so that a gateway can be tested against it.
//!
//! An authorisation, credit, capture or refund asks for one by its amount. The control route, which exists with `--control` only,
//! plans faults for any operation, also for inquiries and reversals.

use std::sync::{Mutex, PoisonError};

use serde::Deserialize;

use crate::connector::http::wire::HostOperation;

/// Amount in minor units before that of the first fault.
const BEFORE_FIRST: u64 = 200_000;
/// Maximum number of planned faults.
const MAX_PLANNED: usize = 1000;

/// A fault. Except for [`HostFault::Dropped`] and [`HostFault::Late`] the request is booked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostFault {
    /// Answers after `--slow`.
    Slow,
    /// Never answers, and keeps the connection open.
    Silent,
    /// Closes the connection in the middle of the answer.
    Cut,
    /// Sends the answer twice.
    Twice,
    /// Books the request and answers only after `--late`.
    Late,
    /// Answers with bytes that mean nothing.
    Garbage,
    /// Closes the connection before the request is booked.
    Dropped,
    /// Answers with a wrong signature.
    Forged,
    /// Answers about another amount, with a right signature.
    Mismatched,
}

impl HostFault {
    /// Every fault, in the order of its amounts: 2000.01, 2000.02 and so on.
    pub const ALL: [Self; 9] = [
        Self::Slow,
        Self::Silent,
        Self::Cut,
        Self::Twice,
        Self::Late,
        Self::Garbage,
        Self::Dropped,
        Self::Forged,
        Self::Mismatched,
    ];

    /// The fault that an amount in minor units asks for.
    pub fn of_amount(amount: u64) -> Option<Self> {
        let place = amount.checked_sub(BEFORE_FIRST + 1)?;
        Self::ALL.get(usize::try_from(place).ok()?).copied()
    }
}

/// The body of the control route: the next `times` requests of an operation meet a fault.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFault {
    operation: HostOperation,
    fault: HostFault,
    times: u32,
}

/// Planned faults, oldest first.
#[derive(Debug, Default)]
pub struct FaultPlan(Mutex<Vec<PlannedFault>>);

impl FaultPlan {
    /// Plans faults. Returns false if too many are planned already.
    pub fn add(&self, planned: PlannedFault) -> bool {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = plan.len() < MAX_PLANNED;
        if has_room && planned.times > 0 {
            plan.push(planned);
        }
        has_room
    }

    /// Takes the next fault of an operation.
    pub fn take(&self, operation: HostOperation) -> Option<HostFault> {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = plan.iter().position(|planned| planned.operation == operation)?;
        let planned = plan.get_mut(place)?;
        let fault = planned.fault;
        planned.times -= 1;
        if planned.times == 0 {
            plan.remove(place);
        }
        Some(fault)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn faults_have_the_amounts_from_2000_01_on() {
        assert_eq!(HostFault::of_amount(200_001), Some(HostFault::Slow));
        assert_eq!(HostFault::of_amount(200_009), Some(HostFault::Mismatched));
        for amount in [0, 9200, 200_000, 200_010, u64::MAX] {
            assert_eq!(HostFault::of_amount(amount), None, "{amount}");
        }
    }

    #[test]
    fn a_planned_fault_meets_its_operation_as_often_as_was_asked() {
        let plan = FaultPlan::default();
        let planned = |text: &str| serde_json::from_str::<PlannedFault>(text).unwrap();
        assert!(plan.add(planned(r#"{"operation":"inquire","fault":"silent","times":2}"#)));
        assert!(plan.add(planned(r#"{"operation":"inquire","fault":"cut","times":1}"#)));
        assert!(plan.add(planned(r#"{"operation":"capture","fault":"cut","times":0}"#)));
        assert_eq!(plan.take(HostOperation::Capture), None);
        let taken: Vec<_> = (0..4).map(|_| plan.take(HostOperation::Inquire)).collect();
        assert_eq!(taken, [Some(HostFault::Silent), Some(HostFault::Silent), Some(HostFault::Cut), None]);
    }
}
