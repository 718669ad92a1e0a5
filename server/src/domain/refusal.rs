//! A refusal: an answer that says no, with a documented result code and an HTTP status. Made in `domain` and
//! `gateway`; anything that is not a refusal and not an answer is an internal error.

use std::borrow::Cow;

use tillgate_shared::format::choice;
use tillgate_shared::parameter::ParameterError;
use tillgate_shared::result::{ResultCode, codes};

use super::scope::Scope;

/// Why a request is not carried out.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The result code that clients branch on.
    pub code: ResultCode,
    /// More than the code's own description, where a case needs telling apart.
    pub description: Option<Cow<'static, str>>,
    /// The parameters at fault, each with what is wrong with it.
    pub parameters: Vec<ParameterError>,
    /// After how many seconds the same request may go better (`Retry-After`); none where waiting does not help.
    pub retry_after: Option<u32>,
}

/// Most parameters that a refusal names. A body has room for 20,000, and each is longer in the answer.
const MOST_PARAMETERS: usize = 100;

impl Refusal {
    fn new(status: u16, code: ResultCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self { description: Some(description.into()), ..Self::bare(status, code) }
    }

    /// A refusal in the code's own words.
    fn bare(status: u16, code: ResultCode) -> Self {
        Self { status, code, description: None, parameters: Vec::new(), retry_after: None }
    }

    /// 400: parameters are missing or invalid; `parameterErrors` names each, up to the first hundred.
    pub fn parameters(mut parameters: Vec<ParameterError>) -> Self {
        parameters.truncate(MOST_PARAMETERS);
        Self { parameters, ..Self::bare(400, codes::INVALID_PARAMETER) }
    }

    /// 400: one parameter is missing or invalid.
    pub fn parameter(name: &str, value: Option<&str>, message: impl Into<String>) -> Self {
        Self::parameters(vec![ParameterError::new(name, value, message)])
    }

    /// 400: a parameter is none of the words that it may be.
    pub fn one_of(name: &str, value: &str, words: &[&str]) -> Self {
        Self::parameter(name, Some(value), choice::message(words))
    }

    /// The same refusal, because of what a parameter names.
    #[must_use]
    pub fn naming(self, name: &str, value: &str, message: &str) -> Self {
        let parameters = vec![ParameterError::new(name, Some(value), message)];
        Self { parameters, ..self }
    }

    /// The same refusal of a parameter with another name.
    #[must_use]
    pub fn about(mut self, name: &str) -> Self {
        for parameter in &mut self.parameters {
            name.clone_into(&mut parameter.name);
        }
        self
    }

