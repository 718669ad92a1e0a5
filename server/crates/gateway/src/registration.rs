//! Registrations: created alone or in a checkout, read, paid with, extended, deleted.

pub mod stored_credentials;

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_connector::{ConnectorOutcome, OrderRequest};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::RegistrationId;
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::standing_instruction::{
    INITIAL_TRANSACTION, InstructionRole, InstructionTerms, StandingInstruction,
};
use tillgate_domain::registration::{Registration, RegistrationEnd, account_retention_end, parse_retention_extension};
use tillgate_shared::brand::AccountType;
use tillgate_shared::parameter::{Operation, Parameters, check_complete};
use tillgate_shared::result::ResultCode;
use tillgate_store::keys::wallet::UsedWalletToken;
use tillgate_store::{
    Changes, LoadedRecords, NewRegistration, RecordKeys, RegistrationWithAccount, StoredCredentialKeys,
};

use super::payment::{Intake, PaymentContext, refuse_missing_capability};
use super::{Failure, Gateway, random_bytes};
use crate::access::sender::Sender;
use crate::keys::wallet;
use crate::payment::account_parameters::StorableAccount;
use crate::payment::account_parameters::find_browser_names;
use crate::payment::echo::is_echoed;
use crate::payment::order;
use crate::payment::pay::Addresses;
use crate::payment::response_recorder::ResponseRecorder;
use crate::registration::stored_credentials::CredentialOwner;
use crate::registration::stored_credentials::new_initial_transaction_id;
use crate::risk::velocity::{AttemptGuard, AttemptOutcome, ShopperAddress};

/// A registration that is decided but not yet written.
pub(super) struct RegistrationDraft {
    registration: Registration,
    /// The sealed account. `None` if the registration was rejected.
    new: Option<NewRegistration>,
    /// The standing instruction that begins with the registration, or that comes with it from another system.
    standing_instruction: Option<StandingInstruction>,
    /// The wallet token that contained the account. It can be used once.
    token: Option<UsedWalletToken>,
}

