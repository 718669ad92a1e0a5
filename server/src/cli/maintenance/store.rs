//! `tillgate store`: moves the store between a data folder and a database.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::ensure;
use clap::{Args, Subcommand};
use serde::Serialize;
use tillgate_store::copy::{CopyError, MovedStore, StoreCopy};
use tillgate_store::{AdminStore, StoreLocation};
use tillgate_vault::Vault;

use crate::cli::data_place::{AddressNames, PlaceText, describe_remedy};
use crate::cli::keys::vault_key::{VaultKeyOptions, read_vault};
use crate::cli::{CommonOptions, print_output};

const FROM: AddressNames =
    AddressNames { address: "--from", variable: "TILLGATE_COPY_FROM", password_file: "--from-password-file" };
const TO: AddressNames =
    AddressNames { address: "--to", variable: "TILLGATE_COPY_TO", password_file: "--to-password-file" };

/// Longest pass of a copy that has caught up: the last one, in which nobody can write, takes about as long.
const SHORT_PASS: Duration = Duration::from_secs(2);
/// Largest number of passes. Under a load that never ends, further ones are not shorter.
const MAX_PASSES: u32 = 10;
/// Minimum time between two progress lines.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);
/// Pause between two questions whether the gateway has ended.
const ASK_INTERVAL: Duration = Duration::from_millis(100);
/// Rest after a pass while the gateway has not ended, in durations of the pass, so that most of the time it has the
/// machine for itself.
const REST: u32 = 4;
/// Minimum of this rest.
const SHORTEST_REST: Duration = Duration::from_secs(2);

#[derive(Debug, Subcommand)]
pub(in crate::cli) enum StoreCommand {
    Copy(CopyStore),
    Reopen(ReopenStore),
}

/// Copy the store from a data folder into a database, or back, while a gateway uses it, and with --switch move it
/// there. If the command was interrupted, run it again to continue. See docs/scaling.md.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate store copy --from ./tillgate-data --to postgres://tillgate@db.example/tillgate \
    --to-password-file /etc/tillgate/password\n\n\
    Without --switch nothing moves: the gateway goes on with its store, and the copy cannot be opened. With --switch the\n\
    command waits until the gateway has been stopped, and then moves the store. Start the gateway again with the new\n\
    place in --data or --database, and with the same keys of the vault."
)]
pub(in crate::cli) struct CopyStore {
    /// Data folder or address of the database with the store. An address with a password is accepted from the variable
    /// only.
    // Help texts show the values of variables, and this one may have a password.
    #[arg(long, value_name = "DIR|ADDRESS", env = "TILLGATE_COPY_FROM", hide_env_values = true)]
    #[arg(value_parser = PlaceText::accept)]
    from: PlaceText,
    /// File with the password of the database of --from, readable only by its owner.
    #[arg(long, value_name = "FILE", env = "TILLGATE_COPY_FROM_PASSWORD_FILE")]
    from_password_file: Option<PathBuf>,
    /// Empty data folder, or address of the empty database, that gets the store. An address with a password is accepted
    /// from the variable only.
    #[arg(long, value_name = "DIR|ADDRESS", env = "TILLGATE_COPY_TO", hide_env_values = true)]
    #[arg(value_parser = PlaceText::accept)]
    to: PlaceText,
    /// File with the password of the database of --to, readable only by its owner.
    #[arg(long, value_name = "FILE", env = "TILLGATE_COPY_TO_PASSWORD_FILE")]
    to_password_file: Option<PathBuf>,
    /// Move the store as soon as no gateway uses it. The old place then refuses every server and command.
    #[arg(long)]
    switch: bool,
    #[command(flatten)]
    vault: VaultKeyOptions,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

/// Open a store again that has moved, as it was before the move. What was written in the other place since is not in
/// it, so use it only if the other place is lost or was never used. No gateway may use the other place any more.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate store reopen --data ./tillgate-data\n\n\
    To take a store back with everything that was written since, use `tillgate store copy`.")]
pub(in crate::cli) struct ReopenStore {
    #[command(flatten)]
    common: CommonOptions,
}

#[derive(Serialize)]
struct CopyProgress {
    copied: u64,
}

/// A copy that has caught up.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CopyOutput {
    from: String,
    to: String,
    /// False until the store has moved.
    moved: bool,
    copied: u64,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MoveOutput {
    from: String,
    to: String,
    moved: bool,
    tables: usize,
    rows: u64,
    head: String,
    pause_milliseconds: u128,
}

#[derive(Serialize)]
struct ReopenOutput {
    reopened: String,
    other: String,
}

impl StoreCommand {
    pub(in crate::cli) fn run(self) -> anyhow::Result<()> {
        match self {
            Self::Copy(command) => command.run(),
            Self::Reopen(command) => command.run(),
        }
    }
}

impl CopyStore {
    /// Copies the store until the copy has caught up, and prints progress. With `--switch`, waits until no server uses
    /// the store, and moves it.
    fn run(self) -> anyhow::Result<()> {
        let (from, to) = self.locate_places()?;
        let vault = self.read_keys(if from.is_database() { to.folder() } else { from.folder() })?;
        let mut copy = StoreCopy::open(&from, &to, vault.as_ref()).map_err(describe_failure)?;
        let copied = self.catch_up(&mut copy)?;
        let mut output =
            CopyOutput { from: copy.source_name().to_owned(), to: copy.target_name().to_owned(), moved: false, copied };
        if !self.switch {
            return print_output(self.json, &output, |CopyOutput { from, to, .. }| {
                format!(
                    "{to} has a copy of {from}, in which {copied} rows were written. Nothing has moved: run the command again \
                     with --switch to move the store"
                )
            });
        }
        let moved = self.wait_and_switch(&mut copy, vault.as_ref(), &output)?;
        output.moved = true;
        self.print_move(output, &moved)
    }

