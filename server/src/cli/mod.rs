//! The command line. Every command accepts `--json`, and shows an example in `--help`. Every command can run while a
//! server is running, except `demo-data`, `restore` and `store reopen`.

mod access;
mod administration;
mod check_page;
mod data_place;
mod delivery;
mod dispute;
mod input_file;
mod keys;
mod line;
mod maintenance;
mod payment;
mod report;
mod review;
mod risk;
mod sandbox;
mod seal;
mod serve;
mod settlement;
mod table;

use std::process::ExitCode;

use anyhow::anyhow;
use clap::{ArgMatches, Args, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};
use tillgate_domain::refusal::Refusal;
use tillgate_gateway::administration::ActError;
use tillgate_shared::parameter::ParameterError;

use data_place::DataPlace;
use keys::vault_key::{add_key_option, keep_key_option};

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
    /// Run the gateway together with a demo shop that accepts test payments in a browser.
    Demo(sandbox::demo::Demo),
    /// Fill a sandbox with a month of payments, for demonstrations and tests.
    DemoData(sandbox::demo_data::DemoData),
    /// Run an acquirer's host with play money, for sandboxes and tests.
    AcquirerHost(sandbox::acquirer_host::AcquirerHostCommand),
    /// Write the settlement file of a test host, for `tillgate settlement import`.
    AcquirerSettlement(sandbox::acquirer_settlement::AcquirerSettlementCommand),
    /// Run a 3DS server with simulated issuers, for sandboxes and tests.
    ThreeDsServer(sandbox::three_ds_server::ThreeDsServerCommand),
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
    /// Create wallet tokens for tests with a sandbox entity.
    #[command(subcommand)]
    WalletToken(keys::wallet::WalletTokenCommand),
    /// Create users of the back office, invite and disable them, and give and take roles.
    #[command(subcommand)]
    User(access::user::UserCommand),
    /// Create, test, list and delete webhooks, and show and replay their messages.
    #[command(subcommand)]
    Webhook(delivery::webhook::WebhookCommand),
    /// Move the clock of a sandbox entity forward, to test later events.
    #[command(subcommand)]
    Clock(sandbox::clock::ClockCommand),
    /// Check a merchant's page for faults in the form's integration.
    CheckPage(check_page::CheckPage),
    /// Rotate, list and retire the vault's encryption keys.
    #[command(subcommand)]
    Vault(keys::vault::VaultCommand),
    /// Show the messages between the gateway and an external connector about a payment.
    #[command(subcommand)]
    Payment(payment::PaymentCommand),
    /// List the lines to acquirers, take them out and put them back.
    #[command(subcommand)]
    Line(line::LineCommand),
    /// List, claim and decide the payments in the review queue.
    #[command(subcommand)]
    Review(review::ReviewCommand),
    /// Configure and test callbacks about review decisions, and resend failed ones.
    #[command(subcommand)]
    ReviewCallback(review::callback::ReviewCallbackCommand),
    /// Check, test and store the rules and lists of the risk check.
    #[command(subcommand)]
    Risk(risk::RiskCommand),
    /// Report payments, authorization rates, chargebacks, settlements and fees.
    #[command(subcommand)]
    Report(report::ReportCommand),
    /// Open disputes, advance them to their next stage, and show them with their evidence.
    #[command(subcommand)]
    #[command(alias = "chargeback")]
    Dispute(dispute::command::DisputeCommand),
    /// Set settlement terms, import settlement files of clearing institutes, and match their lines.
    #[command(subcommand)]
    Settlement(settlement::SettlementCommand),
    /// Add exchange rates for settlements.
    #[command(subcommand)]
    FxRate(settlement::FxRateCommand),
    /// Verify and export the audit log.
    #[command(subcommand)]
    Audit(maintenance::audit::AuditCommand),
    /// Verify that payments, ledger, settlement lines and balances agree.
    Verify(maintenance::audit::Verify),
    /// Accept rows of the store that another program has changed.
    #[command(subcommand)]
    Seal(seal::SealCommand),
    /// Copy the whole store to a new file, even while a server uses it.
    Backup(maintenance::backup::Backup),
    /// Replace the store with a backup.
    Restore(maintenance::restore::Restore),
    /// Move the store between a data folder and a database.
    #[command(subcommand)]
    Store(maintenance::store::StoreCommand),
}

