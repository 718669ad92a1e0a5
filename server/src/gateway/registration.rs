//! A registration's life: made by itself or in a checkout, read, paid with, kept for longer, deleted.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_shared::brand::Kind;
use tillgate_shared::parameter::{Operation, Parameters, check_complete};
use tillgate_shared::result::ResultCode;

use super::echo::is_echoed;
use super::on_file::{File, new_initial};
use super::once::Once;
use super::pay::Addresses;
use super::payment::{Circumstances, Intake};
use super::sender::Sender;
use super::velocity::{AttemptGuard, AttemptOutcome, Shopper};
use super::{Failure, Gateway, order, random, wallet};
use crate::connector::{OrderRequest, Outcome};
use crate::domain::entity::Entity;
use crate::domain::id::RegistrationId;
use crate::domain::payment::Payment;
use crate::domain::refusal::Refusal;
use crate::domain::registration::{Ended, Registration, extension, retained_until};
use crate::domain::standing_instruction::{Chain, INITIAL_TRANSACTION, Step, Terms};
use crate::store::wallet::WalletToken;
use crate::store::{Changes, Keys, Loaded, NewRegistration, OnFileKeys, WithAccount};

/// A registration that has been decided and not yet written.
pub(super) struct Drafted {
    registration: Registration,
    /// The sealed account; none for one that was rejected.
    new: Option<NewRegistration>,
    /// What the cardholder agreed to, here or where the registration comes from.
    chain: Option<Chain>,
    /// The wallet token that the account comes from; it can be used once.
    token: Option<WalletToken>,
}

impl Gateway {
    /// Stores an account that the merchant sends, under a new id each time.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault; a rejected account is a registration of its own, not an error.
    pub async fn register(
        &self,
        entity: &Arc<Entity>,
        parameters: Parameters,
        once: Once<Registration>,
    ) -> Result<Registration, Failure> {
        order::refuse_override(&parameters)?;
        let sender = Sender::server(&parameters, once.ndc());
        let (drafted, attempt) = self.draft(entity, sender, parameters, None).await?;
        let keys = drafted.keys(Keys::none());
        let now = self.now_of(entity);
        let written = self
            .store
            .update(keys, move |loaded| {
                let (changes, registration) = drafted.settle(loaded)?;
                Ok((once.keep(changes, &registration, now), registration))
            })
            .await;
        let outcome = match &written {
            Ok(Ok(registration)) => AttemptOutcome::of_registration(registration),
            _ => AttemptOutcome::NotMade,
        };
        self.velocity.end(attempt, outcome, self.now());
        Ok(written??)
    }

    /// Takes a request to register through the pipeline as far as it concerns an account, has it verified, and prepares what is
    /// to be written. Stores nothing.
    ///
    /// An account is verified as cards are, by an authorisation of nothing; a wallet's token is opened, and the card inside is
    /// what is stored.
    pub(super) async fn draft(
        &self,
        entity: &Arc<Entity>,
        sender: Sender<'_>,
        parameters: Parameters,
        shopper: Option<IpAddr>,
    ) -> Result<(Drafted, AttemptGuard), Failure> {
        // What no channel takes could never be paid with.
        let mut received = self.receive(entity, parameters)?;
        let route = self.route(&received.payer, &received.parameters)?;
        let errors = check_complete(&received.parameters, Operation::CreateRegistration, &sender.requirements(entity));
        if !errors.is_empty() {
            return Err(Refusal::parameters(errors).into());
        }
        set_order_of_nothing(&mut received.parameters);
        let intake = self.read_intake(received, sender, false, false)?;
        if intake.account.canonical(intake.order.brand.code).is_none() {
            return Err(Refusal::no_account(account_parameter(intake.order.brand.kind)).into());
        }
        let now = self.now_of(entity);
        let shopper = Shopper::of(shopper, &intake.parameters);
        let attempt = self.velocity.begin(entity, shopper, &intake.order.account, self.now())?;
        let id = RegistrationId::new(self.next_id_time(entity), random()?);
        let today = now.to_zoned(TimeZone::UTC).date();
        let request = OrderRequest { reference: id.as_str(), descriptor: "", today, order: &intake.order };
        // A forced outcome may be pending: nothing would ever end it.
        let (Outcome::Approved(result) | Outcome::Declined(result)) = route.connector.verify(&request).await else {
            return Err(Refusal::method_not_configured().into());
        };
        let registration = registration(id, entity, sender, &intake, result.code, now);
        Ok((self.prepare_registration(registration, intake, sender, today)?, attempt))
    }

