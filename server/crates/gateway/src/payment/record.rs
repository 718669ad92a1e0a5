//! Last stage: drafts the payment and prepares what is written, outside of the write lock. The store encodes it.
//! [`PreparedPayment::decide_changes`] runs under the lock and decides what depends on other payments. One order, one
//! transaction, one response.

use std::sync::Arc;

use tillgate_connector::{ConnectorResult, Order, PaymentRoute};
use tillgate_domain::id::{EntityId, PaymentId, ScheduleId};
use tillgate_domain::parameter_defaults;
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{ConnectorTxIds, ModificationType, Payment, Redirect};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::review::ReviewStage;
use tillgate_shared::result::ResultCode;
use tillgate_store::keys::wallet::UsedWalletToken;
use tillgate_store::{Changes, DeferredEffects, LoadedRecords, RecordKeys};

use super::super::{Failure, Gateway};
use super::attempt_check::{AttemptCheck, decline_attempt};
use super::authorize::AuthorizationResult;
use super::debit_steps::find_first_step;
use super::follow_up_draft::draft_reversal;
use super::partial_approval::apply_approved_amount;
use super::{ConnectorRequest, HeldCard, Intake, PaymentContext, PaymentIdentity};
use crate::access::sender::Sender;
use crate::keys::wallet;
use crate::payment::duplicates;
use crate::payment::echo::is_echoed;
use crate::registration::stored_credentials::CredentialChanges;
use crate::risk::check::RiskCheck;

/// A payment that is ready to be written.
#[derive(Clone)]
pub(crate) struct PreparedPayment {
    payment: Payment,
    /// The changes that are written with the payment, without the payment itself.
    changes: Changes,
    /// The changes that store its account for follow-up payments, unless it is held before it is executed.
    account_changes: Changes,
    /// True if its external connector is asked after the write, unless it is held before that.
    is_sent: bool,
    /// Changes to stored credentials. `None` if there are none.
    credential_changes: Option<CredentialChanges>,
    /// The sealed card, if the payment awaits 3-D Secure.
    held_card: Option<HeldCard>,
    /// The sealed account, in case that the payment is held before it is executed.
    review_card: Option<HeldCard>,
    /// The owner of the stored credentials.
    owner: EntityId,
    /// The risk check of the payment, if it is due now.
    risk_check: Option<RiskCheck>,
    /// The check of the attempt by the rules of the card's scheme. `None` if no rule applies.
    attempt_check: Option<AttemptCheck>,
    /// True if 3-D Secure has authenticated the cardholder, or will before the payment is sent.
    is_authenticated: bool,
    /// Id and result of the reversal, for an approved payment that its risk check may reverse.
    pub(super) reversal: Option<(PaymentId, ResultCode)>,
    /// Result of the capture by an in-process connector, for a debit in two steps that is preauthorized.
    pub(super) capture: Option<ConnectorResult>,
    /// Keys of the records that `decide_changes` needs: stored credentials, and whether the reference or the wallet
    /// token has been used.
    pub(crate) keys: RecordKeys,
}