impl Gateway {
    /// Verifies an account that the merchant sends and stores it, under a new id each time, also if the same account is
    /// stored already. Counts as a payment attempt for the card-testing limits.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; 429 if a card-testing limit is reached. An account that the
    /// connector rejects is returned as a rejected registration, not as an error.
    pub async fn register_account(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        recorder: ResponseRecorder<Registration>,
    ) -> Result<Registration, Failure> {
        order::refuse_override(&parameters)?;
        let sender = Sender::from_server_request(&parameters, recorder.ndc());
        let (draft, attempt) = self.draft_registration(entity, sender, parameters, None).await?;
        let keys = draft.required_keys(RecordKeys::none());
        let now = self.now_of(entity);
        let written = self
            .store
            .update(keys, move |loaded| {
                let (changes, registration) = draft.decide_changes(loaded)?;
                Ok((recorder.record_response(changes, &registration, now), registration))
            })
            .await;
        let outcome = match &written {
            Ok(Ok(registration)) => AttemptOutcome::of_registration(registration),
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end_attempt(attempt, outcome, self.now());
        Ok(written??)
    }

    /// Reads a request to register, has its account verified by a zero-amount authorization at the connector, and
    /// prepares the registration. Stores nothing. The card in a wallet's token is decrypted. The caller must report the
    /// outcome to the returned attempt.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, for example if no account was sent or its brand is not offered;
    /// 429 if a card-testing limit is reached; a refusal if the connector's outcome is neither an approval nor a
    /// decline.
    pub(super) async fn draft_registration(
        &self,
        entity: &Arc<Entity>,
        sender: Sender<'_>,
        parameters: Parameters,
        shopper: Option<IpAddr>,
    ) -> Result<(RegistrationDraft, AttemptGuard), Failure> {
        // An account that no channel accepts could never be used.
        let mut received = self.route_request(entity, parameters)?;
        if let (Some(checkout), Some(shopper)) = (sender.checkout(), shopper) {
            self.check_offered_brand(checkout, &received, None, shopper)?;
        }
        let route = self.select_route(&received.payer, &received.parameters)?;
        let errors = check_complete(&received.parameters, Operation::CreateRegistration, &sender.requirements(entity));
        if !errors.is_empty() {
            return Err(Refusal::invalid_parameters(errors).into());
        }
        set_zero_amount_order(&mut received.parameters);
        let mut intake = self.read_intake(received, sender, false, false)?;
        let Some(account) = intake.account.take() else {
            return Err(Refusal::account_required(account_parameter(intake.order.brand.kind)).into());
        };
        route.connector.capabilities().check_brand(intake.order.brand).map_err(refuse_missing_capability)?;
        let now = self.now_of(entity);
        let shopper = ShopperAddress::from_request(shopper, &intake.parameters);
        let attempt = self.velocity.begin_attempt(entity, shopper, &intake.order.account, self.now())?;
        let id = RegistrationId::new(self.next_id_time(entity), random_bytes()?);
        let today = now.to_zoned(TimeZone::UTC).date();
        let (reference, merchant_id) = (id.as_str(), intake.payer.acquirer_merchant_id());
        let request =
            OrderRequest { reference, merchant_id, return_url: None, descriptor: "", now, order: &intake.order };
        // A forced outcome may be pending, but no later event would end a pending registration.
        let (ConnectorOutcome::Approved(result) | ConnectorOutcome::Declined(result)) =
            route.connector.verify(&request).await
        else {
            return Err(Refusal::method_not_configured().into());
        };
        let registration = new_registration(id, entity, sender, (&intake, &account), result.code, now);
        Ok((self.prepare_registration(registration, (intake, account), sender, today)?, attempt))
    }

    /// Prepares a verified registration: seals its account, and makes the standing instruction that begins with it or
    /// is migrated with it. A rejected registration gets neither.
    ///
    /// # Errors
    /// If the migration is incomplete, or the last date of the standing instruction has passed.
    fn prepare_registration(
        &self,
        mut registration: Registration,
        (intake, account): (Intake, StorableAccount),
        sender: Sender<'_>,
        today: Date,
    ) -> Result<RegistrationDraft, Failure> {
        let Intake { parameters, wallet_token: token, .. } = intake;
        let migrated = read_migration(&parameters)?;
        if !registration.is_approved() {
            return Ok(RegistrationDraft { registration, new: None, standing_instruction: None, token });
        }
        let make_instruction = |initial: String, charges, latest| StandingInstruction {
            initial,
            entity: registration.entity.clone(),
            payment: None,
            registration: None,
            shown: Some(registration.account.visible_part(&registration.brand)),
            terms: InstructionTerms::from_parameters(&parameters),
            charges,
            latest,
        };
        let instruction = match migrated {
            Some(migrated) => Some(make_instruction(migrated.initial_transaction_id, 1, migrated.latest)),
            None if InstructionRole::from_parameters(&parameters, sender.presence()) == InstructionRole::First => {
                Some(make_instruction(new_initial_transaction_id(registration.id.as_str()), 0, None))
            }
            None => None,
        };
        if let Some(instruction) = &instruction {
            instruction.check_open(instruction.terms, today)?;
            registration.initial = Some(instruction.initial.clone());
            registration.parameters.set(INITIAL_TRANSACTION, instruction.initial.as_str());
        }
        let new = Some(self.seal_registration(registration.clone(), &account)?);
        Ok(RegistrationDraft { registration, new, standing_instruction: instruction, token })
    }

    /// Loads a registration of this entity or of one of its channels, also if it was rejected or has ended.
    ///
    /// # Errors
    /// 404 if there is no such registration, or if it belongs to another entity.
    pub fn load_registration(&self, entity: &Entity, id: &str) -> Result<Registration, Failure> {
        let registration = match RegistrationId::parse(id) {
            Some(id) => self.store.load_registration_with_account(&self.visible_entities(entity), &id)?,
            None => None,
        };
        Ok(registration.ok_or_else(unknown_registration)?.0)
    }

    /// Loads a registration like [`Gateway::load_registration`], unless it has ended. Rejected ones are returned as
    /// well.
    ///
    /// # Errors
    /// 404 if there is no such registration; 400 with the code of its end if it was deleted or its retention is over.
    pub fn load_live_registration(&self, entity: &Entity, id: &str) -> Result<Registration, Failure> {
        let registration = self.load_registration(entity, id)?;
        if registration.is_approved() {
            registration.check_usable(self.now_of(entity))?;
        }
        Ok(registration)
    }

    /// Makes a payment with a stored account. If a channel holds the registration, the payment belongs to that channel,
    /// also if its merchant requests it. If the merchant itself holds the registration, the payment is routed like its
    /// other payments.
    ///
    /// # Errors
    /// Same as [`Gateway::pay`]; also if the registration cannot be used, or its standing instruction does not allow
    /// the charge.
    pub async fn pay_by_registration(
        &self,
        entity: &Arc<Entity>,
        id: &str,
        parameters: Parameters,
        scopes: Scopes,
        addresses: Addresses<'_>,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Arc<Payment>, Failure> {
        let id = RegistrationId::parse(id).ok_or_else(unknown_registration)?;
        let found = self.store.load_registration_with_account(&self.visible_entities(entity), &id)?;
        let (registration, sealed) = found.ok_or_else(unknown_registration)?;
        let holder = self.channel_of_registration(entity, &registration);
        let entity = holder.as_ref().unwrap_or(entity);
        let ndc = recorder.ndc().cloned();
        let sender = Sender::from_server_request(&parameters, ndc.as_ref()).with_scopes(scopes);
        let parameters = self.with_stored_account(entity, &registration, sealed, parameters, sender)?;
        let credential_owner = CredentialOwner { owner: &registration.entity, used: Some(&registration) };
        self.pay_with_account(
            entity,
            parameters,
            PaymentContext { sender, credential_owner, addresses, at: None },
            recorder,
        )
        .await
    }

    /// Checks an order with a stored account like [`Gateway::screen_order`]. Nothing is charged.
    ///
    /// # Errors
    /// Same as [`Gateway::screen_order`]; also if the registration cannot be used.
    pub async fn screen_registration(
        &self,
        entity: &Arc<Entity>,
        id: &str,
        mut parameters: Parameters,
        recorder: ResponseRecorder<Payment>,
    ) -> Result<Payment, Failure> {
        let id = RegistrationId::parse(id).ok_or_else(unknown_registration)?;
        let found = self.store.load_registration_with_account(&self.visible_entities(entity), &id)?;
        let (registration, sealed) = found.ok_or_else(unknown_registration)?;
        let holder = self.channel_of_registration(entity, &registration);
        let entity = holder.as_ref().unwrap_or(entity);
        if !parameters.contains("paymentType") {
            parameters.set("paymentType", "DB");
        }
        let sender = Sender::from_server_request(&parameters, None);
        let parameters = self.with_stored_account(entity, &registration, sealed, parameters, sender)?;
        let owner = CredentialOwner { owner: &registration.entity, used: Some(&registration) };
        self.screen_with_account(entity, parameters, owner, recorder).await
    }

    /// Extends the retention of a registration. A retention that ends later already is unchanged.
    ///
    /// # Errors
    /// 404 if there is no such registration; a refusal if it was rejected or has ended, or if the extension exceeds 24
    /// months.
    pub async fn extend_registration(
        &self,
        entity: &Entity,
        id: &str,
        parameters: &Parameters,
        recorder: ResponseRecorder<Registration>,
    ) -> Result<Registration, Failure> {
        let until = parse_retention_extension(parameters, self.now_of(entity))?;
        self.change_registration(entity, id, move |registration| registration.extend_retention(until), recorder).await
    }

    /// Deletes the account of a registration, its standing instructions, and the displayable data of both. The
    /// registration remains, marked as ended.
    ///
    /// # Errors
    /// 404 if there is no such registration; a refusal if it was rejected or has ended already.
    pub async fn delete_registration(
        &self,
        entity: &Entity,
        id: &str,
        recorder: ResponseRecorder<Registration>,
    ) -> Result<Registration, Failure> {
        let end = |registration: &Registration| registration.as_ended(RegistrationEnd::Deregistered);
        let ended = self.change_registration(entity, id, end, recorder).await?;
        // The worker overwrites the deleted bytes in the WAL soon.
        self.store.mark_wal_dirty();
        Ok(ended)
    }

    /// Changes a usable registration under the write lock, and records the response. The changed registration carries
    /// the identifier of this request.
    ///
    /// # Errors
    /// 404 if there is no such registration; a refusal if it was rejected or has ended.
    async fn change_registration(
        &self,
        entity: &Entity,
        id: &str,
        change: impl FnOnce(&Registration) -> Registration + Send + 'static,
        recorder: ResponseRecorder<Registration>,
    ) -> Result<Registration, Failure> {
        let Registration { entity: owner, id, .. } = self.load_registration(entity, id)?;
        let stored_credentials =
            StoredCredentialKeys { registration: Some((owner, id)), ..StoredCredentialKeys::default() };
        let now = self.now_of(entity);
        let changed = self
            .store
            .update(RecordKeys { stored_credentials, ..RecordKeys::default() }, move |loaded| {
                let registration = loaded.stored_credentials.registration.ok_or_else(unknown_registration)?;
                registration.check_usable(now)?;
                let next = Registration { ndc: recorder.ndc().cloned(), ..change(&registration) };
                Ok((recorder.record_response(Changes::default().with_registration(&next), &next, now), next))
            })
            .await??;
        Ok(changed)
    }

    /// Checks that all registrations in `registrations[…]`, which a checkout offers, are usable.
    ///
    /// # Errors
    /// The refusal of [`Gateway::load_named_registration`] for the first one that is not.
    pub(super) fn check_offered_registrations(&self, entity: &Entity, parameters: &Parameters) -> Result<(), Failure> {
        for (name, id) in parameters.with_prefix("registrations[") {
            self.load_named_registration(entity, name, id)?;
        }
        Ok(())
    }

    /// Loads the usable registration with the id in the parameter `name`, and its sealed account.
    ///
    /// # Errors
    /// A refusal that names the parameter, if the registration is unknown or belongs to another entity, was rejected,
    /// or has ended.
    pub(super) fn load_named_registration(
        &self,
        entity: &Entity,
        name: &str,
        id: &str,
    ) -> Result<RegistrationWithAccount, Failure> {
        let unknown = || Refusal::unknown_registration(name, id);
        let key = RegistrationId::parse(id).ok_or_else(unknown)?;
        let found =
            self.store.load_registration_with_account(&self.visible_entities(entity), &key)?.ok_or_else(unknown)?;
        found.0.check_usable(self.now_of(entity)).map_err(|refusal| {
            let message = refusal.code.description();
            refusal.with_parameter(name, id, message)
        })?;
        Ok(found)
    }
}

impl RegistrationDraft {
    /// Adds the keys of the records that `decide_changes` needs to `keys`: the standing instruction and the wallet
    /// token.
    pub(super) fn required_keys(&self, keys: RecordKeys) -> RecordKeys {
        let entity = &self.registration.entity;
        let stored_credentials = StoredCredentialKeys {
            standing_instruction: self
                .standing_instruction
                .as_ref()
                .map(|instruction| (entity.clone(), instruction.initial.clone())),
            ..StoredCredentialKeys::default()
        };
        RecordKeys { stored_credentials, wallet_token: self.token.clone(), ..keys }
    }

