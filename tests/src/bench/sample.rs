//! A payment as a merchant's server sends it and as the gateway stores it, for stores that are filled directly.

use std::collections::BTreeMap;

use jiff::Timestamp;
use tillgate::domain::entity::{Entity, Settings};
use tillgate::domain::id::{EntityId, PaymentId};
use tillgate::domain::level::Level;
use tillgate::domain::ndc::Ndc;
use tillgate::domain::payment::{Account, CardSummary, Payment, PaymentType, descriptor};
use tillgate::vault::{MasterKey, Vault};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

/// Makes payments that differ in what differs in life: id, time, card digits, order number.
pub struct Sampler {
    entity: Entity,
    vault: Vault,
    amount: Amount,
}

impl Sampler {
    /// A sampler for an entity of its own.
    ///
    /// # Errors
    /// When the catalogue of currencies lacks the euro.
    pub fn new() -> anyhow::Result<Self> {
        let euro = Currency::parse("EUR").ok_or_else(|| anyhow::anyhow!("no euro"))?;
        let amount = Amount::parse("92.00", euro).map_err(|_| anyhow::anyhow!("no amount"))?;
        let id = EntityId::new(Timestamp::UNIX_EPOCH, [0x5a; 9]);
        let entity = Entity {
            id,
            name: "Kiln & Tide".to_owned(),
            live: false,
            level: Level::Merchant,
            parent: None,
            ahead: jiff::SignedDuration::ZERO,
            settings: Settings::default(),
        };
        Ok(Self { entity, vault: Vault::new(&MasterKey::from_bytes([0x5a; 32])), amount })
    }

    /// The entity that the payments belong to.
    pub fn entity(&self) -> &Entity {
        &self.entity
    }

    /// The payment with this number, made at a moment.
    pub fn payment(&self, number: u64, created: Timestamp) -> Payment {
        // Not random, only spread: the same store every time.
        let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
        let mut random = [0; 9];
        random[..8].copy_from_slice(&spread);
        let id = PaymentId::new(created, random);
        let mut parameters = Parameters::default();
        for (name, value) in [
            ("merchantTransactionId", format!("order-{number}").as_str()),
            ("customer.givenName", "Jane"),
            ("customer.surname", "Jones"),
            ("customer.email", "jane.jones@shop.example"),
            ("billing.street1", "Harbour Street 12"),
            ("billing.city", "Hamburg"),
            ("billing.postcode", "20457"),
            ("billing.country", "DE"),
        ] {
            parameters.set(name, value);
        }
        Payment {
            descriptor: descriptor(&id, &self.entity.name),
            id,
            entity: self.entity.id.clone(),
            checkout: None,
            ndc: Some(Ndc::of_request(Some(&self.entity.id), [7; 16])),
            created,
            payment_type: PaymentType::Debit,
            brand: "VISA".to_owned(),
            amount: self.amount,
            result: codes::TEST_INTERNAL,
            referenced: None,
            registration: None,
            avs: None,
            cvv: None,
            details: BTreeMap::new(),
            redirect: None,
            pay_to: None,
            connector: None,
            connector_tx_ids: Vec::new(),
            account: Account::Card(CardSummary {
                bin: "420000".to_owned(),
                last4: format!("{:04}", number % 10_000),
                holder: Some("Jane Jones".to_owned()),
                expiry_month: "05".to_owned(),
                expiry_year: "2034".to_owned(),
            }),
            parameters,
            shares: None,
        }
    }

    /// The sealed card number of a payment.
    ///
    /// # Errors
    /// When the system gives no randomness.
    pub fn sealed(&self, payment: &Payment) -> anyhow::Result<Vec<u8>> {
        Ok(self.vault.seal(payment.id.as_str(), b"4200000000000000   ")?)
    }
}
