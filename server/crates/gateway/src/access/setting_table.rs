//! The settings of an entity as one table: name, group, kind, and how each is read from and written as text. Every
//! surface for people that shows or changes settings uses it.

use tillgate_domain::access::creditor_id::NO_CREDITOR_ID;
use tillgate_domain::access::entity::{DEFAULT_ZONE, Entity, EntitySettings};
use tillgate_domain::access::form_look::{LookPart, NO_LOOK};
use tillgate_domain::access::inheritance;
use tillgate_domain::access::role::Reach;
use tillgate_domain::risk::{ReviewPolicy, RiskErrorPolicy, ScreeningPoint};
use tillgate_domain::three_ds::ThreeDsPolicy;
use tillgate_store::entity_directory::Directory;

use super::channel_settings::{ALL, NONE, parse_acquirer_merchant, parse_brand, parse_connector, parse_currency};
use super::entity::EntityOverview;
use super::setting_values::{
    find_word, in_quotes, join_or, parse_list, parse_switch, parse_test_mode, parse_word, switch_word, words_of,
};
use super::settings::{
    ANY, DEFAULT_DAYS, DEFAULT_PLAN, NO_APPROVAL, SettingsChange, parse_authorization_days, parse_origin,
    parse_refund_approval, parse_retry_plan, parse_sepa_creditor_id, parse_time_zone,
};
use crate::registry;

/// Subject of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingGroup {
    /// Requests of the merchant's server.
    Requests,
    /// The payment form in a shopper's browser.
    Form,
    /// Routing of payments to a channel and to its acquirer.
    Routing,
    /// 3-D Secure and the risk check.
    Risk,
    /// Scheduled payments.
    Schedules,
    /// Acts that need a second person.
    Approvals,
    /// Behaviour of a sandbox.
    Sandbox,
}

impl SettingGroup {
    /// Every group.
    pub const ALL: [Self; 7] =
        [Self::Requests, Self::Form, Self::Routing, Self::Risk, Self::Schedules, Self::Approvals, Self::Sandbox];

    /// Returns its name, which is also the key of its text.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Requests => "requests",
            Self::Form => "form",
            Self::Routing => "routing",
            Self::Risk => "risk",
            Self::Schedules => "schedules",
            Self::Approvals => "approvals",
            Self::Sandbox => "sandbox",
        }
    }

    /// Parses the name. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|group| group.as_str() == text)
    }

    /// Iterates over the settings of the group.
    pub fn rows(self) -> impl Iterator<Item = &'static SettingRow> {
        SETTING_ROWS.iter().filter(move |row| row.group == self)
    }
}

/// Kind of a setting's value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingKind {
    /// `on` or `off`.
    Switch,
    /// One of some words.
    Choice(&'static [&'static str]),
    /// The name of a connector of this gateway, or `none`.
    Connector,
    /// Words separated by commas or blanks.
    List,
    /// A text.
    Text,
    /// A number, which every entity has.
    Number,
}

/// A setting.
pub struct SettingRow {
    /// The name, which is also the command line option that sets it.
    pub name: &'static str,
    /// The group.
    pub group: SettingGroup,
    /// The kind of its value.
    pub kind: SettingKind,
    /// True if the setting decides to whom the money goes, what the contract with the acquirer allows, which acts
    /// need a second person, or which card numbers a sandbox takes: only somebody who manages the level above a
    /// merchant may change it.
    pub is_from_above: bool,
    read: fn(&EntitySettings) -> String,
    set: fn(&mut SettingsChange, &str) -> Result<(), String>,
}

/// Creates a row of the table.
macro_rules! row {
    ($name:literal, $group:ident, $kind:expr, $read:expr, $set:expr) => {
        SettingRow {
            name: $name,
            group: SettingGroup::$group,
            kind: $kind,
            is_from_above: false,
            read: $read,
            set: $set,
        }
    };
}

/// Creates the row of a switch from its field and the field of its change.
macro_rules! switch {
    ($name:literal, $group:ident, $($field:ident).+, $($change:ident).+) => {
        row!(
            $name,
            $group,
            SettingKind::Switch,
            |settings| switch_word(settings.$($field).+),
            |change, text| {
                change.$($change).+ = Some(parse_switch(text)?);
                Ok(())
            }
        )
    };
}

/// Creates the row of a choice from its words, its field and the field of its change.
macro_rules! choice {
    ($name:literal, $words:ident, $($field:ident).+, $change:ident) => {
        row!(
            $name,
            Risk,
            SettingKind::Choice(&words_of(&$words)),
            |settings| find_word(&$words, settings.channel.$($field).+),
            |change, text| {
                change.channel.$change = Some(parse_word(&$words, text)?);
                Ok(())
            }
        )
    };
}

