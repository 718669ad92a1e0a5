//! Verifies the ledger: the chains of the audit log, and that payments, movements, settlement lines and balances agree
//! to the cent, in every currency.

mod log;
mod records;
mod second_opinion;

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tillgate_domain::access::audit::{AuditEntry, CORRECTION, LogHead, PAYMENT, RECORD_DIGEST};
use tillgate_domain::id::EntityId;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::settlement::ledger::{ACCOUNT_NAMES, ApprovedPayment, LedgerSums};
use tillgate_store::StoreError;
use tillgate_store::keys::table_seal::acceptance::{REASON, SEAL_ACCEPT};
use tillgate_store::keys::table_seal::{SEAL_BEGIN, UNSEALED, UNSOUND};
use tillgate_store::read::snapshot::StoreSnapshot;

use second_opinion::SecondOpinion;

/// Largest number of faults that are described.
const MAX_FAULTS: usize = 100;

/// Limit of the verification of a database.
const WITHOUT_SEAL: &str = "a store in PostgreSQL has no seal of its rows: a change by another program is found only in \
                            the audit log, and in payments, settlement lines and balances that contradict it";

/// Sums by the code of the currency.
type Sums = BTreeMap<String, LedgerSums>;

/// The result of a verification.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Verification {
    /// Number of entries of the audit log.
    pub entries: u64,
    /// Number of the newest entry.
    pub last: i64,
    /// Digest of the ends of all chains, in hexadecimal digits. Note it with the number elsewhere: a log with this head
    /// has the same entries up to there.
    pub hash: String,
    /// Number of entries from before the store was sealed: anyone can compute their hashes. The first entry with a key
    /// binds them.
    pub without_key: u64,
    /// Number of payments, of any result.
    pub payments: u64,
    /// Number of settlement lines.
    pub records: u64,
    /// Money that is captured and not settled, by entity and currency, in hundredths.
    pub open: BTreeMap<String, BTreeMap<String, i64>>,
    /// Tables whose rows are not verified, with the reason.
    pub not_verified: BTreeMap<&'static str, &'static str>,
    /// Reason why the rows of the other tables are not verified either. `None` if the seal covers them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub without_seal: Option<&'static str>,
    /// Acceptances of rows that another program had changed, each with the reason of the administrator.
    pub accepted: Vec<String>,
    /// Number of faults.
    pub fault_count: u64,
    /// The first faults, at most 100.
    pub faults: Vec<String>,
}

/// The movements of an entity in the ledger.
#[derive(Default)]
struct LedgerMovements {
    /// All movements together.
    total: Sums,
    /// Those of settlements.
    settled: Sums,
    /// The payments.
    payments: PaymentSet,
}

/// A set of payments with their movements, reduced to a number and a sum of hashes. It needs no memory for each.
#[derive(Default, Clone, Copy, PartialEq, Eq)]
struct PaymentSet {
    count: u64,
    hashes: u128,
}

impl PaymentSet {
    /// Adds a payment. Sets with the same payments are equal in any order.
    fn add_payment(&mut self, id: &str, payment_type: PaymentType, money: &Sums) {
        self.count += 1;
        self.hashes = self.hashes.wrapping_add(Self::hash_payment(id, payment_type, money));
    }

    /// Replaces a payment by itself with another movement.
    fn replace_payment(&mut self, id: &str, payment_type: PaymentType, old: &Sums, new: &Sums) {
        self.hashes = self.hashes.wrapping_sub(Self::hash_payment(id, payment_type, old));
        self.hashes = self.hashes.wrapping_add(Self::hash_payment(id, payment_type, new));
    }

    fn hash_payment(id: &str, payment_type: PaymentType, money: &Sums) -> u128 {
        let mut hash = Sha256::new();
        hash.update(id);
        hash.update(payment_type.code());
        for (currency, sums) in money {
            hash.update(currency);
            sums.to_array().into_iter().for_each(|sum| hash.update(sum.to_be_bytes()));
        }
        let half = hash.finalize().first_chunk::<16>().copied().unwrap_or_default();
        u128::from_be_bytes(half)
    }
}

impl Verification {
    /// Verifies only the chains of the audit log. `expected` is a head that was noted earlier.
    pub fn verify_chains(snapshot: &StoreSnapshot, expected: Option<LogHead>) -> Result<Self, StoreError> {
        let mut verification = Self::default();
        verification.read_log(snapshot, expected, |_, _, _| {})?;
        Ok(verification)
    }

