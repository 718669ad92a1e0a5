//! Server-to-server payments, with account data that the merchant sends or with a stored credential.

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::payment::Payment;
use tillgate_shared::parameter::Parameters;

use crate::access::sender::Sender;
use crate::payment::addresses::Addresses;
use crate::payment::follow_up;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{PaymentContext, ReadyPayment};
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptOutcome;
use crate::{Failure, Gateway};

impl Gateway {
    /// Makes a payment with account data that the merchant sends, or modifies the earlier payment in
    /// `referencedPaymentId` if `paymentType` is that of a follow-up payment. `scopes` are the access token's.
    ///
    /// # Errors
    /// 403 if the scopes do not cover the payment; a refusal that names the parameters at fault; 429 if a velocity
    /// limit is reached. Declines are payments, not errors.
    pub async fn pay(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        scopes: Scopes,
        addresses: Addresses<'_>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        if let Some(id) = follow_up::referenced_payment_id(&parameters) {
            // Boxed, so that payments do not reserve the memory of modifications.
            return Box::pin(self.modify_payment(entity, &id, parameters, scopes, recorder)).await;
        }
        let ndc = recorder.ndc().cloned();
        let sender = Sender::from_server_request(&parameters, ndc.as_ref()).with_scopes(scopes);
        let credential_owner = CredentialOwner { owner: &entity.id, used: None };
        self.pay_with_account(
            entity,
            parameters,
            PaymentContext { sender, credential_owner, addresses, at: None },
            recorder,
        )
        .await
    }

    /// Makes a server-to-server payment with the account in `parameters`; `context` has the registration, if one is
    /// used. Writes the payment, reports its outcome to the card-testing limits, and then asks an external connector.
    ///
    /// # Errors
    /// Same as [`Gateway::pay`]; also for the payment type of a follow-up payment.
    pub(crate) async fn pay_with_account(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        context: PaymentContext<'_>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        follow_up::refuse_without_reference(&parameters)?;
        order::refuse_override(&parameters)?;
        let received = self.route_request(entity, parameters)?;
        let ReadyPayment { prepared, request, attempt } = self.prepare_payment(received, context).await?;
        let recorder_in_write = recorder.clone();
        let written = self
            .store
            .update(prepared.keys.clone(), move |loaded| {
                let (changes, payment) = prepared.decide_changes(loaded)?;
                Ok((recorder_in_write.record_response(changes, &payment, payment.created), payment))
            })
            .await;
        let outcome = match &written {
            Ok(Ok(payment)) => AttemptOutcome::of_payment(payment),
            // A refused write made no payment, so it counts neither as a decline nor as an approval.
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end_attempt(attempt, outcome, self.now());
        Ok(self.send_connector_request(request, written??, recorder).await)
    }
}
