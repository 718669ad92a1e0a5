//! 3-D Secure: decides whether a payment needs cardholder authentication before its authorization, and starts it.
//!
//! A frictionless authentication is completed within the payment's own request. Otherwise the payment is pending. Its
//! sealed card is stored with it ([`tillgate_store::DeferredEffects`]) and its security code is in memory only
//! ([`crate::payment::security_codes`]). The payment is authorized after its cardholder is authenticated
//! ([`super::challenge`]).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use tillgate_connector::three_ds::request::ThreeDsMessage;
use tillgate_connector::three_ds::{
    Enrolment, MethodPage, ThreeDsAuthenticator, ThreeDsPages, ThreeDsRequest, new_transaction_id,
};
use tillgate_connector::{FullAccount, FullCard, Order, PaymentRoute};
use tillgate_domain::id::PageId;
use tillgate_domain::payment::{Payment, PaymentType, Precondition, Redirect};
use tillgate_domain::three_ds::{
    AuthenticationDecision, AuthenticationResult, MethodCompletion, Proof, ServerTransaction, ThreeDsPolicy,
    ThreeDsSession, ThreeDsVersion, apply_policy,
};
use tillgate_shared::brand::AccountType;
use tillgate_shared::parameter::{Parameters, Presence, has_eci_and_cavv, has_external_three_ds};
use tillgate_shared::result::ResultCode;

use super::super::{Failure, Gateway, random_bytes};
use super::{HeldCard, Intake, PaymentContext, PaymentIdentity, RoutedRequest};
use crate::payment::deferred_effects;
use crate::payment::order;

/// Categories of orders by mail, by telephone or at a till: their cardholder uses no browser.
const WITHOUT_BROWSER: [&str; 5] = ["MO", "TO", "MOTO", "PO", "PM"];
/// Time for which a sealed card is kept beyond the shopper's time limit, because the shopper may be answering at that
/// moment.
const ANSWER_MARGIN: SignedDuration = SignedDuration::from_mins(5);

/// 3-D Secure data of a card payment whose cardholder may be authenticated.
#[derive(Debug, Clone)]
pub(super) struct ThreeDsContext {
    policy: ThreeDsPolicy,
    /// The enrolment of the card, if a directory knows it.
    enrolment: Option<Enrolment>,
    /// True if the merchant forces an outcome, which needs no authentication.
    is_forced: bool,
    /// True if risk rules demand a challenge ([`super::risk_challenge`]).
    challenge_demanded: bool,
}

/// Decision about a payment after the first step of 3-D Secure.
#[derive(Debug)]
pub(super) enum ThreeDsDecision {
    /// The payment is sent to the connector.
    Authorize,
    /// The payment is pending until the shopper has acted.
    Wait(Box<PendingThreeDs>),
    /// The payment ends with this code.
    Decline(ResultCode),
}

/// An authentication that needs the shopper, and the id of the gateway's page for it.
#[derive(Debug, Clone)]
pub(super) struct PendingThreeDs {
    pub(super) session: ThreeDsSession,
    pub(super) page: PageId,
}

/// Path of the gateway's pages for 3-D Secure below the public address. The id follows.
const PAGE_PATH: &str = "v1/threeDSecure/";

