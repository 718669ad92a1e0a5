//! Refusals: responses that reject a request with a documented result code and an HTTP status. They are created in
//! `domain` and `gateway`. Every other failure is an internal error.

use std::borrow::Cow;

use tillgate_shared::format::choice;
use tillgate_shared::parameter::ParameterError;
use tillgate_shared::result::{ResultCode, codes};

use crate::access::scope::Scope;
use crate::access::setup_fault::SetupFault;

/// Reason for not carrying out a request.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// HTTP status of the response.
    pub status: u16,
    /// Result code on which clients base their decisions.
    pub code: ResultCode,
    /// Description of this case, if it needs more than the code's own description.
    pub description: Option<Cow<'static, str>>,
    /// The parameters at fault, each with an error message.
    pub parameters: Vec<ParameterError>,
    /// Seconds after which the same request may succeed (`Retry-After`). `None` if waiting does not help.
    pub retry_after: Option<u32>,
}

/// Maximum number of parameters that a refusal names. A body has room for 20,000, and each is longer in the response.
const MAX_PARAMETERS: usize = 100;

impl Refusal {
    /// Creates a refusal with a description of its own, without parameters at fault.
    fn new(status: u16, code: ResultCode, description: impl Into<Cow<'static, str>>) -> Self {
        Self { description: Some(description.into()), ..Self::from_code(status, code) }
    }

    /// Creates a refusal with the code's own description.
    fn from_code(status: u16, code: ResultCode) -> Self {
        Self { status, code, description: None, parameters: Vec::new(), retry_after: None }
    }

    /// 400: parameters are missing or invalid; `parameterErrors` names each, up to the first hundred.
    pub fn invalid_parameters(mut parameters: Vec<ParameterError>) -> Self {
        parameters.truncate(MAX_PARAMETERS);
        Self { parameters, ..Self::from_code(400, codes::INVALID_PARAMETER) }
    }

    /// 400: one parameter is missing (without `value`) or invalid. `message` follows the name. A secret value and card
    /// numbers are not repeated.
    pub fn invalid_parameter(name: &str, value: Option<&str>, message: impl Into<String>) -> Self {
        Self::invalid_parameters(vec![ParameterError::new(name, value, message)])
    }

    /// 400: the times of a schedule are not possible, or it cannot be changed. The parameter is named with its message,
    /// which is also the description.
    pub fn invalid_job(code: ResultCode, name: &str, value: Option<&str>, message: impl Into<String>) -> Self {
        let message = message.into();
        let parameters = vec![ParameterError::new(name, value, message.clone())];
        Self { parameters, ..Self::new(400, code, format!("{}: {name} {message}", code.description())) }
    }

    /// 400: the amount is 0 and the payment type charges or pays it.
    pub fn amount_too_small(amount: &str, payment_type: &str) -> Self {
        let message = format!("must be above 0 for {payment_type}; PA of 0.00 verifies an account");
        let parameters = vec![ParameterError::new("amount", Some(amount), message)];
        Self { parameters, ..Self::from_code(400, codes::AMOUNT_TOO_SMALL) }
    }

    /// 400: a parameter has none of its allowed values, which the message lists.
    pub fn invalid_choice(name: &str, value: &str, choices: &[&str]) -> Self {
        Self::invalid_parameter(name, Some(value), choice::error_message(choices))
    }

    /// Sets the parameter at fault, in place of those that the refusal names so far.
    #[must_use]
    pub fn with_parameter(self, name: &str, value: &str, message: &str) -> Self {
        let parameters = vec![ParameterError::new(name, Some(value), message)];
        Self { parameters, ..self }
    }

    /// Gives every parameter at fault this name: the one under which the client sent the value.
    #[must_use]
    pub fn with_parameter_name(mut self, name: &str) -> Self {
        for parameter in &mut self.parameters {
            name.clone_into(&mut parameter.name);
        }
        self
    }

    /// 400: the body cannot be parsed as parameters, for the reason in `description`.
    pub fn malformed_body(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(400, codes::INVALID_PARAMETER, description)
    }

