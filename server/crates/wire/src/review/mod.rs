//! The queue of held payments.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::Serialize;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::payment::Payment;
use tillgate_domain::review::queue::{QueuedReview, ReviewAction, ReviewClock};
use tillgate_domain::risk::RiskDecision;

use crate::payment::ListedPaymentFields;
use crate::{AmountText, ResultFields, WireTime};

/// A page of the queue, those that are held longest first.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Reviews")]
pub struct ReviewListFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// The held payments.
    reviews: Vec<ListedReviewFields<'a>>,
    /// Position of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^[0-9a-f]{32}$"))]
    cursor: Option<&'a str>,
}

/// A held payment in a list: what an analyst has to know to choose one.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ListedReview")]
pub struct ListedReviewFields<'a> {
    /// Id of the payment.
    id: &'a str,
    /// Type of the payment.
    payment_type: &'static str,
    /// Brand of the payment.
    payment_brand: &'a str,
    /// Amount of the payment.
    amount: AmountText,
    /// Currency of the amount.
    currency: &'static str,
    /// Entity of the payment, if that is not the one that asks.
    #[serde(skip_serializing_if = "Option::is_none")]
    entity_id: Option<&'a str>,
    /// The merchant's reference of the payment.
    #[serde(skip_serializing_if = "Option::is_none")]
    merchant_transaction_id: Option<&'a str>,
    /// Sum of the scores of the rules that fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    score: Option<String>,
    /// Names of the rules that fired.
    #[serde(skip_serializing_if = "Option::is_none")]
    fired: Option<&'a [String]>,
    /// State of the review.
    review: ReviewFields<'a>,
}

/// State of a review: its times, the analyst who has claimed it, and the decision that ended it.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewState")]
pub struct ReviewFields<'a> {
    /// The state.
    #[schemars(extend("enum" = ["open", "approved", "cancelled", "expired"]))]
    state: &'static str,
    /// Time from which the payment is held.
    since: WireTime,
    /// Time until which the payment has to be decided. Null without a deadline.
    deadline: Option<WireTime>,
    /// The claim of an analyst.
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<ClaimFields<'a>>,
    /// The decision that ended the review.
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<ReviewActionFields<'a>>,
}

/// A claim of an analyst.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ReviewClaim")]
struct ClaimFields<'a> {
    /// Id of the analyst.
    analyst: &'a str,
    /// Beginning of the claim.
    since: WireTime,
    /// End of the claim.
    until: WireTime,
}

/// An action of an analyst.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "ReviewAction")]
struct ReviewActionFields<'a> {
    /// The action.
    #[schemars(extend("enum" = ["claim", "release", "note", "pend", "approve", "cancel", "expire"]))]
    action: &'static str,
    /// Id of the analyst.
    analyst: &'a str,
    /// Time of the action.
    at: WireTime,
    /// Numeric reason of a cancellation.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// The analyst's note.
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    /// Process date of a decision.
    #[serde(skip_serializing_if = "Option::is_none")]
    process_date: Option<WireTime>,
}

/// A review with its payment, its risk decision and its audit.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Review")]
pub struct ReviewDetailFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// State of the review.
    review: ReviewFields<'a>,
    /// Decision of the risk check. Null if there was none.
    risk_decision: Option<RiskDecisionFields<'a>>,
    /// The payment.
    payment: ListedPaymentFields<'a>,
    /// Actions of analysts, oldest first.
    actions: Vec<ReviewActionFields<'a>>,
}

/// Decision of a risk check: its rules and inputs by name.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "RiskDecision")]
struct RiskDecisionFields<'a> {
    /// Outcome of the check.
    outcome: &'static str,
    /// Sum of the scores of the rules that fired.
    score: String,
    /// Version of the rules. Null without rules.
    version: Option<&'a str>,
    /// Names of the rules that fired.
    fired: &'a [String],
    /// Names of the facts and counters in these rules.
    inputs: &'a [String],
}

