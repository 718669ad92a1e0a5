//! 3D authentication: whether a payment needs it, and what becomes of the payment then.
//!
//! What needs nobody is decided within the payment's own request. Otherwise the payment is pending; its card waits sealed
//! beside it ([`crate::store::Promise`]), the security code in memory alone ([`super::codes`]), and it is authorised once the
//! cardholder is authenticated.

mod steps;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::{Parameters, Presence, authenticated_elsewhere, has_authentication_result};
use tillgate_shared::result::codes;

use super::sender::Sender;
use super::{Failure, Gateway, order, random};
use crate::connector::three_ds::request::AuthenticationMessage;
use crate::connector::three_ds::{AuthenticationRequest, Enrolment, transaction_id};
use crate::connector::{FullAccount, Order, OrderRequest, Outcome, Route};
use crate::domain::authentication::{Authentication, Next, Said, Version, next};
use crate::domain::channel::ThreeD;
use crate::domain::entity::Entity;
use crate::domain::id::PageId;
use crate::domain::payment::{Payment, PaymentType, Precondition, Redirect};

pub use steps::{Answered, Visit};

/// Orders that come by mail, by telephone or from a till: nobody sits before a browser.
const ELSEWHERE: [&str; 5] = ["MO", "TO", "MOTO", "PO", "PM"];
/// How much longer than its shopper may take a sealed card waits: somebody may just be answering.
const ANSWERING: SignedDuration = SignedDuration::from_mins(5);

/// A payment by a card whose cardholder may be authenticated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    when: ThreeD,
    /// The entry of the card in a directory.
    enrolment: Option<Enrolment>,
    /// A forced outcome is there at once.
    forced: bool,
}

/// What comes of a payment before it is written.
pub(super) struct Judged {
    pub(super) outcome: Outcome,
    /// What the shopper has to do first; the payment is pending then.
    pub(super) authentication: Option<Authentication>,
}

/// The card of a payment that waits for its cardholder.
#[derive(Debug)]
pub(super) struct Waiting {
    /// Its number, sealed.
    pub(super) sealed: Vec<u8>,
    /// Until when it is kept.
    pub(super) until: Timestamp,
}

/// The gateway's own data about an order.
#[derive(Debug, Clone, Copy)]
pub(super) struct Named<'a> {
    pub(super) reference: &'a str,
    pub(super) descriptor: &'a str,
    pub(super) now: Timestamp,
}

impl<'a> Named<'a> {
    pub(super) fn about(self, order: &'a Order) -> OrderRequest<'a> {
        let Self { reference, descriptor, now } = self;
        OrderRequest { reference, descriptor, today: now.to_zoned(TimeZone::UTC).date(), order }
    }
}

impl Case {
    /// Looks at a request. Returns `None` where nobody is authenticated: in a channel that never does, without the
    /// cardholder, for a card in a wallet's token, with the result of another authentication, and wherever the simulation of
    /// issuers has no say. `stored` says that a registration holds the account.
    pub(super) async fn of(
        entity: &Entity,
        route: Option<&Route>,
        parameters: &Parameters,
        sender: Sender<'_>,
        stored: bool,
    ) -> Option<Self> {
        let when = entity.settings.channel.three_d;
        let get = |name: &str| parameters.get(name);
        // A wallet vouches for the payment that its token was made for. A card that came out of one before and is stored
        // under the wallet's brand has nobody who does.
        let by_card = get("paymentBrand")
            .and_then(Brand::find)
            .is_none_or(|brand| brand.kind == Kind::Card || (stored && brand.kind == Kind::Wallet));
        let in_form = sender.checkout().is_some();
        let decrypted = parameters.contains("walletPay.source") && !in_form;
        let authenticated = match in_form {
            true => has_authentication_result(parameters),
            false => authenticated_elsewhere(parameters),
        };
        let applies = when != ThreeD::Never
            && by_card
            && get("paymentType") != Some("CD")
            && !decrypted
            && !get("transactionCategory").is_some_and(|category| ELSEWHERE.contains(&category))
            && sender.presence() == Presence::Cardholder
            && !authenticated;
        let authenticator = route?.authenticator.as_ref()?;
        let number = get("card.number").filter(|_| applies)?;
        let forced = parameters.contains(order::FORCED);
        let when = when_first(when, parameters, parameters.contains("card.cvv"));
        let enrolment = match CardNumber::parse(number) {
            Ok(number) if !forced => authenticator.look_up(&number, parameters).await,
            _ => None,
        };
        Some(Self { when, enrolment, forced })
    }

