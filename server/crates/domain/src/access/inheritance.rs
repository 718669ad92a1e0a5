//! Inheritance of settings: the settings of a PSP or division apply to every merchant and channel below that has no
//! value of its own.
//!
//! A setting is an entity's own if it differs from the default, or if the default was chosen explicitly
//! ([`EntitySettings::chosen_defaults`]). Otherwise the value of the nearest entity above that has its own applies.
//! Nothing is copied from a merchant to its channels: a channel looks up the origins, the look of the form and the
//! compatibility mode of its merchant (`Directory::frame_origins`, `Directory::form_look`, `Directory::formats_of`),
//! and every other setting is its own.

use crate::access::entity::{Entity, EntitySettings};

/// A setting that can be inherited.
#[derive(Debug)]
pub struct Setting {
    /// The name, which is also the command line option that sets it.
    pub name: &'static str,
    /// True if a merchant's own value also applies to its channels and so hides the values of upper levels from them.
    covers_channels: bool,
    is_same: fn(&EntitySettings, &EntitySettings) -> bool,
    copy: fn(&EntitySettings, &mut EntitySettings),
}

/// Creates a row of the table from the option, the field, and `covers_channels`.
macro_rules! setting {
    ($name:literal, $($field:ident).+, $covers_channels:literal) => {
        Setting {
            name: $name,
            covers_channels: $covers_channels,
            is_same: |a, b| a.$($field).+ == b.$($field).+,
            copy: |from, to| to.$($field).+.clone_from(&from.$($field).+),
        }
    };
}

/// Every setting that can be inherited. Name and priority belong to a single entity, and sandbox or live is the same
/// in a whole tree.
pub static SETTINGS: [Setting; 35] = [
    setting!("strict", strict, false),
    setting!("customer-names-optional", customer_names_optional, false),
    setting!("refuse-duplicates", refuse_duplicates, false),
    setting!("browser-registrations", browser_registrations, false),
    setting!("browser-customer-ids", browser_customer_ids, false),
    setting!("hide-declines", hide_declines, false),
    setting!("sandbox-any-number", sandbox_any_number, false),
    setting!("compatible", compatible, true),
    setting!("time-zone", time_zone, false),
    setting!("schedule-retries", schedule_retries, false),
    setting!("refund-approval", refund_approval, true),
    setting!("rule-approval", rule_approval, true),
    setting!("key-approval", key_approval, true),
    setting!("sepa-creditor-id", sepa_creditor_id, true),
    setting!("overcapture", overcapture, true),
    setting!("authorization-days", authorization_days, true),
    setting!("origin", origins, true),
    setting!("form-accent", form_look.accent, true),
    setting!("form-on-accent", form_look.on_accent, true),
    setting!("form-error", form_look.error, true),
    setting!("form-radius", form_look.radius, true),
    setting!("form-height", form_look.height, true),
    setting!("form-gap", form_look.gap, true),
    setting!("brands", channel.brands, false),
    setting!("currencies", channel.currencies, false),
    setting!("test-modes", channel.test_modes, false),
    setting!("3d", channel.three_d, false),
    setting!("risk", channel.risk, false),
    setting!("screen", channel.risk_settings.screen, false),
    setting!("review", channel.risk_settings.review, false),
    setting!("risk-error", channel.risk_settings.error, false),
    setting!("require-cvv", channel.require_cvv, false),
    setting!("registrations-require-cvv", channel.registrations_require_cvv, false),
    setting!("connector", channel.connector, false),
    setting!("acquirer-merchant", channel.acquirer_merchant, false),
];

/// Finds an inheritable setting by the name of its command line option. Returns `None` if there is no such setting or
/// it cannot be inherited.
pub fn find_setting(name: &str) -> Option<&'static Setting> {
    SETTINGS.iter().find(|setting| setting.name == name)
}

impl Setting {
    /// Returns true if the setting has its default value.
    fn is_default(&self, settings: &EntitySettings) -> bool {
        (self.is_same)(settings, &EntitySettings::default())
    }

    /// Returns true if the setting is not inherited: its value differs from the default, or the default was chosen
    /// explicitly.
    pub fn is_own(&self, settings: &EntitySettings) -> bool {
        !self.is_default(settings) || settings.chosen_defaults.iter().any(|name| name == self.name)
    }

    /// Records that the current value of a setting was chosen explicitly, so that it is not inherited. Only a default
    /// needs a mark; that of any other value is removed.
    pub fn mark_chosen(&self, settings: &mut EntitySettings) {
        settings.chosen_defaults.retain(|name| name != self.name);
        if self.is_default(settings) {
            settings.chosen_defaults.push(self.name.to_owned());
        }
    }

