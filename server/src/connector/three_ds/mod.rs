//! 3-D Secure: the authentication of cardholders by the issuers of their cards, as a connector sees it.
//!
//! What an answer means for the payment is decided in `domain::authentication`.

pub mod request;

use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::ResultCode;

use self::request::AuthenticationMessage;
use crate::domain::authentication::{Authentication, Proof, Reason, Status, Version};

/// A connection to the directories of the schemes and the issuers' servers.
#[async_trait]
pub trait Authenticator: Send + Sync {
    /// Looks a card up in the directories. Returns `None` if none of them knows it. A simulation reads the merchant's wishes
    /// for an outcome from `parameters`.
    async fn look_up(&self, number: &CardNumber, parameters: &Parameters) -> Option<Enrolment>;

    /// Asks the issuer of a card that a directory knows.
    async fn authenticate(&self, request: &AuthenticationRequest<'_>) -> Proof;

    /// Returns the result of an authentication whose challenge has ended.
    fn challenge_proof(&self, brand: &Brand, authentication: &Authentication, result: &ChallengeResult) -> Proof;
}

/// The entry of a card in a directory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enrolment {
    /// The version that the card is enrolled in. `None` if it is not enrolled or its issuer does not take part: then nothing
    /// needs to be known of the shopper's browser.
    pub version: Option<Version>,
    /// True if the issuer's method page has to run first.
    pub has_method: bool,
}

/// A request to authenticate a cardholder.
#[derive(Debug)]
pub struct AuthenticationRequest<'a> {
    /// The brand of the card.
    pub brand: &'static Brand,
    /// The card number.
    pub number: &'a CardNumber,
    /// The version that is spoken. `None` if the card is not enrolled.
    pub version: Option<Version>,
    /// The id of the transaction. `None` if the card is not enrolled.
    pub transaction: Option<&'a str>,
    /// The message to the issuer.
    pub message: &'a AuthenticationMessage,
    /// The parameters of the payment.
    pub parameters: &'a Parameters,
}

/// The end of a challenge, as the issuer reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChallengeResult {
    /// The end of the authentication.
    pub status: Status,
    /// Its reason.
    pub reason: Option<Reason>,
    /// The result code of the payment if the cardholder is not authenticated.
    pub code: ResultCode,
}

/// Makes the id of a transaction of 16 random bytes: a UUID of version 4 (RFC 9562); in version 1 of the protocol the xid, 20
/// bytes in base64.
pub fn transaction_id(version: Version, mut random: [u8; 16]) -> String {
    if version == Version::V1 {
        let digest = Sha256::digest(random);
        return STANDARD.encode(&digest[..20]);
    }
    random[6] = random[6] & 0x0f | 0x40;
    random[8] = random[8] & 0x3f | 0x80;
    let digits = crate::domain::id::hex(&random);
    [&digits[..8], &digits[8..12], &digits[12..16], &digits[16..20], &digits[20..]].join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transactions_have_the_shape_of_their_version() {
        assert_eq!(transaction_id(Version::V22, [0xff; 16]), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(transaction_id(Version::V21, [0; 16]), "00000000-0000-4000-8000-000000000000");
        assert_eq!(transaction_id(Version::V1, [7; 16]).len(), 28);
    }
}