    /// Returns the changes to write, and the registration. Runs under the write lock. A migrated standing instruction
    /// that is stored already keeps its charges and moves to this registration.
    ///
    /// # Errors
    /// If the wallet token has been used already, or if the migrated initial transaction belongs to another account.
    pub(super) fn decide_changes(self, loaded: LoadedRecords) -> Result<(Changes, Registration), Refusal> {
        if loaded.token_used {
            return Err(wallet::used_token_refusal());
        }
        let mut changes = Changes::default();
        if let Some(token) = &self.token {
            changes = changes.with_used_token(token);
        }
        let Some(new) = self.new else {
            return Ok((changes.with_registration(&self.registration), self.registration));
        };
        let (mut changes, registration) = new.write_to(changes);
        if let Some(instruction) = self.standing_instruction {
            let instruction = match loaded.stored_credentials.standing_instruction {
                Some(known) if !known.allows_account(instruction.shown.as_deref()) => {
                    return Err(Refusal::account_mismatch());
                }
                // The account was registered before: its standing instruction keeps its charges, and now belongs to the
                // newest registration.
                Some(known) => known,
                None => instruction,
            };
            changes = changes.with_standing_instruction(&StandingInstruction {
                registration: Some(registration.id.clone()),
                ..instruction
            });
        }
        Ok((changes, registration))
    }
}

/// Sets the parameters of a zero-amount preauthorization, in the currency that was sent or else in euros.
fn set_zero_amount_order(parameters: &mut Parameters) {
    let currency = parameters.get("currency").unwrap_or("EUR").to_owned();
    for (name, value) in [("amount", "0.00"), ("currency", currency.as_str()), ("paymentType", "PA")] {
        parameters.set(name, value);
    }
}

/// Makes the registration of a verified account, approved or rejected by `result`, without a standing instruction. Only
/// parameters that responses may show are stored with it.
fn new_registration(
    id: RegistrationId,
    entity: &Entity,
    sender: Sender<'_>,
    (intake, storable): (&Intake, &StorableAccount),
    result: ResultCode,
    now: Timestamp,
) -> Registration {
    let account = intake.order.account.summary();
    let echoed: Parameters = intake.parameters.iter().filter(|(name, _)| is_echoed(name, &account)).collect();
    Registration {
        id,
        entity: entity.id.clone(),
        checkout: sender.checkout().map(|checkout| checkout.id.clone()),
        ndc: sender.ndc().cloned(),
        created: now,
        brand: intake.order.brand.code.to_owned(),
        result,
        retained_until: account_retention_end(&account),
        account,
        initial: None,
        ended: None,
        from_browser: Some(find_browser_names(sender, storable, &echoed)),
        parameters: echoed,
    }
}

/// The first payment of a registration that is migrated from another system.
struct MigratedPayment {
    initial_transaction_id: String,
    latest: Option<Date>,
}

/// Reads `recurringMigration.*`. Returns `None` if no such parameter was sent. The initial transaction is the one of
/// `standingInstruction.initialTransactionId`, or else `recurringMigration.connectorTxId1`.
///
/// # Errors
/// The missing payment type or transaction, by name.
fn read_migration(parameters: &Parameters) -> Result<Option<MigratedPayment>, Refusal> {
    if parameters.with_prefix("recurringMigration.").next().is_none() {
        return Ok(None);
    }
    let missing = |name: &str| Refusal::invalid_parameter(name, None, "may not be empty");
    let get = |name: &str| parameters.get(&format!("recurringMigration.{name}"));
    get("paymentType").ok_or_else(|| missing("recurringMigration.paymentType"))?;
    let initial = parameters
        .get(INITIAL_TRANSACTION)
        .or_else(|| get("connectorTxId1"))
        .ok_or_else(|| missing("recurringMigration.connectorTxId1"))?;
    // The format has been checked. Only the date is needed.
    let latest = get("requestTimestamp").and_then(|text| text.get(..10)?.parse().ok());
    Ok(Some(MigratedPayment { initial_transaction_id: initial.to_owned(), latest }))
}

/// Returns the parameter that identifies an account of this kind.
fn account_parameter(kind: AccountType) -> &'static str {
    match kind {
        AccountType::Card | AccountType::Wallet => "card.number",
        AccountType::Bank => "bankAccount.iban",
        AccountType::Virtual => "virtualAccount.accountId",
    }
}

/// Returns the refusal for a registration that does not exist or belongs to another entity: 404.
fn unknown_registration() -> Refusal {
    Refusal::not_found("There is no registration with this id")
}
