//! Inheritance of settings: those of a PSP or a division hold for every merchant and channel below it that has none of its own.
//!
//! A setting is an entity's own if it differs from the default, or if the default was chosen
//! ([`Settings::chosen_defaults`]). Otherwise the nearest entity above decides that has it as its own. Between a merchant and
//! its channels nothing is copied: a channel asks its merchant for the origins and the compatibility mode
//! (`Directory::origins_of`, `Directory::formats_of`), and chooses everything else itself.

use super::entity::{Entity, Settings};

/// A setting that is inherited.
#[derive(Debug)]
pub struct Setting {
    /// Its name, which is the option of the command line that sets it.
    pub name: &'static str,
    /// True if a merchant's own value also holds for its channels, and so hides those of upper levels from them.
    of_merchant: bool,
    is_same: fn(&Settings, &Settings) -> bool,
    copy: fn(&Settings, &mut Settings),
}

/// A row of the table: the option, the field, and `of_merchant`.
macro_rules! setting {
    ($name:literal, $($field:ident).+, $of_merchant:literal) => {
        Setting {
            name: $name,
            of_merchant: $of_merchant,
            is_same: |one, other| one.$($field).+ == other.$($field).+,
            copy: |from, to| to.$($field).+.clone_from(&from.$($field).+),
        }
    };
}

/// Every setting that is inherited. Name and priority are an entity's alone, and sandbox or live is the same in a whole tree.
pub static SETTINGS: [Setting; 16] = [
    setting!("strict", strict, false),
    setting!("customer-names-optional", customer_names_optional, false),
    setting!("refuse-duplicates", refuse_duplicates, false),
    setting!("browser-registrations", browser_registrations, false),
    setting!("browser-customer-ids", browser_customer_ids, false),
    setting!("sandbox-any-number", sandbox_any_number, false),
    setting!("compatible", compatible, true),
    setting!("origin", origins, true),
    setting!("brands", channel.brands, false),
    setting!("currencies", channel.currencies, false),
    setting!("test-modes", channel.test_modes, false),
    setting!("3d", channel.three_d, false),
    setting!("risk", channel.risk, false),
    setting!("require-cvv", channel.require_cvv, false),
    setting!("registrations-require-cvv", channel.registrations_require_cvv, false),
    setting!("connector", channel.connector, false),
];

/// Finds a setting by its name. Returns `None` if there is no such setting, or it is not inherited.
pub fn find(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Setting {
    fn is_default(&self, settings: &Settings) -> bool {
        (self.is_same)(settings, &Settings::default())
    }

    fn is_own(&self, settings: &Settings) -> bool {
        !self.is_default(settings) || settings.chosen_defaults.iter().any(|name| name == self.name)
    }

    /// Notes that the value that a setting has now was chosen.
    pub fn choose(&self, settings: &mut Settings) {
        settings.chosen_defaults.retain(|name| name != self.name);
        if self.is_default(settings) {
            settings.chosen_defaults.push(self.name.to_owned());
        }
    }

    /// Gives a setting up, so that it is inherited.
    pub fn inherit(&self, settings: &mut Settings) {
        (self.copy)(&Settings::default(), settings);
        settings.chosen_defaults.retain(|name| name != self.name);
    }
}

/// The settings that hold for an entity.
#[derive(Debug)]
pub struct Effective<'a> {
    /// The settings, its own and inherited ones.
    pub settings: Settings,
    /// The names of the inherited ones, each with the PSP or division that it comes from.
    pub inherited: Vec<(&'static str, &'a Entity)>,
}

