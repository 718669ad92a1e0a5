//! The command line: help, JSON, commands beside a running gateway, shutdown and restart of the gateway.

use std::collections::BTreeMap;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use anyhow::Context as _;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{MerchantClient, PATIENCE, TestGateway, binary_path, poll_until};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::support::*;

/// Returns a command of the binary with these arguments, without the developer's own settings.
pub fn tillgate_command(arguments: &[&str]) -> Command {
    let mut command = clear_settings(Command::new(binary_path()));
    command.args(arguments);
    command
}

/// Removes all variables `TILLGATE_…` from a command, gives it no standard input, and kills its process when it is
/// dropped.
fn clear_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TILLGATE_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command until it ends. Returns its output, whatever its exit status. Fails if it does not end in time.
pub async fn run_tillgate(arguments: &[&str]) -> anyhow::Result<Output> {
    let output = tokio::time::timeout(PATIENCE, tillgate_command(arguments).output()).await;
    Ok(output.with_context(|| format!("tillgate {} does not end", arguments.join(" ")))??)
}

/// Returns the standard output followed by the standard error stream.
pub fn output_text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A command that keeps running. Dropping it kills the process.
pub struct RunningCommand {
    child: Child,
    /// First line of its output.
    pub line: String,
    _lines: Lines<BufReader<ChildStdout>>,
}

/// Starts a command that keeps running, and reads the first line of its standard output.
pub async fn start_tillgate(arguments: &[&str]) -> anyhow::Result<RunningCommand> {
    RunningCommand::new(tillgate_command(arguments)).await
}

/// Starts a command like [`start_tillgate`], after shell commands in the same process.
pub async fn start_after_shell(shell: &str, arguments: &[&str]) -> anyhow::Result<RunningCommand> {
    let mut command = clear_settings(Command::new("sh"));
    command.args(["-c", &format!("{shell}; exec \"$@\""), "sh"]).arg(binary_path()).args(arguments);
    RunningCommand::new(command).await
}

impl RunningCommand {
    /// Starts a command and waits for the first line of its standard output. Discards its standard error stream. Fails
    /// if it ends without a line.
    async fn new(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let line = lines.next_line().await?.context("it ended at once")?;
        Ok(Self { child, line, _lines: lines })
    }

    /// Returns the address in its first line, `listening on …`, with a trailing slash.
    pub fn base(&self) -> String {
        format!("{}/", self.line.trim_start_matches("listening on "))
    }

    /// Returns its process id.
    pub fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("it has ended")
    }

    /// Sends a signal, named without SIG. Does not wait for its effect.
    pub async fn send_signal(&self, name: &str) -> anyhow::Result<()> {
        let process = self.id()?.to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &process]).status().await?;
        anyhow::ensure!(sent.success(), "{sent}");
        Ok(())
    }

    /// Waits until it has ended by itself. Fails if it does not end in time.
    pub async fn wait_for_exit(&mut self) -> anyhow::Result<ExitStatus> {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        Ok(ended.context("it does not end")??)
    }
}

/// Returns the sub-commands that a help text lists, without `help`.
fn listed_subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

/// Returns every command without sub-commands, such as `entity create`, with its help text.
pub async fn read_command_helps() -> anyhow::Result<BTreeMap<String, String>> {
    let mut open = vec![Vec::<String>::new()];
    let mut commands = BTreeMap::new();
    while let Some(path) = open.pop() {
        let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let output = run_tillgate(&arguments).await?;
        assert!(output.status.success(), "{}", output_text(&output));
        let help = output_text(&output);
        let inner = listed_subcommands(&help);
        if inner.is_empty() {
            commands.insert(path.join(" "), help);
        }
        open.extend(inner.into_iter().map(|name| path.iter().cloned().chain([name]).collect()));
    }
    Ok(commands)
}

#[tokio::test]
async fn every_command_shows_an_example_and_takes_json() -> anyhow::Result<()> {
    let commands = read_command_helps().await?;
    for (command, help) in &commands {
        let example = help.split_once("Example:").map(|(_, example)| example).unwrap_or_default();
        assert!(example.contains(&format!("tillgate {command}")), "{command}: {help}");
        assert!(help.contains("--json"), "{command}: {help}");
        // The server with simulated issuers stores nothing.
        assert!(help.contains("--data") || command == "three-ds-server", "{command}: {help}");
    }
    let expected = [
        "acquirer-host",
        "backup",
        "demo",
        "entity create",
        "entity list",
        "entity set",
        "entity show",
        "serve",
        "token create",
        "token list",
        "token revoke",
    ];
    for command in expected {
        assert!(commands.contains_key(command), "{command} is not among {:?}", commands.keys());
    }
    Ok(())
}

