//! Drafts of registrations: accounts that are verified, but not yet stored.

use std::net::IpAddr;
use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_connector::{ConnectorOutcome, OrderRequest};
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::RegistrationId;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::standing_instruction::{
    INITIAL_TRANSACTION, InstructionRole, InstructionTerms, StandingInstruction,
};
use tillgate_domain::registration::{Registration, account_retention_end};
use tillgate_shared::brand::AccountType;
use tillgate_shared::parameter::{Operation, Parameters, check_complete};
use tillgate_shared::result::ResultCode;
use tillgate_store::keys::wallet::UsedWalletToken;
use tillgate_store::{Changes, LoadedRecords, NewRegistration, RecordKeys, StoredCredentialKeys};

use super::migration::read_migration;
use crate::access::sender::Sender;
use crate::keys::wallet;
use crate::payment::account_parameters::StorableAccount;
use crate::payment::account_parameters::find_browser_names;
use crate::payment::echo::is_echoed;
use crate::payment::{Intake, refuse_missing_capability};
use crate::registration::stored_credentials::new_initial_transaction_id;
use crate::risk::velocity::{AttemptGuard, ShopperAddress};
use crate::{Failure, Gateway, random_bytes};

/// A registration that is decided but not yet written.
#[derive(Clone)]
pub(crate) struct RegistrationDraft {
    registration: Registration,
    /// The sealed account. `None` if the registration was rejected.
    new: Option<NewRegistration>,
    /// The standing instruction that begins with the registration, or that comes with it from another system.
    standing_instruction: Option<StandingInstruction>,
    /// The wallet token that contained the account. It can be used once.
    token: Option<UsedWalletToken>,
}

impl Gateway {
    /// Reads a request to register, has its account verified by a zero-amount authorization at the connector, and
    /// prepares the registration. Stores nothing. The card in a wallet's token is decrypted. The caller must report the
    /// outcome to the returned attempt.
    ///
    /// # Errors
    /// A refusal that names the parameters at fault, for example if no account was sent or its brand is not offered;
    /// 429 if a card-testing limit is reached; a refusal if the connector's outcome is neither an approval nor a
    /// decline.
    pub(crate) async fn draft_registration(
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
        let request = OrderRequest {
            reference,
            merchant_id,
            return_url: None,
            place: None,
            descriptor: "",
            now,
            order: &intake.order,
        };
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
}

impl RegistrationDraft {
    /// Adds the keys of the records that `decide_changes` needs to `keys`: the standing instruction and the wallet
    /// token.
    pub(crate) fn required_keys(&self, keys: RecordKeys) -> RecordKeys {
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
    pub(crate) fn decide_changes(self, loaded: LoadedRecords) -> Result<(Changes, Registration), Refusal> {
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

/// Returns the parameter that identifies an account of this kind.
fn account_parameter(kind: AccountType) -> &'static str {
    match kind {
        AccountType::Card | AccountType::Wallet => "card.number",
        AccountType::Bank => "bankAccount.iban",
        AccountType::Virtual => "virtualAccount.accountId",
    }
}
