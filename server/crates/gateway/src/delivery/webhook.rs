//! Webhooks: creation, activation by a test event, rotation of their secrets, and repeated deliveries.

use std::collections::BTreeSet;

use jiff::Timestamp;
use tillgate_domain::access::approval::act::KeyAct;
use tillgate_domain::access::role::Permission;
use tillgate_domain::delivery::target_url::TargetUrl;
use tillgate_domain::id::{EntityId, MessageId, to_hex};
use tillgate_message::webhook::{Secret, WebhookDelivery, build_test_event};
use tillgate_net::outgoing::{OutgoingClient, Ports};
use tillgate_store::AdminStore;
use tillgate_store::delivery::webhook::{DeliveryLogEntry, Webhook};
use tillgate_vault::{Sealed, Vault};

use crate::administration::{ActError, Administration};
use crate::random_bytes;

/// A kind of events that a webhook subscribes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EventKind {
    /// Payments and their follow-up payments.
    Payment,
    /// Registrations that are made, changed or deleted.
    Registration,
    /// Schedules, their runs and their ends.
    Schedule,
    /// Risk checks of payments, and the ends of their reviews.
    Risk,
    /// Disputes, their stages and the reminders of their deadlines.
    Dispute,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Payment, Self::Registration, Self::Schedule, Self::Risk, Self::Dispute];

    /// Returns the name of the kind in the stored form and in events.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Payment => "PAYMENT",
            Self::Registration => "REGISTRATION",
            Self::Schedule => "SCHEDULE",
            Self::Risk => "RISK",
            Self::Dispute => "DISPUTE",
        }
    }

    /// Returns the permission without which a user must not see what events of the kind report.
    pub fn needed_permission(self) -> Permission {
        match self {
            Self::Payment => Permission::ViewPayments,
            Self::Registration | Self::Schedule => Permission::ViewCustomers,
            Self::Risk => Permission::ViewRules,
            Self::Dispute => Permission::ViewMoney,
        }
    }
}

/// Largest number of webhooks of an entity. Each writes a row with every payment.
pub const MAX_WEBHOOKS: usize = 20;
/// Number of messages that are deleted in one transaction.
const MESSAGES_AT_A_TIME: u32 = 500;

/// A webhook to create.
#[derive(Debug)]
pub struct NewWebhook {
    /// The entity that owns it.
    pub entity: EntityId,
    /// The address of the receiver, with http or https.
    pub url: String,
    /// The kinds of events that it subscribes to.
    pub kinds: BTreeSet<EventKind>,
    /// True if the shopper's data is left out of the payload.
    pub without_customer: bool,
    /// True if the ciphertext is sent inside JSON.
    pub wrapped: bool,
}

/// A secret, as its owner gives it to the receiver. It can be read only when it is created.
#[derive(Debug)]
pub struct CreatedSecret {
    /// The encryption key, in hexadecimal notation.
    pub key: String,
    /// The signature key, in hexadecimal notation.
    pub signature_key: String,
    /// The id by which the receiver tells secrets apart.
    pub key_id: String,
}

/// A test event for the receiver of a webhook. It holds no connection to the store while the receiver is asked.
pub struct TestEvent {
    webhook: Webhook,
    /// The sealed secret of the event.
    sealed: Sealed,
    secret: Secret,
    id: MessageId,
    now: Timestamp,
    text: Vec<u8>,
    /// Description of the state that the webhook keeps if the event is not accepted.
    consequence: String,
}

/// A test event that the receiver has accepted.
pub struct AcceptedTest {
    webhook: Webhook,
    sealed: Sealed,
}

impl NewWebhook {
    /// Returns its creation as an act that a second person may have to approve.
    fn as_key_act(&self) -> KeyAct {
        KeyAct::Webhook {
            url: self.url.clone(),
            kinds: self.kinds.iter().map(|kind| kind.as_str().to_owned()).collect(),
            without_customer: self.without_customer,
            wrapped: self.wrapped,
        }
    }
}

