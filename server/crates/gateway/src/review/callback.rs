//! The callbacks that report review decisions to a merchant's server, for administrators: their configuration, samples,
//! and the callbacks that were not delivered.

use tillgate_domain::access::entity::Entity;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::{EntityId, MessageId};
use tillgate_domain::review::decision::DecisionType;
use tillgate_message::review_callback::CallbackDocument;
use tillgate_message::review_callback::{CallbackConfig, create_sample, render_body, vault_record_id};
use tillgate_net::outgoing::{ExpectingPost, OutgoingClient};
use tillgate_store::delivery::webhook::DeliveryLogEntry;
use tillgate_store::review::callback::StoredCallback;
use tillgate_store::review::failed_callbacks::{CallbackAuditEntry, FailedCallback, FailedListOutcome};
use tillgate_store::{AdminStore, StoreError};
use tillgate_vault::Vault;

use crate::administration::{ActError, Administration};

/// A sample decision for the active destination of a configuration.
pub struct SampleCallback {
    /// The entity that has the configuration.
    owner: EntityId,
    config: CallbackConfig,
    document: CallbackDocument,
    /// The address of the destination.
    pub url: String,
}

impl SampleCallback {
    /// Returns the transaction id of the sample, which begins with `SAMPLE-`.
    pub fn transaction_id(&self) -> &str {
        &self.document.decision.transaction_id
    }

    /// Returns the entity that has the configuration.
    pub(super) fn owner(&self) -> &EntityId {
        &self.owner
    }

    pub(super) fn config(&self) -> &CallbackConfig {
        &self.config
    }

    pub(super) fn document(&self) -> &CallbackDocument {
        &self.document
    }

    /// Returns the body as it is sent.
    pub(super) fn body(&self) -> String {
        render_body(&self.config, &self.document)
    }

    /// Returns the parsed address. `None` if it is no address, which a stored configuration never has.
    pub(super) fn target(&self) -> Option<TargetUrl> {
        TargetUrl::parse(&self.url).ok()
    }

    /// Sends the sample once, without the outbox. Returns the status of the response.
    ///
    /// # Errors
    /// If there is no response, or its status is not one that the configuration accepts.
    pub async fn send(&self, client: &OutgoingClient) -> Result<u16, ActError> {
        let url = &self.url;
        let target = TargetUrl::parse(url).map_err(|error| ActError::in_step(format!("{url} is no address"), error))?;
        let body = self.body();
        let post = ExpectingPost { uri: target.uri(), headers: &self.config.user_headers(), body: &body };
        let response = client.send_expecting(&post).await.map_err(|error| ActError::in_step(url.clone(), error))?;
        let status = response.status.as_u16();
        if self.config.accepted.contains(&status) {
            return Ok(status);
        }
        Err(ActError::refuse("url", format!("{url} answered {status}, which is not among `accepted`")))
    }
}

impl Administration {
    /// Sets the configuration of an entity, in place of the one before.
    ///
    /// # Errors
    /// If the client may not call one of the destinations.
    pub fn set_review_callback(
        &self,
        entity: &Entity,
        config: &CallbackConfig,
        client: &OutgoingClient,
        actor: &str,
    ) -> Result<(), ActError> {
        for url in &config.urls {
            let target =
                TargetUrl::parse(url).map_err(|error| ActError::in_step(format!("{url} is no address"), error))?;
            client.check_target(target.uri()).map_err(|error| {
                let hint = "an operator may allow it: --allow-network, --allow-port";
                ActError::in_step(format!("{url} may not be called; {hint}"), error)
            })?;
        }
        let vault = self.open_vault()?;
        self.store.in_transaction(|store| self.save_config(store, &vault, &entity.id, config, ("set", actor)))
    }

    /// Loads the configuration that applies to an entity, and the entity that has it.
    ///
    /// # Errors
    /// If no configuration applies to the entity.
    pub fn find_review_callback(&self, entity: &Entity) -> Result<(EntityId, CallbackConfig), ActError> {
        let vault = self.open_vault()?;
        let stored = self.store.find_review_callback(&entity.id)?.ok_or_else(|| {
            let message = format!("no review callback applies to {}; set one: tillgate review-callback set", entity.id);
            ActError::refuse("entity", message)
        })?;
        let config = open_config(&vault, &stored)?;
        Ok((stored.entity, config))
    }

    /// Chooses the destination, counted from 1, that gets the callbacks, including the callbacks that wait. Returns the
    /// configuration.
    ///
    /// # Errors
    /// If the entity has no configuration, or no such destination.
    pub fn activate_destination(
        &self,
        entity: &Entity,
        destination: usize,
        actor: &str,
    ) -> Result<CallbackConfig, ActError> {
        let vault = self.open_vault()?;
        self.store.in_transaction(|store| {
            let mut config = open_config(&vault, &load_own_callback(store, &entity.id)?)?;
            let count = config.urls.len();
            if !(1..=count).contains(&destination) {
                let message = format!("the configuration has {count} destinations, no {destination}");
                return Err(ActError::refuse("url", message));
            }
            config.active = destination;
            self.save_config(store, &vault, &entity.id, &config, ("activate", actor))?;
            Ok(config)
        })
    }

