//! Builds the authentication request (AReq) of a payment.

use jiff::Timestamp;
use tillgate_shared::parameter::Parameters;

use super::super::ThreeDsRequest;
use super::super::message::{AReq, ChallengeIndicators, MessageVersion, WireMessage as _};
use super::super::request::{ChallengePreference, Exemption, ThreeDsMessage};
use super::country::country_number;
use crate::http::protocol::SecretText;
use crate::http::request::to_minor_units;

/// Data of the gateway and its acquirer that every request has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestorProfile {
    /// Id that the directory servers have assigned to the operator (`threeDSRequestorID`).
    pub requestor_id: String,
    /// Name that the directory servers have assigned to the operator (`threeDSRequestorName`).
    pub requestor_name: String,
    /// Number that EMVCo has assigned to the 3DS server (`threeDSServerRefNumber`).
    pub server_reference: String,
    /// The acquirer's BIN.
    pub acquirer_bin: String,
    /// Merchant category code of merchants that send none (`merchant.mcc`).
    pub mcc: String,
    /// Country of merchants that send none, two letters.
    pub country: String,
}

/// Maximum lengths of texts in the request, in characters.
const HEADER_LIMIT: usize = 2048;
const NAME_LIMIT: usize = 40;
const ADDRESS_LIMIT: usize = 50;
const LANGUAGE_LIMIT: usize = 8;
/// Color depths that the protocol has.
const COLOR_DEPTHS: [u8; 8] = [1, 4, 8, 15, 16, 24, 32, 48];

/// Builds the request. A text that is too long is cut, and one in another format left out; the caller checks the
/// message before it is sent.
pub(super) fn build_areq(
    request: &ThreeDsRequest<'_>,
    version: MessageVersion,
    transaction: &str,
    profile: &RequestorProfile,
    now: Timestamp,
) -> AReq {
    let parameters = request.parameters;
    let message = request.message;
    let browser = &message.browser;
    let has_scripts = browser.screen.is_some();
    let is_payment = !message.amount.is_zero();
    let merchant_name = parameters.get("threeDSecure.merchant.name").unwrap_or(request.merchant_name);
    let currency = message.amount.currency();
    let screen = browser.screen;
    let mut areq = AReq {
        account_number: SecretText::new(request.number.digits()),
        message_type: AReq::MESSAGE_TYPE.to_owned(),
        message_version: version.as_str().to_owned(),
        server_transaction_id: transaction.to_owned(),
        server_url: request.pages.result_url.clone(),
        server_reference: profile.server_reference.clone(),
        method_completion: request.method_completion.as_str().to_owned(),
        requestor_id: scheme_text(request, "requestorId").unwrap_or_else(|| profile.requestor_id.clone()),
        requestor_name: scheme_text(request, "requestorName").unwrap_or_else(|| profile.requestor_name.clone()),
        requestor_url: requestor_url(request),
        // 04 adds a card, and 01 is a payment.
        authentication_indicator: if is_payment { "01" } else { "04" }.to_owned(),
        device_channel: "02".to_owned(),
        message_category: if is_payment { "01" } else { "02" }.to_owned(),
        notification_url: request.pages.notification_url.clone(),
        browser_accept: cut(browser.accept.as_deref().unwrap_or("*/*"), HEADER_LIMIT),
        browser_language: short_language(browser.language.as_deref().unwrap_or("en")),
        browser_user_agent: cut(browser.user_agent.as_deref().unwrap_or("unknown"), HEADER_LIMIT),
        purchase_date: format_time(now),
        purchase_amount: to_minor_units(message.amount).unwrap_or_default().to_string(),
        purchase_currency: currency.number(),
        purchase_exponent: currency.decimals().to_string(),
        acquirer_bin: Some(profile.acquirer_bin.clone()),
        acquirer_merchant: Some(cut(request.merchant_id, 35)),
        mcc: Some(merchant_category(parameters, profile)),
        merchant_country: merchant_country(parameters, profile),
        merchant_name: Some(cut(merchant_name, NAME_LIMIT)),
        server_operator: None,
        card_expiry: Some(card_expiry(request)),
        cardholder_name: parameters.get("card.holder").map(|holder| cut(holder, 45)),
        email: text(parameters, "customer.email", 254),
        browser_ip: text(parameters, "customer.ip", 45),
        browser_color_depth: screen.and_then(|screen| screen.color_depth).and_then(known_color_depth),
        browser_screen_height: screen.map(|screen| screen.height.to_string()),
        browser_screen_width: screen.map(|screen| screen.width.to_string()),
        browser_timezone: screen.map(|screen| screen.timezone.to_string()),
        billing_city: text(parameters, "billing.city", ADDRESS_LIMIT),
        billing_country: parameters.get("billing.country").and_then(country_number),
        billing_line1: text(parameters, "billing.street1", ADDRESS_LIMIT),
        billing_line2: text(parameters, "billing.street2", ADDRESS_LIMIT),
        billing_postcode: text(parameters, "billing.postcode", 16),
        billing_state: parameters.get("billing.state").filter(|state| state.len() <= 3).map(str::to_owned),
        transaction_type: None,
        challenge_indicators: challenge_code(message, version).map(|code| ChallengeIndicators::new(code, version)),
        browser_java: screen.map(|screen| screen.java),
        browser_scripts: Some(has_scripts),
        extensions: Vec::new(),
    };
    if version == MessageVersion::V21 {
        areq.browser_scripts = None;
        // This version knows no browser without scripts. The shopper must not choose to have no authentication.
        areq.browser_java.get_or_insert(false);
        areq.browser_screen_height.get_or_insert_with(|| "0".to_owned());
        areq.browser_screen_width.get_or_insert_with(|| "0".to_owned());
        areq.browser_timezone.get_or_insert_with(|| "0".to_owned());
    }
    areq
}