    /// Whether version 2 of the protocol will be spoken, which has to know the shopper's browser.
    pub(super) fn asks_for_browser(self) -> bool {
        self.version().is_some_and(|version| version != Version::V1)
    }

    fn version(self) -> Option<Version> {
        self.enrolment?.version
    }
}

/// Returns the policy for a payment, which is stricter than its channel's for the first payment of a series that has no
/// security code: then the authentication has to succeed, for it is the only proof (contract, 0.15).
fn when_first(when: ThreeD, parameters: &Parameters, has_code: bool) -> ThreeD {
    let first = parameters.get("standingInstruction.mode") == Some("INITIAL");
    if first && !has_code && when != ThreeD::Never { ThreeD::Required } else { when }
}

impl Gateway {
    /// Has an order authorised, after its cardholder is authenticated where that is asked for and needs nobody. `in_form`
    /// says that the shopper sits before the hosted form: a soft decline is then answered with a challenge.
    ///
    /// # Errors
    /// A parameter whose value the protocol does not have; when the system gives no random bytes.
    pub(super) async fn judge(
        &self,
        case: Option<Case>,
        order: &mut Order,
        route: &Route,
        parameters: &mut Parameters,
        in_form: bool,
        request: Named<'_>,
    ) -> Result<Judged, Failure> {
        let at_once = |outcome: Outcome| Judged { outcome, authentication: None };
        if order.payment_type == PaymentType::Credit {
            return Ok(at_once(route.connector.credit(&request.about(order)).await));
        }
        let Some(case) = case.filter(|_| order.brand.synchronous()) else {
            return Ok(at_once(route.connector.authorize(&request.about(order)).await));
        };
        // A card that is no good is declined as it always is, and nobody is asked.
        if !case.forced && route.connector.known_decline(&request.about(order)).is_none() {
            let said = match (case.enrolment, &route.authenticator, &order.account) {
                (Some(enrolment), Some(authenticator), FullAccount::Card(card)) => {
                    let message = AuthenticationMessage::read(parameters, order.amount, case.when)?;
                    let wished = Version::parse(parameters.get("threeDSecure.version"));
                    let version = case.version().map(|known| match (known, wished) {
                        (Version::V22, Some(Version::V21)) => Version::V21,
                        (known, _) => known,
                    });
                    let transaction = match version {
                        Some(version) => Some(transaction_id(version, random()?)),
                        None => None,
                    };
                    if let (true, Some(version), Some(id)) = (enrolment.has_method, version, &transaction) {
                        return Ok(begun(Authentication::with_method(version, id.clone())));
                    }
                    let asked = AuthenticationRequest {
                        brand: order.brand,
                        number: &card.number,
                        version,
                        transaction: transaction.as_deref(),
                        message: &message,
                        parameters,
                    };
                    let proof = authenticator.authenticate(&asked).await;
                    let said = proof.said;
                    if let (Next::Challenge, Some(version), Some(id)) = (next(said, case.when), version, &transaction) {
                        return Ok(begun(Authentication::with_challenge(version, id.clone())));
                    }
                    proof.tell(parameters);
                    order.proof = Some(proof);
                    said
                }
                _ => Said::Outside,
            };
            if let Next::Decline(code) = next(said, case.when) {
                return Ok(at_once(code.into()));
            }
        }
        let outcome = route.connector.authorize(&request.about(order)).await;
        if in_form && outcome.result().is_some_and(|result| result.code == codes::SOFT_DECLINED) {
            let version = case.version().unwrap_or(Version::V22);
            let transaction = transaction_id(version, random()?);
            return Ok(begun(Authentication::with_challenge(version, transaction)));
        }
        Ok(at_once(outcome))
    }

    /// How long a payment waits for its shopper.
    fn waits_until(&self, payment: &Payment) -> Timestamp {
        payment.created + self.options.pending_lifetime
    }

    /// Keeps the card of a payment whose cardholder is about to be authenticated: its number sealed, for the store, and its
    /// security code in memory.
    pub(super) fn keep_waiting(&self, payment: &Payment, account: &FullAccount) -> Result<Option<Waiting>, Failure> {
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
        Ok(sealed.map(|sealed| Waiting { sealed, until: until + ANSWERING }))
    }
}

fn begun(authentication: Authentication) -> Judged {
    Judged { outcome: codes::PENDING.into(), authentication: Some(authentication) }
}

/// The page on which the cardholder is authenticated, from which the shopper comes back to `result_url`.
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
