//! What a payment does with things on file: it may store its account, it may use a stored one, and it may be a step of
//! what the cardholder agreed to. Prepared beside the payment, decided under the write lock, so that concurrent payments
//! cannot overrun an agreement.
//!
//! No answer depends on whether an account that was sent equals one that is stored: whoever knows the first six and the last
//! four digits of a stored card could find the others by trying them.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_shared::parameter::{Operation, Parameters, Presence, check_complete};
use tillgate_shared::result::codes;
use zeroize::Zeroizing;

use super::payment::HeldCard;
use super::sender::Sender;
use super::{Failure, Gateway, promise, random};
use crate::domain::entity::Entity;
use crate::domain::id::{EntityId, RegistrationId};
use crate::domain::payment::{Account, Payment, PaymentType};
use crate::domain::refusal::Refusal;
use crate::domain::registration::{Registration, retained_until};
use crate::domain::standing_instruction::{Chain, INITIAL_TRANSACTION, Pending, Step, Terms};
use crate::store::sealed::Resealed;
use crate::store::{Changes, NewRegistration, OnFile, OnFileKeys, Promise, StoreError};
use crate::vault::{Vault, VaultError};

/// The groups of parameters that describe an account.
const ACCOUNTS: [&str; 3] = ["card.", "bankAccount.", "virtualAccount."];
/// The groups of parameters that describe the shopper. None of them is secret.
const SHOPPER: [&str; 3] = ["customer.", "billing.", "shipping."];
/// What proves for one payment that the account is the payer's. Never stored.
const PROOFS: [&str; 2] = ["card.cvv", "virtualAccount.password"];
/// Sealed accounts are padded to a multiple of this, so that a record's length tells little.
const BLOCK: usize = 128;
/// More than the parameters of an account take.
const ROOM: usize = 8 * 1024;

/// Whose file a payment looks into, which is the merchant's also where one of its channels takes the payment.
#[derive(Debug, Clone, Copy)]
pub(super) struct File<'a> {
    /// The entity that asks.
    pub(super) owner: &'a EntityId,
    /// The registration that is paid with.
    pub(super) used: Option<&'a Registration>,
}

/// What a payment does with things on file.
#[derive(Debug)]
pub(super) struct Filing {
    entity: EntityId,
    /// The registration that is paid with.
    used: Option<RegistrationId>,
    /// What is to be stored.
    new: Option<NewRegistration>,
    /// The step in an agreement.
    agreed: Option<Agreed>,
}

#[derive(Debug)]
struct Agreed {
    step: Step,
    /// The chain's id: the one that was named, or the one that is about to be given.
    initial: String,
    /// The part of the account that answers show, which a charge has to share with the agreement.
    account: String,
    terms: Terms,
    today: Date,
}

impl Gateway {
    /// What a payment does with things on file once it succeeds; none for the many that do nothing. A charge by the merchant
    /// gets its chain's `initialTransactionId` among its parameters, which are still all that were sent.
    ///
    /// # Errors
    /// A charge by the merchant that names no initial transaction is refused.
    pub(super) fn filing(
        &self,
        file: File<'_>,
        payment: &Payment,
        account: &AccountParameters,
        parameters: &mut Parameters,
        presence: Presence,
    ) -> Result<Option<Filing>, Failure> {
        let File { owner, used } = file;
        let authorises = !matches!(payment.payment_type, PaymentType::Credit);
        let step = if authorises { Step::of(parameters, presence) } else { Step::Single };
        let initial = match step {
            Step::First => Some(new_initial(payment.id.as_str())),
            Step::Repeated => named_initial(parameters, used)?,
            Step::Single => None,
        };
        if let (Some(initial), Step::Repeated) = (&initial, step) {
            parameters.set(INITIAL_TRANSACTION, initial.as_str());
        }
        let agreed = initial.map(|initial| Agreed {
            step,
            initial,
            account: payment.account.shown_part(&payment.brand),
            terms: Terms::of(parameters),
            today: payment.created.to_zoned(TimeZone::UTC).date(),
        });
        let may_succeed = payment.approved() || payment.awaits_outcome();
        let registers = used.is_none() && may_succeed && parameters.get("createRegistration") == Some("true");
        let new = if registers { self.of_payment(owner, payment, account, parameters)? } else { None };
        if used.is_none() && new.is_none() && agreed.is_none() {
            return Ok(None);
        }
        Ok(Some(Filing { entity: owner.clone(), used: used.map(|used| used.id.clone()), new, agreed }))
    }