#[tokio::test]
async fn the_version_is_the_build_number() -> anyhow::Result<()> {
    let printed = output_text(&run_tillgate(&["--version"]).await?);
    let shape = format!("tillgate {}@9999-99-99 99:99:99 +0000", "x".repeat(40));
    assert!(has_shape(printed.trim(), &shape), "{printed}");
    Ok(())
}

#[tokio::test]
async fn entities_and_tokens_are_listed_without_their_secrets() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let json = async |arguments: &[&str]| -> anyhow::Result<Value> {
        let output = run_tillgate(&[arguments, &["--data", data, "--json"]].concat()).await?;
        anyhow::ensure!(output.status.success(), "{}", output_text(&output));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    // The first entity can be created before any gateway has run.
    let made = json(&["entity", "create", "--name", "Corner Bakery", "--live"]).await?;
    for name in ["entityId", "token", "userId", "password", "name"] {
        assert!(made[name].as_str().is_some_and(|text| !text.is_empty()), "{made}");
    }
    assert!(has_shape(made["entityId"].as_str().unwrap_or_default(), &"x".repeat(32)), "{made}");
    assert_eq!(made["live"], true);
    let entity = made["entityId"].as_str().unwrap_or_default();
    let second = json(&["token", "create", "--entity", entity, "--label", "till 2"]).await?;
    assert_eq!(second["entityId"], entity);

    let entities = json(&["entity", "list"]).await?;
    assert_eq!(entities.as_array().map(Vec::len), Some(1), "{entities}");
    assert_eq!(entities[0]["name"], "Corner Bakery");
    let tokens = json(&["token", "list", "--entity", entity]).await?;
    assert_eq!(tokens.as_array().map(Vec::len), Some(2), "{tokens}");
    for secret in [&made["token"], &made["password"], &second["token"], &second["password"]] {
        assert!(!tokens.to_string().contains(secret.as_str().unwrap_or("none")), "{tokens}");
    }
    assert_eq!(tokens[1]["label"], "till 2");

    let user = second["userId"].as_str().unwrap_or_default();
    assert_eq!(json(&["token", "revoke", "--user", user]).await?["revoked"], true);
    let tokens = json(&["token", "list"]).await?;
    assert!(tokens[1]["revoked"].is_string() && tokens[0]["revoked"].is_null(), "{tokens}");
    // A second revocation is an error.
    assert!(json(&["token", "revoke", "--user", user]).await.is_err());
    assert!(json(&["token", "create", "--entity", &"0".repeat(32)]).await.is_err());
    assert!(json(&["token", "create", "--entity", "nonsense"]).await.is_err());
    assert!(json(&["entity", "create", "--name", ""]).await.is_err());
    Ok(())
}

#[tokio::test]
async fn people_get_lines_and_programs_get_json() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let output =
        run_tillgate(&["entity", "create", "--name", "x", "--data", data.to_str().unwrap_or_default()]).await?;
    let printed = output_text(&output);
    assert!(printed.contains("entityId  ") && printed.contains("token     ") && !printed.contains('{'), "{printed}");
    Ok(())
}

#[tokio::test]
async fn the_gateway_says_where_it_listens_for_programs_as_well() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let gateway = start_tillgate(&["serve", "--data", data, "--listen", "127.0.0.1:0", "--json"]).await?;
    let started: Value = serde_json::from_str(&gateway.line)?;
    let address = started["listening"].as_str().unwrap_or_default();
    assert_eq!(reqwest::get(format!("{address}/health")).await?.status(), 200);
    Ok(())
}

#[tokio::test]
async fn the_demo_prints_credentials_that_work_and_keeps_them() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let addresses = ["--listen", "127.0.0.1:0", "--shop", "127.0.0.1:0", "--payments", "0"];
    let arguments = [&["demo", "--data", data, "--json"][..], &addresses].concat();
    let mut seen = Vec::new();
    for _ in 0..2 {
        let demo = start_tillgate(&arguments).await?;
        let started: Value = serde_json::from_str(&demo.line)?;
        let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
        assert!(
            text("shop").starts_with("http://shop.localhost:") && text("gateway").starts_with("http://pay.localhost:")
        );
        let port = text("gateway").trim_end_matches('/').rsplit(':').next().unwrap_or_default().to_owned();
        let shop = MerchantClient::new(format!("http://127.0.0.1:{port}/"), text("entityId"), text("token"));
        assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
        seen.push((text("entityId"), text("token")));
        // The printed `curl` command works as it is.
        let curl = Command::new("sh").args(["-c", &format!("{} --silent", text("curl"))]).output().await?;
        assert!(String::from_utf8_lossy(&curl.stdout).contains("000.200.100"), "{curl:?}");
        drop(demo);
    }
    assert_eq!(seen[0], seen[1]);
    let mode = std::fs::metadata(Path::new(data).join("demo.json"))?.permissions().mode();
    assert_eq!(mode & 0o077, 0);
    Ok(())
}

