//! A payment: its order is read, the connector asked, and everything made ready beside the writer; under the write lock it
//! is settled, which is the moment for what depends on other payments. One order, one commit, one answer.

use std::net::IpAddr;

use tillgate_shared::format::url;
use tillgate_shared::parameter::{Parameters, Requirements};

use super::authentication::{self, Case, Judged, Named, Waiting};
use super::echo::is_echoed;
use super::on_file::{File, Filing};
use super::once::Once;
use super::sender::Sender;
use super::velocity::{AttemptGuard, AttemptOutcome, Shopper};
use super::wallet;
use super::{Failure, Gateway, asynchronous, demands, duplicates, order, reference};
use crate::connector::{ConnectorResult, Outcome};
use crate::domain::defaults;
use crate::domain::entity::Entity;
use crate::domain::payment::{Payment, descriptor};
use crate::domain::refusal::Refusal;
use crate::store::{Changes, Keys, Loaded, Promise};
use tillgate_shared::result::codes;

/// Where a shopper who has to leave for the brand's page goes, and comes back to.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// The address under which browsers reach this gateway, with a slash at its end.
    pub public: &'a str,
    /// The page that the form was on says that the shopper comes back here; the merchant's own `shopperResultUrl` stands
    /// above it.
    pub result: Option<&'a str>,
    /// Origin of the page that the form was in, as the form's frame tells it.
    pub shop_origin: Option<&'a str>,
    /// The shopper's own, where its browser talks to us; otherwise the merchant may tell it (`customer.ip`).
    pub shopper: Option<IpAddr>,
}

impl Addresses<'_> {
    /// Where the shopper comes back to: what the merchant says, or else what the page does, where that is an address at all.
    ///
    /// # Errors
    /// `shopperResultUrl` by name where nobody says it, with the reason why somebody should.
    fn way_back(self, parameters: &Parameters, reason: &str) -> Result<String, Refusal> {
        let own = self.result.filter(|address| url::check(address).is_ok());
        let address = parameters.get("shopperResultUrl").or(own).map(str::to_owned);
        address.ok_or_else(|| Refusal::parameter("shopperResultUrl", None, format!("may not be empty: {reason}")))
    }
}

impl Gateway {
    /// Makes a payment with account data that the merchant sends, or does to an earlier one what refers to it.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; declines are payments, not errors.
    pub async fn pay(
        &self,
        entity: &Entity,
        parameters: Parameters,
        addresses: Addresses<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        if let Some(id) = reference::named(&parameters) {
            return self.refer(entity, &id, parameters, once).await;
        }
        let ndc = once.ndc().cloned();
        let sender = Sender::server(&parameters, ndc.as_ref());
        self.charge(File { owner: &entity.id, used: None }, entity, sender, parameters, addresses, once).await
    }