    /// Seals the account of a registration and decides what the cardholder agrees to with it.
    fn prepare_registration(
        &self,
        mut registration: Registration,
        intake: Intake,
        sender: Sender<'_>,
        today: Date,
    ) -> Result<Drafted, Failure> {
        let Intake { account, parameters, wallet_token: token, .. } = intake;
        let migrated = migrated(&parameters)?;
        if !registration.approved() {
            return Ok(Drafted { registration, new: None, chain: None, token });
        }
        let chain = |initial: String, charges, latest| Chain {
            initial,
            entity: registration.entity.clone(),
            payment: None,
            registration: None,
            shown: Some(registration.account.shown_part(&registration.brand)),
            terms: Terms::of(&parameters),
            charges,
            latest,
        };
        let chain = match migrated {
            Some(migrated) => Some(chain(migrated.initial, 1, migrated.latest)),
            None if Step::of(&parameters, sender.presence()) == Step::First => {
                Some(chain(new_initial(registration.id.as_str()), 0, None))
            }
            None => None,
        };
        if let Some(chain) = &chain {
            chain.check_open(chain.terms, today)?;
            registration.initial = Some(chain.initial.clone());
            registration.parameters.set(INITIAL_TRANSACTION, chain.initial.as_str());
        }
        let new = self.sealed(registration.clone(), &account)?;
        Ok(Drafted { registration, new, chain, token })
    }

    /// A registration of this entity or of one of its channels; another entity's is as unknown as one that never was.
    ///
    /// # Errors
    /// 404 when there is none.
    pub fn registration(&self, entity: &Entity, id: &str) -> Result<Registration, Failure> {
        let registration = match RegistrationId::parse(id) {
            Some(id) => self.store.registration_with_account(&self.entities_of(entity), &id)?,
            None => None,
        };
        Ok(registration.ok_or_else(unknown)?.0)
    }

    /// A registration as [`Gateway::registration`] finds it that is still there, or was rejected when it was made.
    ///
    /// # Errors
    /// 404 when there is none; the code of its end when it has ended.
    pub fn live_registration(&self, entity: &Entity, id: &str) -> Result<Registration, Failure> {
        let registration = self.registration(entity, id)?;
        if registration.approved() {
            registration.check_usable(self.now_of(entity))?;
        }
        Ok(registration)
    }

    /// Makes a payment with a stored account. One that a channel holds is paid into that channel, also where its merchant
    /// asks; one of the merchant's own goes where its other payments go.
    ///
    /// # Errors
    /// As [`Gateway::pay`]; and when the registration cannot be used, or what was agreed does not allow the charge.
    pub async fn pay_by_registration(
        &self,
        entity: &Arc<Entity>,
        id: &str,
        parameters: Parameters,
        addresses: Addresses<'_>,
        once: Once<Payment>,
    ) -> Result<Payment, Failure> {
        let id = RegistrationId::parse(id).ok_or_else(unknown)?;
        let found = self.store.registration_with_account(&self.entities_of(entity), &id)?;
        let (registration, sealed) = found.ok_or_else(unknown)?;
        let holder = self.holder(entity, &registration);
        let entity = holder.as_ref().unwrap_or(entity);
        let ndc = once.ndc().cloned();
        let sender = Sender::server(&parameters, ndc.as_ref());
        let parameters = self.with_stored_account(entity, &registration, sealed, parameters, sender)?;
        let file = File { owner: &registration.entity, used: Some(&registration) };
        self.charge(entity, parameters, Circumstances { sender, file, addresses }, once).await
    }

    /// Keeps a registration for longer.
    ///
    /// # Errors
    /// 404 when there is none; a refusal when it has ended, or the wish is for more than 24 months.
    pub async fn extend_registration(
        &self,
        entity: &Entity,
        id: &str,
        parameters: &Parameters,
        once: Once<Registration>,
    ) -> Result<Registration, Failure> {
        let until = extension(parameters, self.now_of(entity))?;
        self.change_registration(entity, id, move |registration| registration.retained(until), once).await
    }

    /// Deletes a registration: its account, its chains, and what was shown of both.
    ///
    /// # Errors
    /// 404 when there is none; a refusal when it has ended already.
    pub async fn deregister(
        &self,
        entity: &Entity,
        id: &str,
        once: Once<Registration>,
    ) -> Result<Registration, Failure> {
        let end = |registration: &Registration| registration.ended(Ended::Deregistered);
        let ended = self.change_registration(entity, id, end, once).await?;
        // The bytes that it left in the log are overwritten soon, by the worker.
        self.store.something_was_deleted();
        Ok(ended)
    }

    async fn change_registration(
        &self,
        entity: &Entity,
        id: &str,
        change: impl FnOnce(&Registration) -> Registration + Send + 'static,
        once: Once<Registration>,
    ) -> Result<Registration, Failure> {
        let Registration { entity: owner, id, .. } = self.registration(entity, id)?;
        let on_file = OnFileKeys { registration: Some((owner, id)), ..OnFileKeys::default() };
        let now = self.now_of(entity);
        let changed = self
            .store
            .update(Keys { on_file, ..Keys::default() }, move |loaded| {
                let registration = loaded.on_file.registration.ok_or_else(unknown)?;
                registration.check_usable(now)?;
                let next = Registration { ndc: once.ndc().cloned(), ..change(&registration) };
                Ok((once.keep(Changes::default().registration(&next), &next, now), next))
            })
            .await??;
        Ok(changed)
    }

