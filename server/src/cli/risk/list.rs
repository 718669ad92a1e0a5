//! `tillgate risk list`: the lists of an entity for the risk check.

use std::io::stdin;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use tillgate_domain::risk::list::{ListSource, RiskListEntry, RiskListKind, check_reason, parse_lifetime};
use tillgate_gateway::risk::list_entries::{EntryPlace, EntryValue};
use tillgate_gateway::risk::versions::ChangeNote;
use tillgate_os::text_file::read_text;
use tillgate_risk::{MAX_LIST_VALUE, VelocityKey, find_list_key};
use tillgate_store::risk::decision_log::DecisionLogRow;
use zeroize::Zeroizing;

use crate::cli::CommonOptions;
use crate::cli::access::token::parse_entity_id;
use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::risk::versions::AuthorOptions;

/// The value that is read from the standard input.
const FROM_INPUT: &str = "-";

/// Lists of an entity, which also apply to the entities below it.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RiskListCommand {
    /// Add an entry, or replace the entry with the same value.
    Add(AddListEntry),
    /// Remove an entry. The decision log records the removal.
    Remove(RemoveListEntry),
    /// Show entries, and the latest changes.
    Show(ShowList),
}

/// An entry of a list.
#[derive(Debug, Args)]
struct EntryOptions {
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// List: allow, review or deny.
    #[arg(value_name = "LIST", value_parser = parse_list)]
    list: RiskListKind,
    /// Key: card, email, ip, network, device, account, holder or address.
    #[arg(value_name = "KEY", value_parser = parse_key)]
    key: ListKey,
    /// Value of the entry. `-` reads it from the standard input, which is required for numbers of cards and accounts.
    /// An address is STREET|POSTCODE|COUNTRY.
    #[arg(value_name = "VALUE")]
    value: String,
}

/// A key of lists, with its name.
#[derive(Debug, Clone)]
struct ListKey(&'static str, VelocityKey);

/// Add an entry.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate risk list add --entity 8a01… deny email jo@shop.example --expires 30d --reason 'Chargeback'\n\n\
    The number of a card is read from the standard input, and the store keeps only a blind index:\n  \
    tillgate risk list add --entity 8a01… deny card - < number.txt\n\n\
    An account is an IBAN (iban:DE89…), an account at a brand (virtual:PAYPAL:jo@shop.example), a national bank account\n\
    (bank:COUNTRY:BANK:NUMBER) or a card (card:NUMBER)."
)]
pub(in crate::cli) struct AddListEntry {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    author: AuthorOptions,
    #[command(flatten)]
    entry: EntryOptions,
    /// Time after which the entry expires, such as 30d or 12h, by the entity's clock. Default: never.
    #[arg(long, value_name = "DURATION", value_parser = parse_lifetime)]
    expires: Option<SignedDuration>,
    /// Accepted source of a payment's facts: server (the merchant's server and the gateway) or any (also the shopper's
    /// browser). Default: server for the list allow, any for the other lists.
    #[arg(long, value_name = "SOURCE", value_parser = parse_source)]
    source: Option<ListSource>,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = check_reason)]
    reason: String,
}

/// Remove an entry.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate risk list remove --entity 8a01… deny email jo@shop.example --data ./tillgate-data\n\n\
    The value of a card or account is its number from the standard input, or its index from `risk list show`."
)]
pub(in crate::cli) struct RemoveListEntry {
    #[command(flatten)]
    common: CommonOptions,
    #[command(flatten)]
    vault: VaultKeyOptions,
    #[command(flatten)]
    author: AuthorOptions,
    #[command(flatten)]
    entry: EntryOptions,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = check_reason)]
    reason: String,
}

/// Show all entries of an entity, or the entries of a list and key.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate risk list show --entity 8a01… deny email --data ./tillgate-data")]
pub(in crate::cli) struct ShowList {
    #[command(flatten)]
    common: CommonOptions,
    /// The entity's id.
    #[arg(long, value_name = "ENTITY_ID")]
    entity: String,
    /// Only this list: allow, review or deny.
    #[arg(value_name = "LIST", value_parser = parse_list)]
    list: Option<RiskListKind>,
    /// Only this key.
    #[arg(value_name = "KEY", value_parser = parse_key)]
    key: Option<ListKey>,
}

/// An entry in the output of the commands.
#[derive(Serialize)]
struct ListEntryOutput {
    list: &'static str,
    key: &'static str,
    value: String,
    source: &'static str,
    reason: String,
    author: String,
    created: Timestamp,
    expires: Option<Timestamp>,
    expired: bool,
}

#[derive(Serialize)]
struct ListOutput {
    entries: Vec<ListEntryOutput>,
    changes: Vec<DecisionLogRow>,
}

impl RiskListCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Add(command) => command.run(),
            Self::Remove(command) => command.run(),
            Self::Show(command) => command.run(),
        }
    }
}

