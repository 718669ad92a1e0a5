//! A 3DS server over HTTPS: it passes authentication requests on to the directory servers of the schemes
//! (`docs/three-ds-server.md`).
//!
//! The [`card_ranges`] are loaded at the start and daily. The result of a challenge comes as a signed request of the
//! server, or as the signed answer to an inquiry. What passes through the browser decides nothing.

pub mod card_ranges;
mod client;
mod country;
mod proof;
mod request;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use tillgate_domain::three_ds::{
    IssuerChallenge, Proof, ReceivedResult, ThreeDsSession, ThreeDsVersion, TransactionStatusReason,
};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;

use self::card_ranges::CardRangeTable;
use self::client::ExchangeRequest;
use super::message::field::is_same_transaction;
use super::message::{ARes, MessageOrError, MessageVersion, PReq, PRes, RReq, RRes, WireMessage as _};
use super::request::AuthType;
use super::{
    ChallengePage, ChallengeResult, Enrolment, MethodPage, ThreeDsAnswer, ThreeDsAuthenticator, ThreeDsRequest,
    new_transaction_id,
};
use crate::http::HostAddress;

pub use client::{ExchangeFault, MessageClient};
pub use country::country_number;
pub use proof::{read_challenge_result, read_result};
pub use request::RequestorProfile;

/// Route of authentication requests at a 3DS server.
pub const AUTHENTICATION_ROUTE: &str = "/v1/threeDSecure/authentications";
/// Route of card ranges.
pub const CARD_RANGES_ROUTE: &str = "/v1/threeDSecure/cardRanges";
/// Route of inquiries about results.
pub const RESULT_ROUTE: &str = "/v1/threeDSecure/results";

/// Time limit of an authentication request. The shopper waits for it.
const AUTHENTICATION_TIME: Duration = Duration::from_secs(10);
/// Time limit of an inquiry. The shopper waits for it.
const INQUIRY_TIME: Duration = Duration::from_secs(5);
/// Time limit of a result.
const RESULT_TIME: Duration = Duration::from_secs(10);
/// Time limit of the card ranges, which have many megabytes.
const CARD_RANGES_TIME: Duration = Duration::from_secs(120);
/// Time between two requests for the card ranges.
const CARD_RANGES_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);
/// Time after which the card ranges are requested again if they could not be loaded.
const CARD_RANGES_RETRY: Duration = Duration::from_secs(5 * 60);
/// Name under which requests of the gateway itself count among those of merchants.
const GATEWAY: &str = "";

/// A 3DS server, with the card ranges of the schemes behind it.
pub struct ThreeDsServer {
    client: MessageClient,
    profile: RequestorProfile,
    time_limit: Duration,
    /// `None` until the ranges have been loaded for the first time.
    ranges: RwLock<Option<Arc<CardRangeTable>>>,
}

impl fmt::Debug for ThreeDsServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ThreeDsServer").field("client", &self.client).finish_non_exhaustive()
    }
}

/// Inquiry about the result of a challenge. The answer is an [`RReq`], or an error message without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResultInquiry {
    /// Transaction id of the 3DS server.
    #[serde(rename = "threeDSServerTransID")]
    pub server_transaction_id: String,
    /// Transaction id of the directory server.
    #[serde(rename = "dsTransID")]
    pub ds_transaction_id: String,
    /// Transaction id of the access control server.
    #[serde(rename = "acsTransID")]
    pub acs_transaction_id: String,
}

impl ThreeDsServer {
    /// Creates a server without card ranges.
    pub fn new(client: MessageClient, profile: RequestorProfile) -> Self {
        Self { client, profile, time_limit: AUTHENTICATION_TIME, ranges: RwLock::new(None) }
    }

