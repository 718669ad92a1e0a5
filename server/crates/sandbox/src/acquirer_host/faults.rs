//! Faults on request: failures of a network or a host at the worst moment, to test a gateway against them.
//!
//! The amount of an authorization, credit, capture or refund can request a fault. The control route, which exists with
//! `--control` only, plans faults for any operation, also for inquiries and reversals.

use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use tillgate_connector::http::protocol::HostOperation;

/// The amount in minor units just below that of the first fault.
const BEFORE_FIRST: u64 = 200_000;
/// Maximum number of planned faults.
const MAX_PLANNED: usize = 1000;

/// A fault. The request is booked first, except for [`HostFault::Dropped`] and [`HostFault::Late`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HostFault {
    /// Responds after `--slow`.
    Slow,
    /// Never responds, and keeps the connection open.
    Silent,
    /// Closes the connection in the middle of the response.
    Cut,
    /// Sends the response twice.
    Twice,
    /// Books the request and responds only after `--late`.
    Late,
    /// Responds with meaningless bytes.
    Garbage,
    /// Closes the connection before the request is booked.
    Dropped,
    /// Responds with a wrong signature.
    Forged,
    /// Responds with another amount and a valid signature.
    Mismatched,
}

impl HostFault {
    /// Every fault, in the order of the amounts: 2000.01, 2000.02 and so on.
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

    /// Returns the fault that an amount in minor units requests: 200001 the first of [`Self::ALL`], 200002 the second,
    /// and so on. `None` for any other amount.
    pub fn from_amount(amount: u64) -> Option<Self> {
        let index = amount.checked_sub(BEFORE_FIRST + 1)?;
        Self::ALL.get(usize::try_from(index).ok()?).copied()
    }
}

/// Body of the control route: the next `times` requests of an operation have a fault.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedFault {
    operation: HostOperation,
    fault: HostFault,
    times: u32,
}

/// Planned faults, oldest first. Concurrent connections take faults from it; the mutex guards the whole list.
#[derive(Debug, Default)]
pub struct FaultPlan(Mutex<Vec<PlannedFault>>);

impl FaultPlan {
    /// Plans faults after the existing ones; none if `times` is zero. Returns false, and plans nothing, if 1000 entries
    /// are planned already.
    pub fn add_fault(&self, planned: PlannedFault) -> bool {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let has_room = plan.len() < MAX_PLANNED;
        if has_room && planned.times > 0 {
            plan.push(planned);
        }
        has_room
    }

    /// Returns the oldest fault planned for an operation, and counts it down; after its last time it is removed. `None`
    /// if none is planned.
    pub fn take_fault(&self, operation: HostOperation) -> Option<HostFault> {
        let mut plan = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let index = plan.iter().position(|planned| planned.operation == operation)?;
        let planned = plan.get_mut(index)?;
        let fault = planned.fault;
        planned.times -= 1;
        if planned.times == 0 {
            plan.remove(index);
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
        assert_eq!(HostFault::from_amount(200_001), Some(HostFault::Slow));
        assert_eq!(HostFault::from_amount(200_009), Some(HostFault::Mismatched));
        for amount in [0, 9200, 200_000, 200_010, u64::MAX] {
            assert_eq!(HostFault::from_amount(amount), None, "{amount}");
        }
    }

    #[test]
    fn a_planned_fault_meets_its_operation_as_often_as_was_asked() {
        let plan = FaultPlan::default();
        let planned = |text: &str| serde_json::from_str::<PlannedFault>(text).unwrap();
        assert!(plan.add_fault(planned(r#"{"operation":"inquire","fault":"silent","times":2}"#)));
        assert!(plan.add_fault(planned(r#"{"operation":"inquire","fault":"cut","times":1}"#)));
        assert!(plan.add_fault(planned(r#"{"operation":"capture","fault":"cut","times":0}"#)));
        assert_eq!(plan.take_fault(HostOperation::Capture), None);
        let taken: Vec<_> = (0..4).map(|_| plan.take_fault(HostOperation::Inquire)).collect();
        assert_eq!(taken, [Some(HostFault::Silent), Some(HostFault::Silent), Some(HostFault::Cut), None]);
    }
}
