//! The command line. Every command can run while a server is running, accepts `--json`, and shows an example in
//! `--help`.

mod access;
mod administration;
mod data;
mod delivery;
mod dispute;
mod input_file;
mod keys;
mod options;
mod report;
mod review;
mod risk;
mod sandbox;
mod seal;
mod serve;
mod settlement;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow};
use clap::{Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tillgate_domain::refusal::Refusal;
use tillgate_shared::parameter::ParameterError;
use tillgate_store::{AdminStore, StoreError};

use keys::vault_key::{add_key_option, find_vault, keep_key_option, read_vault};

/// A self-hosted payment gateway with a hosted payment form.
#[derive(Debug, Parser)]
#[command(name = "tillgate", version = tillgate_api::BUILD_NUMBER, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the gateway.
    Serve(serve::Serve),
    /// Run the gateway and a demo shop beside it, ready to pay in a browser.
    Demo(sandbox::demo::Demo),
    /// Run an acquirer's host that moves play money, for sandboxes and tests.
    AcquirerHost(sandbox::acquirer_host::AcquirerHostCommand),
    /// Create, change, show and list entities: PSPs, divisions, merchants, and their channels.
    #[command(subcommand)]
    Entity(access::entity::EntityCommand),
    /// Create, list and revoke access tokens.
    #[command(subcommand)]
    Token(access::token::TokenCommand),
    /// Create, list and revoke the users who read reconciliation files by FTP.
    #[command(subcommand)]
    FtpUser(serve::ftp_user::FtpUserCommand),
    /// Push reconciliation files to a merchant's FTPS or SFTP server: set and remove it, show and repeat deliveries.
    #[command(subcommand)]
    FilePush(delivery::file_push::FilePushCommand),
    /// Create, list and retire the key pairs that wallets encrypt their tokens for.
    #[command(subcommand)]
    WalletKey(keys::wallet::WalletKeyCommand),
    /// Make wallet tokens to try out a sandbox entity with.
    #[command(subcommand)]
    WalletToken(keys::wallet::WalletTokenCommand),
    /// Create users of the back office, invite and disable them, and give and take roles.
    #[command(subcommand)]
    User(access::user::UserCommand),
    /// Create, test, list and delete webhooks, show what they have sent, and send it again.
    #[command(subcommand)]
    Webhook(delivery::webhook::WebhookCommand),
    /// Move the clock of a sandbox entity, so that what would happen later happens now.
    #[command(subcommand)]
    Clock(sandbox::clock::ClockCommand),
    /// Give everything that is sealed another key, and list and retire keys.
    #[command(subcommand)]
    Vault(keys::vault::VaultCommand),
    /// List the payments that the fraud check holds, claim, note and decide them.
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Tell a merchant's server of review decisions: configure, try out, list and send again what failed.
    #[command(subcommand)]
    ReviewCallback(review::callback::ReviewCallbackCommand),
    /// Check rules of the fraud check, try them out, and store them with their lists.
    #[command(subcommand)]
    Risk(risk::RiskCommand),
    /// Report totals of payments, the authorization rate, and chargebacks.
    #[command(subcommand)]
    Report(report::ReportCommand),
    /// Open disputes and move them as the clearing institute reports, list and show them with their evidence.
    #[command(subcommand)]
    #[command(alias = "chargeback")]
    Dispute(dispute::command::DisputeCommand),
    /// Set and show the terms by which sandboxes are settled, import files of clearing institutes, and match their
    /// lines.
    #[command(subcommand)]
    Settlement(settlement::SettlementCommand),
    /// Add rates of exchange for settlements.
    #[command(subcommand)]
    FxRate(settlement::FxRateCommand),
    /// Verify and export the audit log.
    #[command(subcommand)]
    Audit(data::audit::AuditCommand),
    /// Verify that payments, journal, settlement lines and balances agree.
    Verify(data::audit::Verify),
    /// Accept rows of the store that another program has changed.
    #[command(subcommand)]
    Seal(seal::SealCommand),
    /// Copy the whole store to a new file, while a server may be running on it.
    Backup(data::backup::Backup),
    /// Put a backup in the place of the store.
    Restore(data::restore::Restore),
}

