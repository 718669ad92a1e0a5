//! Roles of users in the back office: one table says which role has which permission. A role holds on an entity and on
//! everything below it, or on the whole gateway.

use std::fmt;
use std::str::FromStr;

use crate::id::EntityId;

/// A kind of act or of page in the back office.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Permission {
    /// Sees payments with their history, and searches them.
    ViewPayments,
    /// Captures, refunds and reverses payments.
    ChangePayments,
    /// Sees the review queue.
    ViewReviews,
    /// Claims and decides held payments.
    DecideReviews,
    /// Sees risk rules and lists.
    ViewRules,
    /// Changes risk rules and lists.
    ChangeRules,
    /// Sees settlements, fees, balances, disputes and reports.
    ViewMoney,
    /// Matches settlement lines, imports files, and answers disputes.
    ChangeMoney,
    /// Sees registrations and schedules.
    ViewCustomers,
    /// Pauses and runs schedules, and deletes registrations.
    ChangeCustomers,
    /// Sees webhooks, callbacks and pushes with their delivery log.
    ViewDeliveries,
    /// Sends messages again, and changes their receivers.
    ChangeDeliveries,
    /// Creates and revokes access tokens, and sees the ids of channels.
    ManageTokens,
    /// Changes settings of entities.
    ManageEntities,
    /// Invites and disables users, and gives them roles.
    ManageUsers,
    /// Sees the audit log.
    ViewAudit,
    /// Sees the state of the whole gateway.
    ViewSystem,
}

impl Permission {
    /// Every permission.
    pub const ALL: [Self; 17] = [
        Self::ViewPayments,
        Self::ChangePayments,
        Self::ViewReviews,
        Self::DecideReviews,
        Self::ViewRules,
        Self::ChangeRules,
        Self::ViewMoney,
        Self::ChangeMoney,
        Self::ViewCustomers,
        Self::ChangeCustomers,
        Self::ViewDeliveries,
        Self::ChangeDeliveries,
        Self::ManageTokens,
        Self::ManageEntities,
        Self::ManageUsers,
        Self::ViewAudit,
        Self::ViewSystem,
    ];

    /// Returns its name, which is also the key of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ViewPayments => "view-payments",
            Self::ChangePayments => "change-payments",
            Self::ViewReviews => "view-reviews",
            Self::DecideReviews => "decide-reviews",
            Self::ViewRules => "view-rules",
            Self::ChangeRules => "change-rules",
            Self::ViewMoney => "view-money",
            Self::ChangeMoney => "change-money",
            Self::ViewCustomers => "view-customers",
            Self::ChangeCustomers => "change-customers",
            Self::ViewDeliveries => "view-deliveries",
            Self::ChangeDeliveries => "change-deliveries",
            Self::ManageTokens => "manage-tokens",
            Self::ManageEntities => "manage-entities",
            Self::ManageUsers => "manage-users",
            Self::ViewAudit => "view-audit",
            Self::ViewSystem => "view-system",
        }
    }
}

/// A role of a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Does everything, including users, tokens and settings.
    Administrator,
    /// Runs a shop: payments, customers, reviews and messages.
    Merchant,
    /// Decides held payments and writes risk rules.
    Analyst,
    /// Sees and matches money.
    Accountant,
    /// Integrates a shop: sees payments, and repairs deliveries.
    Developer,
    /// Sees payments and money, and changes nothing.
    Viewer,
}

impl Role {
    /// Every role.
    pub const ALL: [Self; 6] =
        [Self::Administrator, Self::Merchant, Self::Analyst, Self::Accountant, Self::Developer, Self::Viewer];

    /// Returns its name, as it is stored and typed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Administrator => "administrator",
            Self::Merchant => "merchant",
            Self::Analyst => "analyst",
            Self::Accountant => "accountant",
            Self::Developer => "developer",
            Self::Viewer => "viewer",
        }
    }

    /// Returns the permissions of the role: its row in the table.
    pub fn permissions(self) -> &'static [Permission] {
        use Permission as P;
        match self {
            Self::Administrator => &Permission::ALL,
            Self::Merchant => &[
                P::ViewPayments,
                P::ChangePayments,
                P::ViewReviews,
                P::DecideReviews,
                P::ViewRules,
                P::ViewMoney,
                P::ViewCustomers,
                P::ChangeCustomers,
                P::ViewDeliveries,
                P::ChangeDeliveries,
            ],
            Self::Analyst => {
                &[P::ViewPayments, P::ViewReviews, P::DecideReviews, P::ViewRules, P::ChangeRules, P::ViewCustomers]
            }
            Self::Accountant => &[P::ViewPayments, P::ViewMoney, P::ChangeMoney],
            Self::Developer => &[P::ViewPayments, P::ViewCustomers, P::ViewDeliveries, P::ChangeDeliveries],
            Self::Viewer => &[P::ViewPayments, P::ViewReviews, P::ViewMoney, P::ViewCustomers],
        }
    }

    /// Returns true if the role has the permission.
    pub fn allows(self, permission: Permission) -> bool {
        self.permissions().contains(&permission)
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|role| role.as_str() == text);
        found.ok_or_else(|| "a role is administrator, merchant, analyst, accountant, developer or viewer".to_owned())
    }
}