    /// Verifies the chains and the ledger.
    pub fn verify_ledger(snapshot: &StoreSnapshot, expected: Option<LogHead>) -> Result<Self, StoreError> {
        let mut verification = Self {
            not_verified: UNSEALED.iter().copied().collect(),
            without_seal: (!snapshot.has_seal()).then_some(WITHOUT_SEAL),
            ..Self::default()
        };
        let mut ledgers: HashMap<EntityId, LedgerMovements> = HashMap::new();
        let mut faults = Vec::new();
        let (mut bound, mut accepted) = (None, Vec::new());
        let mut opinion = SecondOpinion::default();
        verification.read_log(snapshot, expected, |number, entity, entry| {
            if let Some(digest) = entry.details.get(RECORD_DIGEST) {
                bound = Some(digest.clone());
            }
            if let Some(unsound) = entry.details.get(UNSOUND).filter(|_| entry.action == SEAL_BEGIN) {
                faults.push(format!("entry {number}: when the store was sealed again, {unsound}"));
            }
            if entry.action == SEAL_ACCEPT {
                accepted.push(describe_acceptance(number, &entry));
            }
            let Some(entity) = entity else { return };
            opinion.add_entry(entity, &entry);
            let ledger = ledgers.entry(entity.clone()).or_default();
            if let Err(fault) = ledger.add_entry(&entry) {
                faults.push(format!("entry {number}: {fault}"));
            }
        })?;
        faults.into_iter().for_each(|fault| verification.add_fault(fault));
        verification.accepted = accepted;
        snapshot.find_seal_differences()?.into_iter().for_each(|fault| verification.add_fault(fault));
        verification.verify_record_digest(snapshot, bound.as_deref())?;
        verification.verify_balances(snapshot, &ledgers)?;
        let balances = snapshot.load_all_balances()?;
        for entity in snapshot.load_paying_entities()? {
            let ledger = ledgers.remove(&entity).unwrap_or_default();
            verification.verify_payments(snapshot, &entity, &ledger)?;
            opinion.compare_entity(&mut verification, snapshot, &entity, &balances)?;
            verification.verify_records(snapshot, &entity, &ledger)?;
            verification.verify_reserves(snapshot, &entity, &ledger)?;
            let open: BTreeMap<String, i64> = ledger
                .total
                .iter()
                .filter(|(_, sums)| sums.receivable != 0)
                .map(|(currency, sums)| (currency.clone(), sums.receivable))
                .collect();
            if !open.is_empty() {
                verification.open.insert(entity.as_str().to_owned(), open);
            }
        }
        for (entity, ledger) in ledgers {
            if ledger.total.values().any(|sums| *sums != LedgerSums::default()) {
                verification.add_fault(format!("the ledger has movements of {entity}, which has no payments"));
            }
        }
        Ok(verification)
    }

    /// Returns true if nothing is wrong.
    pub fn is_sound(&self) -> bool {
        self.fault_count == 0
    }

    fn add_fault(&mut self, fault: String) {
        self.fault_count += 1;
        if self.faults.len() < MAX_FAULTS {
            self.faults.push(fault);
        }
    }

    /// Compares the stored balances with the sums of the ledger.
    fn verify_balances(
        &mut self,
        snapshot: &StoreSnapshot,
        ledgers: &HashMap<EntityId, LedgerMovements>,
    ) -> Result<(), StoreError> {
        let mut unseen: HashMap<(EntityId, String), LedgerSums> = HashMap::new();
        for (entity, ledger) in ledgers {
            let sums = ledger.total.iter().map(|(currency, sums)| ((entity.clone(), currency.clone()), *sums));
            unseen.extend(sums);
        }
        for (entity, balance) in snapshot.load_all_balances()? {
            let code = balance.currency.code();
            let expected = unseen.remove(&(entity.clone(), code.to_owned())).unwrap_or_default();
            if balance.sums != expected {
                let (found, expected) = (describe_sums(balance.sums), describe_sums(expected));
                self.add_fault(format!("the balance of {entity} in {code} is {found}; its movements are {expected}"));
            }
        }
        for ((entity, currency), sums) in unseen.into_iter().filter(|(_, sums)| *sums != LedgerSums::default()) {
            self.add_fault(format!("the balance of {entity} in {currency} is missing: {}", describe_sums(sums)));
        }
        Ok(())
    }

    /// Compares the approved payments of an entity with the entries of its ledger.
    fn verify_payments(
        &mut self,
        snapshot: &StoreSnapshot,
        entity: &EntityId,
        ledger: &LedgerMovements,
    ) -> Result<(), StoreError> {
        let mut stored = PaymentSet::default();
        snapshot.for_each_payment(entity, |payment| {
            self.payments += 1;
            if let Some(money) = compute_payment_money(snapshot, &payment)? {
                stored.add_payment(payment.id.as_str(), payment.payment_type, &money);
            }
            Ok(())
        })?;
        if stored == ledger.payments { Ok(()) } else { self.describe_payment_faults(snapshot, entity) }
    }

