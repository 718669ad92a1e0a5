//! The command line: help, JSON, work beside a running gateway, the vault's key, and how the gateway ends and begins again.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{ExitStatus, Output, Stdio};

use anyhow::Context as _;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{Gateway, Merchant, PATIENCE, binary, until};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::support::*;

/// The binary, with nothing of the developer's own settings.
fn tillgate(arguments: &[&str]) -> Command {
    let mut command = without_settings(Command::new(binary()));
    command.args(arguments);
    command
}

fn without_settings(mut command: Command) -> Command {
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TILLGATE_")) {
        command.env_remove(name);
    }
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Runs a command that comes to an end.
pub async fn run(arguments: &[&str]) -> anyhow::Result<Output> {
    let output = tokio::time::timeout(PATIENCE, tillgate(arguments).output()).await;
    Ok(output.with_context(|| format!("tillgate {} goes on and on", arguments.join(" ")))??)
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// A command that goes on running; it is killed when this is dropped.
pub struct Running {
    child: Child,
    /// The first line that it printed.
    pub line: String,
    _lines: Lines<BufReader<ChildStdout>>,
}

/// Starts a command that goes on running, and reads its first line.
pub async fn start(arguments: &[&str]) -> anyhow::Result<Running> {
    Running::new(tillgate(arguments)).await
}

/// As [`start`], after what a shell does first.
pub async fn start_after(shell: &str, arguments: &[&str]) -> anyhow::Result<Running> {
    let mut command = without_settings(Command::new("sh"));
    command.args(["-c", &format!("{shell}; exec \"$@\""), "sh"]).arg(binary()).args(arguments);
    Running::new(command).await
}

impl Running {
    async fn new(mut command: Command) -> anyhow::Result<Self> {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let line = lines.next_line().await?.context("it ended at once")?;
        Ok(Self { child, line, _lines: lines })
    }

    /// The address it listens on, with a slash at the end.
    pub fn base(&self) -> String {
        format!("{}/", self.line.trim_start_matches("listening on "))
    }

    /// Its process.
    pub fn id(&self) -> anyhow::Result<u32> {
        self.child.id().context("it has ended")
    }

    /// Sends a signal, by its name without SIG.
    pub async fn signal(&self, name: &str) -> anyhow::Result<()> {
        let process = self.id()?.to_string();
        let sent = Command::new("kill").args([&format!("-{name}"), &process]).status().await?;
        anyhow::ensure!(sent.success(), "{sent}");
        Ok(())
    }

    /// Waits until it has ended by itself.
    pub async fn ended(&mut self) -> anyhow::Result<ExitStatus> {
        let ended = tokio::time::timeout(PATIENCE, self.child.wait()).await;
        Ok(ended.context("it goes on and on")??)
    }
}

/// Names of the sub-commands that a help text lists.
fn subcommands(help: &str) -> Vec<String> {
    let list = help.split_once("\nCommands:\n").map_or("", |(_, rest)| rest);
    let names = list.lines().take_while(|line| line.starts_with("  ")).filter(|line| !line.starts_with("   "));
    names.filter_map(|line| line.split_whitespace().next()).filter(|name| *name != "help").map(str::to_owned).collect()
}

#[tokio::test]
async fn every_command_shows_an_example_and_takes_json() -> anyhow::Result<()> {
    let mut open = vec![Vec::<String>::new()];
    let mut leaves = Vec::new();
    while let Some(path) = open.pop() {
        let arguments: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
        let output = run(&arguments).await?;
        assert!(output.status.success(), "{}", text(&output));
        let help = text(&output);
        let inner = subcommands(&help);
        if inner.is_empty() {
            let command = format!("tillgate {}", path.join(" "));
            let example = help.split_once("Example:").map(|(_, example)| example).unwrap_or_default();
            assert!(example.contains(&command), "{command}: {help}");
            assert!(help.contains("--json"), "{command}: {help}");
            assert!(help.contains("--data"), "{command}: {help}");
            leaves.push(path.join(" "));
        }
        open.extend(inner.into_iter().map(|name| path.iter().cloned().chain([name]).collect()));
    }
    leaves.sort();
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
        assert!(leaves.iter().any(|leaf| leaf == command), "{command} is not among {leaves:?}");
    }
    Ok(())
}

#[tokio::test]
async fn the_version_is_the_build_number() -> anyhow::Result<()> {
    let printed = text(&run(&["--version"]).await?);
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
        let output = run(&[arguments, &["--data", data, "--json"]].concat()).await?;
        anyhow::ensure!(output.status.success(), "{}", text(&output));
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    // No gateway has run here yet: the first entity may come first.
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
    // Twice is a mistake that is told.
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
    let output = run(&["entity", "create", "--name", "x", "--data", data.to_str().unwrap_or_default()]).await?;
    let printed = text(&output);
    assert!(printed.contains("entityId  ") && printed.contains("token     ") && !printed.contains('{'), "{printed}");
    Ok(())
}

