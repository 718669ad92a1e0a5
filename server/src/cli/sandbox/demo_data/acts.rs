//! The steps of the demo data that people take one after the other: decisions about held orders, and disputes.

use std::sync::Arc;

use anyhow::Context as _;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::DisputeAction;
use tillgate_domain::id::PaymentId;
use tillgate_domain::review::decision::DecisionType;
use tillgate_gateway::access::actor::Actor;
use tillgate_gateway::administration::ActError;
use tillgate_gateway::dispute::decide::DisputeRequest;
use tillgate_gateway::dispute::request::parse_reason;
use tillgate_gateway::payment::response_recorder::ResponseRecorder;
use tillgate_gateway::review::operator::SentDecision;
use tillgate_gateway::{Failure, Gateway};

use super::cases::CASES;

/// Analysts of the shop.
const ANALYSTS: [&str; 2] = ["robin", "jo"];
/// The clearing institute.
const INSTITUTE: &str = "clearing institute";
/// Largest number of disputes of the demo data.
const MAX_DISPUTES: usize = 100;
/// The reason of a cancellation in the shop's own list.
const CANCEL_REASON: u32 = 2;

/// Decides about a held order.
pub(super) async fn decide_held(gateway: &Gateway, payment: &PaymentId, approves: bool) -> anyhow::Result<()> {
    let decision = if approves { DecisionType::Approve } else { DecisionType::Cancel };
    let analyst = ANALYSTS[usize::from(payment.as_str().ends_with(|digit: char| digit.is_ascii_digit()))].to_owned();
    let note = if approves {
        "Called the shopper, who lives abroad"
    } else {
        "Nobody answers, and the address is a parcel shop"
    };
    let decision = SentDecision {
        payment: payment.to_string(),
        decision,
        actor: Actor::of_operator(analyst.clone()),
        analyst,
        reason: (!approves).then_some(CANCEL_REASON),
        note: Some(note.to_owned()),
    };
    gateway.decide_for_operator(&decision).await?;
    Ok(())
}

/// Makes a move of a dispute about a payment: the first one of its case opens the dispute.
pub(super) async fn move_dispute(
    gateway: &Gateway,
    entity: &Arc<Entity>,
    payment: &PaymentId,
    (case, index): (usize, usize),
) -> anyhow::Result<()> {
    let case = &CASES[case];
    let moved = &case.moves[index];
    let is_merchant = matches!(moved.action, DisputeAction::Represent | DisputeAction::Accept);
    let request = DisputeRequest {
        action: moved.action,
        actor: if is_merchant { ANALYSTS[0] } else { INSTITUTE }.to_owned(),
        note: moved.note.map(str::to_owned),
        amount: None,
        reason: Some(parse_reason(case.reason).map_err(Failure::from)?),
        scheme_reason: Some(case.scheme_reason.to_owned()),
        response_days: moved.response_days,
    };
    let recorder = ResponseRecorder::disabled();
    if index == 0 {
        gateway.open_dispute(entity, payment.as_str(), request, recorder).await?;
        return Ok(());
    }
    let (disputes, _) = gateway.list_disputes(entity, None, None, MAX_DISPUTES)?;
    let dispute = disputes.into_iter().find(|dispute| dispute.payment == *payment).context("the dispute is gone")?;
    gateway.advance_dispute(entity, dispute.id.as_str(), true, request, recorder).await?;
    Ok(())
}

/// Returns true if an error is a refusal of the gateway, and not a failure.
pub(super) fn is_refusal(error: &anyhow::Error) -> bool {
    let is_refused = |failure: &Failure| matches!(failure, Failure::Refused(_));
    error.chain().any(|cause| {
        cause.downcast_ref::<Failure>().is_some_and(is_refused)
            || matches!(cause.downcast_ref::<ActError>(), Some(ActError::Refused { .. }))
            || matches!(cause.downcast_ref::<ActError>(), Some(ActError::Failed(failure)) if is_refused(failure))
    })
}
