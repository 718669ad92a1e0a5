//! Answers of the other gateway, in the form of the contract. Fields that are not named here are ignored: new ones may
//! appear at any time.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use tillgate_shared::result::{ResultCode, codes};

use super::call::{ApiFault, CallFailure};
use crate::web::WebResponse;

/// Length of the id of a payment.
const ID_LENGTH: usize = 32;

/// A payment in an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PaymentAnswer {
    pub(super) id: Option<String>,
    pub(super) payment_type: Option<String>,
    pub(super) amount: Option<String>,
    /// The amount of the request, if only the part in `amount` is approved.
    pub(super) requested_amount: Option<String>,
    pub(super) currency: Option<String>,
    pub(super) merchant_transaction_id: Option<String>,
    /// The payment that it refers to, in a list.
    pub(super) referenced_id: Option<String>,
    pub(super) result: ResultAnswer,
    #[serde(default)]
    pub(super) result_details: BTreeMap<String, Value>,
    pub(super) redirect: Option<RedirectAnswer>,
    #[serde(default)]
    pub(super) standing_instruction: InstructionAnswer,
}

/// A result in an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ResultAnswer {
    pub(super) code: String,
    pub(super) avs_response: Option<String>,
    pub(super) cvv_response: Option<String>,
    #[serde(default)]
    parameter_errors: Vec<ParameterErrorAnswer>,
}

#[derive(Debug, Clone, Deserialize)]
struct ParameterErrorAnswer {
    name: Option<String>,
}

/// A page that the shopper has to visit. Pages that a browser would load in hidden frames before are ignored: they tell
/// an issuer about the browser, and the page works without them.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RedirectAnswer {
    pub(super) url: Option<String>,
    pub(super) method: Option<String>,
    #[serde(default)]
    pub(super) parameters: Vec<RedirectParameter>,
}

/// A parameter of a page.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct RedirectParameter {
    pub(super) name: String,
    pub(super) value: String,
}

/// A standing instruction in an answer.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct InstructionAnswer {
    pub(super) initial_transaction_id: Option<String>,
}

/// A list of payments.
#[derive(Debug, Deserialize)]
struct ListAnswer {
    result: ResultAnswer,
    payments: Vec<PaymentAnswer>,
}

/// An answer of which only id and result matter.
#[derive(Debug, Deserialize)]
struct PlainAnswer {
    id: Option<String>,
    result: ResultAnswer,
}

impl PaymentAnswer {
    /// Returns the id, if it has the form of one: 32 letters and digits. It becomes a part of addresses.
    pub(super) fn valid_id(&self) -> Option<&str> {
        self.id.as_deref().filter(|id| is_payment_id(id))
    }

    /// Returns the documented code of the result.
    pub(super) fn code(&self) -> Option<ResultCode> {
        ResultCode::find(&self.result.code)
    }

    /// Returns true if the payment is approved.
    pub(super) fn is_approved(&self) -> bool {
        self.code().is_some_and(|code| code.is_success())
    }

    /// Returns true if the payment is declined, also with a code that is not documented.
    pub(super) fn is_declined(&self) -> bool {
        self.code().is_none_or(|code| !code.is_success() && !code.is_pending())
    }
}

