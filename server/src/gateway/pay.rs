//! A payment server to server: one order, one commit, one answer.

use std::net::IpAddr;

use tillgate_shared::format::url;
use tillgate_shared::parameter::{Parameters, find};

use super::attempts::Attempt;
use super::on_file::{File, Filing};
use super::once::Once;
use super::wallet::{self, Opened};
use super::{Failure, Gateway, duplicates, order, reference};
use crate::connector::{Answer, FullAccount, FullCard, Order};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, PaymentId};
use crate::domain::payment::{Account, Payment, Redirect, descriptor};
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;
use crate::store::{Changes, Keys, Loaded};

/// A payment that has been decided and not yet written.
pub(super) struct Decided {
    pub(super) payment: Payment,
    /// The sealed number of its account; none where nothing is left to do with it.
    pub(super) sealed: Option<Vec<u8>>,
    /// To be told how the write ended.
    pub(super) attempt: Attempt,
    /// The wallet token that pays; it can do so once.
    pub(super) token: Option<WalletToken>,
    /// What it does with things on file; none for the many that do nothing.
    pub(super) filing: Option<Filing>,
}

/// A payment that is ready to be written.
pub(super) struct Prepared {
    payment: Payment,
    changes: Changes,
    token: Option<WalletToken>,
    filing: Option<Filing>,
    /// What has to be unheard of, where the entity has each order paid once.
    reference: Option<(EntityId, String)>,
}

impl Prepared {
    /// What has to be loaded to decide it: things on file, and whether its wallet token has paid already.
    pub(super) fn keys(&self, keys: Keys) -> Keys {
        let keys = keys.with_wallet_token(self.token.as_ref()).with_reference(self.reference.clone());
        match &self.filing {
            Some(filing) => filing.keys(keys),
            None => keys,
        }
    }

    /// Decides under the write lock what is written.
    ///
    /// # Errors
    /// Its wallet token has paid already, or what is on file does not allow the payment.
    pub(super) fn settle(self, loaded: Loaded) -> Result<(Changes, Payment), Refusal> {
        if loaded.token_used {
            return Err(wallet::used());
        }
        let Self { mut payment, changes, filing, .. } = self;
        if loaded.reference_paid {
            return Ok(duplicates::declined(payment));
        }
        let changes = match filing {
            Some(filing) => changes.and(filing.settle(&mut payment, loaded.on_file)?).payment(&payment),
            None => changes,
        };
        Ok((changes, payment))
    }
}

/// Where a shopper who has to leave for the brand's page goes, and comes back to.
#[derive(Debug, Clone, Copy)]
pub struct Addresses<'a> {
    /// The address under which browsers reach this gateway, with a slash at its end.
    pub public: &'a str,
    /// The page that the form was on says that the shopper comes back here; the merchant's own `shopperResultUrl` stands
    /// above it.
    pub result: Option<&'a str>,
    /// The shopper's own, where its browser talks to us; otherwise the merchant may tell it (`customer.ip`).
    pub shopper: Option<IpAddr>,
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
        self.charge(File { owner: &entity.id, used: None }, entity, parameters, addresses, once).await
    }

    /// Makes a payment server to server, with the account among the parameters; it is a registration's when one is given.
    pub(super) async fn charge(
        &self,
        file: File<'_>,
        entity: &Entity,
        parameters: Parameters,
        addresses: Addresses<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        reference::refuse_alone(&parameters)?;
        order::refuse_override(&parameters)?;
        let (channel, parameters) = self.dispatched(entity, parameters)?;
        let payer = channel.as_deref().unwrap_or(entity);
        let (prepared, attempt) = self.prepare(payer, self.decide(file, payer, None, parameters, addresses)?);
        let keys = prepared.keys(Keys::none());
        let written = self
            .store
            .update(keys, move |loaded| {
                let (changes, payment) = prepared.settle(loaded)?;
                Ok((once.keep(changes, &payment, payment.created), payment))
            })
            .await;
        attempt.end(written.as_ref().ok().and_then(|decision| decision.as_ref().ok()).map(Payment::counts));
        Ok(written??)
    }

    /// Reads the order, asks the connector, and prepares what is to be written. Moves nothing.
    pub(super) fn decide(
        &self,
        file: File<'_>,
        entity: &Entity,
        checkout: Option<&Checkout>,
        mut parameters: Parameters,
        addresses: Addresses<'_>,
    ) -> Result<Decided, Failure> {
        let mut token = None;
        let order = order::read(entity, &parameters, |text| {
            let Opened { card, token: opened } = self.open_wallet_token(entity, text, self.now())?;
            token = Some(opened);
            Ok(card)
        })?;
        // What the wallet says of the authentication is told as if the merchant had sent it.
        if let (Some(_), FullAccount::Card(FullCard { cryptogram: Some(proof), .. })) = (&token, &order.account) {
            parameters.set("threeDSecure.eci", proof.eci.as_str());
        }
        let decided = self.decide_order(file, entity, checkout, parameters, addresses, &order)?;
        Ok(Decided { token, ..decided })
    }

    /// As [`Gateway::decide`], of an order that has been read already.
    pub(super) fn decide_order(
        &self,
        file: File<'_>,
        entity: &Entity,
        checkout: Option<&Checkout>,
        mut parameters: Parameters,
        addresses: Addresses<'_>,
        order: &Order,
    ) -> Result<Decided, Failure> {
        let route = order::route(entity, &parameters)?;
        let result_url = result_url(order, &parameters, addresses)?;
        let now = self.now();
        let shopper = addresses.shopper.or_else(|| parameters.get("customer.ip")?.parse().ok());
        let attempt = match file.used.is_some() || order.account.is_stored() {
            false => self.attempts.begin(entity, shopper, order.account.bin(), now)?,
            true => Attempt::default(),
        };
        let answer = route.authorize(order, now.to_zoned(jiff::tz::TimeZone::UTC).date());
        let id = Self::new_payment_id(now)?;
        let Answer { result, avs, cvv, details, pay_to, elsewhere } = answer;
        let open = result.is_success() || result.is_pending();
        let redirect = result_url.filter(|_| elsewhere).map(|result_url| Redirect {
            url: format!("{}v1/simulator/{id}", addresses.public),
            method: "GET".to_owned(),
            parameters: Vec::new(),
            result_url,
        });
        let text = order::statement_text(&parameters).unwrap_or(&entity.name).to_owned();
        let account = order.account.shown();
        let sent = parameters.clone();
        parameters.retain(|name, _| is_echoed(name, &account));
        let mut payment = Payment {
            descriptor: descriptor(&id, &text),
            id,
            entity: entity.id.clone(),
            checkout: checkout.map(|checkout| checkout.id.clone()),
            referenced: None,
            registration: None,
            avs,
            cvv,
            details,
            redirect,
            pay_to,
            created: now,
            payment_type: order.payment_type,
            brand: order.brand.code.to_owned(),
            amount: order.amount,
            result,
            account,
            parameters,
        };
        let filing = self.filing(file, &mut payment, &sent)?;
        // An account on file is kept there, and nowhere else.
        let on_file = file.used.is_some() || filing.as_ref().is_some_and(Filing::registers);
        let sealed = if open && !on_file { self.seal_account(payment.id.as_str(), &order.account)? } else { None };
        Ok(Decided { payment, sealed, token: None, filing, attempt })
    }

    /// Encodes what can be encoded before the write, and hands out who is to be told how that ended.
    pub(super) fn prepare(&self, payer: &Entity, decided: Decided) -> (Prepared, Attempt) {
        let Decided { payment, sealed, token, filing, attempt } = decided;
        let reference = duplicates::reference(payer, &payment);
        let mut changes = Changes::default();
        if let Some(token) = &token {
            changes = changes.wallet_token(token);
        }
        if let Some(sealed) = sealed {
            changes = changes.card(&payment.id, sealed, payment.created + self.options.card_window);
        }
        // What is on file may still change the payment.
        let changes = if filing.is_none() { changes.payment(&payment) } else { changes };
        (Prepared { payment, changes, token, filing, reference }, attempt)
    }
}