/// Options of every command.
#[derive(Debug, Args)]
struct CommonOptions {
    /// The data folder. It holds one SQLite file.
    #[arg(long, value_name = "DIR", env = "TILLGATE_DATA", default_value = "tillgate-data")]
    data: PathBuf,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

impl CommonOptions {
    /// Prints the outcome of a command to standard output: with `--json` as JSON, otherwise as `text` formats it. A
    /// closed pipe is no error.
    fn print_output<T: serde::Serialize>(&self, outcome: &T, text: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
        use std::io::Write as _;
        let output = if self.json { serde_json::to_string(outcome)? } else { text(outcome) };
        // A closed pipe (`tillgate token list | head -1`) is not an error.
        let _ = writeln!(std::io::stdout(), "{output}");
        Ok(())
    }
}

/// Opens an existing store. A mistyped folder is reported as an error; no store is created in it.
fn open_existing(data: &Path) -> anyhow::Result<AdminStore> {
    let store = AdminStore::open_existing(data, find_vault(data).as_ref())?;
    store.with_context(|| format!("there is no store in {}", data.display()))
}

/// Opens a store, or creates it.
fn open_store(data: &Path) -> Result<AdminStore, StoreError> {
    // A key that cannot be read is reported when the vault is opened, or when the sealed store refuses a write.
    AdminStore::open_with_vault(data, read_vault(data).ok().flatten().as_ref())
}

/// Names the options at fault, each with its message: `date.from` is `--from`, and `groupBy` is `--group-by`.
fn describe_refusal(refusal: &Refusal) -> anyhow::Error {
    let describe = |error: &ParameterError| {
        let option = match error.name.as_ref() {
            "groupBy" => "group-by",
            name => name.strip_prefix("date.").unwrap_or(name),
        };
        format!("--{option} {}", error.message)
    };
    anyhow!("{}", refusal.parameters.iter().map(describe).collect::<Vec<_>>().join("; "))
}

/// Runs the command line of this process. An error is printed to the standard error stream with its causes, and gives
/// the exit code 1.
pub fn run() -> ExitCode {
    let command = add_key_option(Cli::command());
    let arguments = access::argument::name_entity(&command, std::env::args_os().collect());
    let matches = command.get_matches_from(arguments);
    keep_key_option(&matches);
    let outcome = match Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command {
        Command::Serve(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::AcquirerHost(command) => command.run(),
        Command::Entity(command) => command.run(),
        Command::Token(command) => command.run(),
        Command::FtpUser(command) => command.run(),
        Command::FilePush(command) => command.run(),
        Command::WalletKey(command) => command.run(),
        Command::WalletToken(command) => command.run(),
        Command::User(command) => command.run(),
        Command::Webhook(command) => command.run(),
        Command::Clock(command) => command.run(),
        Command::Vault(command) => command.run(),
        Command::Review(command) => command.run(),
        Command::ReviewCallback(command) => command.run(),
        Command::Risk(command) => command.run(),
        Command::Report(command) => command.run(),
        Command::Dispute(command) => command.run(),
        Command::Settlement(command) => command.run(),
        Command::FxRate(command) => command.run(),
        Command::Audit(command) => command.run(),
        Command::Verify(command) => command.run(),
        Command::Seal(command) => command.run(),
        Command::Backup(command) => command.run(),
        Command::Restore(command) => command.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tillgate: {error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn no_command_is_hidden_from_the_help_text() {
        // A test runs every command that the help texts list, and compares the audit log before and after.
        let mut open = vec![Cli::command()];
        while let Some(command) = open.pop() {
            assert!(!command.is_hide_set(), "{}", command.get_name());
            open.extend(command.get_subcommands().cloned());
        }
    }

    #[test]
    fn the_old_name_of_a_command_still_works() {
        let matches = Cli::command().try_get_matches_from(["tillgate", "chargeback", "list"]).unwrap();
        assert_eq!(matches.subcommand_name(), Some("dispute"));
    }

    #[test]
    fn the_operating_page_lists_every_option_of_serve_with_its_variable_and_default() {
        let page = include_str!("../../../docs/operating.md");
        let cli = Cli::command();
        let options: Vec<_> = cli.find_subcommand("serve").unwrap().get_arguments().collect();
        assert!(options.len() > 30, "{}", options.len());
        for option in options {
            let Some(name) = option.get_long().filter(|name| *name != "json") else { continue };
            let is_row =
                |line: &&str| line.starts_with(&format!("| `--{name} ")) || line.starts_with(&format!("| `--{name}` "));
            let row = page.lines().find(is_row).unwrap_or_else(|| panic!("docs/operating.md lacks --{name}"));
            let variable = option.get_env().map(|variable| variable.to_string_lossy().into_owned());
            let defaults = option.get_default_values().iter().map(|value| value.to_string_lossy().into_owned());
            for text in variable.into_iter().chain(defaults) {
                assert!(row.contains(&format!("| `{text}` |")), "{text} of --{name}: {row}");
            }
        }
    }
}
