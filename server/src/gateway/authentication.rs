//! 3D authentication: whether a payment needs it, what becomes of the payment then, and the steps that its shopper takes on
//! the page that `redirect.url` leads to.
//!
//! What needs nobody is decided within the payment's own request. Otherwise the payment is pending; its card waits sealed
//! beside it ([`crate::store::Promise`]), the security code in memory alone ([`super::codes`]), and it is authorised once the
//! cardholder is authenticated.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tillgate_shared::brand::{Brand, Kind};
use tillgate_shared::parameter::{Parameters, authenticated_elsewhere, shopper_absent};
use tillgate_shared::result::{ResultCode, codes};
use zeroize::Zeroizing;

use super::asynchronous::no_page;
use super::{Failure, Gateway, order, random};
use crate::connector::{Answer, Entry, FullAccount, Order, Route};
use crate::domain::authentication::{Authentication, Next, NotTaken, Proof, Said, Version, next};
use crate::domain::channel::ThreeD;
use crate::domain::entity::Entity;
use crate::domain::id::PageId;
use crate::domain::payment::{Payment, PaymentType, Precondition, Redirect};
use crate::domain::refusal::Refusal;
use crate::store::{Changes, Keys, Promise};
use crate::threeds::directory::{Flow, look_up};
use crate::threeds::issuer;
use crate::threeds::request::Request;

/// Orders that come by mail, by telephone or from a till: nobody sits before a browser.
const ELSEWHERE: [&str; 5] = ["MO", "TO", "MOTO", "PO", "PM"];
/// How much longer than its shopper may take a sealed card waits: somebody may just be answering.
const ANSWERING: SignedDuration = SignedDuration::from_mins(5);

/// A payment by a card whose cardholder may be authenticated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    when: ThreeD,
    /// What the directory knows of the card.
    flow: Option<Flow>,
    /// A forced outcome is there at once.
    forced: bool,
}

/// What comes of a payment before it is written.
pub(super) struct Judged {
    pub(super) answer: Answer,
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

impl Case {
    /// Looks at a request. None where nobody is to be authenticated: in a channel that never does, without the shopper, with
    /// a proof that is there already, and wherever the simulation of issuers has no say.
    pub(super) fn of(entity: &Entity, parameters: &Parameters) -> Option<Self> {
        let when = entity.settings.channel.three_d;
        let get = |name: &str| parameters.get(name);
        let by_card = get("paymentBrand").and_then(Brand::find).is_none_or(|brand| brand.kind == Kind::Card);
        let applies = when != ThreeD::Never
            && order::route(entity, parameters).is_ok_and(|route| route == Route::Simulator)
            && by_card
            && get("paymentType") != Some("CD")
            && parameters.with_prefix("walletPay.").next().is_none()
            && !get("transactionCategory").is_some_and(|category| ELSEWHERE.contains(&category))
            && !shopper_absent(parameters)
            && !authenticated_elsewhere(parameters);
        let number = get("card.number").filter(|_| applies)?;
        let forced = parameters.contains(order::FORCED);
        Some(Self { when, flow: look_up(number, parameters).filter(|_| !forced), forced })
    }

    /// Whether version 2 of the protocol will be spoken, which has to know the shopper's browser.
    pub(super) fn asks_for_browser(self) -> bool {
        self.version().is_some_and(|version| version != Version::V1)
    }

    fn version(self) -> Option<Version> {
        self.flow.and_then(Flow::version)
    }
}

impl Gateway {
    /// Has an order authorised, after its cardholder is authenticated where that is asked for and needs nobody. `in_form`
    /// says that the shopper sits before the hosted form: a soft decline is then answered with a challenge.
    ///
    /// # Errors
    /// A parameter whose value the protocol does not have; when the system gives no random bytes.
    pub(super) fn judge(
        &self,
        case: Option<Case>,
        order: &mut Order,
        route: Route,
        parameters: &mut Parameters,
        in_form: bool,
        now: Timestamp,
    ) -> Result<Judged, Failure> {
        let today = now.to_zoned(TimeZone::UTC).date();
        let at_once = |answer: Answer| Judged { answer, authentication: None };
        let pays_out = order.payment_type == PaymentType::Credit;
        let Some(case) = case.filter(|_| order.brand.synchronous() && !pays_out) else {
            return Ok(at_once(route.authorize(order, today)));
        };
        // A card that is no good is declined as it always is, and nobody is asked.
        let good = |code: ResultCode| code == codes::SOFT_DECLINED || code.is_success();
        if !case.forced && good(route.verify(order, today)) {
            let said = match case.flow {
                None => Said::Outside,
                Some(flow) => {
                    let request = Request::read(parameters, order.amount)?;
                    let wished = Version::parse(parameters.get("threeDSecure.version"));
                    let version = case.version().map(|known| match (known, wished) {
                        (Version::V22, Some(Version::V21)) => Version::V21,
                        (known, _) => known,
                    });
                    let transaction = match version {
                        Some(version) => Some(issuer::transaction(version, random()?)),
                        None => None,
                    };
                    if let (true, Some(version), Some(id)) = (flow.has_method(), version, &transaction) {
                        return Ok(begun(Authentication::with_method(version, id.clone())));
                    }
                    let said = issuer::authenticate(flow, &request);
                    if let (Next::Challenge, Some(version), Some(id)) = (next(said, case.when), version, &transaction) {
                        return Ok(begun(Authentication::with_challenge(version, id.clone())));
                    }
                    let proof = issuer::proof(order.brand.code, version, transaction.as_deref(), said, None);
                    proof.tell(parameters);
                    order.proof = Some(proof);
                    said
                }
            };
            if let Next::Decline(code) = next(said, case.when) {
                return Ok(at_once(code.into()));
            }
        }
        let answer = route.authorize(order, today);
        if in_form && answer.result == codes::SOFT_DECLINED {
            let version = case.version().unwrap_or(Version::V22);
            let transaction = issuer::transaction(version, random()?);
            return Ok(begun(Authentication::with_challenge(version, transaction)));
        }
        Ok(at_once(answer))
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

    /// The payment whose shopper is authenticated on a page.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn payment_to_authenticate(&self, page: &str) -> Result<Payment, Failure> {
        let payment = match PageId::parse(page) {
            Some(page) => self.store.payment_of_page(&page)?,
            None => None,
        };
        payment.filter(|payment| payment.authentication().is_some()).ok_or_else(|| no_page().into())
    }

