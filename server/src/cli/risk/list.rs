//! `tillgate risk list`: the lists of an entity for the fraud check.

use std::io::stdin;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};
use jiff::{SignedDuration, Span, SpanRelativeTo, Timestamp};
use serde::Serialize;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::EntityId;
use tillgate_domain::plain_line::PlainLine;
use tillgate_domain::risk::list::to_list_value;
use tillgate_domain::risk::list::{ListPosition, ListSource, MAX_REASON, RiskListEntry, RiskListKind};
use tillgate_domain::risk::rules::{RiskAction, RiskChange, RiskState};
use tillgate_gateway::risk::listed_account::is_account_key;
use tillgate_gateway::risk::listed_account::parse_listed_account;
use tillgate_machine::text_file::read_text;
use tillgate_risk::{MAX_LIST_VALUE, VelocityKey, find_list_key};
use tillgate_shared::format::mask::mask_card_numbers;
use tillgate_store::AdminStore;
use tillgate_store::risk::audit::{RiskAuditKind, RiskAuditRow};
use tillgate_store::risk::list::ListSelection;
use tillgate_store::risk::rules::RiskKeys;
use zeroize::Zeroizing;

use crate::cli::keys::vault_key::VaultKeyOptions;
use crate::cli::risk::versions::AuthorOptions;
use crate::cli::risk::versions::load_entity_argument;
use crate::cli::{CommonOptions, open_existing};

/// The value that is read from the standard input.
const FROM_INPUT: &str = "-";
/// Number of entries that are loaded at once.
const PAGE: u32 = 1_000;
/// Number of changes that `risk list show` shows.
const SHOWN_CHANGES: u32 = 20;

/// Lists of an entity, which also apply to the entities below it.
#[derive(Debug, Subcommand)]
pub(in crate::cli) enum RiskListCommand {
    /// Add an entry, or replace the one with the same value.
    Add(AddListEntry),
    /// Remove an entry. The audit keeps it.
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
    /// The list: allow, review or deny.
    #[arg(value_name = "LIST", value_parser = parse_list)]
    list: RiskListKind,
    /// The key: card, email, ip, network, device, account, holder or address.
    #[arg(value_name = "KEY", value_parser = parse_key)]
    key: ListKey,
    /// The value; `-` reads it from the standard input, as numbers of cards and accounts always are. An address is
    /// STREET|POSTCODE|COUNTRY.
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
    The number of a card is read from the standard input; the store keeps a blind index of it:\n  \
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
    /// The time after which it ends, such as 30d or 12h, by the entity's clock. Never, if not given.
    #[arg(long, value_name = "DURATION", value_parser = parse_lifetime)]
    expires: Option<SignedDuration>,
    /// The party whose word about a payment counts: server (the merchant's server and the gateway) or any (the
    /// shopper's browser as well). Without it, server for the list allow, any for the others.
    #[arg(long, value_name = "SOURCE", value_parser = parse_source)]
    source: Option<ListSource>,
    /// The reason.
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = parse_reason)]
    reason: String,
}

/// Remove an entry.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate risk list remove --entity 8a01… deny email jo@shop.example --data ./tillgate-data\n\n\
    The value of a card or account is its number from the standard input, or its index as `risk list show` shows it."
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
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = parse_reason)]
    reason: String,
}

