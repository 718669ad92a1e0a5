//! Stored credentials: a payment may store its account, use a stored one, or be part of a standing instruction. The
//! changes are prepared with the payment and decided under the write lock, so that concurrent payments cannot exceed a
//! standing instruction.
//!
//! No response depends on whether a new account equals a stored one: somebody who knows the first six and last four
//! digits of a stored card could otherwise find the remaining digits by trying.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, RegistrationId};
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::standing_instruction::{
    INITIAL_TRANSACTION, InstructionRole, InstructionTerms, PendingInstruction, StandingInstruction,
};
use tillgate_domain::registration::{Registration, account_retention_end, new_date};
use tillgate_shared::parameter::{Operation, Parameters, check_complete};
use tillgate_shared::result::codes;
use tillgate_store::{Changes, DeferredEffects, NewRegistration, StoredCredentialKeys, StoredCredentials};
use tillgate_vault::{Sealed, record_name};

use crate::access::sender::Sender;
use crate::payment::HeldCard;
use crate::payment::account_parameters::find_browser_names;
use crate::payment::account_parameters::is_account_parameter;
use crate::payment::account_parameters::is_shopper_parameter;
use crate::payment::account_parameters::{PROOFS, StorableAccount};
use crate::payment::deferred_effects;
use crate::{Failure, Gateway, random_bytes};

/// Owner of the stored credentials of a payment, and the credential that it uses. The owner stays the merchant also if
/// one of its channels processes the payment.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CredentialOwner<'a> {
    /// The entity that holds the registration. Without one, the entity that sent the request or created the checkout.
    pub(crate) owner: &'a EntityId,
    /// The registration that is paid with.
    pub(crate) used: Option<&'a Registration>,
}

/// Changes of a payment to stored credentials.
#[derive(Debug, Clone)]
pub(crate) struct CredentialChanges {
    entity: EntityId,
    /// The registration that is paid with.
    used: Option<RegistrationId>,
    /// The registration to store.
    new: Option<NewRegistration>,
    /// The registration that is paid with, with the new date of its card and its account sealed again.
    renewal: Option<NewRegistration>,
    /// The part of the payment in a standing instruction.
    instruction_change: Option<InstructionChange>,
}

/// Part of a payment in a standing instruction.
#[derive(Debug, Clone)]
struct InstructionChange {
    role: InstructionRole,
    /// The standing instruction's `initialTransactionId`: the one that was sent, or the new one.
    initial_transaction_id: String,
    /// The part of the account that responses show. A repeated charge must have the same as the first transaction.
    account: String,
    terms: InstructionTerms,
    today: Date,
}

impl Gateway {
    /// Prepares the changes of a payment to stored credentials, for when it succeeds: a registration
    /// (`createRegistration`), the new date of a stored card, a new standing instruction, or a charge of one. Seals the
    /// account. Returns `None` if the payment changes none and uses none. Adds the `initialTransactionId` of a
    /// merchant-initiated charge to `parameters`, which are all parameters of the request.
    ///
    /// # Errors
    /// If a merchant-initiated charge names no initial transaction.
    pub(crate) fn prepare_credential_changes(
        &self,
        credential_owner: CredentialOwner<'_>,
        payment: &Payment,
        account: Option<&StorableAccount>,
        parameters: &mut Parameters,
        sender: Sender<'_>,
    ) -> Result<Option<CredentialChanges>, Failure> {
        let CredentialOwner { owner, used } = credential_owner;
        let is_charge = !matches!(payment.payment_type, PaymentType::Credit);
        let role = if is_charge {
            InstructionRole::from_parameters(parameters, sender.presence())
        } else {
            InstructionRole::Single
        };
        let initial = match role {
            InstructionRole::First => Some(new_initial_transaction_id(payment.id.as_str())),
            InstructionRole::Repeated => find_initial_transaction_id(parameters, used)?,
            InstructionRole::Single => None,
        };
        if let (Some(initial), InstructionRole::Repeated) = (&initial, role) {
            parameters.set(INITIAL_TRANSACTION, initial.as_str());
        }
        let change = initial.map(|initial| InstructionChange {
            role,
            initial_transaction_id: initial,
            account: payment.account.visible_part(&payment.brand),
            terms: InstructionTerms::from_parameters(parameters),
            today: payment.created.to_zoned(TimeZone::UTC).date(),
        });
        let may_succeed = payment.is_approved() || payment.awaits_outcome();
        let creates_registration =
            used.is_none() && may_succeed && parameters.get("createRegistration") == Some("true");
        let new = match account.filter(|_| creates_registration) {
            Some(account) => Some(self.registration_of_payment(owner, payment, account, parameters, sender)?),
            None => None,
        };
        let renewal = match (used, account) {
            // A credit does not show that the issuer accepts the date.
            (Some(used), Some(account)) if may_succeed && is_charge => {
                self.prepare_renewal(used, payment, account, sender)?
            }
            _ => None,
        };
        if used.is_none() && new.is_none() && change.is_none() {
            return Ok(None);
        }
        Ok(Some(CredentialChanges {
            entity: owner.clone(),
            used: used.map(|used| used.id.clone()),
            new,
            renewal,
            instruction_change: change,
        }))
    }