    /// Notes that the issuer's method page has run.
    ///
    /// # Errors
    /// 404 when no payment waits for a method page.
    pub async fn method_completed(&self, page: &str) -> Result<(), Failure> {
        let payment = self.payment_to_authenticate(page)?;
        self.step(&payment, Authentication::method_completed).await?;
        Ok(())
    }

    /// Takes a payment as far as it goes without the shopper's answer. `goes_on` says that the method page has had its time.
    ///
    /// # Errors
    /// 404 when nobody is authenticated on this page.
    pub async fn visit_authentication(&self, page: &str, goes_on: bool) -> Result<Visit, Failure> {
        let payment = self.payment_to_authenticate(page)?;
        let now = self.now_of_id(&payment.entity);
        let Some(authentication) = payment.authentication().filter(|_| payment.result.is_pending()) else {
            return Ok(Visit::Ended(payment));
        };
        if now >= self.waits_until(&payment) {
            let ended = self.end_pending(payment, codes::TIMED_OUT.into(), |_| true).await?;
            return Ok(Visit::Ended(ended.payment));
        }
        if authentication.waits_for_answer() {
            return Ok(Visit::Challenge(payment));
        }
        if !goes_on && !authentication.may_ask(payment.created, now) {
            return Ok(Visit::Method(payment));
        }
        self.ask_issuer(payment).await
    }

    /// Asks the issuer, once its method page has run or has had its time.
    async fn ask_issuer(&self, payment: Payment) -> Result<Visit, Failure> {
        let Some(authentication) = payment.authentication().cloned() else { return Ok(Visit::Ended(payment)) };
        let when = self.three_d_of(&payment);
        let account = self.waiting_account(&payment)?;
        let flow = match &account {
            Some(FullAccount::Card(card)) => look_up(card.number.digits(), &payment.parameters),
            _ => None,
        };
        let (said, proof) = match flow {
            Some(flow) => {
                let said = issuer::authenticate(flow, &Request::read(&payment.parameters, payment.amount)?);
                let version = Some(authentication.version);
                (said, Some(issuer::proof(&payment.brand, version, Some(&authentication.transaction), said, None)))
            }
            None => (Said::Outside, None),
        };
        let answer = match next(said, when) {
            Next::Challenge => {
                let payment = self.step(&payment, Authentication::challenged).await?;
                return Ok(if payment.result.is_pending() { Visit::Challenge(payment) } else { Visit::Ended(payment) });
            }
            Next::Decline(code) => code.into(),
            Next::Authorise => self.authorise(&payment, account, proof.clone()),
        };
        let asked = authentication.stage;
        let ended = self
            .end_pending(payment, answer, move |payment| {
                let still = payment.authentication().is_some_and(|authentication| authentication.stage == asked);
                if let (true, Some(proof)) = (still, &proof) {
                    proof.tell(&mut payment.parameters);
                }
                still
            })
            .await?;
        Ok(Visit::Ended(ended.payment))
    }