/// Creates the row of a list from its field, the word without a limit, the check of its words, and its group.
macro_rules! list {
    ($name:literal, $group:ident, $field:ident, $parse:expr) => {
        row!($name, $group, SettingKind::List, |settings| join_or(&settings.channel.$field, ALL), |change, text| {
            change.channel.$field = Some(parse_list(text, $parse)?);
            Ok(())
        })
    };
}

/// Creates the row of a part of the form's look.
macro_rules! look {
    ($name:literal, $part:ident) => {
        row!(
            $name,
            Form,
            SettingKind::Text,
            |settings| settings.form_look.get(LookPart::$part).unwrap_or(NO_LOOK).to_owned(),
            |change, text| {
                change.look.push((LookPart::$part, LookPart::$part.parse(text)?));
                Ok(())
            }
        )
    };
}

/// The cards that need 3-D Secure.
const THREE_DS: [(&str, ThreeDsPolicy); 3] = [
    ("required", ThreeDsPolicy::Required),
    ("when-enrolled", ThreeDsPolicy::WhenEnrolled),
    ("never", ThreeDsPolicy::Never),
];
/// The times of the risk check.
const SCREEN: [(&str, ScreeningPoint); 2] = [("before", ScreeningPoint::Before), ("after", ScreeningPoint::After)];
/// The effects of a rule that demands a review.
const REVIEW: [(&str, ReviewPolicy); 3] =
    [("decline", ReviewPolicy::Decline), ("hold", ReviewPolicy::Hold), ("authorize", ReviewPolicy::Authorize)];
/// The effects of a risk check that fails.
const RISK_ERROR: [(&str, RiskErrorPolicy); 2] = [("deny", RiskErrorPolicy::Deny), ("accept", RiskErrorPolicy::Accept)];

/// Every setting, in the order of the pages.
pub static SETTING_ROWS: [SettingRow; 36] = [
    switch!("strict", Requests, strict, strict),
    switch!("customer-names-optional", Requests, customer_names_optional, customer_names_optional),
    switch!("refuse-duplicates", Requests, refuse_duplicates, refuse_duplicates),
    switch!("compatible", Requests, compatible, compatible),
    row!("origin", Form, SettingKind::List, |settings| join_or(&settings.origins, ANY), |change, text| {
        change.origins = parse_list(text, parse_origin)?;
        Ok(())
    }),
    row!(
        "browser-registrations",
        Form,
        SettingKind::Switch,
        |settings| switch_word(settings.allows_browser_registrations()),
        |change, text| {
            change.browser_registrations = Some(parse_switch(text)?);
            Ok(())
        }
    ),
    switch!("browser-customer-ids", Form, browser_customer_ids, browser_customer_ids),
    switch!("hide-declines", Form, hide_declines, hide_declines),
    switch!("require-cvv", Form, channel.require_cvv, channel.require_cvv),
    switch!("registrations-require-cvv", Form, channel.registrations_require_cvv, channel.registrations_require_cvv),
    look!("form-accent", Accent),
    look!("form-on-accent", OnAccent),
    look!("form-error", Error),
    look!("form-radius", Radius),
    look!("form-height", Height),
    look!("form-gap", Gap),
    SettingRow { is_from_above: true, ..list!("brands", Routing, brands, |word| in_quotes(word, parse_brand)) },
    SettingRow {
        is_from_above: true,
        ..list!("currencies", Routing, currencies, |word| in_quotes(word, parse_currency))
    },
    row!("priority", Routing, SettingKind::Number, |settings| settings.channel.priority.to_string(), |change, text| {
        let number = text.parse().map_err(|_| format!("a priority is a number from 0 to {}", u32::MAX))?;
        change.channel.priority = Some(number);
        Ok(())
    }),
    SettingRow {
        is_from_above: true,
        ..row!(
            "connector",
            Routing,
            SettingKind::Connector,
            |settings| settings.channel.connector.clone().unwrap_or_else(|| NONE.to_owned()),
            |change, text| {
                change.channel.connector = Some(in_quotes(text, parse_connector)?);
                Ok(())
            }
        )
    },
    SettingRow {
        is_from_above: true,
        ..row!(
            "acquirer-merchant",
            Routing,
            SettingKind::Text,
            |settings| settings.channel.acquirer_merchant.clone().unwrap_or_else(|| NONE.to_owned()),
            |change, text| {
                let id = parse_acquirer_merchant(text).map_err(|message| format!("the id {message}"))?;
                change.channel.acquirer_merchant = Some(id);
                Ok(())
            }
        )
    },
    SettingRow {
        is_from_above: true,
        ..row!(
            "sepa-creditor-id",
            Routing,
            SettingKind::Text,
            |settings| settings.sepa_creditor_id.clone().unwrap_or_else(|| NO_CREDITOR_ID.to_owned()),
            |change, text| {
                change.sepa_creditor_id = Some(parse_sepa_creditor_id(text)?);
                Ok(())
            }
        )
    },
    SettingRow {
        is_from_above: true,
        ..row!(
            "overcapture",
            Routing,
            SettingKind::Text,
            |settings| settings.overcapture.to_string(),
            |change, text| {
                change.overcapture = Some(text.parse()?);
                Ok(())
            }
        )
    },
    SettingRow {
        is_from_above: true,
        ..row!(
            "authorization-days",
            Routing,
            SettingKind::Text,
            |settings| settings.authorization_days.map_or_else(|| DEFAULT_DAYS.to_owned(), |days| days.to_string()),
            |change, text| {
                change.authorization_days = Some(parse_authorization_days(text)?);
                Ok(())
            }
        )
    },
    choice!("3d", THREE_DS, three_d, three_ds),
    switch!("risk", Risk, channel.risk, channel.risk),
    choice!("screen", SCREEN, risk_settings.screen, screen),
    choice!("review", REVIEW, risk_settings.review, review),
    choice!("risk-error", RISK_ERROR, risk_settings.error, risk_error),
    row!(
        "time-zone",
        Schedules,
        SettingKind::Text,
        |settings| settings.time_zone.clone().unwrap_or_else(|| DEFAULT_ZONE.to_owned()),
        |change, text| {
            change.time_zone = Some(in_quotes(text, parse_time_zone)?);
            Ok(())
        }
    ),
    row!(
        "schedule-retries",
        Schedules,
        SettingKind::Text,
        |settings| settings.schedule_retries.clone().unwrap_or_else(|| DEFAULT_PLAN.to_owned()),
        |change, text| {
            change.schedule_retries = Some(parse_retry_plan(text)?);
            Ok(())
        }
    ),
    SettingRow {
        is_from_above: true,
        ..row!(
            "refund-approval",
            Approvals,
            SettingKind::Text,
            |settings| settings.refund_approval.clone().unwrap_or_else(|| NO_APPROVAL.to_owned()),
            |change, text| {
                change.refund_approval = Some(parse_refund_approval(text)?);
                Ok(())
            }
        )
    },
    SettingRow { is_from_above: true, ..switch!("rule-approval", Approvals, rule_approval, rule_approval) },
    SettingRow { is_from_above: true, ..switch!("key-approval", Approvals, key_approval, key_approval) },
    list!("test-modes", Sandbox, test_modes, parse_test_mode),
    SettingRow {
        is_from_above: true,
        ..switch!("sandbox-any-number", Sandbox, sandbox_any_number, sandbox_any_number)
    },
];