    /// Makes a payment server to server, with the account among the parameters; it is a registration's when one is given.
    pub(super) async fn charge(
        &self,
        file: File<'_>,
        entity: &Entity,
        sender: Sender<'_>,
        parameters: Parameters,
        addresses: Addresses<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        reference::refuse_alone(&parameters)?;
        order::refuse_override(&parameters)?;
        let (channel, parameters) = self.dispatched(entity, parameters)?;
        let payer = channel.as_deref().unwrap_or(entity);
        let (prepared, attempt) = self.prepare(file, payer, sender, parameters, addresses).await?;
        let written = self
            .store
            .update(prepared.keys.clone(), move |loaded| {
                let (changes, payment) = prepared.settle(loaded)?;
                Ok((once.keep(changes, &payment, payment.created), payment))
            })
            .await;
        let outcome = match &written {
            Ok(Ok(payment)) => AttemptOutcome::of(payment),
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end(attempt, outcome, self.now());
        Ok(written??)
    }

    /// Reads the order, asks the connector, and encodes what can be encoded before the write; writes nothing. The attempt
    /// wants to be told how the write ended.
    pub(super) async fn prepare(
        &self,
        file: File<'_>,
        entity: &Entity,
        sender: Sender<'_>,
        mut parameters: Parameters,
        addresses: Addresses<'_>,
    ) -> Result<(Prepared, AttemptGuard), Failure> {
        let now = self.now_of(entity);
        let route = self.route(entity, &parameters);
        let case = Case::of(entity, route.as_ref().ok(), &parameters, sender, file.used.is_some()).await;
        let checkout = sender.checkout();
        let in_form = checkout.is_some();
        let requirements =
            Requirements { authenticates: case.is_some_and(Case::asks_for_browser), ..sender.requirements(entity) };
        let (mut order, token) = self.read_order(entity, &requirements, &mut parameters, file.used.is_some())?;
        if let Some(checkout) = checkout {
            demands::check(checkout, &entity.settings.channel, &order, &parameters, file.used.is_some())?;
        }
        let route = route?;
        let brand_page = match order.requires_redirect() {
            true => Some(addresses.way_back(&parameters, "the shopper leaves for the brand's page and comes back")?),
            false => None,
        };
        let shopper = Shopper::of(addresses.shopper, &parameters);
        // Nobody finds out by a stored account which numbers work.
        let attempt = match file.used {
            None => self.velocity.begin(entity, shopper, &order.account, self.now())?,
            Some(_) => AttemptGuard::default(),
        };
        let id = Self::new_payment_id(self.next_id_time(entity))?;
        let descriptor = descriptor(&id, order::statement_text(&parameters).unwrap_or(&entity.name));
        let named = Named { reference: id.as_str(), descriptor: &descriptor, now };
        let Judged { outcome, authentication } =
            self.judge(case, &mut order, &route, &mut parameters, in_form, named).await?;
        let (result, page) = match outcome {
            Outcome::Approved(result) | Outcome::Declined(result) | Outcome::Pending(result) => (result, None),
            Outcome::Redirect(result, page) => (result, Some(page)),
            Outcome::Unknown => (codes::PENDING.into(), None),
        };
        let ConnectorResult { code, avs, cvv, details, transfer_account, .. } = result;
        let mut redirect = match (authentication, brand_page.zip(page)) {
            (Some(authentication), _) => {
                let back = addresses.way_back(&parameters, "the issuer asks the shopper, who comes back then");
                // The form goes back to its page by itself.
                let back = if in_form { back.unwrap_or_default() } else { back? };
                Some(authentication::redirect(addresses.public, back, authentication, &order, now)?)
            }
            (None, Some((back, page))) => Some(asynchronous::redirect(addresses.public, back, page, now)?),
            (None, None) => None,
        };
        if let Some(redirect) = &mut redirect {
            redirect.shop_origin = addresses.shop_origin.map(str::to_owned);
        }
        let mut payment = Payment {
            descriptor,
            redirect,
            id,
            entity: entity.id.clone(),
            checkout: checkout.map(|checkout| checkout.id.clone()),
            ndc: sender.ndc().cloned(),
            referenced: None,
            registration: file.used.map(|used| used.id.clone()),
            created: now,
            payment_type: order.payment_type,
            brand: order.brand.code.to_owned(),
            amount: order.amount,
            result: code,
            avs,
            cvv,
            details,
            pay_to: transfer_account,
            account: order.account.shown(),
            parameters: Parameters::default(),
            shares: None,
        };
        let filing = self.filing(file, &payment, &mut parameters, sender.presence())?;
        defaults::fill(&mut parameters, &payment.brand, now);
        parameters.retain(|name, _| is_echoed(name, &payment.account));
        payment.parameters = parameters;
        if let Some(earlier) = checkout.map(|checkout| self.attempt_to_share_with(checkout)).transpose()?.flatten() {
            payment.share_with(&earlier);
        }

        let mut changes = Changes::default();
        // An account on file is kept there, and nowhere else; one that paid nothing is not kept at all.
        let on_file = file.used.is_some() || filing.as_ref().is_some_and(Filing::registers);
        let mut waiting = self.keep_waiting(&payment, &order.account)?;
        if payment.counts()
            && !on_file
            && waiting.is_none()
            && let Some(sealed) = self.seal_account(payment.id.as_str(), &order.account)?
        {
            changes = changes.card(&payment.id, sealed, now + self.options.card_window);
        }
        if let Some(token) = &token {
            changes = changes.wallet_token(token);
        }
        // What is on file may still change the payment.
        if filing.is_none() {
            changes = changes.payment(&payment);
            if let Some(Waiting { sealed, until }) = waiting.take() {
                let owner = file.owner.clone();
                let promise = Promise { owner, registration: None, agreement: None, card: Some(sealed) };
                changes = changes.promise(&payment, promise, until);
            }
        }
        let keys = Keys {
            wallet_token: token,
            reference: duplicates::reference(entity, &payment),
            on_file: filing.as_ref().map(Filing::keys).unwrap_or_default(),
            ..Keys::default()
        };
        Ok((Prepared { payment, changes, filing, waiting, keys }, attempt))
    }
}

/// A payment that is ready to be written.
pub(super) struct Prepared {
    payment: Payment,
    /// What is written with it.
    changes: Changes,
    /// What it does with things on file; none for the many that do nothing.
    filing: Option<Filing>,
    /// The sealed card of one that does, and whose cardholder is authenticated first.
    waiting: Option<Waiting>,
    /// What has to be loaded to settle it: things on file, and whether its reference or its wallet token has paid already.
    pub(super) keys: Keys,
}

impl Prepared {
    /// Decides under the write lock what is written.
    ///
    /// # Errors
    /// Its wallet token has paid already, or what is on file does not allow the payment.
    pub(super) fn settle(self, loaded: Loaded) -> Result<(Changes, Payment), Refusal> {
        let Self { mut payment, changes, filing, waiting, .. } = self;
        if loaded.token_used {
            return Err(wallet::used());
        }
        if loaded.reference_paid {
            return Ok(duplicates::declined(payment));
        }
        let changes = match filing {
            Some(filing) => changes.and(filing.settle(&mut payment, loaded.on_file, waiting)?).payment(&payment),
            None => changes,
        };
        Ok((changes, payment))
    }
}