    /// Takes the answer to a challenge: that of its own transaction, once and in time. Any other changes nothing.
    ///
    /// # Errors
    /// 404 when nobody is authenticated on this page.
    pub async fn answer_challenge(
        &self,
        page: &str,
        transaction: &str,
        answer: &'static issuer::Answer,
    ) -> Result<Answered, Failure> {
        let payment = self.payment_to_authenticate(page)?;
        let now = self.now_of_id(&payment.entity);
        let Some(authentication) = payment.authentication().filter(|_| payment.result.is_pending()).cloned() else {
            return Ok(Answered { payment, taken: false });
        };
        match authentication.answered(transaction, self.waits_until(&payment), now) {
            Ok(()) => {}
            Err(NotTaken::TooLate) => {
                let ended = self.end_pending(payment, codes::TIMED_OUT.into(), |_| true).await?;
                return Ok(Answered { payment: ended.payment, taken: false });
            }
            Err(NotTaken::NoChallenge | NotTaken::OtherTransaction) => return Ok(Answered { payment, taken: false }),
        }
        let said = Said::Issuer(answer.status);
        let version = Some(authentication.version);
        let proof = issuer::proof(&payment.brand, version, Some(&authentication.transaction), said, answer.reason);
        let outcome = if proof.is_authenticated() {
            let account = self.waiting_account(&payment)?;
            self.authorise(&payment, account, Some(proof.clone()))
        } else {
            answer.code.into()
        };
        let ended = self
            .end_pending(payment, outcome, move |payment| {
                proof.tell(&mut payment.parameters);
                true
            })
            .await?;
        Ok(Answered { payment: ended.payment, taken: ended.changed })
    }

    /// Sends a payment on to its connector, now that its cardholder is authenticated. One whose card no longer waits, because
    /// the shopper has gone on with another way to pay, ends without being authorised.
    fn authorise(&self, payment: &Payment, account: Option<FullAccount>, proof: Option<Proof>) -> Answer {
        let today = self.now_of_id(&payment.entity).to_zoned(TimeZone::UTC).date();
        let order = account.and_then(|account| order::of_payment(payment, account, proof));
        let route = self.directory.entity(&payment.entity);
        let route = route.and_then(|entity| order::route(&entity, &payment.parameters).ok());
        match (order, route) {
            (Some(order), Some(route)) if !payment.is_abandoned() => route.authorize(&order, today),
            _ => codes::THREEDS_ABANDONED.into(),
        }
    }

    /// The card that waits for its cardholder, with its code where that is still known.
    fn waiting_account(&self, payment: &Payment) -> Result<Option<FullAccount>, Failure> {
        let Some(Promise { card: Some(sealed), .. }) = self.store.promise(payment)? else { return Ok(None) };
        let secret = self.vault.open(payment.id.as_str(), &sealed)?;
        let secret = Zeroizing::new(String::from_utf8_lossy(&secret).into_owned());
        let mut account = FullAccount::restored(&payment.account, Some(&secret));
        if let Some(FullAccount::Card(card)) = &mut account {
            card.code = self.codes.get(&payment.id);
            // Where the code is not there any more, it cannot be expected either.
            let keyed = payment.registration.is_none() && card.code.is_some();
            card.entry = if keyed { Entry::Keyed } else { Entry::Stored };
        }
        Ok(account)
    }

    fn three_d_of(&self, payment: &Payment) -> ThreeD {
        self.directory.entity(&payment.entity).map_or(ThreeD::WhenEnrolled, |entity| entity.settings.channel.three_d)
    }

    /// Moves the authentication of a pending payment on, where `step` says that there is something to move.
    async fn step(
        &self,
        payment: &Payment,
        step: impl FnOnce(&mut Authentication) -> bool + Send + 'static,
    ) -> Result<Payment, Failure> {
        let keys = Keys::payment(&payment.entity, &payment.id);
        let moved = self.store.update(keys, move |loaded| {
            let mut payment = loaded.payment.ok_or_else(no_page)?;
            let pending = payment.result.is_pending();
            let authentication = payment.redirect.as_mut().and_then(|redirect| redirect.authentication.as_mut());
            let moved = authentication.filter(|_| pending).is_some_and(step);
            let changes = if moved { Changes::default().payment(&payment) } else { Changes::default() };
            Ok((changes, payment))
        });
        Ok(moved.await??)
    }
}

/// What a visit of the page comes to.
#[derive(Debug)]
pub enum Visit {
    /// The issuer's method page has to run first.
    Method(Payment),
    /// The issuer waits for the shopper's answer.
    Challenge(Payment),
    /// The payment has ended.
    Ended(Payment),
}

/// What came of an answer to a challenge.
#[derive(Debug)]
pub struct Answered {
    /// The payment.
    pub payment: Payment,
    /// Whether the answer was taken. Otherwise it changed nothing.
    pub taken: bool,
}

fn begun(authentication: Authentication) -> Judged {
    Judged { answer: codes::PENDING.into(), authentication: Some(authentication) }
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
    let url = format!("{public}v1/threeDSecure/{page}");
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
        page: Some(page),
        abandoned: false,
        authentication: Some(authentication),
    })
}

/// Where the shopper comes back to; in a checkout the form may know it alone.
///
/// # Errors
/// `shopperResultUrl` by name, where the merchant has to send it and has not.
pub(super) fn result_url(parameters: &Parameters, form: Option<&str>, in_form: bool) -> Result<String, Refusal> {
    match parameters.get("shopperResultUrl").or(form) {
        Some(address) => Ok(address.to_owned()),
        None if in_form => Ok(String::new()),
        None => {
            let message = "may not be empty: the issuer asks the shopper, who comes back then";
            Err(Refusal::parameter("shopperResultUrl", None, message))
        }
    }
}