    /// 400: the body cannot be read as parameters at all.
    pub fn malformed(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, codes::INVALID_PARAMETER, description)
    }

    /// 413: the body is longer than the service reads.
    pub fn too_large() -> Self {
        Self::new(413, codes::INVALID_PARAMETER, "The request body is larger than 1 MiB")
    }

    /// 408: the body does not come.
    pub fn too_slow() -> Self {
        Self::new(408, codes::INVALID_PARAMETER, "The request body did not arrive within 15 seconds")
    }

    /// 401: there is no usable Authorization header. `reason` names the half that fails, never what exists.
    pub fn unauthenticated(reason: &'static str) -> Self {
        Self::new(401, codes::AUTHENTICATION_FAILED, reason)
    }

    /// 403: the credentials are well-formed and wrong.
    pub fn wrong_credentials(reason: &'static str) -> Self {
        Self::new(403, codes::AUTHENTICATION_FAILED, reason)
    }

    /// 429: more wrong credentials from one address than its limit. Right ones are never refused so.
    pub fn too_many_wrong_credentials(seconds: u32) -> Self {
        let description = format!("Too many wrong credentials from this address; try again in {seconds} seconds");
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 403: the token is valid, and may not make requests of this kind.
    pub fn missing_scope(scope: Scope) -> Self {
        let description = format!("The access token does not have the scope {}", scope.as_str());
        Self::new(403, codes::INSUFFICIENT_RIGHTS, description)
    }

    /// 403: a request for a live entity came over plain HTTP, as far as the gateway can know.
    pub fn plain_http() -> Self {
        let text = "A live entity is served over HTTPS only: send the request to https://, through a proxy that is named in \
                    --trusted-proxy and sends X-Forwarded-Proto";
        Self::new(403, codes::AUTHENTICATION_FAILED, text)
    }

    /// 403: the gateway runs without `--public-url`, which live entities need.
    pub fn no_live_entities() -> Self {
        let text = "This gateway serves no live entities: start it with --public-url https://";
        Self::new(403, codes::AUTHENTICATION_FAILED, text)
    }

    /// 403: the credentials do not cover this entityId; says nothing about whether it exists.
    pub fn unknown_channel() -> Self {
        Self::bare(403, codes::UNKNOWN_CHANNEL)
    }

    /// 403: the request was made by a browser, and the route is for servers.
    pub fn browser_not_allowed() -> Self {
        Self::new(
            403,
            codes::SENDER_NOT_ALLOWED,
            "This address is for your server: requests made by a browser are refused",
        )
    }

    /// 403: the request was made by a page of another origin, and the route is for the form's own frames.
    pub fn other_page_not_allowed() -> Self {
        Self::new(403, codes::SENDER_NOT_ALLOWED, "Only the frames of the payment form may ask here")
    }

    /// 400: what refers to an earlier payment is sent without one; no transaction is made.
    pub fn without_payment(code: ResultCode) -> Self {
        Self::new(400, code, "This payment type refers to an earlier payment: send it to /v1/payments/{id}")
    }

    /// 400: a follow-up payment (capture, reversal, refund, chargeback) of a payment that does not exist, or is another
    /// entity's. Clients look for the code of the type (contract, 0.20).
    pub fn unknown_referenced_payment(code: ResultCode) -> Self {
        Self::new(400, code, "There is no payment with this id")
    }

    /// 404: the resource does not exist, or is another entity's, which is the same answer.
    pub fn not_found(what: &'static str) -> Self {
        Self::new(404, codes::INVALID_PARAMETER, what)
    }

    /// 404: a query finds no payment; another entity's is none.
    pub fn nothing_found() -> Self {
        Self::bare(404, codes::TRANSACTION_UNKNOWN)
    }

    /// 400: the checkout's half hour is over.
    pub fn checkout_expired() -> Self {
        Self::new(400, codes::INVALID_PARAMETER, "The checkout has expired: it was open for 30 minutes")
    }

    /// 400: the checkout has been paid, or a payment of it is under way, and cannot change any more.
    pub fn checkout_closed() -> Self {
        Self::new(400, codes::INVALID_PARAMETER, "The checkout has been submitted and cannot be changed any more")
    }

    /// 400: a live entity's request carries testMode.
    pub fn test_mode_not_allowed() -> Self {
        Self {
            parameters: vec![ParameterError {
                name: "testMode".to_owned(),
                value: None,
                message: "is not allowed for a live entity".to_owned(),
            }],
            ..Self::new(400, codes::TEST_MODE_NOT_ALLOWED, "A live entity takes no testMode")
        }
    }

    /// 400: nothing processes this method for this entity.
    pub fn method_not_configured() -> Self {
        Self::bare(400, codes::METHOD_NOT_CONFIGURED)
    }

    /// 400: no channel takes the brand, the currency or the test mode.
    pub fn not_set_up(code: ResultCode) -> Self {
        Self::bare(400, code)
    }

    /// 400: the registration cannot be used any more, or never could be; the code says why.
    pub fn registration(code: ResultCode) -> Self {
        Self::bare(400, code)
    }

    /// 400: what is to be stored names no account; the brand's own page would ask the shopper for it.
    pub fn no_account(name: &str) -> Self {
        let missing = vec![ParameterError::new(name, None, "may not be empty: there is no account to store")];
        Self { parameters: missing, ..Self::bare(400, codes::NO_ACCOUNT) }
    }

    /// 400: a parameter names a registration that does not exist, or is another entity's, which is the same answer.
    pub fn unknown_registration(name: &str, id: &str) -> Self {
        Self::bare(400, codes::REGISTRATION_UNKNOWN).naming(name, id, "is not a registration that may be used here")
    }

    /// 400: the agreement that a charge without the cardholder refers to does not exist.
    pub fn unknown_initial_transaction(name: &str, id: &str) -> Self {
        Self::bare(400, codes::REFERENCE_UNKNOWN).naming(name, id, "is not an initial transaction of this entity")
    }

    /// 400: a charge without the cardholder refers to what was agreed for another account.
    pub fn other_account() -> Self {
        Self::bare(400, codes::CROSS_LINKAGE)
    }

    /// 400: what was agreed with the cardholder does not allow this charge; the parameter says what of it.
    pub fn not_agreed(name: &str, value: &str, message: &str) -> Self {
        Self::bare(400, codes::RECURRING_NOT_ALLOWED).naming(name, value, message)
    }

    /// 405: the address exists and takes another method.
    pub fn method_not_allowed() -> Self {
        Self::bare(405, codes::METHOD_NOT_SUPPORTED)
    }

    /// 503: more work is queued than the store takes; the client may try again.
    pub fn overloaded() -> Self {
        Self { retry_after: Some(1), ..Self::new(503, codes::THROTTLED, "The service is busy; try again in a second") }
    }

    /// 503: the disk is full, busy, failing or damaged. Nothing was written; the operator reads more in the log.
    pub fn store_unavailable(seconds: u32) -> Self {
        let description = "The service cannot store or read anything at the moment; nothing was done. Try again later";
        Self { retry_after: Some(seconds), ..Self::new(503, codes::STORE_UNAVAILABLE, description) }
    }

    /// 429: more attempts to pay than one source is allowed. Says for how long, and not which of the caps it is: who tests
    /// cards learns nothing.
    pub fn too_many_attempts(seconds: u32) -> Self {
        let description = format!("Too many attempts to pay; try again in {seconds} seconds");
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: more queries than an entity may have waiting, or one that waited for its turn too long.
    pub fn too_many_queries() -> Self {
        let description = "Too many queries of this entity at once; try again in a second";
        Self { retry_after: Some(1), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: a checkout has been tried as often as it may. It ends after so many seconds; the shop may prepare a new one.
    pub fn checkout_exhausted(seconds: u32) -> Self {
        let description = "This checkout has been tried too often; prepare a new one";
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: more forms wait for the merchant's confirmation than there is room for. Some expire after so many seconds.
    pub fn too_many_forms(seconds: u32) -> Self {
        let description = "Too many forms wait for the merchant's confirmation; try again later";
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 400: the header `Idempotency-Key` cannot be taken.
    pub fn idempotency_key(message: &'static str) -> Self {
        Self {
            description: Some(format!("The header Idempotency-Key {message}").into()),
            ..Self::parameter("Idempotency-Key", None, message)
        }
    }

    /// 409: a request with this `Idempotency-Key` is under way; its answer can be had in a moment.
    pub fn under_way() -> Self {
        Self {
            retry_after: Some(1),
            ..Self::new(
                409,
                codes::ALREADY_PROCESSED,
                "A request with this Idempotency-Key is under way; send it again for its answer",
            )
        }
    }
}