    /// Makes the registration of a payment's account, with the shopper's data of the request.
    fn registration_of_payment(
        &self,
        owner: &EntityId,
        payment: &Payment,
        account: &StorableAccount,
        parameters: &Parameters,
        sender: Sender<'_>,
    ) -> Result<NewRegistration, Failure> {
        let parameters: Parameters = parameters.iter().filter(|(name, _)| is_shopper_parameter(name)).collect();
        let registration = Registration {
            id: RegistrationId::new(self.next_id_time_of_id(owner), random_bytes()?),
            entity: owner.clone(),
            checkout: payment.checkout.clone(),
            ndc: payment.ndc.clone(),
            created: payment.created,
            brand: payment.brand.clone(),
            result: payment.result,
            account: payment.account.clone(),
            initial: None,
            retained_until: account_retention_end(&payment.account),
            ended: None,
            from_browser: Some(find_browser_names(sender, account, &parameters)),
            parameters,
        };
        self.seal_registration(registration, account)
    }

    /// Seals the account of a stored card again, with the date that a payment has brought. `None` if the date is the
    /// one that is stored.
    fn prepare_renewal(
        &self,
        used: &Registration,
        payment: &Payment,
        account: &StorableAccount,
        sender: Sender<'_>,
    ) -> Result<Option<NewRegistration>, Failure> {
        let Some(date) = used.find_new_date(&payment.account) else { return Ok(None) };
        let mut parameters = account.parameters.clone();
        if used.account.as_card().is_some_and(|card| card.holder.is_none()) {
            // A holder that was sent with `overrideHolder` is that of this payment alone.
            parameters.remove("card.holder");
        }
        let is_from_browser = sender.is_from_browser(new_date::MONTH);
        let renewed = used.with_new_date(date, is_from_browser).as_renewal_of(used);
        Ok(Some(self.seal_parameters(renewed, &parameters)?))
    }

    /// Seals an account for a registration. Stores nothing.
    pub(crate) fn seal_registration(
        &self,
        registration: Registration,
        account: &StorableAccount,
    ) -> Result<NewRegistration, Failure> {
        self.seal_parameters(registration, &account.parameters)
    }

    /// Seals the parameters of an account for a registration. Stores nothing.
    fn seal_parameters(&self, registration: Registration, parameters: &Parameters) -> Result<NewRegistration, Failure> {
        let account = self.vault.seal_account(&account_record(&registration), parameters)?;
        Ok(NewRegistration { registration, account })
    }

    /// Replaces the account parameters of a request with the stored account, and removes `registrationId`. The security
    /// code and password of the request stay, and so do its holder, if none is stored and `overrideHolder` is set, and
    /// the new date of a card.
    ///
    /// # Errors
    /// If the registration cannot be used, or its account was deleted; parameters that are missing or may not be sent
    /// with it, by name; a date in the past.
    pub(crate) fn with_stored_account(
        &self,
        entity: &Entity,
        registration: &Registration,
        sealed: Option<Sealed>,
        mut parameters: Parameters,
        sender: Sender<'_>,
    ) -> Result<Parameters, Failure> {
        let now = self.now_of(entity);
        registration.check_usable(now)?;
        parameters.set("paymentBrand", registration.brand.as_str());
        let errors = check_complete(&parameters, Operation::PaymentByRegistration, &sender.requirements(entity));
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        // A browser with a wrong clock asks for the date of a card that is valid, and whoever has the checkout may send
        // any. So a browser's date counts only for a card that has expired.
        let is_trusted = sender.checkout().is_none() || registration.has_expired(now);
        let date = new_date::read_new_date(&parameters, now)?.filter(|_| is_trusted);
        let stored =
            self.vault.open_account(&account_record(registration), &sealed.ok_or_else(deleted_registration)?)?;
        let may_add_holder = parameters.get("overrideHolder") == Some("true");
        parameters.retain(|name, _| {
            let is_holder = matches!(name, "card.holder" | "bankAccount.holder");
            let keeps = !is_account_parameter(name)
                || PROOFS.contains(&name)
                || (is_holder && may_add_holder && !stored.contains(name));
            // `registrationId` has been resolved: from here on the account is the payment's own, of whatever kind it
            // is.
            keeps && name != "registrationId"
        });
        for (name, value) in stored.iter() {
            parameters.set(name, value);
        }
        if let Some(date) = date {
            new_date::set_date(&mut parameters, date);
        }
        Ok(parameters)
    }
}

impl CredentialChanges {
    /// Returns true if the payment's account is about to be stored.
    pub(crate) fn has_new_registration(&self) -> bool {
        self.new.is_some()
    }