impl ThreeDsContext {
    /// Determines the context of a request, and looks the card up in the directory unless the outcome is forced.
    /// Returns `None` if no authentication takes place: the channel never authenticates, the cardholder is absent or
    /// uses no browser, it is a credit or no card payment, the card comes from a wallet's token, the request has the
    /// result of another authentication, or the route has no authenticator.
    pub(super) async fn from_request(
        received: &RoutedRequest,
        route: Option<&PaymentRoute>,
        context: PaymentContext<'_>,
    ) -> Option<Self> {
        let policy = received.payer.settings.channel.three_d;
        let parameters = &received.parameters;
        // A wallet authenticates the payment that its token was made for. A card that was stored from a wallet has no
        // such authentication for later payments.
        let is_by_card = received.brand.is_none_or(|brand| {
            brand.kind == AccountType::Card || (context.has_stored_account() && brand.kind == AccountType::Wallet)
        });
        let in_form = context.is_in_form();
        let is_decrypted = parameters.contains("walletPay.source") && !in_form;
        let is_authenticated = match in_form {
            true => has_eci_and_cavv(parameters),
            false => has_external_three_ds(parameters),
        };
        let applies = policy != ThreeDsPolicy::Never
            && is_by_card
            && parameters.get("paymentType") != Some(PaymentType::Credit.code())
            && !is_decrypted
            && !parameters.get("transactionCategory").is_some_and(|category| WITHOUT_BROWSER.contains(&category))
            && context.sender.presence() == Presence::Cardholder
            && !is_authenticated;
        let authenticator = route?.authenticator.as_ref().filter(|_| applies)?;
        let number = received.number.as_ref()?;
        // Forced outcomes are not sent to external connectors.
        let is_external = route?.connector.capabilities().is_external;
        let is_forced = !is_external && parameters.contains(order::FORCED_RESULT);
        let policy = effective_policy(policy, parameters, parameters.contains("card.cvv"));
        let enrolment = if is_forced { None } else { authenticator.look_up_card(number, parameters).await };
        Some(Self { policy, enrolment, is_forced, challenge_demanded: false })
    }

    /// Adds that risk rules demand a challenge from the issuer.
    pub(super) fn with_demanded_challenge(self) -> Self {
        Self { challenge_demanded: true, ..self }
    }

    /// Returns true if the card is enrolled in version 2 of the protocol, which requires data of the shopper's browser.
    pub(super) fn requires_browser(&self) -> bool {
        self.enrolled_version().is_some_and(|version| version != ThreeDsVersion::V1)
    }

    /// Returns the version that the card is enrolled in. `None` if it is not enrolled, or was not looked up.
    pub(super) fn enrolled_version(&self) -> Option<ThreeDsVersion> {
        self.enrolment.as_ref()?.version
    }

    /// Returns the protocol version to use: the one that the card is enrolled in, or an earlier one of version 2 that
    /// the merchant requests. `None` if the card is not enrolled.
    fn protocol_version(&self, parameters: &Parameters) -> Option<ThreeDsVersion> {
        match (self.enrolled_version()?, ThreeDsVersion::parse(parameters.get("threeDSecure.version"))) {
            (ThreeDsVersion::V22 | ThreeDsVersion::V231, Some(ThreeDsVersion::V21)) => Some(ThreeDsVersion::V21),
            (ThreeDsVersion::V231, Some(ThreeDsVersion::V22)) => Some(ThreeDsVersion::V22),
            (known, _) => Some(known),
        }
    }
}

/// Returns the policy for a payment: the channel's, or `Required` if the payment is the first of a series and has no
/// security code. Authentication is then the only proof, so it has to succeed (contract, 0.15). `Never` stays.
pub(super) fn effective_policy(policy: ThreeDsPolicy, parameters: &Parameters, has_code: bool) -> ThreeDsPolicy {
    let is_first = parameters.get("standingInstruction.mode") == Some("INITIAL");
    if is_first && !has_code && policy != ThreeDsPolicy::Never { ThreeDsPolicy::Required } else { policy }
}

