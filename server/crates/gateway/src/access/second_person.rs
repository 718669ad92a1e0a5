//! The rule of a second person for acts of users of the back office. The use case of an act asks it before it changes
//! something, so no page can forget it.

use tillgate_domain::access::approval::act::{ApprovalAct, KeyAct, PendingRuleUse};
use tillgate_domain::access::entity::{Entity, EntitySettings};
use tillgate_domain::access::inheritance::find_deciding_settings;
use tillgate_domain::access::role::{Permission, Reach};
use tillgate_domain::access::user::UserState;
use tillgate_domain::id::{EntityId, UserId};
use tillgate_store::AdminStore;
use tillgate_store::access::user::UserKey;

use crate::access::rights::holds_on;
use crate::administration::{ActError, Administration, SecondPersonRule};
use crate::delivery::webhook::EventKind;
use crate::{Failure, Gateway};

/// Name of the setting about risk rules.
const RULES: &str = "rule-approval";
/// Name of the setting about keys and credentials.
const KEYS: &str = "key-approval";

impl Administration {
    /// Checks that an act on a secret of an entity may run without a second person, or is exactly the act that one has
    /// approved.
    ///
    /// # Errors
    /// [`ActError::NeedsApproval`] with the act.
    pub(crate) fn check_key_approval(&self, entity: &Entity, act: KeyAct) -> Result<(), ActError> {
        let SecondPersonRule::Office(permit) = &self.second_person else { return Ok(()) };
        if permit.take().is_some_and(|permitted| permitted == act) || !self.needs_key_approval(entity)? {
            return Ok(());
        }
        Err(ActError::NeedsApproval { entity: entity.id.clone(), act: Box::new(ApprovalAct::Key(act)) })
    }

    /// Returns true if acts on secrets of an entity need a second person.
    pub(crate) fn needs_key_approval(&self, entity: &Entity) -> Result<bool, ActError> {
        let is_office = matches!(self.second_person, SecondPersonRule::Office(_));
        Ok(is_office && has_approval(&self.store, entity, KEYS, |settings| settings.key_approval)?)
    }

    /// Checks that a change of the rules in use may run without a second person. The caller holds the write lock.
    ///
    /// # Errors
    /// [`ActError::NeedsApproval`] with the change.
    pub(crate) fn check_rule_approval(
        &self,
        store: &AdminStore,
        entity: &Entity,
        change: &PendingRuleUse,
    ) -> Result<(), ActError> {
        let is_office = matches!(self.second_person, SecondPersonRule::Office(_));
        if !is_office || !change.needs_second_person() {
            return Ok(());
        }
        // The entity of the caller may be older than the lock.
        let entity = store.load_entity(&entity.id)?.ok_or_else(|| ActError::refuse("entity", "the entity is gone"))?;
        if !has_approval(store, &entity, RULES, |settings| settings.rule_approval)? {
            return Ok(());
        }
        Err(ActError::NeedsApproval { entity: entity.id, act: Box::new(ApprovalAct::Rules(change.clone())) })
    }

    /// Lets an approved act run next, once.
    pub(super) fn permit(&self, act: &KeyAct) {
        if let SecondPersonRule::Office(permit) = &self.second_person {
            permit.replace(Some(act.clone()));
        }
    }
}

/// Returns the value of a switch that decides for an entity: its own, or the nearest one above.
fn has_approval(
    store: &AdminStore,
    entity: &Entity,
    name: &str,
    read: fn(&EntitySettings) -> bool,
) -> Result<bool, ActError> {
    let above = store.load_ancestors(entity)?;
    Ok(read(find_deciding_settings(name, entity, &above)))
}

impl Gateway {
    /// Returns true if a user is active and has every permission on the entity that an act needs.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn may_do(&self, user: &UserId, entity: &EntityId, act: &ApprovalAct) -> Result<bool, Failure> {
        let found = self.store.load_user(&UserKey::Id(user.clone()))?.map(|loaded| loaded.stored.user);
        let reach = Reach::Entity(entity.clone());
        Ok(found.is_some_and(|user| {
            let mut needed = std::iter::once(act.kind().permission()).chain(further_permissions(act));
            let has = |permission| holds_on(&self.directory, &user.permissions, permission, &reach);
            user.state == UserState::Active && needed.all(has)
        }))
    }
}