impl Gateway {
    /// Drafts a payment and prepares everything that can be prepared before the write. Stores nothing, but seals the
    /// account, caches the security code of a payment that awaits 3-D Secure, and marks the payment of an external
    /// connector as in flight. Also returns the request to that connector, to be sent after the write.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if the shopper is redirected and there is no page to return to; also if a
    /// merchant-initiated charge names no initial transaction.
    pub(super) fn prepare_write(
        &self,
        intake: Intake,
        authorized: AuthorizationResult,
        route: &PaymentRoute,
        identity: PaymentIdentity,
        context: PaymentContext<'_>,
        brand_return_url: Option<String>,
    ) -> Result<(PreparedPayment, Option<ConnectorRequest>), Failure> {
        let PaymentContext { sender, credential_owner, .. } = context;
        let redirect = self.make_redirect(&intake, &authorized, &identity, context, brand_return_url)?;
        let awaits_connector = authorized.awaits_connector;
        let mut payment = draft_payment(&intake, &authorized.result, identity, context, redirect);
        set_external_connector(&mut payment, &intake, route, awaits_connector);
        let Intake { payer, order, account, mut parameters, wallet_token, mut from_gateway } = intake;
        let attempt_check =
            self.prepare_attempt_check((&payment, &parameters), &payer, &order, route, account.as_ref());
        let is_authenticated = order.is_authenticated() || payment.three_ds_session().is_some();
        let (attempt_check, mark) = attempt_check.unzip();
        // Only a later write needs the mark. Most declines, and all approvals in this process, have none.
        payment.retry = mark.filter(|_| payment.result.is_pending()).map(Box::new);
        let credential_changes =
            self.prepare_credential_changes(credential_owner, &payment, account.as_ref(), &mut parameters, sender)?;
        from_gateway.extend(parameter_defaults::add_default_values(&mut parameters, &payment.brand, payment.created));
        // Collected before the parameters are filtered, because rules also use values that are not stored.
        payment.risk = payer.settings.channel.risk.then(|| {
            let subject = (&payment.id, &*payer);
            self.collect_risk_context(subject, &order, account.as_ref(), &parameters, from_gateway, context)
        });
        if let Some(risk) = &mut payment.risk {
            risk.debit_step = find_first_step(&payer, payment.payment_type, route);
        }
        parameters.retain(|name, _| is_echoed(name, &payment.account));
        payment.parameters = parameters;
        self.share_parameters(&mut payment, sender)?;
        let risk_check = self.prepare_risk_check(&payment, &payer, route);

        // Accounts are sealed here and not under the write lock, which all other payments wait for.
        let held_card = self.hold_card(&payment, &order.account)?;
        let may_be_held = risk_check.as_ref().is_some_and(RiskCheck::may_hold_unexecuted);
        let review_card =
            if may_be_held && held_card.is_none() { self.seal_for_review(&payment, &order)? } else { None };
        // The account of a registration is stored there and nowhere else.
        let is_registered = credential_owner.used.is_some()
            || credential_changes.as_ref().is_some_and(CredentialChanges::has_new_registration);
        let account_changes = self.store_account(&payment, &order, is_registered || held_card.is_some())?;
        let token = wallet_token.as_ref();
        let changes = token.map_or_else(Changes::default, |token| Changes::default().with_used_token(token));
        let reference = duplicates::unique_reference(&payer, &payment);
        let keys = required_keys(&credential_changes, &risk_check).owned_by(&payment.entity);
        let attempts = attempt_check.as_ref().map(AttemptCheck::keys);
        let keys = RecordKeys { wallet_token, reference, attempts, ..keys };
        let connector_request =
            awaits_connector.then(|| self.prepare_connector_request(&payment, order, route, context.addresses.public));
        let prepared = PreparedPayment {
            payment,
            changes,
            account_changes,
            is_sent: awaits_connector,
            credential_changes,
            held_card,
            review_card,
            owner: credential_owner.owner.clone(),
            risk_check,
            attempt_check,
            is_authenticated,
            reversal: None,
            capture: None,
            keys,
        };
        Ok((prepared, connector_request))
    }

    /// Stores the parameters of a payment with an earlier attempt of the same checkout, if there is one.
    fn share_parameters(&self, payment: &mut Payment, sender: Sender<'_>) -> Result<(), Failure> {
        if let Some(checkout) = sender.checkout()
            && let Some(earlier) = self.load_sharing_attempt(checkout)?
        {
            payment.share_parameters_with(&earlier);
        }
        Ok(())
    }

    /// Seals the account of a payment that may be held before it is executed. `None` if the account has no number.
    fn seal_for_review(&self, payment: &Payment, order: &Order) -> Result<Option<HeldCard>, Failure> {
        let until = payment.created + self.options.card_window;
        let sealed = self.seal_account(payment, &order.account)?;
        Ok(sealed.map(|sealed| HeldCard { sealed, until }))
    }

