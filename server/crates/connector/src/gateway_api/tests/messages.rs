//! Messages of the timeline, without the secrets of their requests.

use jiff::Timestamp;
use tillgate_domain::payment::connector_message::{ConnectorMessage, ConnectorOperation, FaultKind, MessageOutcome};
use tillgate_shared::parameter::Parameters;

use super::*;
use crate::gateway_api::call::{ApiCall, ApiFault, CallFailure};
use crate::gateway_api::recorded_message::{ApiCallEnd, RecordedApiCall};
use crate::recorded_messages::collect_messages;

async fn record(parameters: Parameters, failure: Option<CallFailure>) -> ConnectorMessage {
    let recording = async {
        let call = ApiCall::payment(ConnectorOperation::Authorization, REFERENCE, "8ac7", parameters);
        let recorded = RecordedApiCall::begin(&call, Timestamp::UNIX_EPOCH);
        match &failure {
            Some(failure) => recorded.end(ApiCallEnd::Failed(failure)),
            None => drop(recorded),
        }
    };
    collect_messages(recording).await.1.pop().unwrap()
}

#[tokio::test]
async fn a_message_shows_no_secret_and_no_parameter_that_nobody_has_decided_about() {
    let parameters: Parameters = [
        ("amount", "92.00"),
        ("card.number", "4200000000000000"),
        ("card.expiryYear", "2034"),
        ("card.cvv", "987"),
        ("threeDSecure.verificationId", "proof"),
        ("shopperResultUrl", "https://pay.example/capability"),
        ("merchant.mcc", "5999"),
        ("newParameter", "new"),
    ]
    .into_iter()
    .collect();
    let message = record(parameters, Some(CallFailure::Unknown(ApiFault::Unavailable(503)))).await;
    let shown = format!("{:?}", message.request);
    for text in ["92.00", "•••• 0000", "5999", "POST /v1/payments", "8ac7"] {
        assert!(shown.contains(text), "{text}: {shown}");
    }
    for secret in ["4200000000000000", "2034", "987", "proof", "capability", "new"] {
        assert!(!shown.contains(secret), "{secret}: {shown}");
    }
    assert_eq!(message.fault.map(|fault| (fault.kind, fault.detail)), Some((FaultKind::Undecided, "503".to_owned())));
}

#[tokio::test]
async fn a_request_that_is_given_up_is_recorded_too() {
    let message = record(Parameters::default(), None).await;
    assert_eq!(
        (message.outcome, message.fault.map(|fault| fault.kind)),
        (MessageOutcome::NoAnswer, Some(FaultKind::Late))
    );
}