    /// Returns the locations of both places, of which one is a folder and the other one a database.
    fn locate_places(&self) -> anyhow::Result<(StoreLocation, StoreLocation)> {
        let folder = match (self.from.is_database(), self.to.is_database()) {
            (false, true) => self.from.folder(),
            (true, false) => self.to.folder(),
            (false, false) => anyhow::bail!(
                "--from and --to are both folders: one of them has to be the address of a database, such as \
                 postgres://name@host/database. `tillgate backup` and `restore` copy a folder"
            ),
            (true, true) => anyhow::bail!(
                "--from and --to are both databases: one of them has to be a data folder. The tools of PostgreSQL copy a \
                 database, such as `pg_dump` and `pg_restore`"
            ),
        };
        let from = FROM.locate_either(&self.from, folder, self.from_password_file.as_deref())?;
        let to = TO.locate_either(&self.to, folder, self.to_password_file.as_deref())?;
        Ok((from, to))
    }

    /// Reads the keys of the vault, by default those beside the data folder. `None` if there are none.
    fn read_keys(&self, folder: &Path) -> anyhow::Result<Option<Vault>> {
        let keys = self.vault.find_source(folder)?.read_keys()?;
        Ok(keys.as_deref().and_then(Vault::with_keys))
    }

    /// Runs passes until one is short. Returns the number of rows that were written.
    fn catch_up(&self, copy: &mut StoreCopy) -> anyhow::Result<u64> {
        let (mut before, mut printed) = (0, Instant::now());
        for number in 1..=MAX_PASSES {
            let pass = copy.catch_up(|written| {
                if printed.elapsed() >= PROGRESS_INTERVAL {
                    printed = Instant::now();
                    let progress = CopyProgress { copied: before + written };
                    let text = |progress: &CopyProgress| format!("{} rows", progress.copied);
                    let _ = print_output(self.json, &progress, text);
                }
            });
            let pass = pass.map_err(describe_failure)?;
            before += pass.written;
            // The first pass is short only if there is little to copy.
            if number > 1 && pass.duration <= SHORT_PASS {
                break;
            }
        }
        Ok(before)
    }

    /// Follows the store until no server uses it, and moves it at once.
    fn wait_and_switch(
        &self,
        copy: &mut StoreCopy,
        vault: Option<&Vault>,
        output: &CopyOutput,
    ) -> anyhow::Result<MovedStore> {
        let mut next_pass = Instant::now() + SHORTEST_REST;
        let mut is_told = false;
        loop {
            if let Some(moved) = copy.try_switch(vault).map_err(describe_failure)? {
                return Ok(moved);
            }
            if !is_told {
                is_told = true;
                print_output(self.json, output, |CopyOutput { from, .. }| {
                    format!("caught up: stop the gateway that uses {from}. The store moves as soon as it has ended")
                })?;
            }
            // Nothing tells a command of another process when a server has ended.
            std::thread::sleep(ASK_INTERVAL);
            if Instant::now() >= next_pass {
                let pass = copy.catch_up(|_| ()).map_err(describe_failure)?;
                next_pass = Instant::now() + (pass.duration * REST).max(SHORTEST_REST);
            }
        }
    }

    fn print_move(&self, output: CopyOutput, moved: &MovedStore) -> anyhow::Result<()> {
        let CopyOutput { from, to, moved: is_moved, .. } = output;
        let MovedStore { tables, rows, head, pause } = moved;
        let output = MoveOutput {
            from,
            to,
            moved: is_moved,
            tables: *tables,
            rows: *rows,
            head: head.clone(),
            pause_milliseconds: pause.as_millis(),
        };
        print_output(self.json, &output, |output| {
            let MoveOutput { from, to, tables, rows, head, .. } = output;
            let remedy = match self.to.is_database() {
                true => "start the gateway with --database",
                false => "start the gateway with --data",
            };
            format!(
                "{rows} rows in {tables} tables have moved to {to}, with a pause of {:.1} s; the head of the audit log is \
                 {head}\n\n{from} refuses servers and commands from now on: {remedy}, and check it with `tillgate verify`",
                pause.as_secs_f64()
            )
        })
    }
}

impl ReopenStore {
    /// Removes the mark of the move, and writes that into the audit log.
    fn run(self) -> anyhow::Result<()> {
        let place = &self.common.place;
        let location = place.locate()?;
        let vault = read_vault(place)?;
        ensure!(vault.is_some(), "the vault has no key: name its file with --key-file");
        let other = AdminStore::reopen_moved(&location, vault.as_ref()).map_err(describe_failure)?;
        let output = ReopenOutput { reopened: location.describe(), other };
        self.common.print_output(&output, |ReopenOutput { reopened, other }| {
            format!("{reopened} is open again, as it was before the move. Nothing must use {other} any more")
        })
    }
}

/// Describes a failure, with the remedy of a fault of a disk or database.
fn describe_failure(error: CopyError) -> anyhow::Error {
    let remedy = match &error {
        CopyError::Store(error) => describe_remedy(error),
        _ => String::new(),
    };
    let error = anyhow::Error::new(error);
    if remedy.is_empty() { error } else { error.context(format!("copying the store{remedy}")) }
}