impl TestEvent {
    /// Sends the event once, and waits for the response.
    ///
    /// # Errors
    /// If the receiver does not answer with a status 2xx.
    pub async fn send(self, outgoing: &OutgoingClient) -> Result<AcceptedTest, ActError> {
        match self.deliver(outgoing).await {
            Ok(()) => Ok(AcceptedTest { webhook: self.webhook, sealed: self.sealed }),
            Err(failure) => Err(ActError::in_step(self.consequence, failure)),
        }
    }

    async fn deliver(&self, outgoing: &OutgoingClient) -> Result<(), ActError> {
        let Webhook { url, wrapped, .. } = &self.webhook;
        let (id, text) = (self.id.as_str(), self.text.as_slice());
        let delivery = WebhookDelivery { url, id, now: self.now, text, wrapped: *wrapped };
        let request = delivery
            .build_request(&self.secret, &random_bytes()?)
            .ok_or_else(|| ActError::refuse("webhook", format!("{url} is not an address")))?;
        let response = outgoing.send(request).await.map_err(|error| ActError::in_step(url.clone(), error))?;
        if response.status.is_success() {
            return Ok(());
        }
        Err(ActError::refuse("webhook", format!("{url} answered {}", response.status)))
    }
}

impl Administration {
    /// Creates an inactive webhook with a random secret.
    ///
    /// # Errors
    /// If there is no such entity, it has [`MAX_WEBHOOKS`] already, requests may not go to the address, or a second
    /// person is needed.
    pub fn create_webhook(&self, new: NewWebhook, ports: &Ports) -> Result<(Webhook, CreatedSecret), ActError> {
        let entity = self.load_entity(&new.entity)?;
        // The address is not repeated, because a wrong one may contain a password.
        let target =
            TargetUrl::parse(&new.url).map_err(|fault| ActError::refuse("url", format!("the address {fault}")))?;
        if !ports.allows(target.port()) {
            let message = format!("{} has a port that is not allowed unless the operator allows it", new.url);
            return Err(ActError::refuse("url", message));
        }
        self.check_key_approval(&entity, new.as_key_act())?;
        let vault = self.open_vault()?;
        let now = self.now();
        let id = MessageId::new(now, random_bytes()?);
        let (secret, sealed) = create_sealed_secret(&vault, &Webhook::record_name(&entity.id, &new.url, &id))?;
        let kinds: Vec<&str> = new.kinds.into_iter().map(EventKind::as_str).collect();
        let webhook = Webhook {
            sealed,
            next_secret: None,
            id,
            entity: entity.id,
            url: new.url,
            types: kinds.join(","),
            without_customer: new.without_customer,
            wrapped: new.wrapped,
            active: false,
            created: now,
        };
        self.store.in_transaction(|store| {
            if store.load_webhooks(Some(&webhook.entity))?.len() >= MAX_WEBHOOKS {
                let message = format!("{} has {MAX_WEBHOOKS} webhooks already: delete one first", webhook.entity);
                return Err(ActError::refuse("entity", message));
            }
            Ok(store.add_webhook(&webhook)?)
        })?;
        Ok((webhook, secret))
    }

    /// Loads the webhooks of an entity, or of all, oldest first.
    pub fn load_webhooks(&self, entity: Option<&EntityId>) -> Result<Vec<Webhook>, ActError> {
        Ok(self.store.load_webhooks(entity)?)
    }

    /// Prepares a test event of a webhook, with the build number in it.
    ///
    /// # Errors
    /// If there is no such webhook, or its secret cannot be opened.
    pub fn prepare_webhook_test(&self, id: &str, build: &str) -> Result<TestEvent, ActError> {
        let webhook = find_webhook(&self.store, id)?;
        let vault = self.open_vault()?;
        let state = if webhook.active { "active" } else { "inactive" };
        let sealed = webhook.sealed.clone();
        self.prepare_test(&vault, (webhook, sealed), format!("the webhook stays {state}"), build)
    }

