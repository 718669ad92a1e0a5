//! The result of a challenge at a 3DS server: a signed request of the server, or the answer to an inquiry. It is stored
//! with the payment first. The payment continues when the shopper returns, or without the shopper.

use std::sync::Arc;

use tillgate_connector::http::signature::{Signature, SignedRequest};
use tillgate_connector::three_ds::ThreeDsPages;
use tillgate_connector::three_ds::message::{
    Erro, ErrorCode, MessageError, MessageOrError, MessageVersion, RReq, RRes, WireMessage, read_message, write_message,
};
use tillgate_connector::three_ds::server::{ThreeDsServer, read_challenge_result, read_result};
use tillgate_domain::address::path_of;
use tillgate_domain::payment::Payment;
use tillgate_domain::three_ds::{ReceivedResult, ThreeDsSession};

use super::ChallengeStep;
use crate::payment::asynchronous::page_not_found;
use crate::{Failure, Gateway};

/// The component of error messages: a 3DS server, as which the gateway receives results.
const COMPONENT: &str = "S";

/// A received request with a result, before its signature is verified.
#[derive(Debug, Clone, Copy)]
pub struct ResultRequest<'a> {
    /// The date header.
    pub date: &'a str,
    /// The idempotency key.
    pub idempotency_key: &'a str,
    /// The signature.
    pub signature: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// The reply to a result.
#[derive(Debug)]
pub enum ResultReply {
    /// The request is not authentic. The reply has no body and no signature.
    NotAuthentic,
    /// A signed message: the receipt, or an error message.
    Message {
        /// The body.
        body: Vec<u8>,
        /// Its signature.
        signature: Signature,
        /// True if the result was stored now, so that the payment can continue.
        is_new: bool,
    },
}

impl Gateway {
    /// Receives the result of a challenge: verifies signature and date, then the transaction, and stores the result
    /// with the payment. A repeated result gets the same receipt; another result for the same challenge is refused.
    ///
    /// # Errors
    /// 404 if no payment with a challenge at a 3DS server has this page.
    pub async fn receive_three_ds_result(
        &self,
        page: &str,
        request: ResultRequest<'_>,
    ) -> Result<ResultReply, Failure> {
        let payment = self.load_three_ds_payment(page)?;
        let session = payment.three_ds_session().filter(|session| session.server.is_some()).cloned();
        let authenticator = self.route_of(&payment).and_then(|route| route.authenticator);
        let (Some(session), Some(server)) = (session, authenticator.as_ref().and_then(|found| found.server())) else {
            return Err(page_not_found().into());
        };
        // The server signs the path that it was told, whatever a proxy has made of it.
        let page_url = payment.redirect.as_ref().map_or("", |redirect| redirect.url.as_str());
        let url = ThreeDsPages::of_page(page_url).result_url;
        let ResultRequest { date, idempotency_key, signature, body } = request;
        let signed = SignedRequest { method: "POST", path: path_of(&url), date, idempotency_key, body };
        let Some(signature) = server.client().verify_request(&signed, signature) else {
            tracing::warn!(payment = payment.id.as_str(), "a 3-D Secure result is not signed by the 3DS server");
            return Ok(ResultReply::NotAuthentic);
        };
        let version = MessageVersion::of_protocol(session.version).unwrap_or(MessageVersion::V22);
        let stored = match read_transaction_result(body, &session, version) {
            Ok(result) => self.store_result(&payment, read_result(&result)).await?.map(|is_new| (result, is_new)),
            Err(error) => Err(error),
        };
        Ok(match stored {
            Ok((result, is_new)) => sign_reply::<RRes>(server, &signature, &result.receipt(), is_new),
            Err(error) => {
                tracing::warn!(payment = payment.id.as_str(), %error, "a 3-D Secure result is refused");
                let erro = Erro::new(&error, COMPONENT, RReq::MESSAGE_TYPE, version);
                let erro = Erro { server_transaction_id: Some(session.transaction.clone()), ..erro };
                sign_reply::<Erro>(server, &signature, &erro, false)
            }
        })
    }

