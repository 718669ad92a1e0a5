//! Acts of users of the back office on a payment: captures, refunds, reversals, and inquiries at the acquirer. They
//! follow the rules of the API, and the user's right is checked again when the act is decided.

use std::sync::Arc;

use tillgate_domain::access::approval::ApprovalRequest;
use tillgate_domain::access::approval::act::ApprovalAct;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::idempotency::{EncodedResponse, IdempotencyKey, IdempotentRequest};
use tillgate_domain::payment::{ModificationType, Payment, PaymentStatus};
use tillgate_net::shares::Place;
use tillgate_shared::money::Amount;
use tillgate_shared::parameter::Parameters;
use tillgate_store::StoreErrorKind;
use tillgate_store::cluster::node::Turn;

use crate::access::actor::Actor;
use crate::administration::ActError;
use crate::payment::response_recorder::ResponseRecorder;
use crate::{Failure, Gateway, random_bytes};

/// The modifications that users may ask for. Chargebacks come from the shopper's bank.
pub const MODIFICATIONS: [ModificationType; 3] =
    [ModificationType::Capture, ModificationType::Refund, ModificationType::Reversal];

/// Beginning of the key of a form.
const FORM_KEY: &str = "office-";
/// Maximum number of payments between one and the first of its order.
const MAX_STEPS: usize = 20;
/// Number of letters after it, with four bits each.
const FORM_KEY_LETTERS: usize = 32;

/// A payment with what users may do with it now.
pub struct ChangeablePayment {
    /// The payment.
    pub payment: Payment,
    /// Its type, remaining amount and state.
    pub status: PaymentStatus,
    /// The possible modifications.
    pub acts: Vec<ModificationType>,
}

/// The turn of an order: no other refund of it by a user is decided meanwhile.
struct RefundTurn<'a> {
    // Fields are dropped in this order: the next refund in this process finds the turn among the nodes given back.
    _of_nodes: Turn<'a>,
    _of_process: Place,
}

/// A modification that a user asks for.
#[derive(Debug, Clone)]
pub struct RequestedAct {
    /// The modification.
    pub modification: ModificationType,
    /// The amount. `None` for a reversal, which is of the whole amount.
    pub amount: Option<Amount>,
    /// The key of the form: a form that is sent twice acts once.
    pub key: IdempotencyKey,
}

impl ChangeablePayment {
    /// Returns the largest amount of a modification: what remains, or the whole amount for a reversal.
    pub fn largest_amount(&self, modification: ModificationType) -> Amount {
        let whole = self.status.amount;
        match modification {
            ModificationType::Reversal => whole,
            _ => Amount::from_hundredths(self.status.remaining(), whole.currency()).unwrap_or(whole),
        }
    }
}