    /// Resets a setting to its default and removes its mark, so that it is inherited.
    pub fn reset_to_inherited(&self, settings: &mut EntitySettings) {
        (self.copy)(&EntitySettings::default(), settings);
        settings.chosen_defaults.retain(|name| name != self.name);
    }
}

/// The settings that apply to an entity.
#[derive(Debug)]
pub struct EffectiveSettings<'a> {
    /// The settings, own and inherited.
    pub settings: EntitySettings,
    /// Names of the inherited settings, each with the PSP or division that it comes from.
    pub inherited: Vec<(&'static str, &'a Entity)>,
}

/// Resolves the settings of an entity, and lists those that it inherits. `above` holds the entities above it, nearest
/// first. A setting that is not the entity's own is copied from the nearest PSP or division that has its own. A
/// merchant's own value of a setting that covers its channels prevents that: such a channel keeps the default.
pub fn resolve_settings<'a>(entity: &Entity, above: &[&'a Entity]) -> EffectiveSettings<'a> {
    let mut effective = EffectiveSettings { settings: entity.settings.clone(), inherited: Vec::new() };
    for setting in &SETTINGS {
        if setting.is_own(&entity.settings) {
            continue;
        }
        let mut candidates = above.iter().filter(|above| setting.covers_channels || !above.level.allows_payments());
        let source = candidates.find(|above| setting.is_own(&above.settings));
        if let Some(source) = source.filter(|source| !source.level.allows_payments()) {
            (setting.copy)(&source.settings, &mut effective.settings);
            effective.inherited.push((setting.name, source));
        }
    }
    effective
}