    /// Removes the configuration of an entity. With `discards_open`, callbacks that wait or are in the failed list are
    /// deleted with it.
    ///
    /// # Errors
    /// If the entity has no configuration, or callbacks wait or are in the failed list and may not be deleted.
    pub fn remove_review_callback(&self, entity: &Entity, discards_open: bool, actor: &str) -> Result<(), ActError> {
        self.store.in_transaction(|store| {
            load_own_callback(store, &entity.id)?;
            let (waiting, failed) = store.count_open_callbacks(&entity.id)?;
            if waiting + failed > 0 && !discards_open {
                let message = format!(
                    "{waiting} callbacks wait and {failed} are in the failed list: see `review-callback failed`, or \
                     delete them, too, with --discard"
                );
                return Err(ActError::refuse("discard", message));
            }
            store.remove_review_callback(&entity.id)?;
            let detail = format!("{waiting} waiting and {failed} failed callbacks deleted");
            let id = entity.id.as_str();
            Ok(store.record_callback_action(id, "remove", actor, None, Some(&detail), self.now())?)
        })
    }

    /// Prepares a sample decision for an entity, at the time of the entity's clock.
    ///
    /// # Errors
    /// If no configuration applies to the entity, or it has no destination.
    pub fn prepare_sample_callback(&self, entity: &Entity, decision: DecisionType) -> Result<SampleCallback, ActError> {
        let (owner, config) = self.find_review_callback(entity)?;
        let url = config.active_url().map(str::to_owned);
        let url = url.ok_or_else(|| ActError::refuse("entity", "the configuration has no destination"))?;
        let document = create_sample(&entity.id, decision, self.now() + entity.ahead);
        let document = document.ok_or_else(|| ActError::refuse("decision", "there is no sample"))?;
        Ok(SampleCallback { owner, config, document, url })
    }

    /// Queues a sample, which a running server delivers like a real callback. Returns the id of its message.
    pub fn queue_sample_callback(&self, sample: &SampleCallback, actor: &str) -> Result<MessageId, ActError> {
        self.store.in_transaction(|store| {
            let message = store.queue_review_callback(&sample.owner, &sample.document)?;
            let owner = sample.owner.as_str();
            store.record_callback_action(owner, "test", actor, Some(message.as_str()), None, self.now())?;
            Ok(message)
        })
    }

    /// Loads the callbacks that no attempt delivered, oldest first, of a configuration or of all.
    pub fn load_failed_callbacks(&self, owner: Option<&EntityId>) -> Result<Vec<FailedCallback>, ActError> {
        Ok(self.store.load_failed_callbacks(owner)?)
    }

    /// Sends a callback of the failed list again, with all its retries. This is possible once.
    ///
    /// # Errors
    /// If the callback is not in the list, or was sent again already.
    pub fn resubmit_callback(&self, message: &str, actor: &str) -> Result<(), ActError> {
        let now = self.now();
        check_outcome(self.store.in_transaction(|store| store.resubmit_callback(message, actor, now))?, message)
    }

    /// Deletes a callback of the failed list.
    ///
    /// # Errors
    /// If the callback is not in the list.
    pub fn delete_failed_callback(&self, message: &str, actor: &str) -> Result<(), ActError> {
        let now = self.now();
        check_outcome(self.store.in_transaction(|store| store.delete_failed_callback(message, actor, now))?, message)
    }

    /// Loads the latest changes of the configuration and of the failed list, the latest first.
    pub fn load_callback_audit(&self, owner: &EntityId, limit: u32) -> Result<Vec<CallbackAuditEntry>, ActError> {
        Ok(self.store.load_callback_audit(owner, limit)?)
    }

    /// Loads the latest attempts and pending callbacks of a configuration, the latest first.
    ///
    /// # Errors
    /// If the entity has no configuration of its own.
    pub fn load_callback_log(&self, owner: &EntityId, limit: u32) -> Result<Vec<DeliveryLogEntry>, ActError> {
        load_own_callback(&self.store, owner)?;
        Ok(self.store.load_callback_log(owner, limit)?)
    }

    /// Seals and stores a configuration, and records the action of the actor.
    fn save_config(
        &self,
        store: &AdminStore,
        vault: &Vault,
        entity: &EntityId,
        config: &CallbackConfig,
        (action, actor): (&str, &str),
    ) -> Result<(), ActError> {
        let now = self.now();
        let text = serde_json::to_vec(config).map_err(|error| ActError::Failed(StoreError::from(error).into()))?;
        let sealed = vault.seal(&vault_record_id(entity), &text)?;
        let sends = config.active_url().is_some();
        store.save_review_callback(&StoredCallback { entity: entity.clone(), sealed, sends, changed: now })?;
        Ok(store.record_callback_action(entity.as_str(), action, actor, None, config.active_url(), now)?)
    }
}

/// Refuses an action that was not possible.
fn check_outcome(outcome: FailedListOutcome, message: &str) -> Result<(), ActError> {
    let reason = match outcome {
        FailedListOutcome::Done => return Ok(()),
        FailedListOutcome::NotListed => "is not in the failed list; see: tillgate review-callback failed",
        FailedListOutcome::AlreadyResubmitted => {
            "was sent again already; it can only be deleted: tillgate review-callback delete"
        }
    };
    Err(ActError::refuse("message", format!("{message} {reason}")))
}

/// Loads an entity's own configuration. An entity without one is refused.
fn load_own_callback(store: &AdminStore, entity: &EntityId) -> Result<StoredCallback, ActError> {
    store.load_review_callback(entity)?.ok_or_else(|| {
        let message = format!("{entity} has no review callback of its own; set one: tillgate review-callback set");
        ActError::refuse("entity", message)
    })
}

/// Opens a sealed configuration.
fn open_config(vault: &Vault, stored: &StoredCallback) -> Result<CallbackConfig, ActError> {
    let opened = vault.open(&vault_record_id(&stored.entity), &stored.sealed)?;
    serde_json::from_slice(&opened).map_err(|error| ActError::in_step("the stored configuration is damaged", error))
}
