//! Tests of stored risk rules and lists, and of the rules in the directory.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use tempfile::TempDir;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::id::EntityId;
use tillgate_domain::risk::list::to_list_value;
use tillgate_domain::risk::list::{ListPosition, ListSource, RiskListEntry, RiskListKind};
use tillgate_domain::risk::rules::{RiskAction, RiskChange, VersionRole};
use tillgate_risk::{ListedValue, RuleSet};

use crate::conformance::samples::{empty_directory, sample_entity, sample_time};
use crate::entity_directory::Directory;
use crate::risk::decision_log::{DecisionLogKind, DecisionLogRow};
use crate::risk::rules::RiskKeys;
use crate::{AdminStore, Sources, Store, StoreError};

/// A store with a PSP, a merchant below, and a channel of it.
struct TestTree {
    _folder: TempDir,
    admin: AdminStore,
    store: Store,
    directory: Arc<Directory>,
    psp: EntityId,
    merchant: EntityId,
    channel: EntityId,
}

impl TestTree {
    fn create() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let admin = AdminStore::open(folder.path()).unwrap();
        let psp = Entity { level: Level::Psp, ..sample_entity(1) };
        let merchant = Entity { parent: Some(psp.id.clone()), ..sample_entity(2) };
        let channel = Entity { level: Level::Channel, parent: Some(merchant.id.clone()), ..sample_entity(3) };
        for entity in [&psp, &merchant, &channel] {
            admin.add_entity(entity, sample_time(0)).unwrap();
        }
        let directory = empty_directory();
        let store = Store::open(folder.path(), Arc::clone(&directory), Sources::system()).unwrap();
        Self { _folder: folder, admin, store, directory, psp: psp.id, merchant: merchant.id, channel: channel.id }
    }

    fn apply(&self, entity: &EntityId, action: RiskAction) {
        let (reason, author) = ("because".to_owned(), "jo".to_owned());
        let change = RiskChange { entity: entity.clone(), action, reason, author, at: sample_time(0) };
        self.admin.apply_risk_change(&change).unwrap();
    }

    /// Adds and uses a version. Returns its name.
    fn use_rules(&self, entity: &EntityId, role: VersionRole, text: &str) -> String {
        let version = RuleSet::parse(text).unwrap().version().to_string();
        let keys = RiskKeys { entity: entity.clone(), position: None, now: sample_time(0) };
        let state = self.admin.load_risk_state(&keys).unwrap();
        if let Some(action) = state.add_version(&version, text.to_owned()) {
            self.apply(entity, action);
        }
        self.apply(entity, RiskAction::UseVersion { role, version: Some(version.clone()) });
        version
    }

    fn put_entry(&self, entity: &EntityId, position: &ListPosition, expires: Option<Timestamp>) {
        let (reason, author) = ("because".to_owned(), "jo".to_owned());
        let source = ListSource::default_of(position.list);
        let entry =
            RiskListEntry { position: position.clone(), source, reason, author, created: sample_time(0), expires };
        self.apply(entity, RiskAction::PutEntry(entry));
    }
}

fn rules_with_amount(amount: u32) -> String {
    format!("[[rule]]\nname = 'high'\nwhen = 'amount > {amount}'\noutcome = 'deny'\n")
}

fn deny_email(value: &str) -> ListPosition {
    ListPosition { list: RiskListKind::Deny, key: "email", value: value.to_owned() }
}

