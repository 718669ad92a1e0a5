//! A payment server to server: one order, one commit, one answer.

use std::collections::BTreeMap;

use tillgate_shared::parameter::{Parameters, find};
use tillgate_shared::result::ResultCode;

use super::once::Once;
use super::{Failure, Gateway, order, reference};
use crate::connector::Order;
use crate::domain::checkout::Checkout;
use crate::domain::entity::Entity;
use crate::domain::id::PaymentId;
use crate::domain::payment::{Account, CardSummary, Payment, descriptor};
use crate::store::{Changes, Keys};

/// A payment that has been decided and not yet written.
pub(super) struct Decided {
    pub(super) payment: Payment,
    /// The sealed number; none where nothing is left to do with it.
    pub(super) sealed: Option<Vec<u8>>,
}

impl Gateway {
    /// Makes a payment with card data that the merchant sends.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; declines are payments, not errors.
    pub async fn pay(&self, entity: &Entity, parameters: Parameters, once: Once<Payment>) -> Result<Payment, Failure> {
        reference::refuse_alone(&parameters)?;
        order::refuse_override(&parameters)?;
        let decided = self.decide(entity, None, parameters)?;
        let changes = self.changes(&decided);
        let payment = decided.payment;
        let changes = once.keep(changes, &payment, payment.created);
        self.store.update(Keys::none(), move |_| Ok((changes, ()))).await??;
        Ok(payment)
    }

    /// Reads the order, asks the connector, and prepares what is to be written. Moves nothing.
    pub(super) fn decide(
        &self,
        entity: &Entity,
        checkout: Option<&Checkout>,
        parameters: Parameters,
    ) -> Result<Decided, Failure> {
        let route = order::route(entity, &parameters)?;
        let order = order::read(entity, &parameters)?;
        let now = self.now();
        let result = route.authorize(&order, now.to_zoned(jiff::tz::TimeZone::UTC).date());
        let id = Self::new_payment_id(now)?;
        let sealed = if result.is_success() { Some(self.seal_number(&id, &order)?) } else { None };
        let payment = payment(id, entity, checkout, now, &order, result, parameters);
        Ok(Decided { payment, sealed })
    }

    pub(super) fn changes(&self, decided: &Decided) -> Changes {
        let payment = &decided.payment;
        let changes = Changes::default().payment(payment);
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
            Some(id) => self.store.payment(&entity.id, &id)?,
            None => None,
        };
        payment.ok_or_else(|| crate::domain::refusal::Refusal::not_found("There is no payment with this id").into())
    }
}

fn payment(
    id: PaymentId,
    entity: &Entity,
    checkout: Option<&Checkout>,
    now: jiff::Timestamp,
    order: &Order,
    result: ResultCode,
    mut parameters: Parameters,
) -> Payment {
    let text = order::statement_text(&parameters).unwrap_or(&entity.name).to_owned();
    parameters.retain(|name, _| is_echoed(name));
    Payment {
        descriptor: descriptor(&id, &text),
        id,
        entity: entity.id.clone(),
        checkout: checkout.map(|checkout| checkout.id.clone()),
        referenced: None,
        registration: None,
        avs: None,
        cvv: None,
        details: BTreeMap::new(),
        created: now,
        payment_type: order.payment_type,
        brand: order.brand.code.to_owned(),
        amount: order.amount,
        result,
        account: Account::Card(CardSummary::of(order)),
        parameters,
    }
}

/// Whether a parameter is kept with the payment and shown again. Secrets never are, card data in their reduced form
/// only, and what has a field of its own is not kept twice.
pub(super) fn is_echoed(name: &str) -> bool {
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
    let secret = find(name).is_some_and(|row| row.secret);
    !own_field && !secret && !name.starts_with("card.") && !name.starts_with("authentication.")
}

#[cfg(test)]
mod tests {
    use tillgate_shared::parameter::catalogue;

    use super::*;

    #[test]
    fn no_secret_of_the_catalogue_is_kept() {
        let kept: Vec<&str> =
            catalogue().filter(|row| row.secret).map(|row| row.name).filter(|n| is_echoed(n)).collect();
        assert!(kept.is_empty(), "{kept:?}");
        for account in ["bankAccount.number", "bankAccount.iban", "walletPay.paymentToken", "card.number", "card.cvv"] {
            assert!(!is_echoed(account), "{account}");
        }
        for shown in ["bankAccount.holder", "bankAccount.bic", "cart.items[17].name", "merchant.data[abc]"] {
            assert!(is_echoed(shown), "{shown}");
        }
    }
}