impl EntryOptions {
    /// Reads the place of the entry. With `takes_index`, cards and accounts may be given as their blind indexes.
    fn read_place(&self, takes_index: bool) -> anyhow::Result<EntryPlace> {
        let (list, ListKey(name, key)) = (self.list, self.key.clone());
        let value = if EntryValue::is_secret(&key) && self.value != FROM_INPUT {
            let index = EntryValue::parse_index(&key, &self.value).filter(|_| takes_index);
            index.context(
                "numbers of cards and accounts are read from the standard input: write - instead of the value",
            )?
        } else if self.value == FROM_INPUT {
            EntryValue::Plain(read_value()?)
        } else {
            EntryValue::Plain(Zeroizing::new(self.value.clone()))
        };
        Ok(EntryPlace { list, key: (name, key), value })
    }
}

/// Reads a value from the standard input, without the line break at its end.
fn read_value() -> anyhow::Result<Zeroizing<String>> {
    let limit = u64::try_from(MAX_LIST_VALUE + 2).unwrap_or(u64::MAX);
    let mut text = read_text(stdin(), limit).context("reading the value from the standard input")?;
    let length = text.trim_end_matches(['\r', '\n']).len();
    text.truncate(length);
    ensure!(!text.is_empty(), "the standard input has no value");
    Ok(text)
}

impl AddListEntry {
    /// Adds an entry, or replaces the one at its place, and prints it.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entry.entity)?)?;
        let place = self.entry.read_place(false)?;
        let note = ChangeNote { author: self.author.find_author(), reason: self.reason };
        let added = administration.put_list_entry(&entity, place, (self.source, self.expires), note)?;
        self.common.print_output(&describe_entry(&added, added.created), format_entry)
    }
}

impl RemoveListEntry {
    /// Removes an entry. The decision log gets a row.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.vault.open_administration(&self.common.place)?;
        let entity = administration.load_entity(&parse_entity_id(&self.entry.entity)?)?;
        let place = self.entry.read_place(true)?;
        let note = ChangeNote { author: self.author.find_author(), reason: self.reason };
        let position = administration.remove_list_entry(&entity, place, note)?;
        let list = position.list.as_str();
        let removed = serde_json::json!({ "list": list, "key": position.key, "value": position.value });
        self.common.print_output(&removed, |_| format!("{list} {} {} is removed", position.key, position.value))
    }
}

impl ShowList {
    /// Prints an entity's entries, with expired ones, and the latest changes.
    fn run(self) -> anyhow::Result<()> {
        let administration = self.common.open_administration()?;
        let entity = administration.load_entity(&parse_entity_id(&self.entity)?)?;
        let now = Timestamp::now() + entity.ahead;
        let key = self.key.map(|ListKey(name, _)| name);
        let (entries, changes) = administration.load_list_entries(&entity, self.list, key)?;
        let entries = entries.iter().map(|entry| describe_entry(entry, now)).collect();
        let output = ListOutput { entries, changes };
        self.common.print_output(&output, |output| {
            let entries = output.entries.iter().map(format_entry);
            let changes = output.changes.iter().map(DecisionLogRow::format_line);
            entries.chain(["\nchanges".to_owned()]).chain(changes).collect::<Vec<_>>().join("\n")
        })
    }
}

fn describe_entry(entry: &RiskListEntry, now: Timestamp) -> ListEntryOutput {
    ListEntryOutput {
        list: entry.position.list.as_str(),
        key: entry.position.key,
        value: entry.position.value.clone(),
        source: entry.source.as_str(),
        reason: entry.reason.clone(),
        author: entry.author.clone(),
        created: entry.created,
        expires: entry.expires,
        expired: entry.expires.is_some_and(|end| end <= now),
    }
}

fn format_entry(entry: &ListEntryOutput) -> String {
    let end = match entry.expires {
        Some(end) if entry.expired => format!("expired {end:.0}"),
        Some(end) => format!("until {end:.0}"),
        None => "without end".to_owned(),
    };
    let ListEntryOutput { list, key, value, source, author, reason, .. } = entry;
    format!("{list:<6}  {key:<7}  {value}  {source:<6}  {end}  {author}  {reason}").trim_end().to_owned()
}

fn parse_list(text: &str) -> Result<RiskListKind, String> {
    RiskListKind::parse(text).ok_or_else(|| "a list is allow, review or deny".to_owned())
}

fn parse_source(text: &str) -> Result<ListSource, String> {
    ListSource::parse(text).ok_or_else(|| "a source is server or any".to_owned())
}

fn parse_key(text: &str) -> Result<ListKey, String> {
    let found = find_list_key(text).map(|(name, key)| ListKey(name, key));
    found.ok_or_else(|| {
        let names: Vec<&str> = VelocityKey::NAMED.iter().map(|(name, _)| *name).collect();
        format!("a key is one of {}", names.join(", "))
    })
}
