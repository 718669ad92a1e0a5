//! Server-to-server payments, with account data that the merchant sends or with a stored credential.

use std::net::IpAddr;
use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_shared::format::url;
use tillgate_shared::parameter::Parameters;

use crate::access::sender::Sender;
use crate::payment::follow_up;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;
use crate::payment::{Intake, PaymentContext};
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptOutcome;
use crate::{Failure, Gateway};

/// Addresses of a payment request: those of the redirect to the brand's page and back, and the shopper's own.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// The address under which browsers reach this gateway, with a trailing slash.
    pub public: &'a str,
    /// The page to return to, as the page of the form states it. The merchant's own `shopperResultUrl` takes
    /// precedence.
    pub result: Option<&'a str>,
    /// Origin of the page that contained the form, as the form's frame reports it.
    pub shop_origin: Option<&'a str>,
    /// The shopper's IP address if the browser sent the request. Otherwise the merchant may send it (`customer.ip`).
    pub shopper: Option<IpAddr>,
}

impl Addresses<'_> {
    /// Returns the page that the shopper returns to: `shopperResultUrl` of the merchant, or else the form's page if its
    /// address is valid.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if there is neither; `reason` says in the refusal why one is needed.
    pub(crate) fn return_url(self, parameters: &Parameters, reason: &str) -> Result<String, Refusal> {
        let form_page = self.result.filter(|address| url::check_return(address).is_ok());
        let address = parameters.get("shopperResultUrl").or(form_page).map(str::to_owned);
        address
            .ok_or_else(|| Refusal::invalid_parameter("shopperResultUrl", None, format!("may not be empty: {reason}")))
    }

    /// Returns the page that the shopper returns to from the brand's page. `None` if the order needs no redirect.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if the order needs a redirect and there is no page to return to.
    pub(crate) fn brand_return_url(self, intake: &Intake) -> Result<Option<String>, Refusal> {
        let reason = "the shopper leaves for the brand's page and comes back";
        let redirects = intake.order.requires_redirect();
        redirects.then(|| self.return_url(&intake.parameters, reason)).transpose()
    }
}

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
        let (mut prepared, attempt) = self.prepare_payment(received, context).await?;
        // Taken out, because the request is sent after the commit and `prepared` moves to the writer's thread.
        let (request, recorder_in_write) = (prepared.take_connector_request(), recorder.clone());
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