/// Returns the settings in which a setting is decided that covers channels: those of the entity if it has its own
/// value, or else those of the nearest entity above that has. `above` holds the entities above it, nearest first.
/// Without any, they are the entity's own settings, which have the default.
pub fn find_deciding_settings<'a>(name: &str, entity: &'a Entity, above: &'a [Entity]) -> &'a EntitySettings {
    let mut candidates = std::iter::once(entity).chain(above);
    let is_own = |one: &&Entity| find_setting(name).is_some_and(|setting| setting.is_own(&one.settings));
    &candidates.find(is_own).unwrap_or(entity).settings
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use crate::access::channel::Channel;
    use crate::access::form_look::FormLook;
    use crate::access::inheritance::*;
    use crate::access::level::Level;
    use crate::id::EntityId;
    use crate::payment::overcapture::Overcapture;
    use crate::risk::{ReviewPolicy, RiskErrorPolicy, RiskSettings, ScreeningPoint};
    use crate::three_ds::ThreeDsPolicy;

    /// Creates an entity of a level, with default settings except for the change.
    fn create_entity(level: Level, change: impl FnOnce(&mut EntitySettings)) -> Entity {
        let mut settings = EntitySettings::default();
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

    fn keep_defaults(_: &mut EntitySettings) {}

    #[test]
    fn the_nearest_entity_that_has_a_setting_decides() {
        let psp = create_entity(Level::Psp, |settings| {
            settings.strict = true;
            settings.channel.three_d = ThreeDsPolicy::Required;
        });
        let division = create_entity(Level::Division, |settings| settings.channel.three_d = ThreeDsPolicy::Never);
        let merchant = create_entity(Level::Merchant, keep_defaults);
        let effective = resolve_settings(&merchant, &[&division, &psp]);
        assert!(effective.settings.strict);
        assert_eq!(effective.settings.channel.three_d, ThreeDsPolicy::Never);
        let from: Vec<_> = effective.inherited.iter().map(|(name, from)| (*name, from.level)).collect();
        assert_eq!(from, [("strict", Level::Psp), ("3d", Level::Division)]);
    }

    #[test]
    fn a_default_that_was_chosen_hides_what_is_above_until_it_is_given_up() {
        let division = create_entity(Level::Division, |settings| settings.strict = true);
        let mut merchant =
            create_entity(Level::Merchant, |settings| find_setting("strict").unwrap().mark_chosen(settings));
        assert!(!resolve_settings(&merchant, &[&division]).settings.strict);
        find_setting("strict").unwrap().reset_to_inherited(&mut merchant.settings);
        assert!(resolve_settings(&merchant, &[&division]).settings.strict);
        assert_eq!(merchant.settings, EntitySettings::default());
    }

    #[test]
    fn a_channel_takes_what_upper_levels_choose_and_asks_its_merchant_for_origins_only() {
        let division = create_entity(Level::Division, |settings| {
            settings.strict = true;
            settings.origins = vec!["https://division.example".to_owned()];
        });
        let merchant = create_entity(Level::Merchant, |settings| {
            settings.refuse_duplicates = true;
            settings.origins = vec!["https://shop.example".to_owned()];
        });
        let channel = create_entity(Level::Channel, keep_defaults);
        let settings = resolve_settings(&channel, &[&merchant, &division]).settings;
        assert!(settings.strict && !settings.refuse_duplicates && settings.origins.is_empty());
        let merchant = create_entity(Level::Merchant, keep_defaults);
        let settings = resolve_settings(&channel, &[&merchant, &division]).settings;
        assert_eq!(settings.origins, division.settings.origins);
    }

    #[test]
    fn a_channel_follows_its_merchant_before_what_is_above_and_an_explicit_default_ends_the_search() {
        let switch = |settings: &mut EntitySettings| settings.key_approval = true;
        let turn_off = |settings: &mut EntitySettings| find_setting("key-approval").unwrap().mark_chosen(settings);
        let decides =
            |channel: Entity, above: &[Entity]| find_deciding_settings("key-approval", &channel, above).key_approval;
        let (channel, merchant) =
            (create_entity(Level::Channel, keep_defaults), create_entity(Level::Merchant, switch));
        assert!(decides(channel.clone(), std::slice::from_ref(&merchant)));
        assert!(!decides(create_entity(Level::Channel, turn_off), &[merchant]));
        let division = create_entity(Level::Division, switch);
        let plain = create_entity(Level::Merchant, keep_defaults);
        assert!(decides(channel.clone(), &[plain, division.clone()]));
        assert!(!decides(channel.clone(), &[create_entity(Level::Merchant, turn_off), division]));
        assert!(!decides(channel, &[]));
    }

    #[test]
    fn the_document_names_every_setting_that_is_inherited() {
        let document = include_str!("../../../../../docs/entities.md");
        let table = document.split("\n## Settings").nth(1).unwrap();
        let rows: Vec<&str> = table.lines().filter(|line| line.starts_with('|') && line.contains("| yes |")).collect();
        for setting in &SETTINGS {
            let option = format!("`--{}`", setting.name);
            assert_eq!(rows.iter().filter(|row| row.contains(&option)).count(), 1, "{option}");
        }
    }

    #[test]
    fn without_upper_levels_nothing_is_inherited() {
        let merchant = create_entity(Level::Merchant, |settings| {
            settings.strict = true;
            settings.compatible = true;
        });
        let channel = create_entity(Level::Channel, keep_defaults);
        assert_eq!(resolve_settings(&channel, &[&merchant]).settings, channel.settings);
        assert_eq!(resolve_settings(&merchant, &[]).settings, merchant.settings);
    }

    #[test]
    fn every_setting_is_inherited_except_those_that_are_an_entitys_alone() {
        // A new field does not compile here until it is added to the table or to the exceptions.
        let EntitySettings {
            strict,
            customer_names_optional,
            origins,
            refuse_duplicates,
            browser_registrations,
            browser_customer_ids,
            hide_declines,
            sandbox_any_number,
            compatible,
            time_zone,
            schedule_retries,
            refund_approval,
            rule_approval,
            key_approval,
            sepa_creditor_id,
            overcapture,
            authorization_days,
            form_look: FormLook { accent, on_accent, error: error_colour, radius, height, gap },
            chosen_defaults: _,
            channel:
                Channel {
                    brands,
                    currencies,
                    test_modes,
                    three_d,
                    risk,
                    risk_settings: RiskSettings { screen, review, error },
                    connector,
                    acquirer_merchant,
                    priority: _,
                    require_cvv,
                    registrations_require_cvv,
                },
        } = EntitySettings::default();
        assert_eq!((browser_registrations, authorization_days, overcapture), (None, None, Overcapture::NONE));
        let flags = [strict, customer_names_optional, refuse_duplicates, browser_customer_ids, hide_declines];
        let more = [sandbox_any_number, compatible, risk, require_cvv, registrations_require_cvv];
        let approvals = [rule_approval, key_approval];
        let lists = [origins, brands, currencies, test_modes];
        let others = (three_d, connector, acquirer_merchant, screen, error);
        assert_eq!(review, ReviewPolicy::Decline);
        let checked = (ScreeningPoint::Before, RiskErrorPolicy::Deny);
        assert_eq!(others, (ThreeDsPolicy::WhenEnrolled, None, None, checked.0, checked.1));
        let texts = [time_zone, schedule_retries, refund_approval, sepa_creditor_id];
        let look = [accent, on_accent, error_colour, radius, height, gap];
        let counts = [flags.len(), more.len(), approvals.len(), lists.len(), texts.len(), look.len()];
        assert_eq!(counts.iter().sum::<usize>() + 9, SETTINGS.len());
    }
}
