//! Every command of the command line either only reads, or leaves an entry in the audit log. Each runs on a copy of one
//! prepared store.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use futures_util::{StreamExt as _, stream};
use rusqlite::{Connection, OpenFlags};
use serde_json::Value;
use tillgate_tests::{MerchantClient, Receiver, ReceiverReply, TestGateway, poll_until};

use crate::delivery::file_push::{complete_file, set_server_with_password};
use crate::delivery::notifications::LOOPBACK;
use crate::payment::held_payments::{REVIEW_EVERYTHING, create_reviewed_shop};
use crate::review::callback::{set_config, write_config};
use crate::service::command_line::{output_text, read_command_helps, run_tillgate};
use crate::settlement::files::{FileLine, format_file, import_text, pay_externally, write_file};
use crate::settlement::reconciliation_files::today;
use crate::settlement::unmatched::{read_unmatched, text};

/// Number of commands that run at once, each on a copy of the store.
const CONCURRENT_COMMANDS: usize = 4;

/// Effect of a command.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Effect {
    /// It changes no table.
    Read,
    /// It adds at least one entry to the audit log.
    Act,
}

/// Commands that run until they are stopped, that a running gateway carries out, or that open no store, with the reason
/// why they are left out.
const RUNNING: [(&str, &str); 14] = [
    ("serve", "each request that it answers is read or has entries of its own"),
    ("demo", "it is `serve` with a shop, and creates its entity as `entity create` does"),
    ("acquirer-host", "its store is another one, without an audit log"),
    ("acquirer-settlement", "it reads the ledger of a test host"),
    ("three-ds-server", "it has no store"),
    ("check-page", "it reads a page and its gateway over HTTP, and no data folder"),
    ("review approve", "the tests of the review queue compare its entry with its person and its analyst"),
    ("review cancel", "the gateway carries it out as `review approve`"),
    ("line list", "the gateway reads it from its lines"),
    ("line take-out", "it needs a gateway with a line; the tests of lines look for its entry"),
    ("line put-back", "as `line take-out`"),
    ("store copy", "it has two stores; its tests compare the entries of both"),
    ("store reopen", "it needs a store that has moved; the tests of moves look for its entry"),
    ("review pend", "the tests of the review queue compare its entry with its person and its analyst"),
];

