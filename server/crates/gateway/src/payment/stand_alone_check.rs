//! Stand-alone risk checks: a payment is assessed as if it were made. Nothing is charged, no account is stored, and no
//! cardholder is authenticated. The check counts in the velocity counters.

use std::sync::Arc;

use tillgate_connector::ConnectorResult;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::parameter_defaults;
use tillgate_domain::payment::Payment;
use tillgate_domain::payment::mode::ProcessingMode;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::risk::RiskRuling;
use tillgate_shared::parameter::{ParameterError, Parameters};
use tillgate_shared::result::{ResultCode, codes};
use tillgate_store::RecordKeys;

use super::super::{Failure, Gateway};
use super::record::draft_payment;
use super::{Intake, PaymentContext, PaymentIdentity};
use crate::access::sender::Sender;
use crate::payment::addresses::Addresses;
use crate::payment::echo::is_echoed;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::check::RiskCheck;

/// The parameter that identifies a check in the merchant's system.
const REFERENCE: &str = "merchantTransactionId";
/// Shortest reference of a check, in characters. Its format limits it to 255.
const MIN_REFERENCE: usize = 8;
/// No address: a check redirects nobody.
const NO_ADDRESSES: Addresses<'_> = Addresses { public: "", result: None, shop_origin: None, shopper: None };

impl Gateway {
    /// Checks an order with the account in its parameters. Returns the payment that it would be, with the decision and
    /// its code; it is not stored.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; also if no channel accepts the payment, or the channel has risk
    /// checks off; 429 after too many similar numbers.
    pub async fn screen_order(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Payment, Failure> {
        let owner = CredentialOwner { owner: &entity.id, used: None };
        self.screen_with_account(entity, parameters, owner, recorder).await
    }

    /// Checks an order like [`Gateway::screen_order`]; `owner` has the registration, if its account is used.
    ///
    /// # Errors
    /// Same as [`Gateway::screen_order`].
    pub(crate) async fn screen_with_account(
        &self,
        entity: &Arc<Entity>,
        mut parameters: Parameters,
        owner: CredentialOwner<'_>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Payment, Failure> {
        check_required(&parameters)?;
        order::refuse_override(&parameters)?;
        if !parameters.contains("paymentType") {
            parameters.set("paymentType", "DB");
        }
        let ndc = recorder.ndc().cloned();
        let sender = Sender::from_server_request(&parameters, ndc.as_ref());
        let context = PaymentContext { sender, credential_owner: owner, addresses: NO_ADDRESSES, at: None };
        let received = self.route_request(entity, parameters)?;
        if !received.payer.settings.channel.risk {
            return Err(Refusal::risk_checks_off().into());
        }
        let route = self.select_route(&received.payer, &received.parameters)?;
        let mode = ProcessingMode::from_parameters(received.payer.live, &received.parameters)?;
        let intake = self.read_intake(received, sender, context.has_stored_account(), false)?;
        if let Some(account) = intake.account.as_ref().filter(|_| !context.has_stored_account()) {
            // A check compares the number with stored ones, so unlimited checks would let a merchant guess the digits
            // of stored cards.
            self.velocity.count_comparison(&intake.payer, &account.identity, self.now())?;
        }
        let identity = self.identify_payment(&intake, None)?;
        let mut payment = self.draft_for_check(&intake, mode.accepted_code(), identity, context);
        let check = self.prepare_risk_check(&payment, &intake.payer, &route).map(RiskCheck::before_execution);
        let keys = RecordKeys {
            risk_counters: check.as_ref().map(RiskCheck::counter_keys).unwrap_or_default(),
            ..RecordKeys::none().owned_by(&payment.entity)
        };
        let checked = self.store.update(keys, move |loaded| {
            let mut changes = tillgate_store::Changes::default();
            if let Some(check) = check {
                let (ruling, counters) = check.decide(&mut payment, &loaded.risk_counters);
                let decision = payment.risk.as_ref().and_then(|risk| risk.decision.as_ref());
                let named_code = decision.and_then(|decision| decision.code);
                payment.result = match ruling {
                    RiskRuling::Review => named_code.unwrap_or(codes::RISK_CHALLENGE),
                    ruling => ruling.refusal_code().unwrap_or(payment.result),
                };
                changes = counters;
            }
            Ok((recorder.record_response(changes, &payment, payment.created), payment))
        });
        Ok(checked.await??)
    }

    /// Drafts the payment that an order would be, with a result and the data that its risk check needs.
    pub(super) fn draft_for_check(
        &self,
        intake: &Intake,
        result: ResultCode,
        identity: PaymentIdentity,
        context: PaymentContext<'_>,
    ) -> Payment {
        let mut payment = draft_payment(intake, &ConnectorResult::from(result), identity, context, None);
        let mut parameters = intake.parameters.clone();
        let mut from_gateway = intake.from_gateway.clone();
        from_gateway.extend(parameter_defaults::add_default_values(&mut parameters, &payment.brand, payment.created));
        let Intake { payer, order, account, .. } = intake;
        let subject = (&payment.id, &**payer);
        payment.risk =
            Some(self.collect_risk_context(subject, order, account.as_ref(), &parameters, from_gateway, context));
        parameters.retain(|name, _| is_echoed(name, &payment.account));
        payment.parameters = parameters;
        payment
    }
}

/// Checks that amount, currency and the merchant's reference were sent, and that the reference has at least 8
/// characters.
///
/// # Errors
/// Each that is missing or too short, by name.
fn check_required(parameters: &Parameters) -> Result<(), Refusal> {
    let is_missing = |name: &&str| !parameters.contains(name);
    let missing = ["amount", "currency", REFERENCE].into_iter().filter(is_missing);
    let mut errors: Vec<ParameterError> =
        missing.map(|name| ParameterError::new(name, None, "may not be empty")).collect();
    if let Some(value) = parameters.get(REFERENCE).filter(|value| value.chars().count() < MIN_REFERENCE) {
        errors.push(ParameterError::new(REFERENCE, Some(value), "must have 8 to 255 characters"));
    }
    if errors.is_empty() { Ok(()) } else { Err(Refusal::invalid_parameters(errors)) }
}