/// Show the entries of an entity, all or those of a list and key.
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
    changes: Vec<RiskAuditRow>,
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
    /// Finds the place of the entry. Numbers of cards and accounts become blind indexes. With `takes_index` they may be
    /// given as such.
    fn find_position(
        &self,
        common: &CommonOptions,
        vault: &VaultKeyOptions,
        (store, entity): (&AdminStore, &EntityId),
        takes_index: bool,
    ) -> anyhow::Result<ListPosition> {
        let (list, ListKey(name, key)) = (self.list, &self.key);
        let refuse = |message: String| anyhow::anyhow!("the value for {name} {message}");
        if is_account_key(key) && self.value != FROM_INPUT {
            let index = tillgate_risk::normalize_list_value(key, &self.value);
            ensure!(
                takes_index && index.is_ok(),
                "numbers of cards and accounts are read from the standard input: write - in place of the value"
            );
            return Ok(ListPosition { list, key: name, value: index.unwrap_or_default() });
        }
        let text = if self.value == FROM_INPUT { read_value()? } else { Zeroizing::new(self.value.clone()) };
        let value = if is_account_key(key) {
            let account = parse_listed_account(key, &text).map_err(refuse)?;
            let (_, vault) = vault.open_vault(store, &common.data)?;
            let index = store.load_account_index_key(&vault)?.index_account(&account);
            to_list_value(entity, name, &index).into_owned()
        } else {
            let no_number = mask_card_numbers(&text).as_ref() == text.as_str();
            ensure!(
                no_number,
                "the value for {name} looks like a card number, which is stored under the key card only"
            );
            tillgate_risk::normalize_list_value(key, &text).map_err(refuse)?
        };
        Ok(ListPosition { list, key: name, value })
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

/// Loads the state of an entry, decides, and writes the change, in one transaction.
fn change_entry(
    store: &AdminStore,
    entity: &Entity,
    position: ListPosition,
    (author, reason): (String, String),
    decide: impl FnOnce(&RiskState, ListPosition, Timestamp) -> anyhow::Result<RiskAction>,
) -> anyhow::Result<()> {
    store.in_transaction(|store| {
        let now = Timestamp::now() + entity.ahead;
        let keys = RiskKeys { entity: entity.id.clone(), position: Some(position.clone()), now };
        let action = decide(&store.load_risk_state(&keys)?, position, now)?;
        Ok(store.apply_risk_change(&RiskChange { entity: entity.id.clone(), action, reason, author, at: now })?)
    })
}

impl AddListEntry {
    /// Adds an entry, or replaces the one at its place, and prints it.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_entity_argument(&store, &self.entry.entity)?;
        let position = self.entry.find_position(&self.common, &self.vault, (&store, &entity.id), false)?;
        let (author, reason) = (self.author.find_author(), self.reason.clone());
        let mut added = None;
        change_entry(&store, &entity, position, (author.clone(), reason.clone()), |state, position, now| {
            let expires = self.expires.map(|lifetime| now.checked_add(lifetime)).transpose()?;
            let source = self.source.unwrap_or_else(|| ListSource::default_of(position.list));
            let entry = RiskListEntry { position, source, reason, author, created: now, expires };
            added = Some(describe_entry(&entry, now));
            state.put_entry(entry).map_err(|_| anyhow::anyhow!("the lists of {} are full", entity.id))
        })?;
        self.common.print_output(&added, |added| added.as_ref().map(format_entry).unwrap_or_default())
    }
}

impl RemoveListEntry {
    /// Removes an entry. The audit keeps a row of it.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_entity_argument(&store, &self.entry.entity)?;
        let position = self.entry.find_position(&self.common, &self.vault, (&store, &entity.id), true)?;
        let author = (self.author.find_author(), self.reason.clone());
        let list = self.entry.list.as_str();
        change_entry(&store, &entity, position.clone(), author, |state, _, _| {
            state.remove_entry().map_err(|_| anyhow::anyhow!("the list {list} of {} has no such entry", entity.id))
        })?;
        let removed = serde_json::json!({ "list": list, "key": position.key, "value": position.value });
        self.common.print_output(&removed, |_| format!("{list} {} {} is removed", position.key, position.value))
    }
}

impl ShowList {
    /// Prints an entity's entries, with expired ones, and the latest changes.
    fn run(self) -> anyhow::Result<()> {
        let store = open_existing(&self.common.data)?;
        let entity = load_entity_argument(&store, &self.entity)?;
        let now = Timestamp::now() + entity.ahead;
        let key = self.key.map(|ListKey(name, _)| name);
        let mut selection = ListSelection { list: self.list, key, limit: PAGE, ..ListSelection::default() };
        let mut entries = Vec::new();
        loop {
            let page = store.load_list_entries(&entity.id, &selection)?;
            entries.extend(page.iter().map(|entry| describe_entry(entry, now)));
            let Some(last) = page.last().filter(|_| page.len() == PAGE as usize) else { break };
            selection.after = Some(last.position.clone());
        }
        let changes = store.load_risk_changes(&entity.id, RiskAuditKind::List, SHOWN_CHANGES)?;
        let output = ListOutput { entries, changes };
        self.common.print_output(&output, |output| {
            let entries = output.entries.iter().map(format_entry);
            let changes = output.changes.iter().map(RiskAuditRow::format_line);
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

/// Checks a reason: it may not have control characters or card numbers, because it is stored and shown as it is.
pub(in crate::cli) fn parse_reason(text: &str) -> Result<String, String> {
    let line = PlainLine::<MAX_REASON>::parse(text)
        .map_err(|_| format!("a reason has at most {MAX_REASON} characters and no control characters"))?;
    if mask_card_numbers(text).as_ref() != text {
        return Err("a reason may not have a card number".to_owned());
    }
    Ok(line.into())
}

/// Reads the time after which an entry ends: a duration with days of 24 hours, above zero.
fn parse_lifetime(text: &str) -> Result<SignedDuration, String> {
    let span: Span = text.parse().map_err(|_| "a duration looks like 30d, 12h or 30m".to_owned())?;
    let lifetime = span.to_duration(SpanRelativeTo::days_are_24_hours()).map_err(|error| error.to_string())?;
    if lifetime.is_positive() { Ok(lifetime) } else { Err("an entry cannot end in the past".to_owned()) }
}
