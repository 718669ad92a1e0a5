//! Decisions about disputes, from the loaded records: the new dispute, and the chargeback or reversal that is written
//! with it. The command line uses them, too.

use jiff::{SignedDuration, Timestamp};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::dispute::{Dispute, DisputeAction, NewDispute, StepDetails};
use tillgate_domain::id::{DisputeId, PaymentId};
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::payment::overcapture::Overcapture;
use tillgate_domain::payment::{FollowUpLimits, ModificationType, Payment, PaymentStatus, TimeLimits, sum_refunds};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::{Changes, DisputeKey, LoadedRecords, RecordKeys};

use super::super::payment::follow_up_draft::draft_follow_up;

/// The limits do not matter for chargebacks and their reversals.
const NO_LIMITS: FollowUpLimits = FollowUpLimits {
    times: TimeLimits { authorization_lifetime: SignedDuration::ZERO, reversal_window: SignedDuration::ZERO },
    overcapture: Overcapture::NONE,
};

/// A requested step of a dispute.
#[derive(Debug, Clone)]
pub struct DisputeRequest {
    /// The action.
    pub action: DisputeAction,
    /// The token or user that acts.
    pub actor: String,
    /// A note.
    pub note: Option<String>,
    /// The amount of the chargeback or of its reversal. The whole amount without it.
    pub amount: Option<String>,
    /// The reason, the code of a chargeback.
    pub reason: Option<ResultCode>,
    /// The reason code of the card scheme.
    pub scheme_reason: Option<String>,
    /// Days for the merchant's answer, in place of the scheme's.
    pub response_days: Option<u16>,
}

/// Ids for the records of a step, and the identifier of its request.
#[derive(Debug, Clone)]
pub struct NewRecordIds {
    /// The id of a new dispute.
    pub dispute: DisputeId,
    /// The id of a chargeback or reversal.
    pub payment: PaymentId,
    /// Identifier of the request.
    pub ndc: Option<Ndc>,
}

/// Records of a decision.
pub struct DisputeRecords {
    /// The time by the clock of the entity.
    pub now: Timestamp,
    entity: Entity,
    /// The payment that the decision may charge back, or the chargeback that it may reverse, with its status.
    payment: Option<(Payment, PaymentStatus)>,
    /// Sum of the refunds of that payment, in hundredths.
    refunded: i64,
    dispute: Option<Dispute>,
}

/// Returns the keys for the opening of a dispute about a payment.
pub fn opening_keys(payment: &Payment) -> RecordKeys {
    let keys = RecordKeys::for_modification(&payment.entity, &payment.id);
    let dispute = Some(DisputeKey::OpenOfPayment(payment.id.clone()));
    RecordKeys { dispute, entity: Some(payment.entity.clone()), ..keys }
}

/// Returns the keys for a step of a dispute.
pub fn step_keys(dispute: &Dispute, action: DisputeAction) -> RecordKeys {
    let payment = match (action, &dispute.chargeback) {
        (DisputeAction::Reverse, Some(chargeback)) => chargeback,
        _ => &dispute.payment,
    };
    let keys = RecordKeys::for_modification(&dispute.entity, payment);
    RecordKeys { dispute: Some(DisputeKey::Id(dispute.id.clone())), entity: Some(dispute.entity.clone()), ..keys }
}

/// Returns the refusal of a dispute that does not exist or belongs to another entity.
pub fn unknown_dispute() -> Refusal {
    Refusal::not_found("There is no dispute with this id")
}

impl DisputeRecords {
    /// Takes the loaded records. `machine_now` is the machine's time.
    ///
    /// # Errors
    /// 404 if the entity is gone.
    pub fn new(loaded: LoadedRecords, machine_now: Timestamp) -> Result<Self, Refusal> {
        let entity = loaded.entity.ok_or_else(unknown_dispute)?;
        let now = machine_now.checked_add(entity.ahead).unwrap_or(machine_now);
        let payment = loaded.payment.map(|payment| {
            let status = PaymentStatus::from_follow_ups(&payment, &loaded.follow_ups, &NO_LIMITS, now);
            (payment, status)
        });
        let refunded = sum_refunds(&loaded.follow_ups);
        Ok(Self { now, entity, payment, refunded, dispute: loaded.dispute })
    }

    /// Returns the dispute.
    ///
    /// # Errors
    /// 404 if there is none.
    pub fn dispute(&self) -> Result<&Dispute, Refusal> {
        self.dispute.as_ref().ok_or_else(unknown_dispute)
    }

    /// Opens a dispute, with a chargeback if that is the action.
    ///
    /// # Errors
    /// 409 if the payment has an open dispute; the parameter at fault otherwise, such as a payment that cannot be
    /// charged back.
    pub fn open(&self, request: DisputeRequest, ids: NewRecordIds) -> Result<(Changes, Dispute), Refusal> {
        if let Some(open) = &self.dispute {
            return Err(Refusal::dispute_conflict(format!("The payment has the open dispute {}", open.id)));
        }
        // A retrieval request is possible if a chargeback would be.
        let (payment, amount) = self.decide_amount(ModificationType::Chargeback, request.amount.as_deref())?;
        let reason = request.reason.unwrap_or(codes::CHARGEBACK_WITHOUT_REASON);
        let is_chargeback = request.action == DisputeAction::ChargeBack;
        let chargeback =
            is_chargeback.then(|| self.draft_payment(payment, ModificationType::Chargeback, (amount, reason), &ids));
        let dispute = NewDispute {
            id: ids.dispute,
            payment,
            amount,
            reason,
            scheme_reason: request.scheme_reason.clone(),
            chargeback: chargeback.as_ref().map(|chargeback| chargeback.id.clone()),
        };
        let dispute = dispute.open(self.step_details(request));
        let dispute = dispute.with_double_payout(payment.amount.hundredths(), self.refunded);
        let changes = Changes::default().with_dispute(&dispute);
        Ok((with_optional_payment(changes, chargeback), dispute))
    }

