//! Options for the settings of an entity, shared by the commands that create and change entities.

use clap::Args;
use tillgate_domain::payment::overcapture::Overcapture;
use tillgate_gateway::access::entity::EntityChange;
use tillgate_gateway::access::settings::{
    SettingsChange, parse_authorization_days, parse_inherited, parse_origin, parse_refund_approval, parse_retry_plan,
    parse_sepa_creditor_id, parse_time_zone,
};

use crate::cli::access::channel::{ChannelOptions, OnOff};
use crate::cli::access::look::LookOptions;
use crate::cli::access::place::PlaceOptions;

/// Options that are not given change nothing. A new entity is a sandbox with default settings.
#[derive(Debug, Args)]
pub(in crate::cli) struct EntityOptions {
    #[command(flatten)]
    place: PlaceOptions,
    /// Refuse parameters that are not in the specification, instead of ignoring them.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    strict: Option<OnOff>,
    /// Accept customer parameters without given name and surname.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    customer_names_optional: Option<OnOff>,
    /// Decline a payment with 800.110.100 if a payment with the same merchantTransactionId was approved.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    refuse_duplicates: Option<OnOff>,
    /// Let browsers store the account (createRegistration). This is the default, and registrationsCreatable changes it
    /// for one checkout.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_registrations: Option<OnOff>,
    /// Let browsers set the customer's id (customer.merchantCustomerId).
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    browser_customer_ids: Option<OnOff>,
    /// Never tell browsers that a payment was declined: the form cannot stay for another try (retryInPlace). For
    /// merchants whose form is used to test card numbers.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    hide_declines: Option<OnOff>,
    /// Let a sandbox accept card numbers that are not documented test numbers. For generated data only: never send real
    /// cards.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    sandbox_any_number: Option<OnOff>,
    /// Compatibility mode for clients of another gateway with this contract: short references, phone numbers with
    /// letters, repeated names, entityId in the body of a GET, dates with a time. Channels use the mode of their
    /// merchant. docs/compatibility.md describes it.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    compatible: Option<OnOff>,
    /// Origin whose pages may embed the form, such as https://shop.example, or `any`. Replaces the previous origins.
    /// May be repeated.
    #[arg(long = "origin", value_name = "ORIGIN", value_parser = parse_origin)]
    origins: Vec<String>,
    /// Time zone of the entity's schedules, such as Europe/Berlin. Default: UTC. Existing schedules keep their zone.
    #[arg(long, value_name = "ZONE", value_parser = parse_time_zone)]
    time_zone: Option<String>,
    /// Retries of declined scheduled payments by result code, such as 800.100.155=1d,3d;900=1h, `none`, or `default`.
    #[arg(long, value_name = "PLAN", value_parser = parse_retry_plan)]
    schedule_retries: Option<String>,
    /// Refunds in the back office that need a second person: `none`, `all`, or those above an amount in all, such as
    /// '500.00 EUR, 600.00 USD'. Refunds in other currencies then always need one. Channels without an own value use
    /// that of their merchant.
    #[arg(long, value_name = "AMOUNTS", value_parser = parse_refund_approval)]
    refund_approval: Option<String>,
    /// Require a second person in the back office for another version of risk rules. Channels without an own value use
    /// that of their merchant.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    rule_approval: Option<OnOff>,
    /// Require a second person in the back office for acts on keys and credentials. Channels without an own value use
    /// that of their merchant.
    #[arg(long, value_name = "on|off", value_enum, num_args = 0..=1, default_missing_value = "on")]
    key_approval: Option<OnOff>,
    /// SEPA creditor identifier, such as DE98ZZZ09999999999, or `none`. The form shows it in the mandate of a direct
    /// debit, and the acquirer gets it. Channels without an own value use that of their merchant.
    #[arg(long, value_name = "ID", value_parser = parse_sepa_creditor_id)]
    sepa_creditor_id: Option<String>,
    /// Percent by which captures can exceed the authorized amount, 0 to 20, if the acquirer takes such captures.
    /// Channels without an own value use that of their merchant.
    #[arg(long, value_name = "PERCENT")]
    overcapture: Option<Overcapture>,
    /// Days for which a preauthorization can be captured or reversed, 1 to 30, or `default` for the time of
    /// `serve --authorization-lifetime`. Channels without an own value use that of their merchant.
    #[arg(long, value_name = "DAYS", value_parser = parse_authorization_days)]
    authorization_days: Option<String>,
    /// Settings that the entity inherits from now on, as names of their options, separated by commas.
    #[arg(long, value_name = "OPTIONS", value_delimiter = ',', value_parser = parse_inherited)]
    inherit: Vec<String>,
    #[command(flatten)]
    look: LookOptions,
    #[command(flatten)]
    channel: ChannelOptions,
}

impl EntityOptions {
    /// Returns the change of an entity that was given, with its name.
    pub(in crate::cli) fn to_change(&self, name: Option<String>) -> EntityChange {
        let is_on = |given: OnOff| given == OnOff::On;
        let settings = SettingsChange {
            inherit: self.inherit.clone(),
            strict: self.strict.map(is_on),
            customer_names_optional: self.customer_names_optional.map(is_on),
            refuse_duplicates: self.refuse_duplicates.map(is_on),
            browser_registrations: self.browser_registrations.map(is_on),
            browser_customer_ids: self.browser_customer_ids.map(is_on),
            hide_declines: self.hide_declines.map(is_on),
            sandbox_any_number: self.sandbox_any_number.map(is_on),
            compatible: self.compatible.map(is_on),
            time_zone: self.time_zone.clone(),
            schedule_retries: self.schedule_retries.clone(),
            refund_approval: self.refund_approval.clone(),
            rule_approval: self.rule_approval.map(is_on),
            key_approval: self.key_approval.map(is_on),
            sepa_creditor_id: self.sepa_creditor_id.clone(),
            overcapture: self.overcapture,
            authorization_days: self.authorization_days.clone(),
            origins: self.origins.clone(),
            look: self.look.to_change(),
            channel: self.channel.to_change(),
        };
        EntityChange { name, place: self.place.to_change(), settings }
    }
}

#[cfg(test)]
mod tests {
    use clap::Command;
    use tillgate_gateway::access::setting_table::{SETTING_ROWS, SettingKind, find_row};

    use super::*;

    /// Options that are no settings.
    const OTHERS: [&str; 6] = ["live", "sandbox", "level", "parent", "merchant", "inherit"];

    #[test]
    fn the_table_of_settings_has_every_option_with_its_words() {
        let command = EntityOptions::augment_args(Command::new("set"));
        let options = command.get_arguments().filter_map(|option| Some((option.get_long()?, option)));
        let options: Vec<_> = options.filter(|(name, _)| !OTHERS.contains(name)).collect();
        assert_eq!(options.len(), SETTING_ROWS.len());
        for (name, option) in options {
            let row = find_row(name).unwrap_or_else(|| panic!("{name} is not in the table"));
            if matches!(row.kind, SettingKind::Switch | SettingKind::Choice(_)) {
                let words = option.get_possible_values();
                let words: Vec<&str> = words.iter().map(clap::builder::PossibleValue::get_name).collect();
                assert_eq!(words, row.words(), "{name}");
            }
        }
    }
}