    /// Activates a webhook whose receiver has accepted a test event. Returns the webhook.
    ///
    /// # Errors
    /// If the webhook was deleted, or its secret rotated, while the receiver answered.
    pub fn activate_webhook(&self, accepted: AcceptedTest) -> Result<Webhook, ActError> {
        let AcceptedTest { webhook, sealed } = accepted;
        if self.store.activate_webhook(&webhook.id, &sealed)? {
            return Ok(Webhook { active: true, ..webhook });
        }
        Err(ActError::refuse("webhook", format!("{} was changed during the test: test it again", webhook.id)))
    }

    /// Creates the next secret of a webhook. Events are sent under the old one until the rotation is finished.
    ///
    /// # Errors
    /// If there is no such webhook, a rotation is in progress already, or a second person is needed.
    pub fn begin_webhook_rotation(&self, id: &str) -> Result<(Webhook, CreatedSecret), ActError> {
        let webhook = find_webhook(&self.store, id)?;
        if webhook.next_secret.is_some() {
            return Err(has_next_secret(&webhook.id));
        }
        let act = KeyAct::WebhookRotation { webhook: webhook.id.clone() };
        self.check_key_approval(&self.load_entity(&webhook.entity)?, act)?;
        let vault = self.open_vault()?;
        let record = Webhook::record_name(&webhook.entity, &webhook.url, &webhook.id);
        let (secret, sealed) = create_sealed_secret(&vault, &record)?;
        if self.store.set_next_webhook_secret(&webhook.id, Some(&sealed))? {
            return Ok((webhook, secret));
        }
        Err(has_next_secret(&webhook.id))
    }

    /// Prepares a test event of a webhook under its next secret, with the build number in it.
    ///
    /// # Errors
    /// If no rotation is in progress, or the secret cannot be opened.
    pub fn prepare_rotation_test(&self, id: &str, build: &str) -> Result<TestEvent, ActError> {
        let webhook = find_webhook(&self.store, id)?;
        let vault = self.open_vault()?;
        let next = webhook.next_secret.clone().ok_or_else(|| no_next_secret(&webhook.id))?;
        self.prepare_test(&vault, (webhook, next), "the old secret stays in use".to_owned(), build)
    }

    /// Puts the next secret of a webhook in the old one's place, after the receiver has accepted a test event under it.
    /// Returns the webhook as it was before.
    ///
    /// # Errors
    /// If the rotation was ended by someone else.
    pub fn finish_webhook_rotation(&self, accepted: AcceptedTest) -> Result<Webhook, ActError> {
        let AcceptedTest { webhook, sealed } = accepted;
        // Another administrator may have ended the rotation while the receiver answered.
        if self.store.finish_webhook_rotation(&webhook.id, &sealed)? {
            return Ok(webhook);
        }
        Err(ActError::refuse("webhook", format!("{} was rotated by another command", webhook.id)))
    }

    /// Deletes the next secret of a webhook, so that the old one stays in use. Returns the webhook.
    ///
    /// # Errors
    /// If no rotation is in progress.
    pub fn cancel_webhook_rotation(&self, id: &str) -> Result<Webhook, ActError> {
        let webhook = find_webhook(&self.store, id)?;
        match self.store.set_next_webhook_secret(&webhook.id, None)? {
            true => Ok(webhook),
            false => Err(no_next_secret(&webhook.id)),
        }
    }

    /// Deletes a webhook with its secret, its messages and its log. Returns the webhook.
    ///
    /// # Errors
    /// If there is no such webhook.
    pub fn delete_webhook(&self, id: &str) -> Result<Webhook, ActError> {
        let webhook = find_webhook(&self.store, id)?;
        self.store.deactivate_webhook(&webhook.id)?;
        // Payments write between the parts. All messages at once would keep them waiting.
        while self.store.delete_webhook_messages(&webhook.id, MESSAGES_AT_A_TIME)? > 0 {}
        self.store.in_transaction(|store| {
            let webhook = find_webhook(store, id)?;
            store.delete_webhook(&webhook.id)?;
            Ok(Webhook { active: false, ..webhook })
        })
    }

