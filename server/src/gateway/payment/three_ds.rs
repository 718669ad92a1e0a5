//! 3-D Secure: whether the cardholder is authenticated before the payment is authorised, and how that begins.
//!
//! An authentication that needs nobody is made within the payment's own request. Otherwise the payment is pending; its card
//! waits sealed beside it ([`crate::store::Promise`]), the security code in memory alone ([`super::super::codes`]), and it is
//! authorised once the cardholder is authenticated ([`super::challenge`]).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::Kind;
use tillgate_shared::parameter::{Parameters, Presence, authenticated_elsewhere, has_authentication_result};
use tillgate_shared::result::ResultCode;

use super::super::{Failure, Gateway, order, promise, random};
use super::{Circumstances, Identity, Intake, Received};
use crate::connector::three_ds::request::AuthenticationMessage;
use crate::connector::three_ds::{AuthenticationRequest, Authenticator, Enrolment, transaction_id};
use crate::connector::{FullAccount, FullCard, Order, Route};
use crate::domain::authentication::{Authentication, Next, Proof, Said, Version, next};
use crate::domain::channel::ThreeD;
use crate::domain::id::PageId;
use crate::domain::payment::{Payment, PaymentType, Precondition, Redirect};

/// Categories of orders that come by mail, by telephone or from a till: nobody sits before a browser.
const WITHOUT_BROWSER: [&str; 5] = ["MO", "TO", "MOTO", "PO", "PM"];
/// Time that a sealed card waits beyond its shopper's: somebody may just be answering.
const ANSWERING: SignedDuration = SignedDuration::from_mins(5);

/// A payment by a card whose cardholder may be authenticated.
#[derive(Debug, Clone, Copy)]
pub(super) struct ThreeDsContext {
    policy: ThreeD,
    /// The entry of the card in a directory.
    enrolment: Option<Enrolment>,
    /// True if the merchant forces an outcome, which is there at once.
    is_forced: bool,
}

/// The way that a payment goes on.
#[derive(Debug)]
pub(super) enum ThreeDsDecision {
    /// It is sent on to be authorised.
    Authorize,
    /// The shopper has to act first; the payment is pending.
    Wait(Authentication),
    /// It ends with this code.
    Decline(ResultCode),
}

/// The card of a payment that waits for its cardholder.
#[derive(Debug)]
pub(in crate::gateway) struct HeldCard {
    /// Its number, sealed.
    pub(in crate::gateway) sealed: Vec<u8>,
    /// The end of its time.
    pub(in crate::gateway) until: Timestamp,
}

impl ThreeDsContext {
    /// Looks at a request. Returns `None` where nobody is authenticated: in a channel that never does, without the cardholder,
    /// for a card in a wallet's token, with the result of another authentication, and where the route has no authenticator.
    pub(super) async fn of(
        received: &Received,
        route: Option<&Route>,
        circumstances: Circumstances<'_>,
    ) -> Option<Self> {
        let policy = received.payer.settings.channel.three_d;
        let parameters = &received.parameters;
        // A wallet vouches for the payment that its token was made for. A card that came out of one before and is stored under
        // the wallet's brand has nobody who does.
        let by_card = received
            .brand
            .is_none_or(|brand| brand.kind == Kind::Card || (circumstances.is_stored() && brand.kind == Kind::Wallet));
        let in_form = circumstances.is_in_form();
        let is_decrypted = parameters.contains("walletPay.source") && !in_form;
        let is_authenticated = match in_form {
            true => has_authentication_result(parameters),
            false => authenticated_elsewhere(parameters),
        };
        let applies = policy != ThreeD::Never
            && by_card
            && parameters.get("paymentType") != Some(PaymentType::Credit.code())
            && !is_decrypted
            && !parameters.get("transactionCategory").is_some_and(|category| WITHOUT_BROWSER.contains(&category))
            && circumstances.sender.presence() == Presence::Cardholder
            && !is_authenticated;
        let authenticator = route?.authenticator.as_ref().filter(|_| applies)?;
        let number = received.number.as_ref()?;
        let is_forced = parameters.contains(order::FORCED);
        let policy = policy_of_first(policy, parameters, parameters.contains("card.cvv"));
        let enrolment = if is_forced { None } else { authenticator.look_up(number, parameters).await };
        Some(Self { policy, enrolment, is_forced })
    }

    /// Returns true if version 2 of the protocol will be spoken, which has to know the shopper's browser.
    pub(super) fn needs_browser(self) -> bool {
        self.version().is_some_and(|version| version != Version::V1)
    }

    /// Returns the version that the card is enrolled in.
    pub(super) fn version(self) -> Option<Version> {
        self.enrolment?.version
    }

    /// Returns the version that is spoken: the merchant may wish for an older one.
    fn spoken_version(self, parameters: &Parameters) -> Option<Version> {
        match (self.version()?, Version::parse(parameters.get("threeDSecure.version"))) {
            (Version::V22, Some(Version::V21)) => Some(Version::V21),
            (known, _) => Some(known),
        }
    }
}

/// Returns the policy for a payment, which is stricter than its channel's for the first payment of a series that has no
/// security code: then the authentication has to succeed, for it is the only proof (contract, 0.15).
pub(super) fn policy_of_first(policy: ThreeD, parameters: &Parameters, has_code: bool) -> ThreeD {
    let is_first = parameters.get("standingInstruction.mode") == Some("INITIAL");
    if is_first && !has_code && policy != ThreeD::Never { ThreeD::Required } else { policy }
}

