//! Reconciliation records for tests, written into the store of a running gateway.

use std::sync::atomic::{AtomicU32, Ordering};

use anyhow::Context as _;
use jiff::Timestamp;
use jiff::civil::Date;
use tillgate_domain::id::{EntityId, PaymentId, RecordId};
use tillgate_domain::settlement::reconciliation::{
    Cashflow, InstituteReference, MatchedPayments, MatchingStatus, ReconciliationRecord, RecordAccount, RecordOwner,
    RecordType, SettlementPart, SettlementStatus, TransactionType,
};
use tillgate_shared::money::{Amount, Currency};
use tillgate_store::{AdminStore, StoreLocation};
use tillgate_vault::{KeySource, Vault};

use crate::database::{find_database, on_thread};
use crate::{MerchantClient, TestGateway};

/// Number of records that this process has created.
static CREATED: AtomicU32 = AtomicU32::new(0);

/// Creates a record of a debit of an account in EUR, which is unmatched. `number` distinguishes the records of a test.
///
/// # Errors
/// If an id or the amount is not valid.
pub fn create_record(
    number: u32,
    date: Date,
    (account, merchant, division): (&MerchantClient, &MerchantClient, Option<&MerchantClient>),
    amount: &str,
) -> anyhow::Result<ReconciliationRecord> {
    let id = |client: &MerchantClient| EntityId::parse(&client.entity_id).context("an entity id");
    let euros = Amount::parse(amount, Currency::parse("EUR").context("a currency")?)
        .map_err(|error| anyhow::anyhow!("{amount}: {error}"))?;
    let mut random = [0; 9];
    // Records of one millisecond are in the order of their numbers, and ids are unique in a store that tests share.
    random[..4].copy_from_slice(&number.to_be_bytes());
    random[4..8].copy_from_slice(&CREATED.fetch_add(1, Ordering::Relaxed).to_be_bytes());
    random[8] = std::process::id().to_be_bytes()[3];
    let now = Timestamp::now();
    Ok(ReconciliationRecord {
        id: RecordId::new(now, random),
        record_type: RecordType::Settled,
        transaction_type: TransactionType::Debit,
        institute: InstituteReference {
            name: "Test Clearing".to_owned(),
            merchant_id: "clearing-1".to_owned(),
            tx_ids: [Some(format!("tx-{number}")), None, None],
        },
        owner: RecordOwner {
            account: id(account)?,
            account_name: format!("Account {number}"),
            merchant: id(merchant)?,
            division: division.map(id).transpose()?,
            psp: id(division.unwrap_or(merchant))?,
        },
        settlement: SettlementPart {
            id: format!("settlement-{number}"),
            cashflow: Cashflow::Positive,
            amount: euros,
            fee: None,
            exact_fee: None,
            fx_rate: "1.00000".parse()?,
            date,
            status: SettlementStatus::Success,
            format: "test".to_owned(),
        },
        payment: None,
        merchant_transaction_id: None,
        merchant_invoice_id: None,
        amount: euros,
        brand: Some("VISA".to_owned()),
        presented: Some(date.at(12, 0, 0, 0)),
        descriptor: None,
        account: RecordAccount::default(),
        reason: None,
        matching: Some(MatchedPayments { status: MatchingStatus::NotMatched, payments: Vec::new() }),
        chargeback: None,
        import: None,
    })
}

/// Returns the record, matched with a payment.
pub fn with_match(record: &ReconciliationRecord) -> ReconciliationRecord {
    let payment = PaymentId::new(Timestamp::now(), [5; 9]);
    let matching = MatchedPayments { status: MatchingStatus::Matched, payments: vec![payment.clone()] };
    ReconciliationRecord { payment: Some(payment), matching: Some(matching), ..record.clone() }
}

impl TestGateway {
    /// Writes records into the store, as the import of an institute's file does.
    ///
    /// # Errors
    /// If the store cannot be opened or written.
    pub fn write_records(&self, records: &[ReconciliationRecord]) -> anyhow::Result<()> {
        let keys = KeySource::File(self.folder().join("data.key")).read_keys()?;
        let vault = keys.as_deref().and_then(Vault::with_keys);
        let data = self.data_folder();
        let location = match find_database(&data) {
            Some(address) => StoreLocation::in_database(&data, &address, None)?,
            None => StoreLocation::in_folder(&data),
        };
        on_thread(|| {
            let store = AdminStore::open_existing(&location, vault.as_ref())?.context("a store")?;
            // In parts, because other writers wait for the lock, and commands for ten seconds at most.
            records.chunks(500).try_for_each(|part| Ok(store.write_records(part)?))
        })
    }
}