    /// Loads the latest attempts and pending messages of a webhook, the latest message first.
    ///
    /// # Errors
    /// If there is no such webhook.
    pub fn load_webhook_log(&self, id: &str, limit: u32) -> Result<Vec<DeliveryLogEntry>, ActError> {
        let webhook = find_webhook(&self.store, id)?;
        Ok(self.store.load_webhook_log(&webhook.id, limit)?)
    }

    /// Queues a message of a webhook, or of any with `None`, to be sent again at once by a running server, also a
    /// delivered one.
    ///
    /// # Errors
    /// If the webhook has no such message.
    pub fn replay_message(&self, webhook: Option<&MessageId>, message: &str) -> Result<(), ActError> {
        if self.store.replay_message(webhook, message, self.now())? {
            return Ok(());
        }
        let text = match webhook {
            Some(webhook) => format!("{webhook} has no message {message}"),
            None => format!("no webhook has a message {message}"),
        };
        Err(ActError::refuse("message", text))
    }

    /// Prepares a test event under one of the sealed secrets of a webhook.
    fn prepare_test(
        &self,
        vault: &Vault,
        (webhook, sealed): (Webhook, Sealed),
        consequence: String,
        build: &str,
    ) -> Result<TestEvent, ActError> {
        let secret = match open_secret(&webhook, &sealed, vault) {
            Ok(secret) => secret,
            Err(failure) => return Err(ActError::in_step(consequence, failure)),
        };
        let now = self.now();
        let id = MessageId::new(now, random_bytes()?);
        let time = now.strftime("%Y-%m-%d %H:%M:%S+0000").to_string();
        let ndc = format!("{}_{}", webhook.entity, to_hex(&random_bytes::<16>()?));
        let text = build_test_event(build, &time, &ndc);
        Ok(TestEvent { webhook, sealed, secret, id, now, text, consequence })
    }
}

/// Opens one of the sealed secrets of a webhook.
fn open_secret(webhook: &Webhook, sealed: &Sealed, vault: &Vault) -> Result<Secret, ActError> {
    let secret = vault.open(&Webhook::record_name(&webhook.entity, &webhook.url, &webhook.id), sealed)?;
    Secret::from_bytes(&secret).ok_or_else(|| ActError::refuse("webhook", "the stored key is damaged"))
}

/// Loads a webhook. An unknown id is refused.
fn find_webhook(store: &AdminStore, id: &str) -> Result<Webhook, ActError> {
    let unknown = || ActError::refuse("webhook", format!("there is no webhook {id}"));
    store.load_webhook(id)?.ok_or_else(unknown)
}

fn has_next_secret(id: &MessageId) -> ActError {
    let message = format!("{id} has a next secret already: finish or cancel that rotation first");
    ActError::refuse("webhook", message)
}

fn no_next_secret(id: &MessageId) -> ActError {
    ActError::refuse("webhook", format!("{id} has no next secret: begin a rotation first"))
}

/// Creates a random secret, and seals it for the webhook with this record name. The caller stores it.
fn create_sealed_secret(vault: &Vault, record: &str) -> Result<(CreatedSecret, Sealed), ActError> {
    let bytes = zeroize::Zeroizing::new(random_bytes::<64>()?);
    let secret = Secret::from_bytes(&*bytes).ok_or_else(|| ActError::refuse("webhook", "a secret has two keys"))?;
    let created =
        CreatedSecret { key: secret.encryption_hex(), signature_key: secret.signature_hex(), key_id: secret.id() };
    Ok((created, vault.seal(record, &*bytes)?))
}