    /// Finds the payments of an entity that differ from its ledger.
    fn describe_payment_faults(&mut self, snapshot: &StoreSnapshot, entity: &EntityId) -> Result<(), StoreError> {
        let mut entries: HashMap<String, (Option<PaymentType>, Sums)> = HashMap::new();
        snapshot.for_each_entry_of(entity, |entry| {
            // An entry that cannot be read was reported with the chain.
            let Ok(content) = serde_json::from_slice::<AuditEntry>(&entry.document) else { return };
            if content.action == CORRECTION {
                let corrected = corrected_money(&content);
                entries.insert(content.subject, (content.payment_type, corrected));
                return;
            }
            let AuditEntry { action, subject, payment_type, money, .. } = content;
            if action == PAYMENT && entries.insert(subject, (payment_type, money)).is_some() {
                self.add_fault(format!("entry {}: its payment is in the ledger twice", entry.number));
            }
        })?;
        snapshot.for_each_payment(entity, |payment| {
            let Some(money) = compute_payment_money(snapshot, &payment)? else { return Ok(()) };
            match entries.remove(payment.id.as_str()) {
                None => self.add_fault(format!("payment {} is not in the ledger", payment.id)),
                Some(entry) if entry != (Some(payment.payment_type), money) => {
                    self.add_fault(format!("payment {} differs from the ledger", payment.id));
                }
                Some(_) => {}
            }
            Ok(())
        })?;
        for id in entries.into_keys() {
            self.add_fault(format!("the ledger has payment {id}, which is not stored or not approved"));
        }
        Ok(())
    }
}

impl LedgerMovements {
    /// Adds an entry. Fails with a description if its debits and credits differ.
    fn add_entry(&mut self, entry: &AuditEntry) -> Result<(), String> {
        for (currency, sums) in &entry.money {
            add_sums(&mut self.total, currency, *sums);
            if entry.action != PAYMENT && entry.action != CORRECTION {
                add_sums(&mut self.settled, currency, *sums);
            }
        }
        if let (CORRECTION, Some(payment_type)) = (&*entry.action, entry.payment_type) {
            self.payments.replace_payment(&entry.subject, payment_type, &wrong_money(entry), &corrected_money(entry));
        }
        if let (PAYMENT, Some(payment_type)) = (&*entry.action, entry.payment_type) {
            self.payments.add_payment(&entry.subject, payment_type, &entry.money);
        }
        let is_balanced = entry.money.values().all(|sums| sums.is_balanced());
        if is_balanced { Ok(()) } else { Err("debits and credits differ".to_owned()) }
    }
}

/// Describes an entry about accepted rows.
fn describe_acceptance(number: i64, entry: &AuditEntry) -> String {
    let (actor, reason) = (entry.actor.as_deref().unwrap_or("unknown"), entry.details.get(REASON));
    let reason = reason.map_or("no reason", String::as_str);
    format!("entry {number}: {actor} accepted changed rows of {}: {reason}", entry.subject)
}

/// Computes the movement of a payment from the payment alone. `None` if it is not approved.
fn compute_payment_money(snapshot: &StoreSnapshot, payment: &Payment) -> Result<Option<Sums>, StoreError> {
    let Some(approved) = ApprovedPayment::from_payment(payment) else { return Ok(None) };
    let referenced = match &payment.referenced {
        Some(referenced) => snapshot.load_referenced(&payment.entity, referenced)?,
        None => None,
    };
    let movement = approved.compute_movement(referenced);
    Ok(Some(Sums::from([(movement.currency.code().to_owned(), movement.sums)])))
}

/// Returns the movement that a correction has found wrong: the opposite of its own.
fn wrong_money(correction: &AuditEntry) -> Sums {
    let opposite = |sums: &LedgerSums| LedgerSums::from_array(sums.to_array().map(i64::wrapping_neg));
    correction.money.iter().map(|(currency, sums)| (currency.clone(), opposite(sums))).collect()
}

/// Returns the movement of a payment after its correction: none in each currency.
fn corrected_money(correction: &AuditEntry) -> Sums {
    correction.money.keys().map(|currency| (currency.clone(), LedgerSums::default())).collect()
}

fn add_sums(total: &mut Sums, currency: &str, sums: LedgerSums) {
    let sum = total.entry(currency.to_owned()).or_default();
    *sum = sum.checked_add(sums).unwrap_or(*sum);
}

/// Formats the sums that are not 0, in hundredths.
fn describe_sums(sums: LedgerSums) -> String {
    let names = ACCOUNT_NAMES.iter().zip(sums.to_array());
    let parts: Vec<String> = names.filter(|(_, sum)| *sum != 0).map(|(name, sum)| format!("{name} {sum}")).collect();
    if parts.is_empty() { "0".to_owned() } else { parts.join(", ") }
}
