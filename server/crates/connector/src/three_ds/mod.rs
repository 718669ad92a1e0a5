//! 3-D Secure, as a connector sees it: the authentication of cardholders by the issuers of their cards.
//!
//! The consequences of a response for the payment are decided in `domain::three_ds`.

pub mod message;
pub mod request;
pub mod server;

use std::sync::Arc;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tillgate_domain::three_ds::{
    IssuerChallenge, MethodCompletion, Proof, ThreeDsSession, ThreeDsVersion, TransactionStatus,
    TransactionStatusReason,
};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use self::request::{AuthType, ThreeDsMessage};
use self::server::ThreeDsServer;

/// A connection to the directories of the schemes and to the issuers' servers.
#[async_trait]
pub trait ThreeDsAuthenticator: Send + Sync {
    /// Looks up a card in the directories. Returns `None` if no directory knows the card. A simulation reads the flow
    /// that the merchant requests from `parameters`.
    async fn look_up_card(&self, number: &CardNumber, parameters: &Parameters) -> Option<Enrolment>;

    /// Asks the issuer of a card to authenticate its cardholder.
    async fn authenticate(&self, request: &ThreeDsRequest<'_>) -> ThreeDsAnswer;

    /// Returns the 3DS server that authenticates cardholders on pages of their issuers. `None` if pages of the gateway
    /// stand in for those.
    fn server(&self) -> Option<&ThreeDsServer> {
        None
    }

    /// Returns the proof of an authentication whose challenge has ended.
    fn challenge_proof(&self, brand: &Brand, authentication: &ThreeDsSession, result: &ChallengeResult) -> Proof;

    /// Returns the page of a challenge of this authentication type. A simulation reads the kind of page that the
    /// merchant requests from `parameters`. `transaction` is the id of the transaction.
    fn challenge_page(&self, auth_type: Option<AuthType>, parameters: &Parameters, transaction: &str) -> ChallengePage;

    /// Checks a passkey's answer to the page of a challenge, which is on this origin, such as `https://pay.example`.
    ///
    /// # Errors
    /// A text that names the part of the answer that is wrong.
    fn check_passkey(&self, transaction: &str, origin: &str, answer: &str) -> Result<(), &'static str>;
}

/// The entry of a card in a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enrolment {
    /// The version that the card is enrolled in. `None` if it is not enrolled or its issuer does not support 3-D
    /// Secure; the browser's data are not needed then.
    pub version: Option<ThreeDsVersion>,
    /// The issuer's method page, which has to run first.
    pub method: MethodPage,
}

/// The method page of an issuer, by which it recognizes the browser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MethodPage {
    /// The issuer has none.
    None,
    /// A page of the gateway stands in for it.
    Own,
    /// A page of the issuer at this address.
    Foreign(Arc<str>),
}

/// The answer of an issuer to a request to authenticate a cardholder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreeDsAnswer {
    /// The result. A challenge is required if its status says so.
    pub proof: Proof,
    /// The challenge on a page of the issuer. `None` if there is none, or if the gateway's page stands in for it.
    pub challenge: Option<IssuerChallenge>,
}

impl From<Proof> for ThreeDsAnswer {
    fn from(proof: Proof) -> Self {
        Self { proof, challenge: None }
    }
}

/// Addresses at the gateway about one authentication, for the issuer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreeDsPages {
    /// Address to which the 3DS server sends the result of a challenge.
    pub result_url: String,
    /// Address to which the issuer's page sends the browser after a challenge.
    pub notification_url: String,
}

impl ThreeDsPages {
    /// Returns the addresses below that of the gateway's page for 3-D Secure.
    pub fn of_page(page_url: &str) -> Self {
        Self { result_url: format!("{page_url}/result"), notification_url: format!("{page_url}/challenge") }
    }
}

/// A request to authenticate a cardholder.
#[derive(Debug)]
pub struct ThreeDsRequest<'a> {
    /// The brand of the card.
    pub brand: &'static Brand,
    /// The card number.
    pub number: &'a CardNumber,
    /// The expiry date of the card.
    pub expiry: Expiry,
    /// The acquirer's id of the merchant.
    pub merchant_id: &'a str,
    /// The merchant's name.
    pub merchant_name: &'a str,
    /// The gateway's addresses about this authentication.
    pub pages: &'a ThreeDsPages,
    /// Completion of the issuer's method page.
    pub method_completion: MethodCompletion,
    /// The protocol version of the request. `None` if the card is not enrolled.
    pub version: Option<ThreeDsVersion>,
    /// The id of the transaction. `None` if the card is not enrolled.
    pub transaction_id: Option<&'a str>,
    /// The message to the issuer.
    pub message: &'a ThreeDsMessage,
    /// The parameters of the payment.
    pub parameters: &'a Parameters,
}

/// A page of the gateway that replaces the issuer's. The cardholder chooses the answer there.
#[derive(Debug, Clone)]
pub struct ChallengePage {
    /// The heading.
    pub title: &'static str,
    /// The text. May be empty.
    pub text: &'static str,
    /// Every answer, in the page's order.
    pub answers: &'static [ChallengeAnswer],
    /// The questions for a passkey, if the page asks for one. The other answers are beside it.
    pub passkey: Option<PasskeyChallenge>,
}

/// The questions of an issuer's page for a passkey, in base64url (WebAuthn).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PasskeyChallenge {
    /// The question with which the passkey is made.
    pub create: String,
    /// The question with which it is used.
    pub get: String,
}

/// An answer on the page of a challenge. The page posts the code of its result.
#[derive(Debug)]
pub struct ChallengeAnswer {
    /// The text on the page.
    pub label: &'static str,
    /// The result of the challenge.
    pub result: ChallengeResult,
}

impl ChallengePage {
    /// Returns the result of a cardholder who is authenticated.
    pub fn find_success(&self) -> Option<ChallengeResult> {
        let results = self.answers.iter().map(|answer| answer.result);
        results.into_iter().find(|result| result.status == TransactionStatus::Authenticated)
    }

    /// Returns the result of the answer with a posted code. Any other success code counts as the first answer that
    /// authenticates the cardholder. `None` for any other code.
    pub fn find_result(&self, code: &str) -> Option<ChallengeResult> {
        let is_success = ResultCode::find(code).is_some_and(|code| code.is_success());
        let passed = || self.find_success().filter(|_| is_success);
        self.answers.iter().map(|answer| answer.result).find(|result| result.code.code() == code).or_else(passed)
    }
}

/// The result of a challenge, as the issuer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChallengeResult {
    /// The transaction status.
    pub status: TransactionStatus,
    /// The reason for the status.
    pub reason: Option<TransactionStatusReason>,
    /// The result code of the payment if the cardholder is not authenticated.
    pub code: ResultCode,
}

/// Makes a transaction id from 16 random bytes: a UUID of version 4 (RFC 9562), or, for version 1 of the protocol, the
/// xid, 20 bytes of a SHA-256 digest in base64.
pub fn new_transaction_id(version: ThreeDsVersion, mut random: [u8; 16]) -> String {
    if version == ThreeDsVersion::V1 {
        let digest = Sha256::digest(random);
        return STANDARD.encode(&digest[..20]);
    }
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    let digits = tillgate_domain::id::to_hex(&random);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_have_the_shape_of_their_version() {
        assert_eq!(new_transaction_id(ThreeDsVersion::V22, [0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(new_transaction_id(ThreeDsVersion::V21, [0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(new_transaction_id(ThreeDsVersion::V1, [7; 16]).len(), 28);
    }
}