    /// Returns the same server with another time limit of authentication requests.
    #[must_use]
    pub fn with_time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit, ..self }
    }

    /// Loads the card ranges now and daily, in a task of the current runtime that ends with the server.
    pub fn keep_ranges_loaded(self: &Arc<Self>) {
        let server: Weak<Self> = Arc::downgrade(self);
        tokio::spawn(async move {
            loop {
                let Some(current) = server.upgrade() else { return };
                let pause = match current.load_ranges().await {
                    Ok(count) => {
                        tracing::info!(ranges = count, "the card ranges of the 3DS server are loaded");
                        CARD_RANGES_INTERVAL
                    }
                    Err(error) => {
                        tracing::warn!(
                            error,
                            "loading the card ranges of the 3DS server failed; the earlier ones stay"
                        );
                        CARD_RANGES_RETRY
                    }
                };
                drop(current);
                tokio::time::sleep(pause).await;
            }
        });
    }

    /// Loads the card ranges, or their changes, and returns their number. A list with a fault is not used, and the
    /// whole list is requested once in its place.
    ///
    /// # Errors
    /// A text that names the fault. The earlier ranges stay in use.
    pub async fn load_ranges(&self) -> Result<usize, String> {
        let earlier = self.current_ranges().unwrap_or_default();
        let loaded = match self.request_ranges(&earlier).await {
            Err(_) if earlier.serial_number().is_some() => self.request_ranges(&CardRangeTable::default()).await?,
            loaded => loaded?,
        };
        let count = loaded.len();
        *self.ranges.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(loaded));
        Ok(count)
    }

    async fn request_ranges(&self, earlier: &CardRangeTable) -> Result<CardRangeTable, String> {
        let transaction = random_transaction().ok_or("the system gives no random bytes")?;
        let version = MessageVersion::V22;
        let message = PReq {
            message_type: PReq::MESSAGE_TYPE.to_owned(),
            message_version: version.as_str().to_owned(),
            server_transaction_id: transaction.clone(),
            server_reference: self.profile.server_reference.clone(),
            serial_number: earlier.serial_number().map(str::to_owned),
        };
        let request = ExchangeRequest {
            merchant: GATEWAY,
            route: CARD_RANGES_ROUTE,
            key: &transaction,
            body: &message,
            version: None,
            time_limit: CARD_RANGES_TIME,
        };
        match self.client.exchange::<_, PRes>(request).await.map_err(|error| error.to_string())? {
            MessageOrError::Message(response) if is_same_transaction(&response.server_transaction_id, &transaction) => {
                earlier.updated(response).map_err(|error| error.to_string())
            }
            MessageOrError::Message(_) => Err("the card ranges are those of another request".to_owned()),
            MessageOrError::Error(erro) => Err(format!("error {} of the 3DS server", erro.error_code)),
        }
    }

    fn current_ranges(&self) -> Option<CardRangeTable> {
        self.shared_ranges().map(|ranges| (*ranges).clone())
    }

    fn shared_ranges(&self) -> Option<Arc<CardRangeTable>> {
        self.ranges.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the client, which verifies what the server sends.
    pub fn client(&self) -> &MessageClient {
        &self.client
    }

    /// Asks for the result of a challenge that has not been received. Returns `None` if the server has none yet, or
    /// cannot be asked.
    pub async fn inquire_result(
        &self,
        merchant: &str,
        session: &ThreeDsSession,
        challenge: &IssuerChallenge,
    ) -> Option<ReceivedResult> {
        let version = MessageVersion::of_protocol(session.version)?;
        let inquiry = ResultInquiry {
            server_transaction_id: session.transaction.clone(),
            ds_transaction_id: challenge.ds_transaction.clone(),
            acs_transaction_id: challenge.acs_transaction.clone(),
        };
        let request = ExchangeRequest {
            merchant,
            route: RESULT_ROUTE,
            key: &session.transaction,
            body: &inquiry,
            version: Some(version),
            time_limit: INQUIRY_TIME,
        };
        let ids = [session.transaction.as_str(), &challenge.ds_transaction, &challenge.acs_transaction];
        match self.client.exchange::<_, RReq>(request).await {
            Ok(MessageOrError::Message(result)) if result.check_transaction(ids, version).is_ok() => {
                Some(read_result(&result))
            }
            Ok(MessageOrError::Message(_)) => {
                tracing::warn!(transaction = session.transaction, "the 3DS server answers with another result");
                None
            }
            Ok(MessageOrError::Error(_)) => None,
            Err(error) => {
                tracing::warn!(transaction = session.transaction, %error, "inquiring a 3-D Secure result failed");
                None
            }
        }
    }

    /// Asks the issuer, and checks that the answer belongs to the request.
    async fn request_authentication(
        &self,
        request: &ThreeDsRequest<'_>,
        version: MessageVersion,
        transaction: &str,
    ) -> Result<ARes, String> {
        let areq = request::build_areq(request, version, transaction, &self.profile, self.client.now());
        areq.check().map_err(|error| format!("the request is not complete: {error}"))?;
        let sent = ExchangeRequest {
            merchant: request.merchant_id,
            route: AUTHENTICATION_ROUTE,
            key: transaction,
            body: &areq,
            version: Some(version),
            time_limit: self.time_limit,
        };
        match self.client.exchange::<_, ARes>(sent).await.map_err(|error| error.to_string())? {
            MessageOrError::Message(response) if is_same_transaction(&response.server_transaction_id, transaction) => {
                Ok(response)
            }
            MessageOrError::Message(_) => Err("the answer is that of another transaction".to_owned()),
            MessageOrError::Error(erro) => Err(format!("error {}", erro.error_code)),
        }
    }
}

