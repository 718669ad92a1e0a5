//! The data that an answer has to repeat, and the outcome of an answer that repeats them.

use std::collections::BTreeMap;

use serde_json::Value;
use tillgate_domain::payment::ConnectorTxIds;
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_shared::money::Amount;
use tillgate_shared::result::{ResultCode, codes};

use super::answer::{PaymentAnswer, RedirectAnswer, is_code};
use super::call::ApiFault;
use super::token::AccessToken;
use crate::http::codes::no_reason_code;
use crate::web::address::is_redirect_allowed;
use crate::{ConnectorOutcome, ConnectorResult, ShopperPage};

/// Beginning of the codes with which sandboxes approve payments.
const SANDBOX_APPROVAL: &str = "000.100.1";
/// Beginning of the codes with which live entities approve payments.
const LIVE_APPROVAL: &str = "000.000.";
/// Name of the acquirer's own response code among the details.
const ACQUIRER_RESPONSE: &str = "AcquirerResponse";
/// Beginning of the names of the acquirer's ids among the details.
const TRANSACTION_ID: &str = "ConnectorTxID";
/// Maximum length of an id, in characters.
const MAX_ID: usize = 64;
/// Maximum number of details, of parameters of a page, and their maximum length in characters (specification,
/// document 3).
const MAX_DETAILS: usize = 32;
const MAX_PARAMETERS: usize = 64;
const MAX_DETAIL: usize = 2048;
/// Maximum length of a value that a browser sends to a page, in bytes. The request of a challenge is the longest.
const MAX_PARAMETER: usize = 16 * 1024;

/// The data that the answer to a request has to repeat.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expectation<'a> {
    /// `paymentType`.
    pub(super) payment_type: &'a str,
    /// `merchantTransactionId`.
    pub(super) reference: &'a str,
    /// The amount. `None` for a reversal, which is of the amount that the other gateway has approved.
    pub(super) amount: Option<Amount>,
    /// True if a part of the amount may be approved.
    pub(super) allows_part: bool,
    /// True if the payment moves real money here. `None` for a reversal: an approval in the wrong mode is reversed too.
    pub(super) is_live: Option<bool>,
}

impl Expectation<'_> {
    /// Returns the outcome of an answer.
    ///
    /// # Errors
    /// If the answer does not repeat the data, or approves a payment in the other mode.
    pub(super) fn read_outcome(
        &self,
        answer: &PaymentAnswer,
        token: &AccessToken,
    ) -> Result<ConnectorOutcome, ApiFault> {
        let Some(id) = answer.valid_id().filter(|id| !token.is_in(id)) else { return Err(ApiFault::Mismatch("id")) };
        let is_declined = answer.is_declined();
        self.check_names(answer, is_declined)?;
        let approved_amount = if is_declined { None } else { self.read_amount(answer)? };
        let code = match answer.code() {
            Some(code) if code.is_success() => self.approval_code(code)?,
            Some(code) => code,
            // Undocumented, as new codes are to older gateways.
            None => no_reason_code(),
        };
        let result = ConnectorResult {
            code,
            avs: read_letter(answer.result.avs_response.as_deref()),
            cvv: read_letter(answer.result.cvv_response.as_deref()),
            details: read_details(answer, token),
            transfer_account: None,
            connector_tx_ids: read_ids(id, answer, token),
            approved_amount,
        };
        match &answer.redirect {
            Some(redirect) if code.is_pending() => {
                let page = read_page(redirect, token).ok_or(ApiFault::Mismatch("redirect"))?;
                Ok(ConnectorOutcome::Redirect(ConnectorResult { code: codes::PENDING, ..result }, page))
            }
            _ => Ok(ConnectorOutcome::from_result(result)),
        }
    }

    /// Checks type and reference. A decline may lack them, but not have others.
    fn check_names(&self, answer: &PaymentAnswer, is_declined: bool) -> Result<(), ApiFault> {
        let is_same = |found: Option<&str>, own: &str| found.map_or(is_declined, |found| found == own);
        if !is_same(answer.payment_type.as_deref(), self.payment_type) {
            return Err(ApiFault::Mismatch("paymentType"));
        }
        if !is_same(answer.merchant_transaction_id.as_deref(), self.reference) {
            return Err(ApiFault::Mismatch("merchantTransactionId"));
        }
        Ok(())
    }

    /// Checks amount and currency of an answer that is no decline. Returns the approved amount if it is a part.
    fn read_amount(&self, answer: &PaymentAnswer) -> Result<Option<Amount>, ApiFault> {
        let Some(expected) = self.amount else { return Ok(None) };
        if answer.currency.as_deref() != Some(expected.currency().code()) {
            return Err(ApiFault::Mismatch("currency"));
        }
        let read = |text: &Option<String>| Amount::parse(text.as_deref()?, expected.currency()).ok();
        let Some(amount) = read(&answer.amount) else { return Err(ApiFault::Mismatch("amount")) };
        let requested = answer.requested_amount.is_some().then(|| read(&answer.requested_amount));
        match requested {
            None if amount == expected => Ok(None),
            Some(Some(requested))
                if self.allows_part && requested == expected && amount < expected && !amount.is_zero() =>
            {
                Ok(Some(amount))
            }
            _ => Err(ApiFault::Mismatch("amount")),
        }
    }

    /// Returns the result code of an approval: the other gateway's own for real money, and the one of test systems for
    /// a sandbox, whichever mode the other sandbox has used.
    fn approval_code(&self, code: ResultCode) -> Result<ResultCode, ApiFault> {
        let is_of_sandbox = code.code().starts_with(SANDBOX_APPROVAL);
        let is_of_live_entity = code.code().starts_with(LIVE_APPROVAL);
        match self.is_live {
            // A sandbox's approval moves no money, and a live one moves money that a test must not move. Others do not
            // tell which of them they are.
            Some(is_live) if !(if is_live { is_of_live_entity } else { is_of_sandbox }) => {
                Err(ApiFault::OtherMode { code, is_live })
            }
            _ if is_of_sandbox => Ok(codes::TEST_CONNECTOR),
            _ => Ok(code),
        }
    }
}