    /// Returns the changes that store the sealed number of a payment's account for follow-up payments, for the card
    /// window. Returns none if the account is stored elsewhere or has no number, or if the payment is declined.
    fn store_account(&self, payment: &Payment, order: &Order, is_stored_elsewhere: bool) -> Result<Changes, Failure> {
        let changes = Changes::default();
        if is_stored_elsewhere || !payment.is_approved_or_pending() {
            return Ok(changes);
        }
        let sealed = self.seal_account(payment, &order.account)?;
        Ok(match sealed {
            Some(sealed) => changes.with_card(&payment.id, sealed, payment.created + self.options.card_window),
            None => changes,
        })
    }
}

/// Returns the keys of the records that changes of stored credentials and a risk check need.
fn required_keys(credential_changes: &Option<CredentialChanges>, risk_check: &Option<RiskCheck>) -> RecordKeys {
    RecordKeys {
        stored_credentials: credential_changes.as_ref().map(CredentialChanges::required_keys).unwrap_or_default(),
        risk_counters: risk_check.as_ref().map(RiskCheck::counter_keys).unwrap_or_default(),
        ..RecordKeys::default()
    }
}

/// Records the external connector of a payment, if it has one that is or will be asked. `awaits_connector`: it is asked
/// as soon as the payment is written.
fn set_external_connector(payment: &mut Payment, intake: &Intake, route: &PaymentRoute, awaits_connector: bool) {
    payment.unannounced = awaits_connector;
    if route.connector.capabilities().is_external && (awaits_connector || payment.redirect.is_some()) {
        payment.connector = Some(route.connector.name().to_owned());
        payment.acquirer_merchant = Some(intake.payer.acquirer_merchant_id().to_owned());
        payment.place = route.connector.place_order(&intake.order, None);
    }
}

/// Drafts a payment with the connector's result, without its parameters and its connector's name.
pub(super) fn draft_payment(
    intake: &Intake,
    result: &ConnectorResult,
    identity: PaymentIdentity,
    context: PaymentContext<'_>,
    redirect: Option<Redirect>,
) -> Payment {
    let order = &intake.order;
    let PaymentContext { sender, credential_owner, .. } = context;
    let (entity, brand) = (intake.payer.id.clone(), order.brand.code);
    let payment = Payment {
        checkout: sender.checkout().map(|checkout| checkout.id.clone()),
        ndc: sender.ndc().cloned(),
        registration: credential_owner.used.map(|used| used.id.clone()),
        avs: result.avs,
        cvv: result.cvv,
        details: result.details.clone(),
        redirect,
        pay_to: result.transfer_account.clone(),
        connector_tx_ids: result.connector_tx_ids.clone(),
        descriptor: identity.descriptor,
        account: order.account.summary(),
        ..Payment::draft(identity.id, entity, identity.now, order.payment_type, brand, order.amount, result.code)
    };
    apply_approved_amount(payment, result)
}

/// Changes a drafted payment to one declined by its risk check, or by the capture after it, and returns the changes
/// that store it, without its account. With a `reversal`, its connector has approved it, and the reversal is stored
/// too.
fn decline_by_risk(
    payment: Payment,
    code: ResultCode,
    reversal: Option<(PaymentId, ResultCode)>,
    wallet_token: Option<UsedWalletToken>,
) -> (Changes, Arc<Payment>) {
    let mut payment = Payment { schedule: None, ..payment.declined(code).without_connector() };
    if reversal.is_none() {
        // An in-process connector has answered already, but the payment is not executed.
        payment = Payment { connector_tx_ids: ConnectorTxIds::default(), ..payment.without_response_details() };
    }
    let payment = Arc::new(payment);
    let mut changes = Changes::default().with_payment(Arc::clone(&payment));
    if let Some(reversal) = reversal {
        let created = payment.created;
        changes = changes.with_payment(draft_reversal(&payment, ModificationType::Reversal, reversal, created));
        // The connector has charged the account of the token, so the token counts as used although the payment is
        // reversed.
        if let Some(token) = &wallet_token {
            changes = changes.with_used_token(token);
        }
    }
    (changes, payment)
}

/// Returns true if a new payment that has to be reviewed is held at once: before it is sent to its connector, or after
/// the approval of an in-process connector. `is_sent`: an external connector would be asked now. False for a payment
/// that awaits its shopper or its connector first.
fn can_be_held(stage: ReviewStage, payment: &Payment, is_sent: bool) -> bool {
    payment.is_approved() || (stage == ReviewStage::NotExecuted && is_sent)
}