    /// The registration that a payment makes of its account; none when the account is of a kind that cannot be stored.
    fn of_payment(
        &self,
        owner: &EntityId,
        payment: &Payment,
        account: &AccountParameters,
        parameters: &Parameters,
    ) -> Result<Option<NewRegistration>, Failure> {
        if payment.account == Account::Unknown {
            return Ok(None);
        }
        let shopper = parameters.iter().filter(|(name, _)| SHOPPER.iter().any(|group| name.starts_with(group)));
        let registration = Registration {
            id: RegistrationId::new(self.next_id_time_of_id(owner), random()?),
            entity: owner.clone(),
            checkout: payment.checkout.clone(),
            ndc: payment.ndc.clone(),
            created: payment.created,
            brand: payment.brand.clone(),
            result: payment.result,
            account: payment.account.clone(),
            initial: None,
            retained_until: retained_until(&payment.account),
            ended: None,
            parameters: shopper.collect(),
        };
        self.sealed(registration, account)
    }

    /// Seals an account for a registration. Returns `None` if it is of a kind that cannot be stored.
    pub(super) fn sealed(
        &self,
        registration: Registration,
        account: &AccountParameters,
    ) -> Result<Option<NewRegistration>, Failure> {
        let Some(canonical) = account.canonical(&registration.brand) else { return Ok(None) };
        // Room is made at once: bytes that grow leave a copy of themselves behind.
        let mut text = Zeroizing::new(Vec::with_capacity(ROOM));
        serde_json::to_writer(&mut *text, &account.0).map_err(StoreError::from)?;
        let padded = text.len().next_multiple_of(BLOCK);
        text.resize(padded, b' ');
        let (sealed, blind) =
            self.vault.seal_account(registration.id.as_str(), &text, &registration.entity, canonical.as_bytes())?;
        Ok(Some(NewRegistration { registration, blind, sealed }))
    }

    /// A request's parameters with the stored account in place of anything that the request says about one. Only the proof
    /// for this payment is the request's; and, with `overrideHolder`, the holder where none is stored.
    ///
    /// # Errors
    /// A registration that cannot be used is refused, and so is a second account beside it, by name.
    pub(super) fn with_stored_account(
        &self,
        entity: &Entity,
        registration: &Registration,
        sealed: Option<Vec<u8>>,
        mut parameters: Parameters,
        sender: Sender<'_>,
    ) -> Result<Parameters, Failure> {
        registration.check_usable(self.now_of(entity))?;
        parameters.set("paymentBrand", registration.brand.as_str());
        let errors = check_complete(&parameters, Operation::PaymentByRegistration, &sender.requirements(entity));
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        let account = self.vault.open(registration.id.as_str(), &sealed.ok_or_else(gone)?)?;
        let stored: Parameters = serde_json::from_slice(&account).map_err(StoreError::from)?;
        let overrides = parameters.get("overrideHolder") == Some("true");
        parameters.retain(|name, _| {
            let holder = matches!(name, "card.holder" | "bankAccount.holder");
            let kept = !is_account(name) || PROOFS.contains(&name) || (holder && overrides && !stored.contains(name));
            // The choice has been made: from here on the account is the payment's own, of whatever kind it is.
            kept && name != "registrationId"
        });
        for (name, value) in stored.iter() {
            parameters.set(name, value);
        }
        Ok(parameters)
    }
}

impl Filing {
    /// Whether the payment's account is about to be stored.
    pub(super) fn registers(&self) -> bool {
        self.new.is_some()
    }

    /// Whether an agreement begins with it.
    fn begins_agreement(&self) -> bool {
        self.agreed.as_ref().is_some_and(|agreed| agreed.step != Step::Repeated)
    }

    /// What has to be loaded to decide it.
    pub(super) fn keys(&self) -> OnFileKeys {
        let of = |id: &RegistrationId| (self.entity.clone(), id.clone());
        OnFileKeys {
            used: self.used.as_ref().map(of),
            // What is agreed first is noted in its document.
            registration: self.used.as_ref().filter(|_| self.begins_agreement()).map(of),
            chain: self.agreed.as_ref().map(|agreed| (self.entity.clone(), agreed.initial.clone())),
        }
    }