#[tokio::test]
async fn the_gateway_says_where_it_listens_for_programs_as_well() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let gateway = start(&["serve", "--data", data, "--listen", "127.0.0.1:0", "--json"]).await?;
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
    let arguments = ["demo", "--data", data, "--listen", "127.0.0.1:0", "--shop", "127.0.0.1:0", "--json"];
    let mut seen = Vec::new();
    for _ in 0..2 {
        let demo = start(&arguments).await?;
        let started: Value = serde_json::from_str(&demo.line)?;
        let text = |name: &str| started[name].as_str().unwrap_or_default().to_owned();
        assert!(
            text("shop").starts_with("http://shop.localhost:") && text("gateway").starts_with("http://pay.localhost:")
        );
        let port = text("gateway").trim_end_matches('/').rsplit(':').next().unwrap_or_default().to_owned();
        let shop = Merchant::new(format!("http://127.0.0.1:{port}/"), text("entityId"), text("token"));
        assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
        seen.push((text("entityId"), text("token")));
        // The ready line is one that can be pasted.
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
async fn a_backup_beside_a_running_gateway_is_a_whole_database() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let paid = shop.pay(&[]).await?;
    let target = gateway.folder().join("copy.db");
    let target = target.to_str().unwrap_or_default();
    let told = gateway.command(&["backup", "--to", target])?;
    assert_eq!(told["file"], target);
    assert_eq!(told["bytes"], std::fs::metadata(target)?.len());
    let copy = rusqlite::Connection::open(target)?;
    let integrity: String = copy.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    assert_eq!(integrity, "ok");
    let found: u32 = copy.query_row("SELECT count(*) FROM payment WHERE id = ?1", [paid.id()], |row| row.get(0))?;
    assert_eq!(found, 1);
    assert_eq!(std::fs::metadata(target)?.permissions().mode() & 0o077, 0, "a copy is for its owner only");
    // Never over something that is there, and the gateway goes on.
    assert!(gateway.command(&["backup", "--to", target]).is_err());
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn a_backup_of_a_folder_without_a_store_is_refused() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let (data, target) = (folder.path().join("typo"), folder.path().join("copy.db"));
    let arguments =
        ["backup", "--data", data.to_str().unwrap_or_default(), "--to", target.to_str().unwrap_or_default()];
    let output = run(&arguments).await?;
    assert!(!output.status.success(), "{}", text(&output));
    assert!(!data.exists() && !target.exists());
    Ok(())
}

#[tokio::test]
async fn a_backup_is_a_data_folder_again_and_opens_with_its_key() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let paid = shop.pay(&[]).await?;
    let restored = TempDir::new()?;
    let data = restored.path().join("data");
    std::fs::create_dir(&data)?;
    let target = data.join("tillgate.db");
    gateway.command(&["backup", "--to", target.to_str().unwrap_or_default()])?;
    let (data, key) = (data.to_str().unwrap_or_default(), gateway.folder().join("data.key"));
    let arguments =
        ["serve", "--data", data, "--listen", "127.0.0.1:0", "--key-file", key.to_str().unwrap_or_default()];
    let gateway = start(&arguments).await?;
    let again = Merchant::new(gateway.base(), shop.entity_id.clone(), shop.token.clone());
    let read = again.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(outcome(&read), outcome(&paid));
    Ok(())
}

#[tokio::test]
async fn the_vaults_key_is_its_owners_alone_and_lies_outside_the_data() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let key = gateway.folder().join("data.key");
    assert_eq!(std::fs::metadata(&key)?.permissions().mode() & 0o777, 0o600);
    assert_eq!(std::fs::read_to_string(&key)?.trim().len(), 64);
    assert_eq!(std::fs::metadata(gateway.data())?.permissions().mode() & 0o077, 0);
    for entry in std::fs::read_dir(gateway.data())? {
        let content = std::fs::read(entry?.path())?;
        let secret = std::fs::read(&key)?;
        assert!(!content.windows(64).any(|window| window == &secret[..64]));
    }
    Ok(())
}