impl Gateway {
    /// Authenticates the cardholder of a payment as far as possible without the shopper, and decides about the payment.
    /// A result is added to the order and its parameters. Without a context, and for forced outcomes, credits and cards
    /// that the connector declines anyway, no issuer is asked and the decision is to authorize.
    ///
    /// # Errors
    /// A parameter with a value that the protocol does not have; also if the system provides no random bytes.
    pub(super) async fn decide_three_ds(
        &self,
        context: Option<ThreeDsContext>,
        intake: &mut Intake,
        route: &PaymentRoute,
        identity: &PaymentIdentity,
        public: &str,
    ) -> Result<ThreeDsDecision, Failure> {
        let order = &intake.order;
        let applies = order.brand.is_synchronous() && order.payment_type != PaymentType::Credit;
        let Some(context) = context.filter(|context| applies && !context.is_forced) else {
            return Ok(ThreeDsDecision::Authorize);
        };
        // An invalid card is declined by the connector as usual, without asking the issuer.
        if route.connector.known_decline(&identity.order_request(order)).is_some() {
            return Ok(ThreeDsDecision::Authorize);
        }
        let page = PageId::new(identity.now, random_bytes()?);
        let first_step = match (&context.enrolment, &route.authenticator, &order.account) {
            (Some(enrolment), Some(authenticator), FullAccount::Card(card)) => {
                let payer = Payer { merchant_id: &identity.merchant_id, name: &intake.payer.name };
                let pages = ThreeDsPages::of_page(&page_url(public, &page));
                let asked = (authenticator.as_ref(), enrolment);
                Some(request_three_ds(&context, asked, (order, card), &intake.parameters, (payer, &pages)).await?)
            }
            _ => None,
        };
        let result = match first_step {
            Some(FirstStep::AwaitsShopper(session)) => {
                return Ok(ThreeDsDecision::Wait(Box::new(PendingThreeDs { session: *session, page })));
            }
            Some(FirstStep::Completed(proof)) => {
                let result = proof.result;
                // The result is stored with the payment, so it becomes parameters like a result that a merchant sends.
                proof.write_to(&mut intake.parameters);
                intake.from_gateway.extend(Proof::PARAMETERS.map(str::to_owned));
                intake.order.proof = Some(proof);
                result
            }
            None => AuthenticationResult::NotSupported,
        };
        Ok(match apply_policy(result, context.policy) {
            AuthenticationDecision::Decline(code) => ThreeDsDecision::Decline(code),
            AuthenticationDecision::Authorize | AuthenticationDecision::Challenge => ThreeDsDecision::Authorize,
        })
    }

    /// Returns the time from which a payment no longer awaits its shopper.
    pub(super) fn shopper_deadline(&self, payment: &Payment) -> Timestamp {
        payment.created + self.options.pending_lifetime
    }

    /// Seals the card of a payment that awaits 3-D Secure, so that it can be authorized later, and caches the security
    /// code in memory. `None` if the payment does not await 3-D Secure, or its account has no number.
    pub(super) fn hold_card(&self, payment: &Payment, account: &FullAccount) -> Result<Option<HeldCard>, Failure> {
        if !payment.awaits_shopper() || payment.three_ds_session().is_none() {
            return Ok(None);
        }
        let until = self.shopper_deadline(payment);
        if let FullAccount::Card(card) = account
            && let Some(code) = &card.security_code
        {
            self.security_codes.insert_code(&payment.id, code.clone(), until);
        }
        let sealed = self.seal_account(payment, account)?;
        // An external connector may be asked much later.
        let until = if payment.connector.is_some() {
            payment.created + deferred_effects::LIFETIME
        } else {
            until + ANSWER_MARGIN
        };
        Ok(sealed.map(|sealed| HeldCard { sealed, until }))
    }
}

/// The merchant of a request to authenticate a cardholder.
#[derive(Clone, Copy)]
struct Payer<'a> {
    /// The acquirer's id.
    merchant_id: &'a str,
    name: &'a str,
}

/// Returns the address of the gateway's page for 3-D Secure with this id.
fn page_url(public: &str, page: &PageId) -> String {
    format!("{public}{PAGE_PATH}{}", page.as_str())
}

/// State of an authentication after its first step.
enum FirstStep {
    /// The shopper has to act: the issuer's method page runs, or the issuer challenges.
    AwaitsShopper(Box<ThreeDsSession>),
    /// The issuer has decided.
    Completed(Proof),
}