/// Finds a setting by its name.
pub fn find_row(name: &str) -> Option<&'static SettingRow> {
    SETTING_ROWS.iter().find(|row| row.name == name)
}

impl SettingRow {
    /// Returns the value in some settings, as the command line takes it.
    pub fn read(&self, settings: &EntitySettings) -> String {
        (self.read)(settings)
    }

    /// Parses a value, and adds it to a change.
    ///
    /// # Errors
    /// A message about the value.
    pub fn set(&self, change: &mut SettingsChange, text: &str) -> Result<(), String> {
        (self.set)(change, text)
    }

    /// Returns true if an entity can inherit the setting.
    pub fn is_inheritable(&self) -> bool {
        inheritance::find_setting(self.name).is_some()
    }

    /// Returns the words among which people choose. Empty if they type the value.
    pub fn words(&self) -> Vec<&'static str> {
        match self.kind {
            SettingKind::Switch => vec!["on", "off"],
            SettingKind::Choice(words) => words.to_vec(),
            SettingKind::Connector => registry::connector_names().chain([NONE]).collect(),
            SettingKind::List | SettingKind::Text | SettingKind::Number => Vec::new(),
        }
    }

    /// Returns the part of the tree on which somebody needs the permission to change the setting of an entity: the
    /// entity itself, or the nearest PSP or division above it if the setting is decided there. Otherwise a merchant
    /// could name the acquirer's id of another merchant.
    pub fn required_reach(&self, directory: &Directory, entity: &Entity) -> Reach {
        if !self.is_from_above {
            return Reach::Entity(entity.id.clone());
        }
        let mut above = directory.find_ancestors(entity).into_iter();
        let manager = above.find(|above| !above.level.allows_payments());
        manager.map_or(Reach::Gateway, |above| Reach::Entity(above.id.clone()))
    }
}

