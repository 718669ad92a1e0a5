//! Filter of the audit log in the address.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::access::audit::PAYMENT;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::role::Permission;
use tillgate_domain::access::user::parse_mail;
use tillgate_gateway::access::audit_log::AuditFilter;
use tillgate_store::StoreError;
use tillgate_store::access::audit_log::AuditOwners;
use tillgate_store::access::user::UserKey;

use crate::access::people::NameReader;
use crate::components::list_address::{BEFORE, ListAddress};
use crate::office::Office;
use crate::payment::collect_ids;
use crate::payment::filter::{find_zone, period_days};

/// Path of the list.
pub(super) const PATH: &str = "/administration/audit";
/// Names of the filters, in the order of the address.
const NAMES: [&str; 9] = ["view", "period", "from", "to", "zone", "entity", "act", "actor", "subject"];
/// Names of the filters in the form.
const FORM: [&str; 6] = ["from", "to", "entity", "act", "actor", "subject"];
/// The view with payments.
pub(super) const ALL: &str = "all";
/// The entity of entries about the whole gateway.
pub(super) const GATEWAY: &str = "gateway";

/// The filter of a list, and the mistakes in its address.
pub(super) struct AuditQuery {
    /// The values as they were sent.
    pub(super) address: ListAddress,
    /// The time zone of the days.
    pub(super) zone: TimeZone,
    /// The filter.
    pub(super) filter: AuditFilter,
    /// The owners of the listed entries.
    pub(super) owners: AuditOwners,
    /// The number before which the entries are.
    pub(super) before: i64,
    /// Names of the filters whose value is not valid. The list is empty if there is one.
    pub(super) mistakes: Vec<&'static str>,
}

impl AuditQuery {
    /// Reads the filter of an address. The owners are limited to those whose entries the user may see.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub(super) fn read(office: &Office, query: &str, now: Timestamp) -> Result<Self, StoreError> {
        let address = ListAddress::read(PATH, &NAMES, query);
        let mut mistakes = Vec::new();
        let mut check = |name: &'static str, is_valid: bool| {
            if !address.get(name).is_empty() && !is_valid {
                mistakes.push(name);
            }
        };
        let (owners, entities) = choose_owners(office, address.get("entity"));
        // An entity of another tenant is as unknown as one that does not exist.
        check("entity", owners.has_gateway || !owners.entities.is_empty());
        let zone = find_zone(address.get("zone"), &entities);
        check("zone", TimeZone::get(address.get("zone")).is_ok());
        let (from, to): (Option<Date>, Option<Date>) =
            (address.get("from").parse().ok(), address.get("to").parse().ok());
        check("from", from.is_some());
        check("to", to.is_some());
        let actor = find_actor(office, address.get("actor"))?;
        check("actor", actor.is_some());
        let (first, last) = period_days(address.get("period"), now.to_zoned(zone.clone()).date()).unwrap_or((from, to));
        let begin = |day: Date| day.to_zoned(zone.clone()).ok().map(|moment| moment.timestamp());
        let filter = AuditFilter {
            // Somebody who asks for payments wants to see them in either view.
            acts_only: address.get("view") != ALL && address.get("act") != PAYMENT,
            act: address.find("act").map(str::to_owned),
            actor,
            subject: address.find("subject").map(str::to_owned),
            from: first.and_then(begin),
            until: last.and_then(|day| day.tomorrow().ok()).and_then(begin),
        };
        // A wrong place is the beginning of the list.
        let before = address.get(BEFORE).parse().unwrap_or(i64::MAX);
        Ok(Self { zone, filter, owners, before, mistakes, address })
    }

    /// Returns the error of a field whose value is not valid.
    pub(super) fn has_mistake(&self, name: &str) -> bool {
        self.mistakes.contains(&name)
    }

    /// Returns the number of filters in the form that have a value.
    pub(super) fn count_filters(&self) -> usize {
        self.address.count(&FORM)
    }

    /// Returns true if this is not the first page.
    pub(super) fn is_continued(&self) -> bool {
        self.address.find(BEFORE).is_some()
    }

    /// Returns the address of the page with older entries.
    pub(super) fn older(&self, before: i64) -> String {
        self.address.with(&[(BEFORE, &before.to_string())]).format()
    }
}

/// Returns every owner whose entries the user may see. Those about the whole gateway need a role that holds on it.
pub(super) fn all_owners(office: &Office) -> AuditOwners {
    AuditOwners {
        entities: collect_ids(&office.entities_with(Permission::ViewAudit)),
        has_gateway: office.signed_in.permissions.allows_everywhere(Permission::ViewAudit),
    }
}

/// Returns the owners that a filter chooses, and their entities: all that the user may see, those about the gateway, or
/// an entity with everything below it. Returns none for an entity that the user may not see.
fn choose_owners(office: &Office, chosen: &str) -> (AuditOwners, Vec<Arc<Entity>>) {
    let all = all_owners(office);
    let entities = office.entities_with(Permission::ViewAudit);
    match chosen {
        "" => (all, entities),
        GATEWAY => (AuditOwners { entities: Vec::new(), ..all }, Vec::new()),
        id => {
            let directory = &office.app().gateway.directory;
            let found = office.find_entity(Permission::ViewAudit, id).ok();
            // A permission on an entity holds on everything below it.
            let below = found.map(|entity| (directory.entities_at_and_below(&entity.id), entity));
            let Some((mut below, entity)) = below else { return (AuditOwners::default(), Vec::new()) };
            let owners = AuditOwners { entities: collect_ids(&below), has_gateway: false };
            // The first entity decides the time zone.
            below.sort_by_key(|known| known.id != entity.id);
            (owners, below)
        }
    }
}

/// Finds the actor that a text names: as the audit log has it, by the id alone, or by the mail address of a user whom
/// the reader manages. Returns `None` for the mail address of anybody else.
fn find_actor(office: &Office, text: &str) -> Result<Option<String>, StoreError> {
    if !text.contains('@') {
        return Ok(Some(text.to_owned()).filter(|text| !text.is_empty()));
    }
    let Ok(mail) = parse_mail(text) else { return Ok(None) };
    let found = office.app().gateway.store.load_user(&UserKey::Mail(mail))?.map(|found| found.stored.user);
    Ok(found
        .filter(|user| NameReader::new(office).may_name(office.app(), user))
        .map(|user| format!("user {}", user.id)))
}