/// Options of every command.
#[derive(Debug, Args)]
struct CommonOptions {
    #[command(flatten)]
    place: DataPlace,
    /// Print JSON instead of text.
    #[arg(long)]
    json: bool,
}

impl CommonOptions {
    /// Prints the outcome of a command to standard output: with `--json` as JSON, otherwise as `text` formats it. A
    /// closed pipe is no error.
    fn print_output<T: serde::Serialize>(&self, outcome: &T, text: impl FnOnce(&T) -> String) -> anyhow::Result<()> {
        print_output(self.json, outcome, text)
    }
}

/// Prints the outcome of a command as [`CommonOptions::print_output`] does, for a command with other places.
fn print_output<T: serde::Serialize>(
    is_json: bool,
    outcome: &T,
    text: impl FnOnce(&T) -> String,
) -> anyhow::Result<()> {
    use std::io::Write as _;
    let output = if is_json { serde_json::to_string(outcome)? } else { text(outcome) };
    // A closed pipe (`tillgate token list | head -1`) is not an error.
    let _ = writeln!(std::io::stdout(), "{output}");
    Ok(())
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

/// Returns the option of the command whose value an act refuses, such as `--url`. The texts of acts name the thing and
/// not the option, because the API shows them as well. `None` if the command has no such option.
fn find_refused_option(command: &clap::Command, matches: &ArgMatches, error: &anyhow::Error) -> Option<String> {
    let refused = error.chain().find_map(|cause| match cause.downcast_ref::<ActError>()? {
        ActError::Refused { parameter, message } => Some((*parameter, message)),
        _ => None,
    });
    let (parameter, message) = refused?;
    let (mut command, mut matches) = (command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        (command, matches) = (command.find_subcommand(name)?, inner);
    }
    let option = format!("--{parameter}");
    let has_option = command.get_arguments().any(|argument| argument.get_long() == Some(parameter));
    (has_option && !message.contains(&option)).then_some(option)
}

/// Runs the command line of this process. An error is printed to the standard error stream with its causes, and gives
/// the exit code 1.
pub fn run() -> ExitCode {
    let command = add_key_option(Cli::command());
    let arguments = access::argument::name_entity(&command, std::env::args_os().collect());
    let matches = command.clone().get_matches_from(arguments);
    keep_key_option(&matches);
    let outcome = match Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit()).command {
        Command::Serve(command) => command.run(),
        Command::Demo(command) => command.run(),
        Command::DemoData(command) => command.run(),
        Command::AcquirerHost(command) => command.run(),
        Command::AcquirerSettlement(command) => command.run(),
        Command::ThreeDsServer(command) => command.run(),
        Command::Entity(command) => command.run(),
        Command::Token(command) => command.run(),
        Command::FtpUser(command) => command.run(),
        Command::FilePush(command) => command.run(),
        Command::WalletKey(command) => command.run(),
        Command::WalletToken(command) => command.run(),
        Command::User(command) => command.run(),
        Command::Webhook(command) => command.run(),
        Command::Clock(command) => command.run(),
        // Its exit codes are those of a check.
        Command::CheckPage(command) => return command.run(),
        Command::Vault(command) => command.run(),
        Command::Payment(command) => command.run(),
        Command::Line(command) => command.run(),
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
        Command::Store(command) => command.run(),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let option = find_refused_option(&command, &matches, &error).map(|option| format!(" ({option})"));
            eprintln!("tillgate: {error:#}{}", option.unwrap_or_default());
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