    /// Stores a verified result with a payment that awaits it. Returns true if it is the first one, and false if the
    /// same one was stored before.
    async fn store_result(
        &self,
        payment: &Payment,
        result: ReceivedResult,
    ) -> Result<Result<bool, MessageError>, Failure> {
        if self.now_of_id(&payment.entity) >= self.shopper_deadline(payment) {
            return Ok(Err(MessageError::new(ErrorCode::TimedOut, "transaction")));
        }
        let is_stored = |payment: &Payment| {
            let server = payment.three_ds_session().and_then(|session| session.server.as_ref());
            server.and_then(|server| server.result.as_ref()) == Some(&result)
        };
        let was_stored = is_stored(payment);
        let first = result.clone();
        let advanced = self.advance_stage(payment, move |session| record_first_result(session, first)).await?;
        Ok(match is_stored(&advanced) {
            true => Ok(!was_stored),
            // The first result counts, and an ended payment takes none.
            false => Err(MessageError::new(ErrorCode::InvalidTransactionData, "transStatus")),
        })
    }

    /// Asks the 3DS server for the result of a challenge that has not been received, after the browser has come back.
    /// Does nothing for any other payment.
    ///
    /// # Errors
    /// 404 if no payment has this page.
    pub async fn inquire_three_ds_result(&self, page: &str) -> Result<(), Failure> {
        let payment = self.load_three_ds_payment(page)?;
        let Some(session) = payment.three_ds_session().filter(|_| payment.awaits_shopper()) else { return Ok(()) };
        let has_result = session.server.as_ref().is_none_or(|server| server.result.is_some());
        let (Some(challenge), false) = (session.issuer_challenge(), has_result) else { return Ok(()) };
        let authenticator = self.route_of(&payment).and_then(|route| route.authenticator);
        let Some(server) = authenticator.as_ref().and_then(|found| found.server()) else { return Ok(()) };
        // One inquiry at a time: whoever reloads the page must not take the places of other shoppers' requests.
        let Some(_asking) = self.authentications_in_flight.mark_payment(&payment.id) else {
            self.authentications_in_flight.wait_for_end(&payment.id).await;
            return Ok(());
        };
        if let Some(result) = server.inquire_result(payment.acquirer_merchant_id(), session, challenge).await
            && let Err(error) = self.store_result(&payment, result).await?
        {
            tracing::warn!(payment = payment.id.as_str(), %error, "an inquired 3-D Secure result is refused");
        }
        Ok(())
    }

    /// Continues a payment in the challenge stage: authorizes or ends it if the result has been received. Otherwise the
    /// shopper has to answer.
    pub(super) async fn continue_after_challenge(&self, payment: Arc<Payment>) -> Result<ChallengeStep, Failure> {
        let session = payment.three_ds_session().cloned();
        let received = session.as_ref().and_then(|session| {
            let challenge = session.issuer_challenge()?;
            Some((session, challenge, session.server.as_ref()?.result.as_ref()?))
        });
        let Some((session, challenge, result)) = received else { return Ok(ChallengeStep::Challenge(payment)) };
        let (proof, ended) = read_challenge_result(&payment.brand, session, challenge, result);
        let processed = self.finish_challenge(payment, proof, ended.code).await?;
        Ok(ChallengeStep::Ended(processed.payment))
    }
}

/// Stores the result of an open challenge. Returns false if there is one already, or no open challenge.
fn record_first_result(session: &mut ThreeDsSession, result: ReceivedResult) -> bool {
    let is_open = session.issuer_challenge().is_some();
    match session.server.as_mut().filter(|server| is_open && server.result.is_none()) {
        Some(server) => {
            server.result = Some(result);
            true
        }
        None => false,
    }
}

/// Reads a result, and checks that it belongs to the transaction of a session whose challenge has begun.
fn read_transaction_result(
    body: &[u8],
    session: &ThreeDsSession,
    version: MessageVersion,
) -> Result<RReq, MessageError> {
    let MessageOrError::Message(result) = read_message::<RReq>(body, Some(version))? else {
        return Err(MessageError::new(ErrorCode::InvalidMessage, "messageType"));
    };
    let unknown = || MessageError::new(ErrorCode::UnknownTransaction, "threeDSServerTransID");
    let challenge = session.issuer_challenge().ok_or_else(unknown)?;
    result.check_transaction([&session.transaction, &challenge.ds_transaction, &challenge.acs_transaction], version)?;
    Ok(result)
}

/// Signs the reply to a result.
fn sign_reply<M: WireMessage>(server: &ThreeDsServer, request: &Signature, message: &M, is_new: bool) -> ResultReply {
    let body = write_message(message).unwrap_or_default();
    let signature = server.client().sign_answer(request, 200, &body);
    ResultReply::Message { body, signature, is_new }
}
