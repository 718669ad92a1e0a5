//! Facts about a card that follow from its number and brand. They are decided while the number is known.

use tillgate_connector::{FullAccount, Order};
use tillgate_risk::{BinTable, CardFunding};
use tillgate_shared::brand::PaymentMethod;

/// Facts about a card. All are `None` for another account.
#[derive(Debug, Default)]
pub(super) struct CardFacts {
    /// The first six digits of the number.
    pub(super) bin: Option<String>,
    /// The issuer's country, two letters.
    pub(super) country: Option<String>,
    /// The funding.
    pub(super) funding: Option<String>,
}

/// Describes the card of an order by the operator's table. A funding that the table does not know is that of the brand,
/// if all of its cards are debit cards.
pub(super) fn describe_card(order: &Order, bins: &BinTable) -> CardFacts {
    let FullAccount::Card(card) = &order.account else { return CardFacts::default() };
    let facts = bins.find_facts(card.number.digits());
    let by_brand = (order.brand.method == PaymentMethod::DebitCard).then_some(CardFunding::Debit);
    CardFacts {
        bin: Some(card.number.bin().to_owned()),
        country: facts.country().map(str::to_owned),
        funding: facts.funding.or(by_brand).map(|funding| funding.as_str().to_owned()),
    }
}