impl Gateway {
    /// The payment that sent its shopper to our page that stands in for the brand's.
    ///
    /// # Errors
    /// 404 when no payment with this id did.
    pub fn payment_of_page(&self, id: &str) -> Result<Payment, Failure> {
        let payment = match PaymentId::parse(id) {
            Some(id) => self.store.payment_of_page(&id)?,
            None => None,
        };
        payment.ok_or_else(|| Refusal::not_found("There is no payment with this id").into())
    }
}

/// Where the shopper comes back to from a brand's page; none for brands without one.
fn result_url(order: &Order, parameters: &Parameters, addresses: Addresses<'_>) -> Result<Option<String>, Refusal> {
    if order.brand.synchronous {
        return Ok(None);
    }
    let sent = parameters.get("shopperResultUrl");
    let pages_own = addresses.result.filter(|address| url::check(address).is_ok());
    match sent.or(pages_own) {
        Some(address) => Ok(Some(address.to_owned())),
        None => {
            let message = "may not be empty: the shopper leaves for the brand's page and comes back";
            Err(Refusal::parameter("shopperResultUrl", None, message))
        }
    }
}

/// Whether a parameter is kept with the payment and shown again. Secrets never are, card data in their reduced form
/// only, and what has a field of its own is not kept twice.
pub(super) fn is_echoed(name: &str, account: &Account) -> bool {
    let own_field = matches!(
        name,
        "amount"
            | "currency"
            | "paymentType"
            | "paymentBrand"
            | "descriptor"
            | "entityId"
            | "integrity"
            | "shopOrigin"
            | "forceUtf8"
            | "registrationId"
    );
    let of_account = match account {
        Account::Bank(_) => name.starts_with("bankAccount.") && !name.starts_with("bankAccount.mandate."),
        Account::Virtual(_) => name.starts_with("virtualAccount."),
        Account::Card(_) | Account::Unknown => false,
    };
    let secret = find(name).is_some_and(|row| row.secret);
    !own_field && !of_account && !secret && !name.starts_with("card.") && !name.starts_with("authentication.")
}

#[cfg(test)]
mod tests {
    use tillgate_shared::parameter::catalogue;

    use super::*;
    use crate::domain::payment::BankSummary;

    #[test]
    fn no_secret_of_the_catalogue_is_kept() {
        let unknown = Account::Unknown;
        let kept: Vec<&str> =
            catalogue().filter(|row| row.secret).map(|row| row.name).filter(|n| is_echoed(n, &unknown)).collect();
        assert!(kept.is_empty(), "{kept:?}");
        for account in ["bankAccount.number", "bankAccount.iban", "walletPay.paymentToken", "card.number", "card.cvv"] {
            assert!(!is_echoed(account, &unknown), "{account}");
        }
        for shown in ["bankAccount.holder", "bankAccount.bic", "cart.items[17].name", "merchant.data[abc]"] {
            assert!(is_echoed(shown, &unknown), "{shown}");
        }
    }

    #[test]
    fn what_the_account_shows_by_itself_is_not_kept_twice() {
        let bank = Account::Bank(BankSummary::default());
        assert!(!is_echoed("bankAccount.holder", &bank));
        assert!(is_echoed("bankAccount.mandate.id", &bank));
        assert!(is_echoed("virtualAccount.accountId", &bank));
    }
}