impl PreparedPayment {
    /// Returns true if the risk check may reverse the payment in the same commit.
    pub(super) fn may_be_reversed(&self) -> bool {
        self.risk_check.as_ref().is_some_and(RiskCheck::applies_after)
    }

    /// Returns the payment as it is drafted.
    pub(super) fn payment(&self) -> &Payment {
        &self.payment
    }

    /// Makes it a run of a schedule.
    pub(crate) fn assign_schedule(&mut self, schedule: ScheduleId) {
        self.payment.schedule = Some(schedule);
    }

    /// Returns the changes to write, and the payment. Runs under the write lock. A payment whose reference is paid
    /// already becomes a declined duplicate; nothing else is then written. So does one that a rule of its scheme or its
    /// risk check declines, the latter with its reversal if it was approved.
    ///
    /// # Errors
    /// If the wallet token has been used already, or if a stored credential does not allow the payment.
    pub(crate) fn decide_changes(self, loaded: LoadedRecords) -> Result<(Changes, Arc<Payment>), Refusal> {
        let Self { mut payment, mut changes, credential_changes, risk_check, reversal, keys, .. } = self;
        let Self { account_changes, is_sent, mut held_card, review_card, owner, capture, .. } = self;
        let Self { attempt_check, is_authenticated, .. } = self;
        // Decided under the write lock, so that only one of two concurrent payments can use the token.
        if loaded.token_used {
            return Err(wallet::used_token_refusal());
        }
        // A duplicate is declined before the risk check, which would count it in the velocity counters.
        if loaded.reference_paid {
            return Ok(duplicates::decline_duplicate(payment));
        }
        // Comes before the risk check as well, and before the request to the connector.
        let refusal = attempt_check
            .as_ref()
            .and_then(|check| check.find_refusal(&loaded.attempts, payment.created, is_authenticated));
        if let Some(refusal) = refusal {
            return Ok(decline_attempt(payment, refusal));
        }
        if let Some(check) = risk_check {
            let (ruling, counters) = check.decide(&mut payment, &loaded.risk_counters);
            if let Some(code) = ruling.refusal_code() {
                let (declined, payment) = decline_by_risk(payment, code, reversal, keys.wallet_token);
                return Ok((declined.merged_with(counters), payment));
            }
            // A held payment is captured only when an analyst approves it.
            if let Some(capture) = capture.filter(|_| payment.stage_to_hold().is_none()) {
                if !capture.code.is_success() {
                    let (declined, payment) = decline_by_risk(payment, capture.code, reversal, keys.wallet_token);
                    return Ok((declined.merged_with(counters), payment));
                }
                payment.set_debit_step(DebitStep::Capture);
            }
            changes = changes.merged_with(counters);
        }
        let stage = payment.stage_to_hold().filter(|stage| can_be_held(*stage, &payment, is_sent));
        if stage.is_some() {
            let since = payment.created;
            payment = payment.into_held(since);
        }
        if stage == Some(ReviewStage::NotExecuted) {
            // The payment is executed after the review, which needs its account.
            held_card = review_card;
        } else {
            changes = changes.merged_with(account_changes);
        }
        let mut changes = match (credential_changes, held_card) {
            (Some(credential_changes), held_card) => changes.merged_with(credential_changes.decide_changes(
                &mut payment,
                loaded.stored_credentials,
                held_card,
            )?),
            (None, Some(HeldCard { sealed, until })) => {
                let effects =
                    DeferredEffects { owner, registration: None, renewal: None, instruction: None, card: Some(sealed) };
                changes.with_deferred_effects(&payment, effects, until)
            }
            (None, None) => changes,
        };
        if let Some(check) = attempt_check {
            let is_sent_now = is_sent && stage.is_none();
            changes = changes.merged_with(check.record_attempt(&mut payment, &loaded.attempts, is_sent_now));
        }
        let payment = Arc::new(payment);
        Ok((changes.with_payment(Arc::clone(&payment)), payment))
    }
}