impl Gateway {
    /// Authenticates the cardholder of a payment where that is asked for and needs nobody, and decides how the payment goes on.
    ///
    /// # Errors
    /// A parameter whose value the protocol does not have; when the system gives no random bytes.
    pub(super) async fn authenticate(
        &self,
        context: Option<ThreeDsContext>,
        intake: &mut Intake,
        route: &Route,
        identity: &Identity,
    ) -> Result<ThreeDsDecision, Failure> {
        let order = &intake.order;
        let applies = order.brand.synchronous() && order.payment_type != PaymentType::Credit;
        let Some(context) = context.filter(|context| applies && !context.is_forced) else {
            return Ok(ThreeDsDecision::Authorize);
        };
        // A card that is no good is declined as it always is, and nobody is asked.
        if route.connector.known_decline(&identity.request(order)).is_some() {
            return Ok(ThreeDsDecision::Authorize);
        }
        let asked = match (context.enrolment, &route.authenticator, &order.account) {
            (Some(enrolment), Some(authenticator), FullAccount::Card(card)) => {
                Some(ask_issuer(context, enrolment, authenticator.as_ref(), order, card, &intake.parameters).await?)
            }
            _ => None,
        };
        let said = match asked {
            Some(Asked::Waits(authentication)) => return Ok(ThreeDsDecision::Wait(authentication)),
            Some(Asked::Answered(proof)) => {
                let said = proof.said;
                proof.tell(&mut intake.parameters);
                intake.order.proof = Some(proof);
                said
            }
            None => Said::Outside,
        };
        Ok(match next(said, context.policy) {
            Next::Decline(code) => ThreeDsDecision::Decline(code),
            Next::Authorise | Next::Challenge => ThreeDsDecision::Authorize,
        })
    }

    /// Returns the time until which a payment waits for its shopper.
    pub(super) fn waits_until(&self, payment: &Payment) -> Timestamp {
        payment.created + self.options.pending_lifetime
    }

    /// Holds the card of a payment whose cardholder is about to be authenticated, or whose connector is about to be asked: its
    /// number sealed, for the store. Its security code is held in memory for the authentication.
    pub(super) fn hold_card(&self, payment: &Payment, account: &FullAccount) -> Result<Option<HeldCard>, Failure> {
        if payment.awaits_connector() {
            let sealed = self.seal_account(payment.id.as_str(), account)?;
            return Ok(sealed.map(|sealed| HeldCard { sealed, until: payment.created + promise::LIFETIME }));
        }
        if !payment.waits() || payment.authentication().is_none() {
            return Ok(None);
        }
        let until = self.waits_until(payment);
        if let FullAccount::Card(card) = account
            && let Some(code) = &card.code
        {
            self.codes.keep(&payment.id, code.clone(), until);
        }
        let sealed = self.seal_account(payment.id.as_str(), account)?;
        Ok(sealed.map(|sealed| HeldCard { sealed, until: until + ANSWERING }))
    }
}

/// The state of an authentication after its first step.
enum Asked {
    /// The shopper has to act: the issuer's method page runs, or the issuer challenges.
    Waits(Authentication),
    /// The issuer has answered.
    Answered(Proof),
}

/// Asks the issuer of an enrolled card, unless its method page has to run first.
async fn ask_issuer(
    context: ThreeDsContext,
    enrolment: Enrolment,
    authenticator: &dyn Authenticator,
    order: &Order,
    card: &FullCard,
    parameters: &Parameters,
) -> Result<Asked, Failure> {
    let message = AuthenticationMessage::read(parameters, order.amount, context.policy)?;
    let version = context.spoken_version(parameters);
    let transaction = match version {
        Some(version) => Some(transaction_id(version, random()?)),
        None => None,
    };
    if let (true, Some(version), Some(id)) = (enrolment.has_method, version, &transaction) {
        return Ok(Asked::Waits(Authentication::with_method(version, id.clone())));
    }
    let request = AuthenticationRequest {
        brand: order.brand,
        number: &card.number,
        version,
        transaction: transaction.as_deref(),
        message: &message,
        parameters,
    };
    let proof = authenticator.authenticate(&request).await;
    Ok(match (next(proof.said, context.policy), version, transaction) {
        (Next::Challenge, Some(version), Some(id)) => Asked::Waits(Authentication::with_challenge(version, id)),
        _ => Asked::Answered(proof),
    })
}

/// Makes the page on which the cardholder is authenticated, from which the shopper comes back to `result_url`.
///
/// # Errors
/// When the system gives no random bytes.
pub(super) fn redirect(
    public: &str,
    result_url: String,
    authentication: Authentication,
    order: &Order,
    now: Timestamp,
) -> Result<Redirect, Failure> {
    let page = PageId::new(now, random()?);
    let url = format!("{public}v1/threeDSecure/{}", page.as_str());
    let mut preconditions = Vec::new();
    if !authentication.waits_for_answer() {
        let description = "Tells the issuer which browser this is. Go on when it has loaded, or after ten seconds.";
        preconditions.push(Precondition { url: format!("{url}/method"), description: description.to_owned() });
    }
    // Version 1 hands the issuer's page a request, what to send back with the answer, and where to.
    let (method, parameters) = if authentication.version == Version::V1 {
        let about = format!("{} {} {}", authentication.transaction, order.amount, order.amount.currency().code());
        let parameters = [
            ("PaReq", STANDARD.encode(about)),
            ("MD", authentication.transaction.clone()),
            ("TermUrl", url.chars().take(255).collect()),
        ];
        ("POST", parameters.map(|(name, value)| (name.to_owned(), value)).into())
    } else {
        ("GET", Vec::new())
    };
    Ok(Redirect {
        url,
        method: method.to_owned(),
        parameters,
        preconditions,
        result_url,
        shop_origin: None,
        page: Some(page),
        abandoned: false,
        authentication: Some(authentication),
    })
}