    /// Moves the dispute, with its chargeback or reversal if the action makes one.
    ///
    /// # Errors
    /// 404 if there is no dispute; 409 if its stage does not allow the action; the parameter at fault otherwise.
    pub fn advance(&self, request: DisputeRequest, ids: &NewRecordIds) -> Result<(Changes, Dispute), Refusal> {
        let dispute = self.dispute()?;
        let action = request.action;
        let scheme_reason = request.scheme_reason.clone().or_else(|| dispute.scheme_reason.clone());
        if dispute.position.after_action(action).is_none() {
            return Err(dispute.refuse_action(action));
        }
        let (payment, next) = match action {
            DisputeAction::ChargeBack => {
                let (payment, amount) = self.decide_amount(ModificationType::Chargeback, request.amount.as_deref())?;
                let reason = request.reason.unwrap_or(dispute.reason);
                let chargeback = self.draft_payment(payment, ModificationType::Chargeback, (amount, reason), ids);
                let next = dispute.charge_back(&chargeback, self.step_details(request))?;
                let next = next.with_double_payout(payment.amount.hundredths(), self.refunded);
                (Some(chargeback), next)
            }
            DisputeAction::Reverse => {
                let is_of_dispute = |payment: &Payment| dispute.chargeback.as_ref() == Some(&payment.id);
                if !self.payment.as_ref().is_some_and(|(payment, _)| is_of_dispute(payment)) {
                    return Err(dispute.refuse_action(action));
                }
                let modification = ModificationType::ChargebackReversal;
                let (chargeback, amount) = self.decide_amount(modification, request.amount.as_deref())?;
                let mode = ProcessingMode::from_parameters(self.entity.live, &chargeback.parameters)?;
                let reversal = self.draft_payment(chargeback, modification, (amount, mode.accepted_code()), ids);
                let next = dispute.reverse(&reversal.id, self.step_details(request))?;
                (Some(reversal), next)
            }
            DisputeAction::Represent if dispute.evidence_files == 0 && request.note.is_none() => {
                let message = "may not be empty: a representment needs a note or an evidence file";
                return Err(Refusal::invalid_parameter("note", None, message));
            }
            _ => (None, dispute.advance(action, self.step_details(request))?),
        };
        let next = Dispute { scheme_reason, ..next };
        Ok((with_optional_payment(Changes::default().with_dispute(&next), payment), next))
    }

    fn step_details(&self, request: DisputeRequest) -> StepDetails {
        let DisputeRequest { actor, note, response_days, .. } = request;
        StepDetails { at: self.now, actor: Some(actor), note, response_days }
    }

    /// Returns the payment, and the amount of its chargeback or reversal.
    ///
    /// # Errors
    /// 404 if there is no payment; `amount` by name; `paymentId` by name if the rules forbid it.
    fn decide_amount(&self, kind: ModificationType, sent: Option<&str>) -> Result<(&Payment, Amount), Refusal> {
        let (payment, status) = self.payment.as_ref().ok_or_else(unknown_payment)?;
        let refuse = |message: &str| Refusal::invalid_parameter("amount", sent, message);
        let requested = sent
            .map(|text| Amount::parse(text, payment.amount.currency()).map_err(|error| refuse(&error.message())))
            .transpose()?;
        match kind.decide_amount(status, requested) {
            Ok(amount) => Ok((payment, amount)),
            Err(code) if code == codes::REFERENCE_AMOUNT_TOO_HIGH || code == codes::AMOUNT_TOO_SMALL => {
                Err(refuse(&format!("is not possible: {}", code.description())))
            }
            Err(code) => {
                let message = format!("cannot be disputed: {}", code.description());
                Err(Refusal::invalid_parameter("paymentId", Some(payment.id.as_str()), message))
            }
        }
    }

    fn draft_payment(
        &self,
        referenced: &Payment,
        kind: ModificationType,
        (amount, result): (Amount, ResultCode),
        ids: &NewRecordIds,
    ) -> Payment {
        let (id, parameters) = (ids.payment.clone(), Parameters::default());
        let payment = draft_follow_up(id, self.now, referenced, kind, amount, result, parameters);
        Payment { ndc: ids.ndc.clone(), ..payment }
    }
}

/// Returns the refusal of a payment that does not exist or belongs to another entity.
pub fn unknown_payment() -> Refusal {
    Refusal::not_found("There is no payment with this id")
}

fn with_optional_payment(changes: Changes, payment: Option<Payment>) -> Changes {
    match payment {
        Some(payment) => changes.with_payment(payment),
        None => changes,
    }
}
