//! Payments in the form that a merchant's server sends and in the form that the gateway stores, for stores that are
//! filled directly.

use jiff::Timestamp;
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::level::Level;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::ndc::Ndc;
use tillgate_domain::payment::{Account, CardSummary, Payment, PaymentType, statement_descriptor};
use tillgate_shared::money::{Amount, Currency};
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;
use tillgate_vault::{MasterKey, Sealed, Vault};

/// Generates payments that differ in id, time, card digits and order number, as real ones do.
pub struct Sampler {
    entity: Entity,
    vault: Vault,
    amount: Amount,
}

impl Sampler {
    /// Creates a sampler with its own entity.
    ///
    /// # Errors
    /// If the catalogue of currencies lacks the euro.
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
            settings: EntitySettings::default(),
        };
        Ok(Self { entity, vault: Vault::new(&MasterKey::from_bytes([0x5a; 32])), amount })
    }

    /// Returns the entity that the payments belong to.
    pub fn entity(&self) -> &Entity {
        &self.entity
    }

    /// Returns the approved payment with this number, created at the given time: the same for the same arguments.
    pub fn generate_payment(&self, number: u64, created: Timestamp) -> Payment {
        // Deterministic, so that every run fills the store with the same data, but evenly spread.
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
        let (entity, payment_type) = (self.entity.id.clone(), PaymentType::Debit);
        Payment {
            descriptor: statement_descriptor(&id, &self.entity.name),
            ndc: Some(Ndc::for_request(Some(&self.entity.id), [7; 16])),
            account: Account::Card(CardSummary {
                bin: "420000".to_owned(),
                last4: format!("{:04}", number % 10_000),
                holder: Some("Jane Jones".to_owned()),
                expiry_month: "05".to_owned(),
                expiry_year: "2034".to_owned(),
            }),
            parameters,
            ..Payment::draft(id, entity, created, payment_type, "VISA", self.amount, codes::TEST_INTERNAL)
        }
    }

    /// Seals the card number for a payment. All payments have the same number.
    pub fn seal_card_number(&self, payment: &Payment) -> anyhow::Result<Sealed> {
        Ok(self.vault.seal(payment.id.as_str(), b"4200000000000000   ")?)
    }
}