    /// Decides under the write lock what is written besides the payment, and tells the payment what it put on file. One that
    /// is pending does that later: only a charge by the merchant counts at once, until it fails. `held_card` is the
    /// card of a payment whose cardholder is authenticated first.
    ///
    /// # Errors
    /// The registration was deleted meanwhile; or the agreement does not allow this charge, whatever the connector said.
    pub(super) fn settle(
        self,
        payment: &mut Payment,
        mut on_file: OnFile,
        held_card: Option<HeldCard>,
    ) -> Result<Changes, Refusal> {
        if self.used.is_some() && !on_file.used {
            return Err(gone());
        }
        let mut changes = Changes::default();
        let mut agreement = None;
        if let Some(Agreed { step, initial, account, terms, today }) = self.agreed {
            let chain = match step {
                Step::Repeated => on_file
                    .chain
                    .take()
                    .ok_or_else(|| Refusal::unknown_initial_transaction(INITIAL_TRANSACTION, &initial))?,
                Step::First | Step::Single => Chain {
                    initial,
                    entity: self.entity.clone(),
                    payment: Some(payment.id.clone()),
                    registration: None,
                    shown: Some(account.clone()),
                    terms,
                    charges: 0,
                    latest: None,
                },
            };
            let charged = chain.charged(&account, terms, today)?;
            if step != Step::Repeated {
                agreement = Some(Pending::First(charged));
            } else if payment.counts() {
                changes = changes.chain(&charged);
                agreement = Some(Pending::Charge { initial: chain.initial, day: today, before: chain.latest });
            }
        }
        if self.new.is_none() && agreement.is_none() && held_card.is_none() {
            return Ok(changes);
        }
        let until = held_card.as_ref().map_or(payment.created + promise::LIFETIME, |card| card.until);
        let card = held_card.map(|card| card.sealed);
        let promise = Promise { owner: self.entity, registration: self.new, agreement, card };
        if payment.approved() {
            let now = payment.created;
            changes = changes.and(promise.keep(payment, on_file, now));
        } else if payment.awaits_outcome() {
            changes = changes.promise(payment, promise, until);
        }
        Ok(changes)
    }
}

impl NewRegistration {
    /// Writes the registration and its sealed account. A stored account that is registered again gets another registration:
    /// the id of the first one would tell that the number sent is the number stored.
    pub(super) fn write(self, changes: Changes) -> (Changes, Registration) {
        let changes = changes.registration(&self.registration).account(&self.registration, self.blind, self.sealed);
        (changes, self.registration)
    }
}

/// The account was there a moment ago.
fn gone() -> Refusal {
    Refusal::registration(codes::REGISTRATION_DEREGISTERED)
}

/// The id of a new chain: the random end of the transaction's own id.
pub(super) fn new_initial(id: &str) -> String {
    id.get(14..).unwrap_or(id).to_uppercase()
}

/// The chain that a charge by the merchant belongs to: the one it names, else the registration's latest.
fn named_initial(parameters: &Parameters, used: Option<&Registration>) -> Result<Option<String>, Refusal> {
    let named = parameters.get(INITIAL_TRANSACTION).or_else(|| used?.initial.as_deref());
    match (named, parameters.get("standingInstruction.source")) {
        (Some(named), _) => Ok(Some(named.to_owned())),
        (None, Some("MIT")) => Err(Refusal::parameter(INITIAL_TRANSACTION, None, "may not be empty")),
        // Clients from before card on file was regulated say REPEATED and no more.
        (None, _) => Ok(None),
    }
}

fn is_account(name: &str) -> bool {
    ACCOUNTS.iter().any(|group| name.starts_with(group))
}

/// An account as a registration stores it: its parameters, without what proves for one payment that it is the payer's.
pub(super) struct AccountParameters(Parameters);

impl AccountParameters {
    /// Takes the account from the parameters of a request.
    pub(super) fn of(parameters: &Parameters) -> Self {
        Self(parameters.iter().filter(|(name, _)| is_account(name) && !PROOFS.contains(name)).collect())
    }

    /// Returns the account in the form that does not depend on how it was written. `None` if it is of a kind that cannot be
    /// stored.
    pub(super) fn canonical(&self, brand: &str) -> Option<Zeroizing<String>> {
        let get = |name: &str| self.0.get(name).filter(|value| !value.is_empty());
        let whole = |parts: &[&str]| Zeroizing::new(parts.join("\n").to_uppercase());
        let account = if let Some(number) = get("card.number") {
            whole(&["card", number])
        } else if let Some(iban) = get("bankAccount.iban") {
            let iban = Zeroizing::new(iban.split_whitespace().collect::<String>());
            whole(&["iban", &iban])
        } else if let Some(number) = get("bankAccount.number") {
            let bank = get("bankAccount.bankCode").or(get("bankAccount.bic")).unwrap_or_default();
            whole(&["bank", get("bankAccount.country").unwrap_or_default(), bank, number])
        } else {
            whole(&["virtual", brand, get("virtualAccount.accountId")?])
        };
        Some(account)
    }
}

/// Opens a record and seals it under the first key of a vault, with the blind index of an account.
///
/// # Errors
/// When the record cannot be opened, or is not what was sealed.
pub fn reseal(
    vault: &Vault,
    record: &str,
    account_of: Option<&EntityId>,
    sealed: &[u8],
) -> Result<Resealed, VaultError> {
    let secret = vault.open(record, sealed)?;
    let Some(entity) = account_of else { return Ok((vault.seal(record, &secret)?, None)) };
    let account: Parameters = serde_json::from_slice(&secret).map_err(|_| VaultError::damaged())?;
    // The brand is not among what is sealed.
    let account = AccountParameters(account).canonical("").ok_or_else(VaultError::damaged)?;
    let (sealed, blind) = vault.seal_account(record, &secret, entity, account.as_bytes())?;
    Ok((sealed, Some(blind)))
}