/// Returns the permissions that an act needs besides the one of its kind, because of the data that its receiver gets.
fn further_permissions(act: &ApprovalAct) -> Vec<Permission> {
    match act {
        ApprovalAct::Key(KeyAct::Webhook { kinds, .. }) => {
            let chosen = EventKind::ALL.into_iter().filter(|kind| kinds.iter().any(|name| name == kind.as_str()));
            chosen.map(EventKind::needed_permission).collect()
        }
        ApprovalAct::Key(KeyAct::FilePush { .. }) => vec![Permission::ViewMoney],
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::RefCell;
    use std::sync::Arc;

    use tillgate_domain::access::level::Level;
    use tillgate_os::clock::SystemClock;
    use tillgate_vault::{MasterKey, Vault};

    use super::*;
    use crate::access::entity::EntityChange;
    use crate::access::place::{ParentChoice, PlaceChange};
    use crate::access::settings::SettingsChange;
    use crate::access::token::NewToken;

    fn change(parent: Option<&EntityId>, settings: SettingsChange) -> EntityChange {
        let level = if parent.is_some() { Level::Channel } else { Level::Merchant };
        let place = PlaceChange {
            level: Some(level),
            parent: parent.cloned().map(ParentChoice::Entity),
            ..PlaceChange::default()
        };
        EntityChange { name: Some("Shop".to_owned()), place, settings }
    }

    fn act_of<T>(outcome: Result<T, ActError>) -> Option<ApprovalAct> {
        match outcome {
            Ok(_) => None,
            Err(ActError::NeedsApproval { act, .. }) => Some(*act),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_permit_is_for_exactly_one_act_and_the_operator_and_other_entities_need_none() {
        let folder = tempfile::tempdir().unwrap();
        let open = |second_person| {
            let vault = Arc::new(Vault::new(&MasterKey::from_bytes([7; 32])));
            let store = AdminStore::open(folder.path()).unwrap();
            let mut acts = Administration::new(store, Box::new(vault), Arc::new(SystemClock));
            acts.second_person = second_person;
            acts
        };
        let operator = open(SecondPersonRule::Operator);
        let create = |change: &EntityChange| operator.create_entity(change, |_| Ok(())).unwrap().0;
        let on = SettingsChange { key_approval: Some(true), ..SettingsChange::default() };
        let merchant = create(&change(None, on));
        let channel = create(&change(Some(&merchant.id), SettingsChange::default()));
        let free = create(&change(None, SettingsChange::default()));
        operator.create_wallet_key(&merchant.id).unwrap();
        let office = open(SecondPersonRule::Office(RefCell::default()));
        office.create_wallet_key(&free.id).unwrap();
        let key = ApprovalAct::Key(KeyAct::WalletKey);
        for entity in [&merchant.id, &channel.id] {
            assert_eq!(act_of(office.create_wallet_key(entity)), Some(key.clone()));
            office.permit(&KeyAct::WalletKey);
            assert_eq!(act_of(office.create_wallet_key(entity)), None);
            assert_eq!(act_of(office.create_wallet_key(entity)), Some(key.clone()));
        }
        // The permit for one token is none for another one, and is used up by the attempt.
        let token = |label: &str| NewToken { label: label.to_owned(), ..NewToken::default() };
        let Some(ApprovalAct::Key(act)) = act_of(office.create_token(&merchant.id, token("a"))) else { panic!() };
        office.permit(&act);
        assert!(act_of(office.create_token(&merchant.id, token("b"))).is_some());
        assert!(act_of(office.create_token(&merchant.id, token("a"))).is_some());
        office.permit(&act);
        assert!(act_of(office.create_token(&merchant.id, token("a"))).is_none());
    }
}