/// The other commands with arguments. A command after `&&` runs on the store that the ones before have left, and only
/// the last one is compared. Words in braces are values of the prepared store.
const COMMANDS: &[(Effect, &str)] = &[
    (Effect::Act, "entity create --name Bakery"),
    (Effect::Act, "entity set --entity {shop} --name Bakery"),
    (Effect::Read, "entity show --entity {shop}"),
    (Effect::Read, "entity list"),
    (Effect::Act, "token create --entity {shop}"),
    (Effect::Read, "token list"),
    (Effect::Act, "token revoke --user {user}"),
    (Effect::Act, "user create --mail jo@shop.example --name Jo --role viewer --entity {shop}"),
    (Effect::Read, "user list"),
    (Effect::Act, "user invite --mail robin@shop.example"),
    (Effect::Act, "user disable --mail robin@shop.example"),
    (Effect::Act, "user disable --mail robin@shop.example && user enable --mail robin@shop.example"),
    (Effect::Act, "user role add --mail robin@shop.example --role analyst --entity {shop}"),
    (Effect::Act, "user role remove --mail robin@shop.example --role viewer"),
    (Effect::Act, "ftp-user create --entity {shop} --name bakery"),
    (Effect::Read, "ftp-user list"),
    (Effect::Act, "ftp-user revoke --name reader"),
    (Effect::Act, "file-push set --entity {shop} --url ftps://a@files.example/b --password-file {password}"),
    (Effect::Read, "file-push list"),
    (Effect::Read, "file-push status --entity {shop}"),
    (Effect::Act, "file-push retry --entity {shop} --day {day}"),
    (Effect::Act, "file-push remove --entity {shop}"),
    (Effect::Act, "wallet-key create --entity {shop}"),
    (Effect::Read, "wallet-key list --entity {shop}"),
    (Effect::Act, "wallet-key retire --entity {shop} --key {wallet-key}"),
    (Effect::Read, "wallet-token make --entity {shop}"),
    (Effect::Act, "webhook create --entity {shop} --url https://shop.example/hook"),
    (Effect::Read, "webhook list"),
    (Effect::Act, "webhook test --webhook {webhook} --allow-network 127.0.0.0/8"),
    (Effect::Act, "webhook rotate --webhook {webhook}"),
    (Effect::Act, "webhook rotate --webhook {webhook} && webhook rotate --webhook {webhook} --cancel"),
    (
        Effect::Act,
        "webhook rotate --webhook {webhook} && webhook rotate --webhook {webhook} --finish --allow-network 127.0.0.0/8",
    ),
    (Effect::Act, "webhook delete --webhook {webhook}"),
    (Effect::Read, "webhook log --webhook {webhook}"),
    (Effect::Act, "webhook replay --message {message}"),
    (Effect::Act, "clock advance 30m --entity {shop}"),
    (Effect::Read, "clock show --entity {shop}"),
    (Effect::Act, "vault rotate"),
    (Effect::Read, "vault list"),
    (Effect::Act, "vault rotate && vault retire --key {vault-key}"),
    (Effect::Read, "payment messages --entity {reviewed} {held}"),
    (Effect::Read, "review list"),
    (Effect::Read, "review show {held}"),
    (Effect::Act, "review claim {held}"),
    (Effect::Act, "review claim {held} && review release {held}"),
    (Effect::Act, "review note {held} Called"),
    (Effect::Act, "review-callback set --entity {shop} --allow-network 127.0.0.0/8 {callback}"),
    (Effect::Read, "review-callback show --entity {shop}"),
    (Effect::Act, "review-callback activate --entity {shop} --url 1"),
    (Effect::Act, "review-callback remove --entity {shop} --discard"),
    (Effect::Act, "review-callback test --entity {shop}"),
    (Effect::Read, "review-callback failed"),
    (Effect::Act, "review-callback resubmit --message {failed}"),
    (Effect::Act, "review-callback delete --message {failed}"),
    (Effect::Read, "review-callback log --entity {shop}"),
    (Effect::Read, "risk check {rules}"),
    (Effect::Read, "risk evaluate {rules} --input {payments}"),
    (Effect::Act, "risk add --entity {shop} {rules}"),
    (Effect::Read, "risk versions --entity {reviewed}"),
    (Effect::Read, "risk show --entity {reviewed} {version}"),
    (Effect::Act, "risk activate --entity {reviewed} none"),
    (Effect::Act, "risk shadow --entity {reviewed} {version}"),
    (Effect::Read, "risk dry-run --entity {shop} {rules} --from 2020-01-01 --to 2099-12-31"),
    (Effect::Read, "risk explain --entity {reviewed} {held}"),
    (Effect::Read, "risk audit --entity {reviewed}"),
    (Effect::Act, "risk list add --entity {shop} deny email a@b.example"),
    (
        Effect::Act,
        "risk list add --entity {shop} deny email a@b.example && risk list remove --entity {shop} deny email a@b.example",
    ),
    (Effect::Read, "risk list show --entity {shop}"),
    (Effect::Read, "report transactions --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report totals --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report authorizations --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report chargebacks --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report settlements --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report fees --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Read, "report reconciliations --entity {shop} --from 2026-01-01 --to 2026-01-31"),
    (Effect::Act, "dispute open --entity {shop} {paid} --reason 000.100.203"),
    (Effect::Act, "dispute advance {dispute} reversal"),
    (Effect::Read, "dispute list"),
    (Effect::Read, "dispute show {dispute}"),
    (Effect::Act, "dispute evidence {dispute} --add {receipt}"),
    (Effect::Read, "dispute evidence {dispute} --save {evidence} --output {new}"),
    (Effect::Act, "settlement set --entity {shop} --file {terms}"),
    (Effect::Read, "settlement show --entity {shop}"),
    (Effect::Act, "settlement import {lines} --institute Acme --entity {shop}"),
    (Effect::Read, "settlement unmatched --entity {shop}"),
    (Effect::Act, "settlement match --record {record} --payment {external}"),
    (Effect::Act, "settlement reject --record {record} --reason Foreign"),
    (Effect::Act, "fx-rate import {rates}"),
    (Effect::Read, "audit verify"),
    (Effect::Read, "audit export"),
    (Effect::Read, "verify"),
    (Effect::Act, "seal accept --table fx_rate --reason Repair"),
    (Effect::Act, "demo-data --entity {empty} --payments 20"),
    (Effect::Act, "backup --to {new}"),
    (Effect::Act, "restore --from {backup}"),
];

/// A store with something for every command, in a folder of its own.
struct PreparedStore {
    gateway: TestGateway,
    /// The file of the store.
    backup: PathBuf,
    /// Its rows.
    rows: Rows,
    /// Values for the words in braces.
    values: BTreeMap<&'static str, String>,
}

/// All rows of a store, by table.
type Rows = BTreeMap<String, Vec<Vec<rusqlite::types::Value>>>;

/// Returns a text of a command's output.
fn field(output: &Value, name: &str) -> anyhow::Result<String> {
    Ok(output[name].as_str().with_context(|| format!("no {name} in {output}"))?.to_owned())
}

impl PreparedStore {
    /// Starts a gateway, does everything that the commands need, and copies its store.
    async fn create() -> anyhow::Result<Self> {
        let gateway = TestGateway::start_with(&LOOPBACK)?;
        let backup = gateway.folder().join("prepared.db");
        let mut store = Self { gateway, backup, rows: Rows::new(), values: BTreeMap::new() };
        store.write_files()?;
        let shop = store.add_payments().await?;
        store.add_messages(&shop).await?;
        store.add_rows()?;
        let target = store.backup.display().to_string();
        store.gateway.run_command(&["backup", "--to", &target])?;
        store.rows = read_rows(&store.backup)?;
        store.values.insert("backup", target);
        Ok(store)
    }

    fn run(&self, arguments: &str) -> anyhow::Result<Value> {
        let words = self.replace_words(arguments, Path::new(""))?;
        self.gateway.run_command(&words.iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn write_files(&mut self) -> anyhow::Result<()> {
        for (name, content) in [
            ("rules", REVIEW_EVERYTHING),
            ("payments", r#"[{ "amount": "9.00", "currency": "EUR" }]"#),
            ("receipt", "%PDF-1.4\n%%EOF\n"),
            ("terms", "cut_off = \"18:00\"\n"),
            ("rates", "date,from,to,rate\n2026-11-01,USD,EUR,0.8641\n"),
            ("password", "secret\n"),
        ] {
            let path = self.gateway.folder().join(name);
            fs::write(&path, content)?;
            self.values.insert(name, path.display().to_string());
        }
        let line = FileLine { reference: "2", order: "order-0002", amount: "7.00", ..Default::default() };
        let lines = write_file(&self.gateway, format_file(&[line]))?;
        self.values.insert("lines", lines.display().to_string());
        Ok(())
    }

    /// Adds a merchant with payments, a dispute with evidence and an unmatched line, and a held payment of another one.
    async fn add_payments(&mut self) -> anyhow::Result<MerchantClient> {
        let reviewed = create_reviewed_shop(&self.gateway, "hold", &[]).await?;
        self.values.insert("held", reviewed.pay_by_card(&[]).await?.id().to_owned());
        self.values.insert("reviewed", reviewed.entity_id.clone());
        let versions = self.run("risk versions --entity {reviewed}")?;
        self.values.insert("version", field(&versions["versions"][0], "version")?);
        let shop = self.gateway.create_merchant()?;
        complete_file(&self.gateway, &shop, today(), 1).await?;
        self.values.extend([("shop", shop.entity_id.clone()), ("day", today().to_string())]);
        self.values.insert("paid", shop.pay_by_card(&[]).await?.id().to_owned());
        self.values.insert("disputed", shop.pay_by_card(&[]).await?.id().to_owned());
        let opened = self.run("dispute open --entity {shop} {disputed} --reason 000.100.203")?;
        self.values.insert("dispute", field(&opened, "disputeId")?);
        let evidence = self.run("dispute evidence {dispute} --add {receipt}")?;
        self.values.insert("evidence", field(&evidence, "id")?);
        let external = pay_externally(&shop, "10.00", "order-0001").await?;
        self.values.insert("external", external.id().to_owned());
        let line = FileLine { reference: "1", order: "order-0001", amount: "9.00", ..Default::default() };
        import_text(&self.gateway, &shop, format_file(&[line]), &[])?;
        let unmatched = read_unmatched(&self.gateway, &shop)?;
        let line = unmatched.first().context("no line is unmatched")?;
        self.values.insert("record", text(line, "recordId").to_owned());
        set_server_with_password(&self.gateway, &shop, "ftps://a@127.0.0.1/b", &["--from", &today().to_string()])?;
        Ok(shop)
    }

    /// Adds a webhook with a message, and a review callback that has failed.
    async fn add_messages(&mut self, shop: &MerchantClient) -> anyhow::Result<()> {
        let receiver = Receiver::start().await?;
        let created = self.run(&format!("webhook create --entity {{shop}} --url {}", receiver.url("hook")))?;
        self.values.insert("webhook", field(&created, "webhookId")?);
        self.run("webhook test --webhook {webhook} --allow-network 127.0.0.0/8")?;
        shop.pay_by_card(&[]).await?;
        let message = poll_until("the webhook has a message", async || {
            let log = self.run("webhook log --webhook {webhook}")?;
            Ok(log[0]["messageId"].as_str().map(str::to_owned))
        });
        let message = message.await?;
        self.values.insert("message", message);
        let failing = Receiver::start_with(|_| ReceiverReply::with_status(503)).await?;
        let config = format!(
            "urls = [\"{}\"]\nretry-minutes = 1\nretries = 1\nkeys = [{{ name = \"id\", field = \"transactionId\" }}]\n",
            failing.url("decisions")
        );
        set_config(&self.gateway, &shop.entity_id, &config)?;
        self.values.insert("callback", write_config(&self.gateway, &config)?.display().to_string());
        self.run("review-callback test --entity {shop}")?;
        let failed = poll_until("the callback has failed", async || {
            shop.advance_clock("2m").await?;
            let failed = self.run("review-callback failed")?;
            Ok(failed[0]["messageId"].as_str().map(str::to_owned))
        });
        let failed = failed.await?;
        self.values.insert("failed", failed);
        Ok(())
    }

    /// Adds a token, keys and a user.
    fn add_rows(&mut self) -> anyhow::Result<()> {
        self.values.insert("empty", self.gateway.create_merchant()?.entity_id);
        let token = self.run("token create --entity {shop}")?;
        self.values.insert("user", field(&token, "userId")?);
        self.run("ftp-user create --entity {shop} --name reader")?;
        self.run("user create --mail robin@shop.example --name Robin --role viewer")?;
        let key = self.run("wallet-key create --entity {shop}")?;
        self.values.insert("wallet-key", field(&key, "keyId")?);
        let keys = self.run("vault list")?;
        self.values.insert("vault-key", field(&keys[0], "key")?);
        Ok(())
    }

    /// Replaces the words in braces. `{new}` is a file in `folder` that does not exist.
    fn replace_words(&self, arguments: &str, folder: &Path) -> anyhow::Result<Vec<String>> {
        let replace = |word: &str| match word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) {
            Some("new") => Ok(folder.join("new").display().to_string()),
            Some(name) => Ok(self.values.get(name).with_context(|| format!("no value for {word}"))?.clone()),
            None => Ok(word.to_owned()),
        };
        arguments.split(' ').map(replace).collect()
    }

    /// Runs a line of [`COMMANDS`] on a copy of the store, and compares the store before and after its last command.
    async fn check_effect(&self, effect: Effect, line: &str) -> anyhow::Result<()> {
        let folder = tempfile::tempdir_in(self.gateway.folder())?;
        let data = folder.path().join("data");
        fs::create_dir(&data)?;
        let file = data.join("tillgate.db");
        fs::copy(&self.backup, &file)?;
        fs::copy(self.gateway.folder().join("data.key"), folder.path().join("data.key"))?;
        let mut before = Cow::Borrowed(&self.rows);
        for (number, command) in line.split(" && ").enumerate() {
            if number > 0 {
                before = Cow::Owned(read_rows(&file)?);
            }
            if command.starts_with("seal accept") {
                // The copy has no row of the program's own in this table.
                let edit = "INSERT INTO fx_rate (source, target, day, rate) VALUES ('USD', 'EUR', '2020-01-01', '0.9')";
                Connection::open(&file)?.execute(edit, [])?;
                before = Cow::Owned(read_rows(&file)?);
            }
            let words = self.replace_words(command, folder.path())?;
            let data = data.display().to_string();
            let arguments = words.iter().map(String::as_str).chain(["--data", &data, "--json"]);
            let output = run_tillgate(&arguments.collect::<Vec<_>>()).await?;
            anyhow::ensure!(output.status.success(), "{command} failed: {}", output_text(&output));
        }
        let after = read_rows(&file)?;
        let changed: Vec<&String> = after.keys().filter(|table| before.get(*table) != after.get(*table)).collect();
        match effect {
            Effect::Read => anyhow::ensure!(changed.is_empty(), "{line} is no read: it changes {changed:?}"),
            Effect::Act => {
                let (before, after) = (&before["audit_entry"], &after["audit_entry"]);
                anyhow::ensure!(after.starts_with(before), "{line} changes entries of the audit log");
                anyhow::ensure!(after.len() > before.len(), "{line} leaves no entry, and changes {changed:?}");
            }
        }
        Ok(())
    }
}

/// Reads all rows of the store in a file.
fn read_rows(file: &Path) -> anyhow::Result<Rows> {
    let database = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    let mut statement = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?;
    let tables: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
    let mut all = Rows::new();
    for table in tables {
        let order = if table == "audit_entry" { "ORDER BY number" } else { "" };
        let mut statement = database.prepare(&format!("SELECT * FROM {table} {order}"))?;
        let columns = statement.column_count();
        let rows = statement.query_map([], |row| (0..columns).map(|column| row.get(column)).collect())?;
        all.insert(table, rows.collect::<Result<_, _>>()?);
    }
    Ok(all)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_only_reads_or_leaves_an_entry_in_the_audit_log() -> anyhow::Result<()> {
    let store = PreparedStore::create().await?;
    let checks = COMMANDS.iter().map(|(effect, line)| store.check_effect(*effect, line));
    let outcomes: Vec<anyhow::Result<()>> = stream::iter(checks).buffered(CONCURRENT_COMMANDS).collect().await;
    let faults: Vec<String> = outcomes.into_iter().filter_map(Result::err).map(|fault| format!("{fault:#}")).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[tokio::test]
async fn every_command_is_in_the_list_of_these_tests() -> anyhow::Result<()> {
    let commands: BTreeSet<String> = read_command_helps().await?.into_keys().collect();
    let is_listed = |command: &str, line: &str| line == command || line.starts_with(&format!("{command} "));
    let last = |line: &'static str| line.rsplit(" && ").next().unwrap_or_default();
    for command in &commands {
        let is_known = RUNNING.iter().any(|(running, _)| running == command)
            || COMMANDS.iter().any(|(_, line)| is_listed(command, last(line)));
        assert!(is_known, "`{command}` is new: add it to COMMANDS as a read or an act, or to RUNNING with the reason");
    }
    for (running, reason) in RUNNING {
        assert!(commands.contains(running), "there is no command {running} ({reason})");
    }
    for (_, line) in COMMANDS {
        assert!(commands.iter().any(|command| is_listed(command, last(line))), "there is no command for {line}");
    }
    Ok(())
}