/// Asks the issuer of an enrolled card for its decision, unless its method page has to run first. A challenge is only
/// begun if the card is enrolled in a version; otherwise the result is returned as it is.
///
/// # Errors
/// A parameter with a value that the protocol does not have; also if the system provides no random bytes.
async fn request_three_ds(
    context: &ThreeDsContext,
    (authenticator, enrolment): (&dyn ThreeDsAuthenticator, &Enrolment),
    (order, card): (&Order, &FullCard),
    parameters: &Parameters,
    (payer, pages): (Payer<'_>, &ThreeDsPages),
) -> Result<FirstStep, Failure> {
    let mut message = ThreeDsMessage::from_parameters(parameters, order.amount, context.policy)?;
    if context.challenge_demanded {
        message.demand_challenge();
    }
    let version = context.protocol_version(parameters);
    let transaction = match version {
        Some(version) => Some(new_transaction_id(version, random_bytes()?)),
        None => None,
    };
    // The method page lets the issuer recognize the browser, so it runs before the issuer is asked.
    let has_server = authenticator.server().is_some();
    if let (true, Some(version), Some(id)) = (enrolment.method != MethodPage::None, version, &transaction) {
        let method_url = match &enrolment.method {
            MethodPage::Foreign(url) => Some(url.to_string()),
            MethodPage::None | MethodPage::Own => None,
        };
        return Ok(FirstStep::AwaitsShopper(Box::new(ThreeDsSession {
            challenge_demanded: context.challenge_demanded,
            server: has_server.then(|| ServerTransaction { method_url, ..ServerTransaction::default() }),
            ..ThreeDsSession::with_method(version, id.clone())
        })));
    }
    let request = ThreeDsRequest {
        brand: order.brand,
        number: &card.number,
        expiry: card.expiry,
        merchant_id: payer.merchant_id,
        merchant_name: payer.name,
        pages,
        method_completion: MethodCompletion::Unavailable,
        version,
        transaction_id: transaction.as_deref(),
        message: &message,
        parameters,
    };
    let answer = authenticator.authenticate(&request).await;
    Ok(match (apply_policy(answer.proof.result, context.policy), version, transaction) {
        (AuthenticationDecision::Challenge, Some(version), Some(id)) => {
            let challenge = answer.challenge;
            FirstStep::AwaitsShopper(Box::new(ThreeDsSession {
                server: has_server.then(|| ServerTransaction { challenge, ..ServerTransaction::default() }),
                ..ThreeDsSession::with_challenge(version, id)
            }))
        }
        _ => FirstStep::Completed(answer.proof),
    })
}

/// Makes the redirect to the gateway's page for 3-D Secure. The shopper returns to `result_url`, which
/// may be empty. Without a challenge, the method page is its precondition. In version 1, the browser posts the request
/// of `order` there.
pub(super) fn three_ds_redirect(
    public: &str,
    result_url: String,
    PendingThreeDs { session, page }: PendingThreeDs,
    order: &Order,
) -> Redirect {
    let url = page_url(public, &page);
    let mut preconditions = Vec::new();
    if !session.awaits_challenge() {
        let description = "Tells the issuer which browser this is. Go on when it has loaded, or after ten seconds.";
        preconditions.push(Precondition { url: format!("{url}/method"), description: description.to_owned() });
    }
    // In version 1, the browser posts to the issuer's page: the request (`PaReq`), data to return with the answer
    // (`MD`), and the address to return to (`TermUrl`).
    let (method, parameters) = if session.version == ThreeDsVersion::V1 {
        let request = format!("{} {} {}", session.transaction, order.amount, order.amount.currency().code());
        let parameters = [
            ("PaReq", STANDARD.encode(request)),
            ("MD", session.transaction.clone()),
            ("TermUrl", url.chars().take(255).collect()),
        ];
        ("POST", parameters.map(|(name, value)| (name.to_owned(), value)).into())
    } else {
        ("GET", Vec::new())
    };
    Redirect {
        url,
        method: method.to_owned(),
        parameters,
        preconditions,
        result_url,
        shop_origin: None,
        page: Some(page),
        abandoned: false,
        authentication: Some(session),
        asked: None,
    }
}