    /// The registrations that a checkout offers, all of them usable.
    ///
    /// # Errors
    /// A refusal with 100.150.200 that names the parameter of one that is not.
    pub(super) fn check_offered(&self, entity: &Entity, parameters: &Parameters) -> Result<(), Failure> {
        for (name, id) in parameters.with_prefix("registrations[") {
            self.named_registration(entity, name, id)?;
        }
        Ok(())
    }

    /// A usable registration that a parameter names, with its sealed account.
    pub(super) fn named_registration(&self, entity: &Entity, name: &str, id: &str) -> Result<WithAccount, Failure> {
        let unknown = || Refusal::unknown_registration(name, id);
        let key = RegistrationId::parse(id).ok_or_else(unknown)?;
        let found = self.store.registration_with_account(&self.entities_of(entity), &key)?.ok_or_else(unknown)?;
        found.0.check_usable(self.now_of(entity)).map_err(|refusal| {
            let message = refusal.code.description();
            refusal.naming(name, id, message)
        })?;
        Ok(found)
    }
}

impl Drafted {
    /// What has to be loaded to decide it.
    pub(super) fn keys(&self, keys: Keys) -> Keys {
        let entity = &self.registration.entity;
        let on_file = OnFileKeys {
            chain: self.chain.as_ref().map(|chain| (entity.clone(), chain.initial.clone())),
            ..OnFileKeys::default()
        };
        Keys { on_file, wallet_token: self.token.clone(), ..keys }
    }

    /// Decides under the write lock what is written.
    ///
    /// # Errors
    /// Its wallet token has been used already, or the initial transaction that it brings along is known, for another
    /// account.
    pub(super) fn settle(self, loaded: Loaded) -> Result<(Changes, Registration), Refusal> {
        if loaded.token_used {
            return Err(wallet::used());
        }
        let on_file = loaded.on_file;
        let mut changes = Changes::default();
        if let Some(token) = &self.token {
            changes = changes.wallet_token(token);
        }
        let Some(new) = self.new else {
            return Ok((changes.registration(&self.registration), self.registration));
        };
        let (mut changes, kept) = new.write(changes);
        if let Some(chain) = self.chain {
            let chain = match on_file.chain {
                Some(known) if !known.is_of(chain.shown.as_deref()) => return Err(Refusal::other_account()),
                // Registered before: the charges made since count on, and the agreement is the newest registration's.
                Some(known) => known,
                None => chain,
            };
            changes = changes.chain(&Chain { registration: Some(kept.id.clone()), ..chain });
        }
        Ok((changes, kept))
    }
}

/// Sets amount and payment type of an order that moves nothing.
fn set_order_of_nothing(parameters: &mut Parameters) {
    let currency = parameters.get("currency").unwrap_or("EUR").to_owned();
    for (name, value) in [("amount", "0.00"), ("currency", currency.as_str()), ("paymentType", "PA")] {
        parameters.set(name, value);
    }
}

/// The registration that a verified account makes, without an agreement.
fn registration(
    id: RegistrationId,
    entity: &Entity,
    sender: Sender<'_>,
    intake: &Intake,
    result: ResultCode,
    now: Timestamp,
) -> Registration {
    let account = intake.order.account.shown();
    let shown = intake.parameters.iter().filter(|(name, _)| is_echoed(name, &account)).collect();
    Registration {
        id,
        entity: entity.id.clone(),
        checkout: sender.checkout().map(|checkout| checkout.id.clone()),
        ndc: sender.ndc().cloned(),
        created: now,
        brand: intake.order.brand.code.to_owned(),
        result,
        retained_until: retained_until(&account),
        account,
        initial: None,
        ended: None,
        parameters: shown,
    }
}

/// The first payment of a registration that comes from another system.
struct Migrated {
    initial: String,
    latest: Option<Date>,
}

/// Reads `recurringMigration.*`.
fn migrated(parameters: &Parameters) -> Result<Option<Migrated>, Refusal> {
    if parameters.with_prefix("recurringMigration.").next().is_none() {
        return Ok(None);
    }
    let missing = |name: &str| Refusal::parameter(name, None, "may not be empty");
    let get = |name: &str| parameters.get(&format!("recurringMigration.{name}"));
    get("paymentType").ok_or_else(|| missing("recurringMigration.paymentType"))?;
    let initial = parameters
        .get(INITIAL_TRANSACTION)
        .or_else(|| get("connectorTxId1"))
        .ok_or_else(|| missing("recurringMigration.connectorTxId1"))?;
    // The format has been judged; the day is all that counts.
    let latest = get("requestTimestamp").and_then(|text| text.get(..10)?.parse().ok());
    Ok(Some(Migrated { initial: initial.to_owned(), latest }))
}

/// What names an account of a kind.
fn account_parameter(kind: Kind) -> &'static str {
    match kind {
        Kind::Card | Kind::Wallet => "card.number",
        Kind::Bank => "bankAccount.iban",
        Kind::Virtual => "virtualAccount.accountId",
    }
}

fn unknown() -> Refusal {
    Refusal::not_found("There is no registration with this id")
}