/// Sends a result to the address that the authentication request named, as a directory server does. Returns the
/// receipt.
///
/// # Errors
/// If there is no valid answer, or an error message.
pub async fn send_result(client: &MessageClient, address: HostAddress, result: &RReq) -> Result<RRes, String> {
    let request = ExchangeRequest {
        merchant: GATEWAY,
        route: "",
        key: &result.server_transaction_id,
        body: result,
        version: MessageVersion::find(&result.message_version),
        time_limit: RESULT_TIME,
    };
    let client = client.with_address(address);
    match client.exchange::<_, RRes>(request).await.map_err(|error| error.to_string())? {
        MessageOrError::Message(receipt) => Ok(receipt),
        MessageOrError::Error(erro) => Err(format!("error {}: {}", erro.error_code, erro.error_detail)),
    }
}

/// Makes a random transaction id. `None` if the system gives no random bytes.
pub fn random_transaction() -> Option<String> {
    let mut random = [0; 16];
    getrandom::fill(&mut random).ok()?;
    Some(new_transaction_id(ThreeDsVersion::V22, random))
}

#[async_trait]
impl ThreeDsAuthenticator for ThreeDsServer {
    async fn look_up_card(&self, number: &CardNumber, _: &Parameters) -> Option<Enrolment> {
        let Some(ranges) = self.shared_ranges() else {
            // Without ranges the directory server decides. The method page is unknown.
            return Some(Enrolment { version: Some(ThreeDsVersion::V22), method: MethodPage::None });
        };
        let range = ranges.find(number.digits())?;
        let version = range.version?;
        let method = range.method_url.clone().map_or(MethodPage::None, MethodPage::Foreign);
        Some(Enrolment { version: Some(version.into()), method })
    }

    async fn authenticate(&self, request: &ThreeDsRequest<'_>) -> ThreeDsAnswer {
        let protocol = request.version.unwrap_or(ThreeDsVersion::V22);
        let version = request.version.and_then(MessageVersion::of_protocol);
        let (Some(version), Some(transaction)) = (version, request.transaction_id) else {
            return proof::unavailable_answer(protocol, TransactionStatusReason::TechnicalProblem);
        };
        match self.request_authentication(request, version, transaction).await {
            Ok(response) => proof::read_answer(request.brand.code, protocol, &response),
            Err(error) => {
                tracing::warn!(transaction, error, "the 3DS server failed to authenticate a cardholder");
                proof::unavailable_answer(protocol, TransactionStatusReason::TimedOut)
            }
        }
    }

    fn server(&self) -> Option<&ThreeDsServer> {
        Some(self)
    }

    fn challenge_proof(&self, _: &Brand, session: &ThreeDsSession, _: &ChallengeResult) -> Proof {
        // A result from the browser proves nothing.
        proof::unavailable_answer(session.version, TransactionStatusReason::TechnicalProblem).proof
    }

    fn challenge_page(&self, _: Option<AuthType>, _: &Parameters, _: &str) -> ChallengePage {
        ChallengePage { title: "Confirm your payment", text: "", answers: &[], passkey: None }
    }

    fn check_passkey(&self, _: &str, _: &str, _: &str) -> Result<(), &'static str> {
        Err("this page asks for no passkey")
    }
}
