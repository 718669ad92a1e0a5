//! Last stage: what is written. The payment is drafted and everything encoded beside the writer; [`Prepared::settle`] decides
//! under the write lock, which is the moment for what depends on other payments. One order, one commit, one response.

use tillgate_shared::parameter::Parameters;

use super::super::echo::is_echoed;
use super::super::on_file::Filing;
use super::super::pay::Addresses;
use super::super::{Failure, Gateway, duplicates, random, wallet};
use super::authorize::{Authorized, ShopperVisit};
use super::{Ask, Circumstances, HeldCard, Identity, Intake, three_ds};
use crate::connector::{Order, Route, ShopperPage};
use crate::domain::defaults;
use crate::domain::id::PageId;
use crate::domain::payment::{Payment, Redirect};
use crate::domain::refusal::Refusal;
use crate::store::{Changes, Keys, Loaded, Promise};

/// A payment that is ready to be written.
pub(in crate::gateway) struct Prepared {
    payment: Payment,
    /// What is written with it.
    changes: Changes,
    /// What it does with things on file; `None` for the many that do nothing.
    filing: Option<Filing>,
    /// The sealed card of one that does, and whose cardholder is authenticated first.
    held_card: Option<HeldCard>,
    /// The question to a connector that leaves this process.
    ask: Option<Ask>,
    /// What has to be loaded to settle it: things on file, and whether its reference or its wallet token has paid already.
    pub(in crate::gateway) keys: Keys,
}

impl Gateway {
    /// Drafts a payment and encodes what can be encoded before the write.
    ///
    /// # Errors
    /// `shopperResultUrl` by name if the shopper has to leave and nobody says where to come back to; a charge by the merchant
    /// that names no initial transaction.
    pub(super) fn record(
        &self,
        intake: Intake,
        authorized: Authorized,
        route: &Route,
        identity: Identity,
        circumstances: Circumstances<'_>,
        brand_way_back: Option<String>,
    ) -> Result<Prepared, Failure> {
        let Circumstances { sender, file, .. } = circumstances;
        let redirect = self.redirect(&intake, &authorized, &identity, circumstances, brand_way_back)?;
        let is_to_be_asked = authorized.is_to_be_asked;
        let mut payment = draft(&intake, authorized, identity, circumstances);
        payment.redirect = redirect;
        payment.connector = is_to_be_asked.then(|| route.connector.name().to_owned());
        let Intake { payer, order, account, mut parameters, wallet_token } = intake;
        let filing = self.filing(file, &payment, &account, &mut parameters, sender.presence())?;
        defaults::fill(&mut parameters, &payment.brand, payment.created);
        parameters.retain(|name, _| is_echoed(name, &payment.account));
        payment.parameters = parameters;
        if let Some(checkout) = sender.checkout()
            && let Some(earlier) = self.attempt_to_share_with(checkout)?
        {
            payment.share_with(&earlier);
        }

        let mut held_card = self.hold_card(&payment, &order.account)?;
        // An account on file is kept there, and nowhere else.
        let on_file = file.used.is_some() || filing.as_ref().is_some_and(Filing::registers);
        let mut changes = self.keep_account(&payment, &order, on_file || held_card.is_some())?;
        if let Some(token) = &wallet_token {
            changes = changes.wallet_token(token);
        }
        if is_to_be_asked {
            changes = changes.intent(&payment, self.now());
        }
        // What is on file may still change the payment.
        if filing.is_none() {
            changes = changes.payment(&payment);
            if let Some(HeldCard { sealed, until }) = held_card.take() {
                let owner = file.owner.clone();
                let promise = Promise { owner, registration: None, agreement: None, card: Some(sealed) };
                changes = changes.promise(&payment, promise, until);
            }
        }
        let keys = Keys {
            wallet_token,
            reference: duplicates::reference(&payer, &payment),
            on_file: filing.as_ref().map(Filing::keys).unwrap_or_default(),
            ..Keys::default()
        };
        let ask = if is_to_be_asked { Some(self.question(&payment, order, route)) } else { None };
        Ok(Prepared { payment, changes, filing, held_card, ask, keys })
    }

