//! Registrations: created alone or in a checkout, read, paid with, extended, deleted.

mod draft;
mod migration;
pub mod stored_credentials;
pub mod user_act;

use std::sync::Arc;

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::id::RegistrationId;
use tillgate_domain::payment::Payment;
use tillgate_domain::refusal::Refusal;
use tillgate_domain::registration::{Registration, RegistrationEnd, parse_retention_extension};
use tillgate_shared::parameter::Parameters;
use tillgate_store::{Changes, RecordKeys, RegistrationWithAccount, StoredCredentialKeys};

use super::payment::PaymentContext;
use super::{Failure, Gateway};
use crate::access::sender::Sender;
use crate::payment::addresses::Addresses;
use crate::payment::order;
use crate::payment::response_recorder::ResponseRecorder;
use crate::registration::stored_credentials::CredentialOwner;
use crate::risk::velocity::AttemptOutcome;

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
        let keys = draft.required_keys(RecordKeys::none().owned_by(&entity.id));
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
        change: impl FnOnce(&Registration) -> Registration + Clone + Send + 'static,
        recorder: ResponseRecorder<Registration>,
    ) -> Result<Registration, Failure> {
        let Registration { entity: owner, id, .. } = self.load_registration(entity, id)?;
        let stored_credentials =
            StoredCredentialKeys { registration: Some((owner, id)), ..StoredCredentialKeys::default() };
        let now = self.now_of(entity);
        let keys = RecordKeys { stored_credentials, ..RecordKeys::none().owned_by(&entity.id) };
        let changed = self
            .store
            .update(keys, move |loaded| {
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

/// Returns the refusal for a registration that does not exist or belongs to another entity: 404.
fn unknown_registration() -> Refusal {
    Refusal::not_found("There is no registration with this id")
}
