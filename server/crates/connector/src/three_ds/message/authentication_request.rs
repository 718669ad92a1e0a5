//! The authentication request (AReq) of a payment or a card check in a browser.

use serde::{Deserialize, Serialize};

use super::error_message::{ErrorCode, MessageError};
use super::extension::{MessageExtension, check_extensions};
use super::field::{FieldFormat, check_field, check_optional};
use super::{MessageVersion, WireMessage};
use crate::http::protocol::SecretText;

/// Declares the request from its texts: name here, name in the message, format. `texts` are required, `optional` ones
/// may be missing.
macro_rules! request {
    (
        texts { $($(#[$doc:meta])* $field:ident: $name:literal = $format:expr,)* }
        optional { $($(#[$other_doc:meta])* $other:ident: $other_name:literal = $other_format:expr,)* }
    ) => {
        /// Authentication request (AReq).
        #[derive(Debug, Clone, Serialize, Deserialize)]
        pub struct AReq {
            /// Card number, 13 to 19 digits.
            #[serde(rename = "acctNumber")]
            pub account_number: SecretText,
            $($(#[$doc])* #[serde(rename = $name)] pub $field: String,)*
            $($(#[$other_doc])* #[serde(rename = $other_name, default, skip_serializing_if = "Option::is_none")]
            pub $other: Option<String>,)*
            /// Preferences for a challenge: one until 2.2.0, one or two in 2.3.1.
            #[serde(rename = "threeDSRequestorChallengeInd", default, skip_serializing_if = "Option::is_none")]
            pub challenge_indicators: Option<ChallengeIndicators>,
            /// True if the browser runs Java. Missing if the browser runs no scripts.
            #[serde(rename = "browserJavaEnabled", default, skip_serializing_if = "Option::is_none")]
            pub browser_java: Option<bool>,
            /// True if the browser runs scripts (from 2.2.0 on).
            #[serde(rename = "browserJavascriptEnabled", default, skip_serializing_if = "Option::is_none")]
            pub browser_scripts: Option<bool>,
            /// Extensions.
            #[serde(rename = "messageExtension", default, skip_serializing_if = "Vec::is_empty")]
            pub extensions: Vec<MessageExtension>,
        }

        impl AReq {
            fn check_texts(&self) -> Result<(), MessageError> {
                $(check_field($name, &self.$field, $format)?;)*
                $(check_optional($other_name, self.$other.as_deref(), $other_format)?;)*
                Ok(())
            }
        }
    };
}

request! {
    texts {
        /// `messageType`.
        message_type: "messageType" = FieldFormat::Code(&["AReq"]),
        /// `messageVersion`.
        message_version: "messageVersion" = FieldFormat::Text(8),
        /// Transaction id of the 3DS server.
        server_transaction_id: "threeDSServerTransID" = FieldFormat::TransactionId,
        /// Address to which the result of a challenge is sent.
        server_url: "threeDSServerURL" = FieldFormat::Url(2048),
        /// Number that EMVCo has assigned to the 3DS server.
        server_reference: "threeDSServerRefNumber" = FieldFormat::Text(32),
        /// Completion of the issuer's method page: Y, N or U.
        method_completion: "threeDSCompInd" = FieldFormat::Code(&["Y", "N", "U"]),
        /// Id that the directory server has assigned to the merchant.
        requestor_id: "threeDSRequestorID" = FieldFormat::Text(35),
        /// Name that the directory server has assigned to the merchant.
        requestor_name: "threeDSRequestorName" = FieldFormat::Text(40),
        /// Address of the merchant's website.
        requestor_url: "threeDSRequestorURL" = FieldFormat::Text(2048),
        /// Reason for the authentication: 01 for a payment, 04 to add a card.
        authentication_indicator: "threeDSRequestorAuthenticationInd" = FieldFormat::TwoDigits,
        /// 02: a browser.
        device_channel: "deviceChannel" = FieldFormat::Code(&["01", "02", "03"]),
        /// 01 for a payment, 02 for another authentication.
        message_category: "messageCategory" = FieldFormat::TwoDigits,
        /// Address to which the browser returns from the challenge.
        notification_url: "notificationURL" = FieldFormat::Url(256),
        /// Accept header of the browser.
        browser_accept: "browserAcceptHeader" = FieldFormat::Text(2048),
        /// Language of the browser, a BCP 47 tag.
        browser_language: "browserLanguage" = FieldFormat::Text(8),
        /// User-Agent header of the browser.
        browser_user_agent: "browserUserAgent" = FieldFormat::Text(2048),
        /// Time of the purchase, UTC.
        purchase_date: "purchaseDate" = FieldFormat::DateTime,
        /// Amount in minor units.
        purchase_amount: "purchaseAmount" = FieldFormat::Digits(1, 48),
        /// Currency, three digits.
        purchase_currency: "purchaseCurrency" = FieldFormat::Digits(3, 3),
        /// Number of minor digits of the currency.
        purchase_exponent: "purchaseExponent" = FieldFormat::Digits(1, 1),
    }
    optional {
        /// The acquirer's BIN.
        acquirer_bin: "acquirerBIN" = FieldFormat::Text(11),
        /// The acquirer's id of the merchant.
        acquirer_merchant: "acquirerMerchantID" = FieldFormat::Text(35),
        /// Merchant category code.
        mcc: "mcc" = FieldFormat::Digits(4, 4),
        /// The merchant's country, three digits.
        merchant_country: "merchantCountryCode" = FieldFormat::Digits(3, 3),
        /// The merchant's name.
        merchant_name: "merchantName" = FieldFormat::Text(40),
        /// Id of the 3DS server's operator.
        server_operator: "threeDSServerOperatorID" = FieldFormat::Text(32),
        /// Expiry date of the card, `YYMM`.
        card_expiry: "cardExpiryDate" = FieldFormat::Digits(4, 4),
        /// Name of the cardholder.
        cardholder_name: "cardholderName" = FieldFormat::Text(45),
        /// The cardholder's email address.
        email: "email" = FieldFormat::Text(254),
        /// The browser's IP address.
        browser_ip: "browserIP" = FieldFormat::Text(45),
        /// Bits per pixel.
        browser_color_depth: "browserColorDepth" =
            FieldFormat::Code(&["1", "4", "8", "15", "16", "24", "32", "48"]),
        /// Height of the screen in pixels.
        browser_screen_height: "browserScreenHeight" = FieldFormat::Digits(1, 6),
        /// Width of the screen in pixels.
        browser_screen_width: "browserScreenWidth" = FieldFormat::Digits(1, 6),
        /// Minutes between UTC and local time.
        browser_timezone: "browserTZ" = FieldFormat::Text(5),
        /// City of the billing address.
        billing_city: "billAddrCity" = FieldFormat::Text(50),
        /// Country of the billing address, three digits.
        billing_country: "billAddrCountry" = FieldFormat::Digits(3, 3),
        /// First line of the billing address.
        billing_line1: "billAddrLine1" = FieldFormat::Text(50),
        /// Second line of the billing address.
        billing_line2: "billAddrLine2" = FieldFormat::Text(50),
        /// Postal code of the billing address.
        billing_postcode: "billAddrPostCode" = FieldFormat::Text(16),
        /// State of the billing address (ISO 3166-2, without the country).
        billing_state: "billAddrState" = FieldFormat::Text(3),
        /// Type of the transaction.
        transaction_type: "transType" = FieldFormat::TwoDigits,
    }
}

/// The preferences for a challenge: a text until 2.2.0, a list in 2.3.1.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ChallengeIndicators {
    /// One preference.
    One(String),
    /// One or two preferences.
    List(Vec<String>),
}

impl ChallengeIndicators {
    /// Writes a preference in the form of a version.
    pub fn new(code: &str, version: MessageVersion) -> Self {
        match version {
            MessageVersion::V231 => Self::List(vec![code.to_owned()]),
            MessageVersion::V21 | MessageVersion::V22 => Self::One(code.to_owned()),
        }
    }

    /// Returns the preferences.
    pub fn codes(&self) -> &[String] {
        match self {
            Self::One(code) => std::slice::from_ref(code),
            Self::List(codes) => codes,
        }
    }
}

impl AReq {
    /// Checks the data elements that belong to a version: 2.2.0 and later know whether the browser runs scripts, and
    /// need the other data of the browser only then.
    fn check_browser(&self) -> Result<(), MessageError> {
        let has_scripts = self.browser_scripts.unwrap_or(true);
        let required = [
            ("browserJavaEnabled", self.browser_java.is_some()),
            ("browserScreenHeight", self.browser_screen_height.is_some()),
            ("browserScreenWidth", self.browser_screen_width.is_some()),
            ("browserTZ", self.browser_timezone.is_some()),
        ];
        match required.into_iter().find(|(_, is_there)| has_scripts && !is_there) {
            Some((name, _)) => Err(MessageError::new(ErrorCode::MissingElement, name)),
            None => Ok(()),
        }
    }
}

impl WireMessage for AReq {
    const MESSAGE_TYPE: &'static str = "AReq";

    fn check(&self) -> Result<(), MessageError> {
        check_field("acctNumber", self.account_number.expose(), FieldFormat::Digits(13, 19))?;
        self.check_texts()?;
        for code in self.challenge_indicators.iter().flat_map(ChallengeIndicators::codes) {
            check_field("threeDSRequestorChallengeInd", code, FieldFormat::TwoDigits)?;
        }
        self.check_browser()?;
        check_extensions(&self.extensions)?;
        let is_payment = self.message_category == "01";
        let required = [
            ("acquirerBIN", self.acquirer_bin.is_some()),
            ("acquirerMerchantID", self.acquirer_merchant.is_some()),
            ("mcc", self.mcc.is_some()),
            ("merchantCountryCode", self.merchant_country.is_some()),
            ("merchantName", self.merchant_name.is_some()),
        ];
        match required.into_iter().find(|(_, is_there)| is_payment && !is_there) {
            Some((name, _)) => Err(MessageError::new(ErrorCode::MissingElement, name)),
            None => Ok(()),
        }
    }
}