/// Resolves the settings of an entity. `above` holds the entities above it, nearest first.
pub fn resolve<'a>(entity: &Entity, above: &[&'a Entity]) -> Effective<'a> {
    let mut effective = Effective { settings: entity.settings.clone(), inherited: Vec::new() };
    for setting in &SETTINGS {
        if setting.is_own(&entity.settings) {
            continue;
        }
        let mut deciding = above.iter().filter(|above| setting.of_merchant || !above.level.takes_payments());
        let source = deciding.find(|above| setting.is_own(&above.settings));
        if let Some(source) = source.filter(|source| !source.level.takes_payments()) {
            (setting.copy)(&source.settings, &mut effective.settings);
            effective.inherited.push((setting.name, source));
        }
    }
    effective
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::*;
    use crate::domain::channel::{Channel, ThreeD};
    use crate::domain::id::EntityId;
    use crate::domain::level::Level;

    fn entity(level: Level, change: impl FnOnce(&mut Settings)) -> Entity {
        let mut settings = Settings::default();
        change(&mut settings);
        Entity {
            id: EntityId::new(Timestamp::UNIX_EPOCH, [level as u8; 9]),
            name: level.to_string(),
            live: false,
            level,
            parent: None,
            ahead: SignedDuration::ZERO,
            settings,
        }
    }

    fn nothing(_: &mut Settings) {}

    #[test]
    fn the_nearest_entity_that_has_a_setting_decides() {
        let psp = entity(Level::Psp, |settings| {
            settings.strict = true;
            settings.channel.three_d = ThreeD::Required;
        });
        let division = entity(Level::Division, |settings| settings.channel.three_d = ThreeD::Never);
        let merchant = entity(Level::Merchant, nothing);
        let effective = resolve(&merchant, &[&division, &psp]);
        assert!(effective.settings.strict);
        assert_eq!(effective.settings.channel.three_d, ThreeD::Never);
        let from: Vec<_> = effective.inherited.iter().map(|(name, from)| (*name, from.level)).collect();
        assert_eq!(from, [("strict", Level::Psp), ("3d", Level::Division)]);
    }

    #[test]
    fn a_default_that_was_chosen_hides_what_is_above_until_it_is_given_up() {
        let division = entity(Level::Division, |settings| settings.strict = true);
        let mut merchant = entity(Level::Merchant, |settings| find("strict").unwrap().choose(settings));
        assert!(!resolve(&merchant, &[&division]).settings.strict);
        find("strict").unwrap().inherit(&mut merchant.settings);
        assert!(resolve(&merchant, &[&division]).settings.strict);
        assert_eq!(merchant.settings, Settings::default());
    }

    #[test]
    fn a_channel_takes_what_upper_levels_choose_and_asks_its_merchant_for_origins_only() {
        let division = entity(Level::Division, |settings| {
            settings.strict = true;
            settings.origins = vec!["https://division.example".to_owned()];
        });
        let merchant = entity(Level::Merchant, |settings| {
            settings.refuse_duplicates = true;
            settings.origins = vec!["https://shop.example".to_owned()];
        });
        let channel = entity(Level::Channel, nothing);
        let settings = resolve(&channel, &[&merchant, &division]).settings;
        assert!(settings.strict && !settings.refuse_duplicates && settings.origins.is_empty());
        let merchant = entity(Level::Merchant, nothing);
        let settings = resolve(&channel, &[&merchant, &division]).settings;
        assert_eq!(settings.origins, division.settings.origins);
    }

    #[test]
    fn without_upper_levels_nothing_is_inherited() {
        let merchant = entity(Level::Merchant, |settings| {
            settings.strict = true;
            settings.compatible = true;
        });
        let channel = entity(Level::Channel, nothing);
        assert_eq!(resolve(&channel, &[&merchant]).settings, channel.settings);
        assert_eq!(resolve(&merchant, &[]).settings, merchant.settings);
    }

    #[test]
    fn every_setting_is_inherited_except_those_that_are_an_entitys_alone() {
        // A new field does not compile here until it is in the table, or among those that are not.
        let Settings {
            strict,
            customer_names_optional,
            origins,
            refuse_duplicates,
            browser_registrations,
            browser_customer_ids,
            sandbox_any_number,
            compatible,
            chosen_defaults: _,
            channel:
                Channel {
                    brands,
                    currencies,
                    test_modes,
                    three_d,
                    risk,
                    connector,
                    priority: _,
                    require_cvv,
                    registrations_require_cvv,
                },
        } = Settings::default();
        let flags = [strict, customer_names_optional, refuse_duplicates, browser_registrations, browser_customer_ids];
        let more = [sandbox_any_number, compatible, risk, require_cvv, registrations_require_cvv];
        let lists = [origins, brands, currencies, test_modes];
        let others = (three_d, connector);
        assert_eq!(others, (ThreeD::WhenEnrolled, None));
        assert_eq!(flags.len() + more.len() + lists.len() + 2, SETTINGS.len());
    }
}