/// The part of the entity tree on which a role holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    /// Every entity, and the gateway itself.
    Gateway,
    /// An entity and everything below it.
    Entity(EntityId),
}

impl Reach {
    /// Name of the whole gateway where an entity's id could be.
    pub const GATEWAY: &str = "*";

    /// Parses an entity's id, or `*` for the whole gateway. Returns `None` if it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        if text == Self::GATEWAY { Some(Self::Gateway) } else { EntityId::parse(text).map(Self::Entity) }
    }

    /// Returns the entity's id, or `*`.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Gateway => Self::GATEWAY,
            Self::Entity(id) => id.as_str(),
        }
    }

    /// Returns the entity, `None` for the whole gateway.
    pub fn entity(&self) -> Option<&EntityId> {
        match self {
            Self::Gateway => None,
            Self::Entity(id) => Some(id),
        }
    }
}

/// A role of a user on a part of the tree.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct RoleGrant {
    /// The role.
    pub role: Role,
    /// The part on which it holds.
    pub reach: Reach,
}

/// The roles of a user, as permissions.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Permissions(Vec<RoleGrant>);

impl Permissions {
    /// Creates the permissions that these roles give.
    pub fn new(mut grants: Vec<RoleGrant>) -> Self {
        grants.sort();
        grants.dedup();
        Self(grants)
    }

    /// Returns the roles.
    pub fn grants(&self) -> &[RoleGrant] {
        &self.0
    }

    /// Returns the parts of the tree on which the permission holds.
    pub fn reaches(&self, permission: Permission) -> impl Iterator<Item = &Reach> {
        self.0.iter().filter(move |grant| grant.role.allows(permission)).map(|grant| &grant.reach)
    }

    /// Returns true if some role holds on this part of the tree. `lineage` is its entity and everything above it.
    pub fn covers<'a>(&self, lineage: impl IntoIterator<Item = &'a EntityId>) -> bool {
        let is_everywhere = self.0.iter().any(|grant| grant.reach == Reach::Gateway);
        is_everywhere || lineage.into_iter().any(|id| self.0.iter().any(|grant| grant.reach.entity() == Some(id)))
    }

    /// Returns true if the permission holds on some entity, or on the whole gateway.
    pub fn allows_somewhere(&self, permission: Permission) -> bool {
        self.reaches(permission).next().is_some()
    }

    /// Returns true if the permission holds on the whole gateway.
    pub fn allows_everywhere(&self, permission: Permission) -> bool {
        self.reaches(permission).any(|reach| *reach == Reach::Gateway)
    }

    /// Returns true if the permission holds on an entity. `lineage` is the entity itself and everything above it.
    pub fn allows_on<'a>(&self, permission: Permission, lineage: impl IntoIterator<Item = &'a EntityId>) -> bool {
        if self.allows_everywhere(permission) {
            return true;
        }
        let held: Vec<&EntityId> = self.reaches(permission).filter_map(Reach::entity).collect();
        lineage.into_iter().any(|id| held.contains(&id))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::Timestamp;

    use super::*;

    fn entity(number: u8) -> EntityId {
        EntityId::new(Timestamp::UNIX_EPOCH, [number; 9])
    }

    #[test]
    fn a_role_holds_on_its_entity_and_below_and_nowhere_else() {
        let grant = |role, reach| RoleGrant { role, reach };
        let permissions = Permissions::new(vec![
            grant(Role::Viewer, Reach::Entity(entity(1))),
            grant(Role::Analyst, Reach::Entity(entity(2))),
        ]);
        assert!(permissions.allows_on(Permission::ViewMoney, [&entity(1)]));
        assert!(permissions.allows_on(Permission::ViewMoney, [&entity(9), &entity(1)]));
        assert!(!permissions.allows_on(Permission::ViewMoney, [&entity(2)]));
        assert!(!permissions.allows_on(Permission::DecideReviews, [&entity(1)]));
        assert!(permissions.allows_somewhere(Permission::DecideReviews));
        assert!(!permissions.allows_everywhere(Permission::ViewMoney));
        let everywhere = Permissions::new(vec![grant(Role::Viewer, Reach::Gateway)]);
        assert!(everywhere.allows_on(Permission::ViewMoney, []) && everywhere.allows_everywhere(Permission::ViewMoney));
        assert!(!Permissions::default().allows_somewhere(Permission::ViewPayments));
        assert!(permissions.covers([&entity(9), &entity(2)]) && everywhere.covers([]));
        assert!(!permissions.covers([&entity(9)]) && !permissions.covers([]) && !Permissions::default().covers([]));
    }

    #[test]
    fn only_an_administrator_manages_and_a_viewer_changes_nothing() {
        use Permission as P;
        for role in Role::ALL {
            let manages = [P::ManageTokens, P::ManageEntities, P::ManageUsers, P::ViewAudit, P::ViewSystem];
            let managed = manages.into_iter().filter(|permission| role.allows(*permission)).count();
            assert_eq!(managed, if role == Role::Administrator { manages.len() } else { 0 }, "{role}");
            assert_eq!(role.as_str().parse::<Role>(), Ok(role));
        }
        assert!(Role::Viewer.permissions().iter().all(|permission| permission.as_str().starts_with("view-")));
        assert_eq!(Permission::ALL.iter().collect::<std::collections::BTreeSet<_>>().len(), Permission::ALL.len());
    }
}