    /// Returns the changes that keep the account of a payment for the window of follow-up payments, unless it is kept
    /// `elsewhere`. The account of a payment that paid nothing is not kept at all.
    fn keep_account(&self, payment: &Payment, order: &Order, elsewhere: bool) -> Result<Changes, Failure> {
        let changes = Changes::default();
        if elsewhere || !payment.counts() {
            return Ok(changes);
        }
        let sealed = self.seal_account(payment.id.as_str(), &order.account)?;
        Ok(match sealed {
            Some(sealed) => changes.card(&payment.id, sealed, payment.created + self.options.card_window),
            None => changes,
        })
    }

    /// Makes the redirect of a payment whose shopper has to visit a page first.
    fn redirect(
        &self,
        intake: &Intake,
        authorized: &Authorized,
        identity: &Identity,
        circumstances: Circumstances<'_>,
        brand_way_back: Option<String>,
    ) -> Result<Option<Redirect>, Failure> {
        let addresses = circumstances.addresses;
        let redirect = match (&authorized.visit, brand_way_back) {
            (Some(ShopperVisit::Authentication(authentication)), _) => {
                // The form goes back to its page by itself.
                let back =
                    match addresses.way_back(&intake.parameters, "the issuer asks the shopper, who comes back then") {
                        Err(_) if circumstances.is_in_form() => String::new(),
                        back => back?,
                    };
                three_ds::redirect(addresses.public, back, authentication.clone(), &intake.order, identity.now)?
            }
            (Some(ShopperVisit::Brand(page)), Some(back)) => brand_redirect(addresses, back, page, identity)?,
            (Some(ShopperVisit::Brand(_)), None) | (None, _) => return Ok(None),
        };
        let shop_origin = addresses.shop_origin.map(str::to_owned);
        Ok(Some(Redirect { shop_origin, ..redirect }))
    }
}

/// Drafts a payment, without its redirect and its parameters.
fn draft(intake: &Intake, authorized: Authorized, identity: Identity, circumstances: Circumstances<'_>) -> Payment {
    let (order, result) = (&intake.order, authorized.result);
    let Circumstances { sender, file, .. } = circumstances;
    Payment {
        id: identity.id,
        entity: intake.payer.id.clone(),
        checkout: sender.checkout().map(|checkout| checkout.id.clone()),
        ndc: sender.ndc().cloned(),
        referenced: None,
        registration: file.used.map(|used| used.id.clone()),
        created: identity.now,
        payment_type: order.payment_type,
        brand: order.brand.code.to_owned(),
        amount: order.amount,
        result: result.code,
        avs: result.avs,
        cvv: result.cvv,
        details: result.details,
        redirect: None,
        pay_to: result.transfer_account,
        connector: None,
        connector_tx_ids: result.connector_tx_ids,
        descriptor: identity.descriptor,
        account: order.account.shown(),
        parameters: Parameters::default(),
        shares: None,
    }
}

/// Makes the redirect to a brand's page, from which the shopper comes back to `result_url`.
///
/// # Errors
/// When the system gives no random bytes.
fn brand_redirect(
    addresses: Addresses<'_>,
    result_url: String,
    page: &ShopperPage,
    identity: &Identity,
) -> Result<Redirect, Failure> {
    let (url, method, parameters, page) = match page {
        ShopperPage::Own(path) => {
            let page = PageId::new(identity.now, random()?);
            (format!("{}{path}{}", addresses.public, page.as_str()), "GET".to_owned(), Vec::new(), Some(page))
        }
        ShopperPage::Foreign { url, method, parameters } => (url.clone(), method.clone(), parameters.clone(), None),
    };
    Ok(Redirect {
        url,
        method,
        parameters,
        preconditions: Vec::new(),
        result_url,
        shop_origin: None,
        page,
        abandoned: false,
        authentication: None,
    })
}

impl Prepared {
    /// Takes the question to a connector that leaves this process, to be asked when the payment has been written.
    pub(in crate::gateway) fn take_ask(&mut self) -> Option<Ask> {
        self.ask.take()
    }

    /// Decides under the write lock what is written.
    ///
    /// # Errors
    /// Its wallet token has paid already, or what is on file does not allow the payment.
    pub(in crate::gateway) fn settle(self, loaded: Loaded) -> Result<(Changes, Payment), Refusal> {
        let Self { mut payment, changes, filing, held_card, .. } = self;
        if loaded.token_used {
            return Err(wallet::used());
        }
        if loaded.reference_paid {
            return Ok(duplicates::declined(payment));
        }
        let changes = match filing {
            Some(filing) => changes.and(filing.settle(&mut payment, loaded.on_file, held_card)?).payment(&payment),
            None => changes,
        };
        Ok((changes, payment))
    }
}