/// Returns a letter from A to Z, the result of a check. `None` for any other text.
fn read_letter(text: Option<&str>) -> Option<char> {
    let mut letters = text?.chars();
    letters.next().filter(|letter| letter.is_ascii_uppercase() && letters.next().is_none())
}

/// Returns the details of an answer, with the acquirer's own response code; without one, the result code of the other
/// gateway, which is the acquirer here. Leaves out texts that are too long or contain the token.
fn read_details(answer: &PaymentAnswer, token: &AccessToken) -> BTreeMap<String, String> {
    let is_name = |name: &str| {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._".contains(&byte);
        (3..=MAX_ID).contains(&name.len()) && name.bytes().all(is_allowed) && !name.starts_with(TRANSACTION_ID)
    };
    let texts = answer.result_details.iter().filter_map(|(name, value)| Some((name, value.as_str()?)));
    let allowed = texts.filter(|(name, value)| {
        is_name(name) && value.chars().count() <= MAX_DETAIL && !token.is_in(name) && !token.is_in(value)
    });
    let mut details: BTreeMap<String, String> =
        allowed.take(MAX_DETAILS).map(|(name, value)| (name.clone(), mask_card_numbers(value).into_owned())).collect();
    if is_code(&answer.result.code) {
        details.entry(ACQUIRER_RESPONSE.to_owned()).or_insert_with(|| answer.result.code.clone());
    }
    details
}

/// Returns the ids of an answer: that of the payment, the authorization code, and the id that later payments of a
/// standing instruction name.
fn read_ids(id: &str, answer: &PaymentAnswer, token: &AccessToken) -> ConnectorTxIds {
    let is_id = |id: &&str| {
        (1..=MAX_ID).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()) && !token.is_in(id)
    };
    let detail = |name: &str| answer.result_details.get(name).and_then(Value::as_str);
    let initial = answer.standing_instruction.initial_transaction_id.as_deref();
    let ids = [Some(id), detail("ConnectorTxID2"), initial.or_else(|| detail("ConnectorTxID3"))];
    ConnectorTxIds::new(ids.map(|id| id.filter(is_id).map(str::to_owned)))
}

/// Returns the page of a redirect. `None` if the shopper must not be sent there, or the page would get the token.
fn read_page(redirect: &RedirectAnswer, token: &AccessToken) -> Option<ShopperPage> {
    let url = redirect.url.clone().filter(|url| is_redirect_allowed(url) && !token.is_in(url))?;
    let method = match redirect.method.as_deref() {
        None | Some("GET") => "GET",
        Some("POST") => "POST",
        Some(_) => return None,
    };
    let is_allowed = |text: &str, limit: usize| text.len() <= limit && !token.is_in(text);
    let has_valid_parameters = redirect.parameters.len() <= MAX_PARAMETERS
        && redirect.parameters.iter().all(|parameter| {
            !parameter.name.is_empty()
                && is_allowed(&parameter.name, 255)
                && is_allowed(&parameter.value, MAX_PARAMETER)
        });
    let parameters = redirect.parameters.iter().map(|parameter| (parameter.name.clone(), parameter.value.clone()));
    has_valid_parameters.then(|| ShopperPage::Foreign {
        url,
        method: method.to_owned(),
        parameters: parameters.collect(),
    })
}
