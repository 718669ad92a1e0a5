//! A payment server to server: one order, one commit, one answer.

use tillgate_shared::format::url;
use tillgate_shared::parameter::{Parameters, find};

use super::once::Once;
use super::wallet::{self, Opened};
use super::{Failure, Gateway, order, reference};
use crate::connector::{Answer, FullAccount, FullCard, Order};
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::id::PaymentId;
use crate::domain::payment::{Account, Payment, Redirect, descriptor};
use crate::domain::refusal::Refusal;
use crate::store::wallet::WalletToken;
use crate::store::{Changes, Keys};

/// A payment that has been decided and not yet written.
pub(super) struct Decided {
    pub(super) payment: Payment,
    /// The sealed number of its account; none where nothing is left to do with it.
    pub(super) sealed: Option<Vec<u8>>,
    /// The wallet token that pays; it can do so once.
    pub(super) token: Option<WalletToken>,
}

impl Decided {
    /// What its write looks at besides: whether its wallet token has paid already.
    pub(super) fn keys(&self, keys: Keys) -> Keys {
        keys.with_wallet_token(self.token.as_ref())
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
        reference::refuse_alone(&parameters)?;
        order::refuse_override(&parameters)?;
        let (channel, parameters) = self.dispatched(entity, parameters)?;
        let decided = self.decide(channel.as_deref().unwrap_or(entity), None, parameters, addresses)?;
        let changes = self.changes(&decided);
        let keys = decided.keys(Keys::none());
        let payment = decided.payment;
        let changes = once.keep(changes, &payment, payment.created);
        self.store
            .update(keys, move |loaded| if loaded.token_used { Err(wallet::used()) } else { Ok((changes, ())) })
            .await??;
        Ok(payment)
    }

    /// Reads the order, asks the connector, and prepares what is to be written. Moves nothing.
    pub(super) fn decide(
        &self,
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
        let decided = self.decide_order(entity, checkout, parameters, addresses, &order)?;
        Ok(Decided { token, ..decided })
    }

    /// As [`Gateway::decide`], of an order that has been read already.
    pub(super) fn decide_order(
        &self,
        entity: &Entity,
        checkout: Option<&Checkout>,
        mut parameters: Parameters,
        addresses: Addresses<'_>,
        order: &Order,
    ) -> Result<Decided, Failure> {
        let route = order::route(entity, &parameters)?;
        let result_url = result_url(order, &parameters, addresses)?;
        let now = self.now();
        let answer = route.authorize(order, now.to_zoned(jiff::tz::TimeZone::UTC).date());
        let id = Self::new_payment_id(now)?;
        let Answer { result, avs, cvv, details, pay_to, elsewhere } = answer;
        let open = result.is_success() || result.is_pending();
        let sealed = if open { self.seal_account(id.as_str(), &order.account)? } else { None };
        let redirect = result_url.filter(|_| elsewhere).map(|result_url| Redirect {
            url: format!("{}v1/simulator/{id}", addresses.public),
            method: "GET".to_owned(),
            parameters: Vec::new(),
            result_url,
        });
        let text = order::statement_text(&parameters).unwrap_or(&entity.name).to_owned();
        let account = order.account.shown();
        parameters.retain(|name, _| is_echoed(name, &account));
        let payment = Payment {
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
        Ok(Decided { payment, sealed, token: None })
    }

    pub(super) fn changes(&self, decided: &Decided) -> Changes {
        let payment = &decided.payment;
        let mut changes = Changes::default().payment(payment);
        if let Some(token) = &decided.token {
            changes = changes.wallet_token(token);
        }
        match &decided.sealed {
            Some(sealed) => changes.card(&payment.id, sealed.clone(), payment.created + self.options.card_window),
            None => changes,
        }
    }

    /// A payment of this entity; another entity's is as unknown as one that never was.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn payment(&self, entity: &Entity, id: &str) -> Result<Payment, Failure> {
        let payment = match PaymentId::parse(id) {
            Some(id) => self.store.payment_of(&self.entities_of(entity), &id)?,
            None => None,
        };
        payment.ok_or_else(|| Refusal::not_found("There is no payment with this id").into())
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