/// Returns true if a text has the form of a payment's id.
pub(super) fn is_payment_id(text: &str) -> bool {
    text.len() == ID_LENGTH && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// Reads the answer to a payment or follow-up payment. A declined payment has status 400 and an id.
///
/// # Errors
/// If the other gateway has made no payment, or its answer does not tell.
pub(super) fn read_payment(response: &WebResponse) -> Result<PaymentAnswer, CallFailure> {
    let unreadable = || CallFailure::Unknown(ApiFault::Unreadable(response.status));
    match response.status {
        200 | 400 => {
            let payment: PaymentAnswer = serde_json::from_slice(&response.body).map_err(|_| unreadable())?;
            let is_payment = payment.id.is_some();
            // The code decides, as it does for all clients of the contract. Status and code of an approval agree.
            match (response.status, is_payment) {
                (200, true) if payment.code().is_some() => Ok(payment),
                (400, true) if payment.is_declined() => Ok(payment),
                (400, false) => Err(refusal(400, &payment.result)),
                _ => Err(CallFailure::Unknown(ApiFault::Mismatch("result.code"))),
            }
        }
        _ => Err(read_failure(response)),
    }
}

/// Reads the answer to a query. Returns no payment if none was found.
///
/// # Errors
/// If the other gateway has not answered the query.
pub(super) fn read_payments(response: &WebResponse) -> Result<Vec<PaymentAnswer>, CallFailure> {
    let unreadable = || CallFailure::Unknown(ApiFault::Unreadable(response.status));
    match response.status {
        200 => {
            let list: ListAnswer = serde_json::from_slice(&response.body).map_err(|_| unreadable())?;
            let is_success = ResultCode::find(&list.result.code).is_some_and(|code| code.is_success());
            if is_success { Ok(list.payments) } else { Err(unreadable()) }
        }
        // Only the contract's own "not found" counts: a proxy answers 404 as well.
        404 => match serde_json::from_slice::<PlainAnswer>(&response.body) {
            Ok(answer) if answer.result.code == codes::TRANSACTION_UNKNOWN.code() => Ok(Vec::new()),
            _ => Err(unreadable()),
        },
        _ => Err(read_failure(response)),
    }
}

/// Reads the answer to the creation of a checkout.
///
/// # Errors
/// If the other gateway has made no checkout, or its answer does not tell.
pub(super) fn read_checkout(response: &WebResponse) -> Result<(), CallFailure> {
    if response.status != 200 {
        return Err(read_failure(response));
    }
    let answer = serde_json::from_slice::<PlainAnswer>(&response.body).ok();
    let is_made = |answer: &PlainAnswer| answer.id.is_some() && answer.result.code == codes::CHECKOUT_CREATED.code();
    match answer.filter(is_made) {
        Some(_) => Ok(()),
        None => Err(CallFailure::Unknown(ApiFault::Unreadable(200))),
    }
}

/// Reads an answer without a payment. Only a refusal in the form of the contract says that nothing was done.
fn read_failure(response: &WebResponse) -> CallFailure {
    let status = response.status;
    let answer = serde_json::from_slice::<PlainAnswer>(&response.body).ok();
    match (status, answer) {
        (400 | 401 | 403 | 404 | 405 | 413 | 429, Some(PlainAnswer { id: None, result })) => refusal(status, &result),
        (409, Some(_)) => CallFailure::Unknown(ApiFault::InProgress),
        (500.., Some(_)) => CallFailure::Unknown(ApiFault::Unavailable(status)),
        _ => CallFailure::Unknown(ApiFault::Unreadable(status)),
    }
}

/// Makes the failure of a refused request.
fn refusal(status: u16, result: &ResultAnswer) -> CallFailure {
    let names = result.parameter_errors.iter().filter_map(|error| error.name.as_deref());
    let parameter = names.clone().find(|name| is_plain_name(name)).map(str::to_owned);
    if names.into_iter().any(|name| name.eq_ignore_ascii_case("idempotency-key")) {
        // The request that was sent with the key before may have been executed.
        return CallFailure::Unknown(ApiFault::KeyReused);
    }
    let code = if is_code(&result.code) { result.code.clone() } else { String::new() };
    CallFailure::NotExecuted(ApiFault::Refused { status, code, parameter })
}

/// Returns true if a text has the form of a result code: 2 to 11 digits and dots.
pub(super) fn is_code(text: &str) -> bool {
    (2..=11).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

/// Returns true if a text may be the name of a parameter. Other texts are not shown: they may repeat a secret.
fn is_plain_name(text: &str) -> bool {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._[]-".contains(&byte);
    (1..=64).contains(&text.len())
        && text.bytes().all(is_allowed)
        && !text.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
}
