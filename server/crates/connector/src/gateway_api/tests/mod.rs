//! The translation of orders, the judgement of answers, and the messages of the timeline. The connector as a whole is
//! tested at a second gateway (`tests/tests/api/acquirer`).

mod answers;
mod messages;
mod orders;

use tillgate_domain::payment::PaymentType;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::format::expiry::Expiry;
use tillgate_shared::format::security_code::SecurityCode;
use tillgate_shared::money::{Amount, Currency};

use crate::{AvsAddress, CardSource, FullAccount, FullCard, Order, OrderContext};

/// The id of a payment of this gateway.
const REFERENCE: &str = "8ac7a4a19c1f4e5d9c1f4e5d9c1f4e5d";

fn euros(text: &str) -> Amount {
    Amount::parse(text, Currency::parse("EUR").unwrap()).unwrap()
}

/// Makes a debit of 92.00 EUR by card.
fn sample_order() -> Order {
    Order {
        payment_type: PaymentType::Debit,
        amount: euros("92.00"),
        brand: Brand::find("VISA").unwrap(),
        account: FullAccount::Card(FullCard {
            number: CardNumber::parse("4200000000000000").unwrap(),
            expiry: Expiry::parse("05", "2034").unwrap(),
            holder: Some("Jane Jones".to_owned()),
            security_code: Some(SecurityCode::parse("123").unwrap()),
            cryptogram: None,
            source: CardSource::Keyed,
        }),
        address: AvsAddress { street: Some("Kiln Lane 4".to_owned()), postcode: None },
        mandate_signed: None,
        creditor_id: None,
        shopper_present: true,
        proof: None,
        accepts_partial_approval: false,
        accepts_any_number: false,
        forced_result_code: None,
        forced_advice_code: None,
        context: OrderContext::default(),
    }
}