/// Returns the preference for a challenge in the value set of a version. An exemption that has no value of its own is
/// requested as "no challenge".
fn challenge_code(message: &ThreeDsMessage, version: MessageVersion) -> Option<&'static str> {
    let exempted = message.exemption.map(|exemption| match (exemption, version) {
        (Exemption::RiskAnalysis, _) => "05",
        (Exemption::TrustedBeneficiary, _) => "08",
        (Exemption::LowValue, MessageVersion::V231) => "10",
        (Exemption::SecureCorporate, MessageVersion::V231) => "11",
        (Exemption::LowValue | Exemption::SecureCorporate, _) => "02",
    });
    let mandated = message.challenge_mandated.then_some(ChallengePreference::Mandate.code());
    // A mandate stands above an exemption.
    let code = mandated.or(message.challenge_preference.map(ChallengePreference::code)).or(exempted)?;
    let exists = version > MessageVersion::V21 || matches!(code, "01" | "02" | "03" | "04");
    Some(if exists { code } else { "02" })
}

/// Returns the merchant's own text for the card's scheme, such as `threeDSecure.v2.visa.requestorId`.
fn scheme_text(request: &ThreeDsRequest<'_>, name: &str) -> Option<String> {
    let scheme = match request.brand.code {
        "MASTER" => "mastercard".to_owned(),
        "CARTEBANCAIRE" => "cartebancaire".to_owned(),
        code => code.to_ascii_lowercase(),
    };
    let limit = if name == "requestorId" { 35 } else { NAME_LIMIT };
    text(request.parameters, &format!("threeDSecure.v2.{scheme}.{name}"), limit)
}

/// Returns the address of the merchant's website: the merchant's own text, or the origin of the gateway's pages.
fn requestor_url(request: &ThreeDsRequest<'_>) -> String {
    let own = text(request.parameters, "threeDSecure.merchant.url", HEADER_LIMIT);
    own.or_else(|| super::super::message::field::url_origin(&request.pages.notification_url)).unwrap_or_default()
}

/// Returns the merchant category code: the merchant's own if it has four digits, or the profile's.
fn merchant_category(parameters: &Parameters, profile: &RequestorProfile) -> String {
    let is_code = |code: &&str| code.len() == 4 && code.bytes().all(|byte| byte.is_ascii_digit());
    parameters.get("merchant.mcc").filter(is_code).unwrap_or(&profile.mcc).to_owned()
}

/// Returns the merchant's country as three digits: the merchant's own, or the profile's.
fn merchant_country(parameters: &Parameters, profile: &RequestorProfile) -> Option<String> {
    let own = parameters.get("threeDSecure.merchant.country").or(parameters.get("merchant.country"));
    own.and_then(country_number).or_else(|| country_number(&profile.country))
}

/// Returns the expiry date as `YYMM`.
fn card_expiry(request: &ThreeDsRequest<'_>) -> String {
    let year = request.expiry.year_text();
    format!("{}{}", year.get(2..).unwrap_or_default(), request.expiry.month_text())
}

/// Returns the greatest color depth of the protocol that is not above a screen's.
fn known_color_depth(depth: u8) -> Option<String> {
    COLOR_DEPTHS.into_iter().rev().find(|known| *known <= depth).map(|known| known.to_string())
}

/// Returns a language tag, without its last parts if it is too long.
fn short_language(tag: &str) -> String {
    let mut short = tag;
    while short.len() > LANGUAGE_LIMIT {
        match short.rsplit_once('-') {
            Some((rest, _)) => short = rest,
            None => return "en".to_owned(),
        }
    }
    short.to_owned()
}

fn format_time(now: Timestamp) -> String {
    now.to_zoned(jiff::tz::TimeZone::UTC).strftime("%Y%m%d%H%M%S").to_string()
}

/// Returns a parameter without control characters, cut to a number of characters. `None` if nothing is left.
fn text(parameters: &Parameters, name: &str, limit: usize) -> Option<String> {
    parameters.get(name).map(|value| cut(value, limit)).filter(|value| !value.is_empty())
}

fn cut(value: &str, limit: usize) -> String {
    value.chars().filter(|character| !character.is_control()).take(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browser_data_fit_into_the_message() {
        assert_eq!(known_color_depth(30).as_deref(), Some("24"));
        assert_eq!(known_color_depth(0), None);
        assert_eq!(short_language("zh-Hant-TW"), "zh-Hant");
        assert_eq!(short_language("de-AT"), "de-AT");
        assert_eq!(short_language("abcdefghijkl"), "en");
        assert_eq!(cut("a\nb", 9), "ab");
        assert_eq!(format_time(Timestamp::UNIX_EPOCH), "19700101000000");
    }
}