/// Returns a value that the merchant's server states.
fn listed_value((key, value): (&'static str, &str)) -> ListedValue {
    ListedValue { key, value: value.to_owned(), is_from_browser: false }
}

#[tokio::test]
async fn an_entry_believes_a_browser_only_if_it_says_so() {
    let tree = TestTree::create();
    let value = ListedValue { is_from_browser: true, ..listed_value(("email", "a@x")) };
    let from_server = listed_value(("email", "a@x"));
    for list in RiskListKind::ALL {
        for source in [ListSource::default_of(list), ListSource::Server, ListSource::Any] {
            let (reason, author) = (String::new(), "jo".to_owned());
            let position = ListPosition { list, ..deny_email("a@x") };
            let entry = RiskListEntry { position, source, reason, author, created: sample_time(0), expires: None };
            tree.apply(&tree.merchant, RiskAction::PutEntry(entry));
            let owners = [tree.merchant.clone()];
            let is_found = |value: &ListedValue| {
                let hits = tree.store.find_list_hits(&owners, std::slice::from_ref(value), sample_time(1)).unwrap();
                hits.iter().any(|hit| hit.list == list)
            };
            assert!(is_found(&from_server), "{list:?} {source:?}");
            assert_eq!(is_found(&value), source == ListSource::Any, "{list:?} {source:?}");
        }
        assert_eq!(ListSource::default_of(list) == ListSource::Server, list == RiskListKind::Allow);
    }
}

#[tokio::test]
async fn an_entity_uses_its_own_version_or_else_that_of_the_nearest_entity_above() {
    let tree = TestTree::create();
    assert!(tree.directory.risk.find_rules(&tree.channel).is_none());
    let above = tree.use_rules(&tree.psp, VersionRole::Active, &rules_with_amount(1));
    let own = tree.use_rules(&tree.merchant, VersionRole::Active, &rules_with_amount(2));
    let shadow = tree.use_rules(&tree.psp, VersionRole::Shadow, &rules_with_amount(3));
    tree.store.fill_directory().await.unwrap();
    let found = tree.directory.risk.find_rules(&tree.channel).unwrap();
    let name = |rules: &Option<Arc<RuleSet>>| rules.as_ref().unwrap().version().to_string();
    assert_eq!((name(&found.active), name(&found.shadow)), (own, shadow));
    assert!(!found.has_list_entries && !found.is_unreadable);
    let of_psp = tree.directory.risk.find_rules(&tree.psp).unwrap();
    assert_eq!(name(&of_psp.active), above);
    // A refill compiles nothing again.
    tree.store.fill_directory().await.unwrap();
    let again = tree.directory.risk.find_rules(&tree.psp).unwrap();
    assert!(Arc::ptr_eq(of_psp.active.as_ref().unwrap(), again.active.as_ref().unwrap()));
    tree.apply(&tree.merchant, RiskAction::UseVersion { role: VersionRole::Active, version: None });
    tree.store.fill_directory().await.unwrap();
    assert_eq!(name(&tree.directory.risk.find_rules(&tree.channel).unwrap().active), above);
    assert!(found.active.is_some(), "a request keeps the rules that it began with");
}

#[tokio::test]
async fn a_version_that_this_release_cannot_read_is_reported_and_not_left_out() {
    let tree = TestTree::create();
    tree.use_rules(&tree.psp, VersionRole::Active, &rules_with_amount(1));
    let (version, replaced) = ("00ff00ff00ff00ff".to_owned(), Vec::new());
    let text = "[[rule]]\nname = 'later'\nwhen = 'fact.of.later'\nscore = 1".to_owned();
    tree.apply(&tree.merchant, RiskAction::AddVersion { version: version.clone(), text, replaced });
    tree.apply(&tree.merchant, RiskAction::UseVersion { role: VersionRole::Active, version: Some(version) });
    tree.store.fill_directory().await.unwrap();
    let found = tree.directory.risk.find_rules(&tree.channel).unwrap();
    assert!(found.is_unreadable && found.active.is_none());
    assert!(!tree.directory.risk.find_rules(&tree.psp).unwrap().is_unreadable);
}

#[tokio::test]
async fn an_active_version_without_its_text_is_unreadable() {
    let tree = TestTree::create();
    let text = rules_with_amount(1);
    // The constraints of the schema prevent this, but not in a store that was damaged or changed by hand.
    tree.admin.session.run_script("PRAGMA foreign_keys = OFF").unwrap();
    // One transaction, because the store keeps compiled rules, and reads new ones every 50 ms.
    let without_text = tree.admin.in_transaction(|admin| {
        let version = tree.use_rules(&tree.merchant, VersionRole::Active, &text);
        admin.session.execute("DELETE FROM risk_version", ())?;
        Ok::<_, StoreError>(version)
    });
    let version = without_text.unwrap();
    tree.store.fill_directory().await.unwrap();
    let found = tree.directory.risk.find_rules(&tree.channel).unwrap();
    assert!(found.is_unreadable && found.active.is_none());
    // It is readable as soon as it is added again.
    tree.apply(&tree.merchant, RiskAction::AddVersion { version, text, replaced: Vec::new() });
    tree.store.fill_directory().await.unwrap();
    let found = tree.directory.risk.find_rules(&tree.channel).unwrap();
    assert!(!found.is_unreadable && found.active.is_some());
}

#[tokio::test]
async fn a_version_that_holds_what_it_denies_is_unreadable() {
    let tree = TestTree::create();
    let (version, replaced) = ("00ff00ff00ff00ff".to_owned(), Vec::new());
    let text = "[[rule]]\nname = 'a'\nwhen = 'hour = 1'\noutcome = 'deny'\ncode = '100.400.500'\n".to_owned();
    tree.apply(&tree.merchant, RiskAction::AddVersion { version: version.clone(), text, replaced });
    tree.apply(&tree.merchant, RiskAction::UseVersion { role: VersionRole::Active, version: Some(version) });
    tree.store.fill_directory().await.unwrap();
    assert!(tree.directory.risk.find_rules(&tree.channel).unwrap().is_unreadable);
}

#[tokio::test]
async fn entries_of_an_entity_and_those_above_are_found_until_they_expire() {
    let tree = TestTree::create();
    let end = sample_time(60);
    tree.put_entry(&tree.psp, &deny_email("a@x"), Some(end));
    let allowed = ListPosition { list: RiskListKind::Allow, key: "ip", value: "::1".to_owned() };
    tree.put_entry(&tree.merchant, &allowed, None);
    tree.put_entry(&tree.merchant, &ListPosition { key: "device", ..deny_email("a@x") }, None);
    tree.store.fill_directory().await.unwrap();
    let found = tree.directory.risk.find_rules(&tree.channel).unwrap();
    assert_eq!(found.list_owners, [tree.merchant.clone(), tree.psp.clone()]);
    assert!(found.has_list_entries && found.active.is_none());
    let keys = [("email", "a@x"), ("ip", "::1"), ("holder", "it's \"x\"")].map(listed_value);
    let hits = |now| tree.store.find_list_hits(&found.list_owners, &keys, now).unwrap();
    let before: Vec<_> = hits(sample_time(59)).into_iter().map(|hit| (hit.entity, hit.list, hit.key)).collect();
    let (merchant, psp) = (tree.merchant.clone(), tree.psp.clone());
    assert_eq!(before, [(merchant, RiskListKind::Allow, "ip"), (psp, RiskListKind::Deny, "email")]);
    assert_eq!(hits(end).len(), 1);
    // The index of a card is stored in another form for each entity.
    let index = "0f".repeat(32);
    for owner in &found.list_owners {
        let value = to_list_value(owner, "card", &index).into_owned();
        tree.put_entry(owner, &ListPosition { key: "card", ..deny_email(&value) }, None);
        assert_ne!(value, index);
    }
    assert_eq!(tree.store.find_list_hits(&found.list_owners, &[listed_value(("card", &index))], end).unwrap().len(), 2);
    assert!(tree.store.find_list_hits(&[], &keys, end).unwrap().is_empty());
    assert!(tree.store.find_list_hits(&found.list_owners, &[], end).unwrap().is_empty());
}

#[test]
fn every_look_up_of_a_payments_values_uses_the_primary_key() {
    let tree = TestTree::create();
    let query = format!("EXPLAIN QUERY PLAN {}", crate::risk::list::FIND_HITS);
    let plan: Vec<String> = tree.admin.session.query_all(&query, ["[]", "0"], |row| row.get(3)).unwrap();
    let search = "SEARCH hit USING PRIMARY KEY (entity=? AND key=? AND value=?)";
    assert_eq!(plan.last().map(String::as_str), Some(search), "{plan:?}");
}

#[test]
fn changes_are_counted_and_leave_rows_in_the_decision_log() {
    let tree = TestTree::create();
    let state = |position: Option<ListPosition>| {
        let now = sample_time(0) + SignedDuration::from_hours(1);
        tree.admin.load_risk_state(&RiskKeys { entity: tree.merchant.clone(), position, now }).unwrap()
    };
    for value in ["a@x", "b@x", "b@x"] {
        tree.put_entry(&tree.merchant, &deny_email(value), None);
    }
    assert_eq!(state(None).entries, 2);
    let found = state(Some(deny_email("a@x")));
    tree.apply(&tree.merchant, found.remove_entry().unwrap());
    assert_eq!((state(None).entries, state(Some(deny_email("a@x"))).entry), (1, None));
    let version = tree.use_rules(&tree.merchant, VersionRole::Active, &rules_with_amount(1));
    let describe = |rows: Vec<DecisionLogRow>| -> Vec<String> {
        rows.into_iter().map(|row| format!("{} {} {}", row.author, row.action, row.subject)).collect()
    };
    let changes = |entity, kind, limit| describe(tree.admin.load_risk_changes(entity, kind, limit).unwrap());
    let lists = changes(&tree.merchant, DecisionLogKind::List, 2);
    assert_eq!(lists, ["jo remove deny email a@x", "jo put deny email b@x"]);
    let rules = changes(&tree.merchant, DecisionLogKind::Rules, 9);
    assert_eq!(rules, [format!("jo activate {version}"), format!("jo add {version}")]);
    assert!(changes(&tree.psp, DecisionLogKind::Rules, 9).is_empty());
    // All kinds together are in the order of the changes.
    let limit = RiskAction::ReachLimit { limit: "declines-per-bin", key: "420000".to_owned() };
    tree.apply(&tree.merchant, limit);
    tree.put_entry(&tree.merchant, &deny_email("c@x"), None);
    let all = describe(tree.admin.load_decision_log(&tree.merchant, 5).unwrap());
    let latest = ["jo put deny email c@x".to_owned(), "jo reach declines-per-bin 420000".to_owned()];
    assert_eq!(all, [&latest[..], &rules, &lists[..1]].concat());
}