    /// Returns true if the document of the registration in use changes: a standing instruction begins with the payment,
    /// or the payment brings the new date of its card.
    fn changes_registration(&self) -> bool {
        self.renewal.is_some() || self.begins_instruction()
    }

    /// Returns true if a standing instruction begins with the payment.
    fn begins_instruction(&self) -> bool {
        self.instruction_change.as_ref().is_some_and(|change| change.role != InstructionRole::Repeated)
    }

    /// Returns the keys of the records that `decide_changes` needs: the registration in use, and the standing
    /// instruction.
    pub(crate) fn required_keys(&self) -> StoredCredentialKeys {
        let of = |id: &RegistrationId| (self.entity.clone(), id.clone());
        StoredCredentialKeys {
            registration_in_use: self.used.as_ref().map(of),
            registration: self.used.as_ref().filter(|_| self.changes_registration()).map(of),
            standing_instruction: self
                .instruction_change
                .as_ref()
                .map(|change| (self.entity.clone(), change.initial_transaction_id.clone())),
        }
    }

    /// Returns the changes to write besides the payment, under the write lock, and writes the new ids into the payment.
    /// Changes of a pending payment are deferred until it succeeds; only a repeated charge of a standing instruction
    /// takes effect at once, until the payment fails. A declined payment changes nothing. `held_card` is the card of a
    /// payment that is authorized later.
    ///
    /// # Errors
    /// If the account was deleted meanwhile, or the standing instruction is unknown or does not allow this charge,
    /// whatever the connector's result.
    pub(crate) fn decide_changes(
        self,
        payment: &mut Payment,
        mut loaded: StoredCredentials,
        held_card: Option<HeldCard>,
    ) -> Result<Changes, Refusal> {
        if self.used.is_some() && !loaded.account_stored {
            return Err(deleted_registration());
        }
        let mut changes = Changes::default();
        let mut pending = None;
        if let Some(InstructionChange { role, initial_transaction_id: initial, account, terms, today }) =
            self.instruction_change
        {
            let instruction = match role {
                InstructionRole::Repeated => loaded
                    .standing_instruction
                    .take()
                    .ok_or_else(|| Refusal::unknown_initial_transaction(INITIAL_TRANSACTION, &initial))?,
                InstructionRole::First | InstructionRole::Single => StandingInstruction {
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
            let charged = instruction.with_charge(&account, terms, today)?;
            if role != InstructionRole::Repeated {
                pending = Some(PendingInstruction::First(charged));
            } else if payment.is_approved_or_pending() {
                changes = changes.with_standing_instruction(&charged);
                pending = Some(PendingInstruction::Charge {
                    initial: instruction.initial,
                    day: today,
                    before: instruction.latest,
                });
            }
        }
        if self.new.is_none() && self.renewal.is_none() && pending.is_none() && held_card.is_none() {
            return Ok(changes);
        }
        let until = held_card.as_ref().map_or(payment.created + deferred_effects::LIFETIME, |card| card.until);
        let card = held_card.map(|card| card.sealed);
        let Self { entity: owner, new: registration, renewal, .. } = self;
        let effects = DeferredEffects { owner, registration, renewal, instruction: pending, card };
        if payment.is_approved() {
            let now = payment.created;
            changes = changes.merged_with(deferred_effects::apply_on_success(effects, payment, loaded, now));
        } else if payment.awaits_outcome() {
            changes = changes.with_deferred_effects(payment, effects, until);
        }
        Ok(changes)
    }
}

/// Returns the refusal for an account that was deleted after its registration was read.
fn deleted_registration() -> Refusal {
    Refusal::unusable_registration(codes::REGISTRATION_DEREGISTERED)
}

/// Returns the id of a new standing instruction: the end of the id of its first transaction after the time, in upper
/// case.
pub(crate) fn new_initial_transaction_id(id: &str) -> String {
    id.get(14..).unwrap_or(id).to_uppercase()
}

/// Returns the standing instruction of a repeated charge: the one that it names, or else the registration's latest.
/// `None` if there is neither and the source is not `MIT`: clients from before the regulation of stored credentials
/// send no source.
///
/// # Errors
/// `standingInstruction.initialTransactionId` by name, if there is neither and the source is `MIT`.
fn find_initial_transaction_id(
    parameters: &Parameters,
    used: Option<&Registration>,
) -> Result<Option<String>, Refusal> {
    let id = parameters.get(INITIAL_TRANSACTION).or_else(|| used?.initial.as_deref());
    match (id, parameters.get("standingInstruction.source")) {
        (Some(id), _) => Ok(Some(id.to_owned())),
        (None, Some("MIT")) => Err(Refusal::invalid_parameter(INITIAL_TRANSACTION, None, "may not be empty")),
        (None, _) => Ok(None),
    }
}

/// Returns the name of the sealed account of a registration.
pub(crate) fn account_record(registration: &Registration) -> String {
    record_name::registered_account(registration.entity.as_str(), registration.id.as_str())
}