#[tokio::test]
async fn a_second_start_reads_what_the_first_one_wrote() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let (paid, made) = (shop.pay_by_card(&[]).await?, shop.create_checkout(&[]).await?);
    shop.submit_card(made.id(), &[]).await?;
    let status = shop.read_status(made.id()).await?;
    let gateway = gateway.kill_and_restart(&[])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(
        comparable_response(&shop.get(&format!("v1/payments/{}", paid.id())).await?),
        comparable_response(&paid)
    );
    assert_eq!(shop.read_status(made.id()).await?.text, status.text);
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_stores_files_are_their_owners_alone_also_in_a_folder_that_was_there_before() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755))?;
    let _gateway =
        start_tillgate(&["serve", "--data", data.to_str().unwrap_or_default(), "--listen", "127.0.0.1:0"]).await?;
    let mut files = 0;
    for entry in std::fs::read_dir(&data)? {
        let entry = entry?;
        let mode = entry.metadata()?.permissions().mode();
        assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", entry.path().display());
        files += 1;
    }
    assert!(files >= 2, "{files} files");
    Ok(())
}

#[tokio::test]
async fn an_address_that_is_taken_is_told() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let address = TestGateway::shared().base_url();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let output = run_tillgate(&["serve", "--data", data.to_str().unwrap_or_default(), "--listen", address]).await?;
    assert!(!output.status.success() && output_text(&output).contains(address), "{}", output_text(&output));
    Ok(())
}

#[tokio::test]
async fn options_that_make_no_sense_are_refused_with_an_example() -> anyhow::Result<()> {
    for (option, wrong) in [
        ("--card-window", "soon"),
        ("--card-window", "-1h"),
        ("--authorization-lifetime", "a week"),
        ("--reversal-window", "-24h"),
        ("--node", "Node 1"),
        ("--node", "a-name-that-is-too-long"),
        ("--public-url", "pay.example"),
        ("--public-url", "https://pay.example/?x"),
        ("--trusted-proxy", "everyone"),
        ("--listen", "8080"),
    ] {
        let output = run_tillgate(&["serve", "--data", "/nonexistent/data", &format!("{option}={wrong}")]).await?;
        assert_eq!(output.status.code(), Some(2), "{option}: {}", output_text(&output));
        assert!(output_text(&output).contains(option), "{}", output_text(&output));
    }
    Ok(())
}

#[tokio::test]
async fn a_node_puts_its_name_behind_its_checkouts() -> anyhow::Result<()> {
    let gateway = TestGateway::start_with(&["--node", "uat01-vm-tx03"])?;
    let shop = gateway.create_merchant()?;
    let made = shop.create_checkout(&[]).await?;
    assert!(made.id().ends_with(".uat01-vm-tx03") && made.id().len() <= 48, "{}", made.text);
    // Shops accept a resourcePath of letters, digits, dots and hyphens.
    assert!(made.id().bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)));
    assert_result(&shop.submit_card(made.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn two_writers_get_along() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    // Entities are created during payments, and no write of either side is lost.
    let pays = async {
        for _ in 0..60 {
            assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
        }
        anyhow::Ok(())
    };
    let data = gateway.data_folder();
    let makes = async {
        for number in 0..10 {
            let name = format!("shop {number}");
            let output = run_tillgate(&[
                "entity",
                "create",
                "--name",
                &name,
                "--data",
                data.to_str().unwrap_or_default(),
                "--json",
            ])
            .await?;
            assert!(output.status.success(), "{}", output_text(&output));
        }
        anyhow::Ok(())
    };
    let (paid, made) = tokio::join!(pays, makes);
    paid?;
    made?;
    let entities = gateway.run_command(&["entity", "list"])?;
    assert_eq!(entities.as_array().map(Vec::len), Some(11));
    poll_until("the last of them is known", async || Ok((shop.get("health").await?.status == 200).then_some(())))
        .await?;
    Ok(())
}