    /// 413: the body is larger than `limit`, in bytes.
    pub fn body_too_large(limit: usize) -> Self {
        const KIB: usize = 1024;
        const MIB: usize = 1024 * KIB;
        let size =
            if limit.is_multiple_of(MIB) { format!("{} MiB", limit / MIB) } else { format!("{} KiB", limit / KIB) };
        Self::new(413, codes::INVALID_PARAMETER, format!("The request body is larger than {size}"))
    }

    /// 408: the body does not arrive in time.
    pub fn body_too_slow() -> Self {
        Self::new(408, codes::INVALID_PARAMETER, "The request body did not arrive within 15 seconds")
    }

    /// 401: there is no usable Authorization header. `reason` names the part that fails, and never reveals which
    /// credentials exist.
    pub fn missing_credentials(reason: &'static str) -> Self {
        Self::new(401, codes::AUTHENTICATION_FAILED, reason)
    }

    /// 403: the credentials are well-formed and wrong. `reason` never reveals which credentials exist.
    pub fn wrong_credentials(reason: &'static str) -> Self {
        Self::new(403, codes::AUTHENTICATION_FAILED, reason)
    }

    /// 429: too many wrong credentials from one address; `seconds` is the time to wait. Correct credentials are never
    /// refused this way.
    pub fn too_many_wrong_credentials(seconds: u32) -> Self {
        let description = format!("Too many wrong credentials from this address; try again in {seconds} seconds");
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 403: the token is valid, but does not allow requests of this kind.
    pub fn missing_scope(scope: Scope) -> Self {
        let description = format!("The access token does not have the scope {}", scope.as_str());
        Self::new(403, codes::INSUFFICIENT_RIGHTS, description)
    }

    /// 403: a request for a live entity arrived over plain HTTP, as far as the gateway can detect it behind a proxy.
    pub fn https_required() -> Self {
        let description = "A live entity is served over HTTPS only: send the request to https://, through a proxy that is named in \
                    --trusted-proxy and sends X-Forwarded-Proto";
        Self::new(403, codes::AUTHENTICATION_FAILED, description)
    }

    /// 403: the gateway runs without `--public-url`, which live entities need.
    pub fn no_live_entities() -> Self {
        let description = "This gateway serves no live entities: start it with --public-url https://";
        Self::new(403, codes::AUTHENTICATION_FAILED, description)
    }

    /// 403: the set-up of the gateway opens it to strangers.
    pub fn unsafe_setup(fault: SetupFault) -> Self {
        let description = format!("This gateway serves no live entities: its option {} is unsafe", fault.as_str());
        Self::new(403, codes::AUTHENTICATION_FAILED, description)
    }

    /// 503: the machine's clock is wrong, so the gateway serves no live entity until it is right.
    pub fn wrong_clock() -> Self {
        let description = "This server serves no live entities: its clock differs from that of the database";
        Self { retry_after: Some(10), ..Self::new(503, codes::STORE_UNAVAILABLE, description) }
    }

    /// 403: the credentials do not cover this entityId. The response is the same whether it exists or not.
    pub fn unknown_channel() -> Self {
        Self::from_code(403, codes::UNKNOWN_CHANNEL)
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

    /// 400: a follow-up payment is sent without the earlier payment. No transaction is created. `code` depends on the
    /// type.
    pub fn missing_referenced_payment(code: ResultCode) -> Self {
        Self::new(400, code, "This payment type refers to an earlier payment: send it to /v1/payments/{id}")
    }

    /// 400: a follow-up payment (capture, reversal, refund, chargeback) of a payment that does not exist or belongs to
    /// another entity. Clients check the code of the type (contract, 0.20).
    pub fn unknown_referenced_payment(code: ResultCode) -> Self {
        Self::new(400, code, "There is no payment with this id")
    }

    /// 404: the resource does not exist or belongs to another entity. The response is the same in both cases.
    /// `description` is a whole sentence without its period.
    pub fn not_found(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(404, codes::INVALID_PARAMETER, description)
    }

    /// 409: a held payment was decided or claimed by somebody else. `description` says by whom.
    pub fn review_taken(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(409, codes::ALREADY_PROCESSED, description)
    }

    /// 409: the stage of a dispute does not allow the action, perhaps because somebody else was faster. `description`
    /// names the stage.
    pub fn dispute_conflict(description: impl Into<Cow<'static, str>>) -> Self {
        Self::new(409, codes::ALREADY_PROCESSED, description)
    }

    /// 403: the request is that of a clearing institute, which only a PSP or a division reports.
    pub fn institute_only() -> Self {
        let description = "Only the operator reports decisions of the institute: use a token of a PSP or division \
                           above the merchant";
        Self::new(403, codes::SENDER_NOT_ALLOWED, description)
    }

    /// 400: a decision does not say which of several held payments of an order it is about.
    pub fn ambiguous_decision() -> Self {
        let description = "Several payments with this transaction id were held: send the id of the payment";
        Self::new(400, codes::INVALID_PARAMETER, description)
    }

    /// 404: a query finds no payment. Payments of other entities are not found.
    pub fn no_payment_found() -> Self {
        Self::from_code(404, codes::TRANSACTION_UNKNOWN)
    }

    /// 400: the checkout's 30 minutes are over.
    pub fn checkout_expired() -> Self {
        Self::new(400, codes::INVALID_PARAMETER, "The checkout has expired: it was open for 30 minutes")
    }

    /// 400: the checkout is paid or has a payment in progress, and cannot be changed any more.
    pub fn checkout_closed() -> Self {
        Self::new(400, codes::INVALID_PARAMETER, "The checkout has been submitted and cannot be changed any more")
    }

    /// 400: a live entity's request carries testMode.
    pub fn test_mode_not_allowed() -> Self {
        let parameters = vec![ParameterError::new("testMode", None, "is not allowed for a live entity")];
        Self { parameters, ..Self::new(400, codes::TEST_MODE_NOT_ALLOWED, "A live entity takes no testMode") }
    }

    /// 400: no connector of this entity processes the method.
    pub fn method_not_configured() -> Self {
        Self::from_code(400, codes::METHOD_NOT_CONFIGURED)
    }

    /// 400: no channel accepts the brand, the currency or the test mode; `code` depends on which.
    pub fn not_configured(code: ResultCode) -> Self {
        Self::from_code(400, code)
    }

    /// 400: a check was requested of a channel that checks no payments. An answer would look like an accepted order.
    pub fn risk_checks_off() -> Self {
        let description = "This channel checks no payments: its setting `risk` is off";
        Self::new(400, codes::METHOD_NOT_CONFIGURED, description)
    }

    /// 400: the risk rules of the channel do not offer a brand to this shopper.
    pub fn brand_not_offered(brand: &str) -> Self {
        Self::from_code(400, codes::SUBTYPE_NOT_CONFIGURED).with_parameter(
            "paymentBrand",
            brand,
            "is not offered in this checkout",
        )
    }

    /// 400: the registration cannot be used, or not any more. The code gives the reason.
    pub fn unusable_registration(code: ResultCode) -> Self {
        Self::from_code(400, code)
    }

    /// 400: a request to store an account contains none; `name` is the parameter that is missing. Only the brand's own
    /// page would ask the shopper for it.
    pub fn account_required(name: &str) -> Self {
        let parameters = vec![ParameterError::new(name, None, "may not be empty: there is no account to store")];
        Self { parameters, ..Self::from_code(400, codes::NO_ACCOUNT) }
    }

    /// 400: a parameter names a registration that does not exist or belongs to another entity. The response is the
    /// same in both cases.
    pub fn unknown_registration(name: &str, id: &str) -> Self {
        Self::from_code(400, codes::REGISTRATION_UNKNOWN).with_parameter(
            name,
            id,
            "is not a registration that may be used here",
        )
    }

    /// 400: a merchant-initiated payment refers to a standing instruction that does not exist.
    pub fn unknown_initial_transaction(name: &str, id: &str) -> Self {
        Self::from_code(400, codes::REFERENCE_UNKNOWN).with_parameter(
            name,
            id,
            "is not an initial transaction of this entity",
        )
    }

    /// 400: a merchant-initiated payment refers to a standing instruction for another account (700.100.710).
    pub fn account_mismatch() -> Self {
        Self::from_code(400, codes::CROSS_LINKAGE)
    }

    /// 400: the standing instruction does not allow this payment. The refusal names the parameter of the violated term,
    /// with its value.
    pub fn violated_term(name: &str, value: &str, message: &str) -> Self {
        Self::from_code(400, codes::RECURRING_NOT_ALLOWED).with_parameter(name, value, message)
    }

    /// 405: the address exists but has another method.
    pub fn method_not_allowed() -> Self {
        Self::from_code(405, codes::METHOD_NOT_SUPPORTED)
    }

    /// 503: the write queue of the store is full. The client may try again.
    pub fn write_queue_full() -> Self {
        Self { retry_after: Some(1), ..Self::new(503, codes::THROTTLED, "The service is busy; try again in a second") }
    }

    /// 503: the disk is full, busy, failing or damaged. Nothing was written; the client may try again after `seconds`.
    /// The log has the details for the operator.
    pub fn store_unavailable(seconds: u32) -> Self {
        let description = "The service cannot store or read anything at the moment; nothing was done. Try again later";
        Self { retry_after: Some(seconds), ..Self::new(503, codes::STORE_UNAVAILABLE, description) }
    }

    /// 503: the store failed after a part of the request was stored, or when nobody can tell if it was. The client may
    /// ask after `seconds`.
    pub fn outcome_unknown(seconds: u32) -> Self {
        let description = "The service cannot tell whether this was done. Send it again with the same Idempotency-Key, \
                           or look it up before you send it without one";
        Self { retry_after: Some(seconds), ..Self::new(503, codes::STORE_UNAVAILABLE, description) }
    }

    /// 429: too many attempts to pay from one source. The response gives the time to wait, but not which limit was
    /// reached, so that it does not help card testers.
    pub fn too_many_attempts(seconds: u32) -> Self {
        let description = format!("Too many attempts to pay; try again in {seconds} seconds");
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: too many reports of policy violations about one entity, or about all. `seconds` is the time to wait.
    pub fn too_many_reports(seconds: u32) -> Self {
        let description = format!("Too many reports; try again in {seconds} seconds");
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: the queue of an entity's queries is full, or a query waited in it too long.
    pub fn too_many_queries() -> Self {
        let description = "Too many queries of this entity at once; try again in a second";
        Self { retry_after: Some(1), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: a dry run of the merchant's risk rules is running, or too many of other merchants.
    pub fn too_many_dry_runs() -> Self {
        let description = "A dry run of this merchant is running, or too many of others; try again later";
        Self { retry_after: Some(10), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: a checkout has reached its limit of attempts. It expires after this many seconds. The shop may create a new
    /// one.
    pub fn checkout_exhausted(seconds: u32) -> Self {
        let description = "This checkout has been tried too often; prepare a new one";
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 429: too many forms wait for the merchant's confirmation. Some of them expire after this many seconds.
    pub fn too_many_forms(seconds: u32) -> Self {
        let description = "Too many forms wait for the merchant's confirmation; try again later";
        Self { retry_after: Some(seconds), ..Self::new(429, codes::THROTTLED, description) }
    }

    /// 400: the header `Idempotency-Key` is not valid. `message` follows the header's name in the description.
    pub fn invalid_idempotency_key(message: &'static str) -> Self {
        Self {
            description: Some(format!("The header Idempotency-Key {message}").into()),
            ..Self::invalid_parameter("Idempotency-Key", None, message)
        }
    }

    /// 409: a request with this `Idempotency-Key` is in flight. Its response will be available in a moment.
    pub fn request_in_flight() -> Self {
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