impl Gateway {
    /// Loads a payment of one of these entities with what users may do with it. Returns `None` if it belongs to none of
    /// them.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load_changeable_payment(
        &self,
        entities: &[EntityId],
        id: &PaymentId,
    ) -> Result<Option<ChangeablePayment>, Failure> {
        let Some((payment, follow_ups)) = self.store.load_with_follow_ups(entities, id)? else { return Ok(None) };
        let now = self.now_of_id(&payment.entity);
        let status = PaymentStatus::from_follow_ups(&payment, &follow_ups, &self.follow_up_limits_of(&payment), now);
        let acts = self.find_possible_acts(&payment, &status);
        Ok(Some(ChangeablePayment { payment, status, acts }))
    }

    /// Returns the modifications that the rules and the payment's acquirer allow.
    pub(super) fn find_possible_acts(&self, payment: &Payment, status: &PaymentStatus) -> Vec<ModificationType> {
        let route = self.route_of(payment);
        let is_captured = status.used > 0;
        let is_possible = |modification: &ModificationType| {
            let has_rest = *modification == ModificationType::Reversal || status.remaining() > 0;
            let capabilities = route.as_ref().map(|route| route.connector.capabilities());
            let is_supported =
                capabilities.is_some_and(|known| known.check_follow_up(*modification, None, is_captured).is_ok());
            has_rest && is_supported && modification.check_state(payment.payment_type, status.state).is_ok()
        };
        MODIFICATIONS.into_iter().filter(is_possible).collect()
    }

    /// Makes the key of a new form. It has no digits, so that it never looks like a card number.
    ///
    /// # Errors
    /// If the system has no random bytes.
    pub fn new_form_key(&self) -> Result<IdempotencyKey, Failure> {
        let random: [u8; FORM_KEY_LETTERS] = random_bytes()?;
        let letters: String = random.iter().map(|byte| char::from(b'a' + byte % 16)).collect();
        let key = IdempotencyKey::parse(format!("{FORM_KEY}{letters}").as_bytes());
        key.map_err(|_| Failure::Random)
    }

    /// Captures, refunds or reverses a payment for a user. A form that is sent again returns the payment that it has
    /// made. A decline is a payment, not an error; one whose outcome is unknown is pending.
    ///
    /// # Errors
    /// If the user's session or right has ended; `payment`, `amount` or `key` by name if the request is refused; if a
    /// second person is needed.
    pub async fn change_payment(
        &self,
        actor: &Actor,
        (owner, id): (&EntityId, &PaymentId),
        act: RequestedAct,
    ) -> Result<Arc<Payment>, ActError> {
        let entity = self.find_changeable_owner(actor, owner)?;
        let payment = self.store.load_payment(&entity.id, id)?.ok_or_else(unknown_payment)?;
        let _turn = self.take_refund_turn(&entity, &payment).await?;
        let content = describe_act(id, &act);
        if let Some(made) = self.find_earlier_act(&entity, &act.key, &content)? {
            return Ok(made);
        }
        self.check_act_amount(&payment, &act)?;
        match self.find_pending_refund(&entity, &payment, act.modification, act.amount)? {
            Some(pending) => {
                let act = Box::new(ApprovalAct::Refund(pending));
                Err(ActError::NeedsApproval { entity: entity.id.clone(), act })
            }
            None => self.run_act(actor, &entity, id, act).await,
        }
    }

    /// Checks that an amount is not more than what is left, so that a mistake in a form does not become a declined
    /// payment.
    fn check_act_amount(&self, payment: &Payment, act: &RequestedAct) -> Result<(), ActError> {
        let Some(amount) = act.amount else { return Ok(()) };
        let found = self.load_changeable_payment(std::slice::from_ref(&payment.entity), &payment.id)?;
        let Some(found) = found.filter(|found| found.acts.contains(&act.modification)) else { return Ok(()) };
        let largest = found.largest_amount(act.modification);
        if (1..=largest.hundredths()).contains(&amount.hundredths()) {
            return Ok(());
        }
        let most = format!("at most {largest} {} and more than zero is possible", largest.currency().code());
        Err(ActError::refuse("amount", most))
    }

    /// Refunds or reverses a payment as a second person has approved it. The rights of both users are checked again.
    /// Repeated for the same request, it returns the payment that it has made.
    ///
    /// # Errors
    /// If the session or the right of one of them has ended, or the refund is refused.
    pub async fn run_approved_refund(
        &self,
        actor: &Actor,
        request: &ApprovalRequest,
    ) -> Result<Arc<Payment>, ActError> {
        let entity = self.find_changeable_owner(actor, &request.entity)?;
        let ApprovalAct::Refund(refund) = &request.act else {
            return Err(ActError::refuse("request", "the request is not for a refund"));
        };
        if !self.may_do(&request.asker, &request.entity, &request.act)? {
            return Err(ActError::refuse("request", "the user who asked may not refund payments any more"));
        }
        let payment = self.store.load_payment(&entity.id, &refund.payment)?.ok_or_else(unknown_payment)?;
        let _turn = self.take_refund_turn(&entity, &payment).await?;
        let letters: String = request.id.as_str().bytes().map(letter_of_digit).collect();
        let key = parse_form_key(&format!("{FORM_KEY}{letters}")).ok_or_else(unknown_payment)?;
        let amount = (!refund.is_reversal).then_some(refund.amount);
        let act = RequestedAct { modification: refund.modification(), amount, key };
        self.run_act(actor, &entity, &refund.payment, act).await
    }

    /// Takes the turn of an order if its refunds may need a second person, so that each refund sees the sum of those
    /// before. Refunds at the same time could otherwise exceed a limit together, also on two nodes of a cluster.
    async fn take_refund_turn(&self, entity: &Entity, payment: &Payment) -> Result<Option<RefundTurn<'_>>, ActError> {
        if !self.has_refund_approval(entity) {
            return Ok(None);
        }
        let mut first = payment.clone();
        for _ in 0..MAX_STEPS {
            let Some(id) = &first.referenced else { break };
            let Some(earlier) = self.store.load_payment(&first.entity, id)? else { break };
            first = earlier;
        }
        let place = self.refund_turns.take(first.id.as_str()).await;
        let turn = self.store.take_turn(&format!("refund of {}", first.id)).await?;
        Ok(Some(RefundTurn { _of_nodes: turn, _of_process: place }))
    }

    /// Runs an act of a user that needs no further check.
    async fn run_act(
        &self,
        actor: &Actor,
        owner: &Arc<Entity>,
        id: &PaymentId,
        act: RequestedAct,
    ) -> Result<Arc<Payment>, ActError> {
        let content = describe_act(id, &act);
        let (entity, fingerprint) = (owner.id.clone(), self.vault.fingerprint_request(content.as_bytes()));
        let request = IdempotentRequest { entity, key: act.key.clone(), fingerprint };
        if let Some(made) = self.find_earlier_act(owner, &act.key, &content)? {
            return Ok(made);
        }
        let encode = |payment: &Payment| EncodedResponse { status: 200, body: payment.id.as_str().into() };
        let recorder =
            ResponseRecorder::new(Some(request), encode).with_actor(actor.name()).with_address(actor.address());
        // Boxed, because the handlers of pages are not made for the memory of a payment.
        let made =
            Box::pin(self.modify_payment(owner, id.as_str(), act.to_parameters(), Scopes::all(), recorder)).await;
        match made {
            Ok(payment) => Ok(payment),
            Err(Failure::Store(error)) if error.kind() == StoreErrorKind::DuplicateKey => {
                let made = self.find_earlier_act(owner, &act.key, &content)?;
                made.ok_or(ActError::Failed(Failure::Store(error)))
            }
            Err(Failure::Refused(refusal)) => Err(ActError::from_refusal(&refusal, "payment", name_of_input)),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Asks the acquirer for the outcome of a payment whose outcome is unknown. Returns the payment with what is known
    /// then.
    ///
    /// # Errors
    /// If the user's session or right has ended; `payment` by name if its acquirer owes no outcome.
    pub async fn ask_acquirer(&self, actor: &Actor, (owner, id): (&EntityId, &PaymentId)) -> Result<Payment, ActError> {
        let owner = self.find_changeable_owner(actor, owner)?;
        let load = || self.store.load_payment(&owner.id, id)?.ok_or_else(unknown_payment);
        if !load()?.can_be_inquired() {
            return Err(ActError::refuse("payment", "the acquirer owes no outcome of this payment"));
        }
        self.resolve_payment_afresh(&owner.id, id).await?;
        load()
    }

    /// Returns the owner of a payment, if the user may still change its payments.
    fn find_changeable_owner(&self, actor: &Actor, owner: &EntityId) -> Result<Arc<Entity>, ActError> {
        self.check_right_of(actor, (Permission::ChangePayments, &Reach::Entity(owner.clone())))?;
        self.directory.find_entity(owner).ok_or_else(unknown_payment)
    }

    /// Finds the payment that an earlier request with the key has made.
    ///
    /// # Errors
    /// `key` if the earlier request asked for something else.
    fn find_earlier_act(
        &self,
        owner: &Entity,
        key: &IdempotencyKey,
        content: &str,
    ) -> Result<Option<Arc<Payment>>, ActError> {
        let Some(found) = self.store.load_response(&owner.id, key, self.now_of(owner))? else { return Ok(None) };
        let body = std::str::from_utf8(&found.response.body).unwrap_or_default();
        match PaymentId::parse(body) {
            Some(made) if self.vault.is_fingerprint(&found.fingerprint, content.as_bytes()) => {
                Ok(self.store.load_payment(&owner.id, &made)?.map(Arc::new))
            }
            _ => Err(ActError::refuse("key", "this form has been sent with other values: open it again")),
        }
    }
}

impl RequestedAct {
    /// Returns the parameters of the request, as the API has them.
    fn to_parameters(&self) -> Parameters {
        let code = self.modification.payment_type().code();
        let mut parameters = Parameters::from_iter([("paymentType", code)]);
        if let Some(amount) = self.amount {
            parameters.set("amount", amount.to_string());
            parameters.set("currency", amount.currency().code());
        }
        parameters
    }
}

/// Returns the key of a form that was sent. `None` if it is not one that [`Gateway::new_form_key`] makes, so that no
/// form finds the requests of merchants.
pub fn parse_form_key(text: &str) -> Option<IdempotencyKey> {
    let letters = text.strip_prefix(FORM_KEY)?;
    let is_ours = letters.len() == FORM_KEY_LETTERS && letters.bytes().all(|letter| matches!(letter, b'a'..=b'p'));
    is_ours.then(|| IdempotencyKey::parse(text.as_bytes()).ok()).flatten()
}

/// Returns the letter of a form's key for a hexadecimal digit.
fn letter_of_digit(digit: u8) -> char {
    let value = if digit.is_ascii_digit() { digit - b'0' } else { digit.saturating_sub(b'a') + 10 };
    char::from(b'a' + value % 16)
}

/// Returns what distinguishes the request of a form from another one with its key.
fn describe_act(id: &PaymentId, act: &RequestedAct) -> String {
    let amount = act.amount.map(|amount| amount.to_string()).unwrap_or_default();
    format!("back office\n{id}\n{}\n{amount}", act.modification.payment_type().code())
}

/// Returns the input of a form that a parameter of the API stands for.
fn name_of_input(parameter: &str) -> &'static str {
    if parameter == "amount" { "amount" } else { "payment" }
}

fn unknown_payment() -> ActError {
    ActError::refuse("payment", "there is no payment with this id")
}