/// A review with its payment, after a change.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ChangedReview")]
pub struct ChangedReviewFields<'a> {
    /// Result of the request.
    result: ResultFields<'a>,
    /// State of the review.
    review: ReviewFields<'a>,
    /// The payment.
    payment: ListedPaymentFields<'a>,
}

impl<'a> ReviewListFields<'a> {
    /// Creates the response with a page of the queue, and the position of the next page.
    pub fn new(reviews: Vec<ListedReviewFields<'a>>, cursor: Option<&'a PaymentId>) -> Self {
        Self { result: ResultFields::success(), reviews, cursor: cursor.map(PaymentId::as_str) }
    }
}

impl<'a> ListedReviewFields<'a> {
    /// Creates the entry of a payment in a list for an entity.
    pub fn new(entity: &EntityId, queued: &'a QueuedReview, payment: &'a Payment, review: ReviewFields<'a>) -> Self {
        let decision = find_decision(payment);
        Self {
            id: payment.id.as_str(),
            payment_type: payment.payment_type.code(),
            payment_brand: &payment.brand,
            amount: AmountText(payment.amount),
            currency: payment.amount.currency().code(),
            entity_id: (queued.entity != *entity).then(|| queued.entity.as_str()),
            merchant_transaction_id: payment.merchant_transaction_id(),
            score: decision.map(|decision| decision.score.to_string()),
            fired: decision.map(|decision| &*decision.fired),
            review,
        }
    }
}

impl<'a> ReviewFields<'a> {
    /// Creates the state of a review at the time of a clock.
    pub fn new(review: &'a QueuedReview, deadline: Option<Timestamp>, clock: ReviewClock) -> Self {
        let claim = review.active_claim(clock.now).map(|claim| ClaimFields {
            analyst: &claim.analyst,
            since: WireTime(clock.to_entity_time(claim.since)),
            until: WireTime(clock.to_entity_time(claim.end())),
        });
        Self {
            state: review.state().as_str(),
            since: WireTime(clock.to_entity_time(review.since)),
            deadline: deadline.map(WireTime),
            claim,
            decision: review.decision.as_ref().map(ReviewActionFields::from),
        }
    }
}

impl<'a> From<&'a ReviewAction> for ReviewActionFields<'a> {
    fn from(action: &'a ReviewAction) -> Self {
        Self {
            action: action.kind.as_str(),
            analyst: &action.analyst,
            at: WireTime(action.at),
            reason: action.reason.map(|reason| reason.to_string()),
            note: action.note.as_deref(),
            process_date: action.sent_process_date().map(WireTime),
        }
    }
}

impl<'a> ReviewDetailFields<'a> {
    /// Creates the response about a review for an entity.
    pub fn new(entity: &EntityId, review: ReviewFields<'a>, payment: &'a Payment, actions: &'a [ReviewAction]) -> Self {
        Self {
            result: ResultFields::success(),
            review,
            risk_decision: find_decision(payment).map(RiskDecisionFields::from),
            payment: ListedPaymentFields::new(entity, payment),
            actions: actions.iter().map(ReviewActionFields::from).collect(),
        }
    }
}

impl<'a> From<&'a RiskDecision> for RiskDecisionFields<'a> {
    fn from(decision: &'a RiskDecision) -> Self {
        Self {
            outcome: decision.outcome.as_str(),
            score: decision.score.to_string(),
            version: decision.version.as_deref(),
            fired: &decision.fired,
            inputs: &decision.inputs,
        }
    }
}

impl<'a> ChangedReviewFields<'a> {
    /// Creates the response about a changed review for an entity.
    pub fn new(entity: &EntityId, review: ReviewFields<'a>, payment: &'a Payment) -> Self {
        Self { result: ResultFields::success(), review, payment: ListedPaymentFields::new(entity, payment) }
    }
}

/// Returns the decision of a payment's risk check.
fn find_decision(payment: &Payment) -> Option<&RiskDecision> {
    payment.risk.as_ref().and_then(|risk| risk.decision.as_ref())
}