#[tokio::test]
async fn a_key_where_others_find_it_is_refused() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    let data = data.to_str().unwrap_or_default();
    let serve = async |key: &Path| {
        let key = key.to_str().unwrap_or_default();
        run(&["serve", "--data", data, "--listen", "127.0.0.1:0", "--key-file", key]).await
    };
    let inside = Path::new(data).join("vault.key");
    let around = folder.path().join("elsewhere/../data/vault.key");
    std::fs::create_dir(folder.path().join("elsewhere"))?;
    for key in [&inside, &around] {
        let output = serve(key).await?;
        assert!(!output.status.success() && text(&output).contains("inside the data folder"), "{}", text(&output));
        assert!(!inside.exists(), "{} was made", inside.display());
    }
    let open = folder.path().join("open.key");
    std::fs::write(&open, "0".repeat(64))?;
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o644))?;
    let output = serve(&open).await?;
    assert!(!output.status.success() && text(&output).contains("chmod 600"), "{}", text(&output));
    let short = folder.path().join("short.key");
    std::fs::write(&short, "0123")?;
    std::fs::set_permissions(&short, std::fs::Permissions::from_mode(0o600))?;
    let output = serve(&short).await?;
    assert!(!output.status.success() && text(&output).contains("64 hexadecimal digits"), "{}", text(&output));
    assert!(!text(&output).contains("0123\n"), "{}", text(&output));
    Ok(())
}

#[tokio::test]
async fn the_key_may_come_from_the_environment() -> anyhow::Result<()> {
    let gateway = Gateway::start_env(&[], &[("TILLGATE_VAULT_KEY", &"0f".repeat(32))])?;
    let shop = gateway.merchant()?;
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    assert!(!gateway.folder().join("data.key").exists());
    let broken = Gateway::start_env(&[], &[("TILLGATE_VAULT_KEY", "nonsense")]);
    let error = broken.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("TILLGATE_VAULT_KEY") && !error.contains("nonsense"), "{error}");
    Ok(())
}

#[tokio::test]
async fn a_second_start_reads_what_the_first_one_wrote() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    let (paid, made) = (shop.pay(&[]).await?, shop.checkout(&[]).await?);
    shop.submit(made.id(), &[]).await?;
    let status = shop.status(made.id()).await?;
    let gateway = gateway.restart(&[])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_eq!(outcome(&shop.get(&format!("v1/payments/{}", paid.id())).await?), outcome(&paid));
    assert_eq!(shop.status(made.id()).await?.text, status.text);
    assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
    Ok(())
}

#[tokio::test]
async fn the_stores_files_are_their_owners_alone_also_in_a_folder_that_was_there_before() -> anyhow::Result<()> {
    let folder = TempDir::new()?;
    let data = folder.path().join("data");
    std::fs::create_dir(&data)?;
    std::fs::set_permissions(&data, std::fs::Permissions::from_mode(0o755))?;
    let _gateway = start(&["serve", "--data", data.to_str().unwrap_or_default(), "--listen", "127.0.0.1:0"]).await?;
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
    let address = Gateway::shared().base();
    let address = address.trim_start_matches("http://").trim_end_matches('/');
    let output = run(&["serve", "--data", data.to_str().unwrap_or_default(), "--listen", address]).await?;
    assert!(!output.status.success() && text(&output).contains(address), "{}", text(&output));
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
        let output = run(&["serve", "--data", "/nonexistent/data", &format!("{option}={wrong}")]).await?;
        assert_eq!(output.status.code(), Some(2), "{option}: {}", text(&output));
        assert!(text(&output).contains(option), "{}", text(&output));
    }
    Ok(())
}

#[tokio::test]
async fn a_node_puts_its_name_behind_its_checkouts() -> anyhow::Result<()> {
    let gateway = Gateway::start_with(&["--node", "uat01-vm-tx03"])?;
    let shop = gateway.merchant()?;
    let made = shop.checkout(&[]).await?;
    assert!(made.id().ends_with(".uat01-vm-tx03") && made.id().len() <= 48, "{}", made.text);
    // Shops accept a resourcePath of letters, digits, dots and hyphens.
    assert!(made.id().bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)));
    assert_answer(&shop.submit(made.id(), &[]).await?, 200, "000.000.100");
    Ok(())
}

#[tokio::test]
async fn two_writers_get_along() -> anyhow::Result<()> {
    let gateway = Gateway::start()?;
    let shop = gateway.merchant()?;
    // Entities are made while payments are: neither side loses anything to the other.
    let pays = async {
        for _ in 0..60 {
            assert_answer(&shop.pay(&[]).await?, 200, "000.100.110");
        }
        anyhow::Ok(())
    };
    let data = gateway.data();
    let makes = async {
        for number in 0..10 {
            let name = format!("shop {number}");
            let output =
                run(&["entity", "create", "--name", &name, "--data", data.to_str().unwrap_or_default(), "--json"])
                    .await?;
            assert!(output.status.success(), "{}", text(&output));
        }
        anyhow::Ok(())
    };
    let (paid, made) = tokio::join!(pays, makes);
    paid?;
    made?;
    let entities = gateway.command(&["entity", "list"])?;
    assert_eq!(entities.as_array().map(Vec::len), Some(11));
    until("the last of them is known", async || Ok((shop.get("health").await?.status == 200).then_some(()))).await?;
    Ok(())
}