/// A setting of an entity, and where its value comes from.
pub struct DescribedSetting<'a> {
    /// The setting.
    pub row: &'static SettingRow,
    /// The value that applies.
    pub value: String,
    /// True if the entity has chosen the value. Otherwise it is inherited, or the default.
    pub is_own: bool,
    /// The PSP or division that the value is inherited from.
    pub from: Option<&'a Entity>,
}

impl EntityOverview {
    /// Describes the settings of a group.
    pub fn describe_settings(&self, group: SettingGroup) -> Vec<DescribedSetting<'_>> {
        let describe = |row: &'static SettingRow| {
            let setting = inheritance::find_setting(row.name);
            let from = self.inherited.iter().find(|(name, _)| *name == row.name).map(|(_, from)| from);
            let is_own = setting.is_none_or(|setting| setting.is_own(&self.entity.settings));
            DescribedSetting { row, value: row.read(&self.effective), is_own, from }
        };
        group.rows().map(describe).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Returns a value of a setting that is not its default.
    fn sample_value(row: &SettingRow) -> &'static str {
        match row.name {
            "browser-registrations" => "off",
            "origin" => "https://a.example, https://b.example",
            "brands" => "VISA, MASTER",
            "currencies" => "EUR",
            "test-modes" => "EXTERNAL",
            "priority" => "7",
            "connector" => registry::connector_names().last().unwrap(),
            "acquirer-merchant" => "M-4711",
            "sepa-creditor-id" => "DE98ZZZ09999999999",
            "overcapture" => "15",
            "authorization-days" => "30",
            "3d" => "never",
            "screen" => "after",
            "review" => "hold",
            "risk-error" => "accept",
            "time-zone" => "Europe/Berlin",
            "schedule-retries" => "900=1h",
            "refund-approval" => "500.00 EUR, 600.00 USD",
            "form-accent" | "form-on-accent" | "form-error" => "#6d3a97",
            "form-radius" | "form-gap" => "0.5rem",
            "form-height" => "52px",
            _ => "on",
        }
    }

    #[test]
    fn every_setting_is_read_as_it_was_set_and_its_default_can_be_set() {
        let defaults = EntitySettings::default();
        for row in &SETTING_ROWS {
            let mut settings = defaults.clone();
            for value in [sample_value(row), &row.read(&defaults)] {
                let mut change = SettingsChange::default();
                row.set(&mut change, value).unwrap();
                change.apply(&mut settings);
                assert_eq!(row.read(&settings), value, "{}", row.name);
                // No other setting has changed with it.
                for other in SETTING_ROWS.iter().filter(|other| other.name != row.name) {
                    assert_eq!(other.read(&settings), other.read(&defaults), "{} {}", row.name, other.name);
                }
            }
            let words = row.words();
            assert!(words.is_empty() || words.contains(&&*row.read(&defaults)), "{}", row.name);
            assert!(words.iter().all(|word| row.set(&mut SettingsChange::default(), word).is_ok()), "{}", row.name);
        }
    }

    #[test]
    fn every_inheritable_setting_has_a_row_and_its_inheritance_can_be_chosen() {
        let names: Vec<&str> = SETTING_ROWS.iter().filter(|row| row.is_inheritable()).map(|row| row.name).collect();
        assert!(inheritance::SETTINGS.iter().all(|setting| names.contains(&setting.name)));
        assert_eq!(names.len(), inheritance::SETTINGS.len());
        assert_eq!(SettingGroup::ALL.iter().flat_map(|group| group.rows()).count(), SETTING_ROWS.len());
        let others: Vec<&str> = SETTING_ROWS.iter().filter(|row| !row.is_inheritable()).map(|row| row.name).collect();
        assert_eq!(others, ["priority"]);
    }

    #[test]
    fn a_wrong_value_is_refused_with_the_value() {
        for (name, value) in [
            ("strict", "yes"),
            ("brands", "VISA, COWRY"),
            ("brands", " , "),
            ("currencies", "EUR ABC"),
            ("test-modes", "LIVE"),
            ("origin", "https://a.example/path"),
            ("connector", "nowhere"),
            ("acquirer-merchant", "a b"),
            ("sepa-creditor-id", "DE99ZZZ09999999999"),
            ("overcapture", "21"),
            ("authorization-days", "31"),
            ("authorization-days", "0"),
            ("priority", "-1"),
            ("3d", "always"),
            ("time-zone", "Berlin"),
            ("schedule-retries", "1d"),
            ("refund-approval", "500"),
            ("form-accent", "purple"),
            ("form-height", "43px"),
            ("form-gap", "1em"),
        ] {
            let refused = find_row(name).unwrap().set(&mut SettingsChange::default(), value);
            assert!(refused.is_err_and(|message| !message.is_empty()), "{name} {value}");
        }
    }
}
