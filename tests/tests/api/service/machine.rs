//! A machine whose servers and commands use a database of PostgreSQL.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::OnceLock;

use anyhow::Context as _;
use tempfile::TempDir;
use tillgate_test_cluster::Cluster;
use tillgate_tests::{MerchantClient, PATIENCE, poll_until};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::service::command_line::{output_text, tillgate_command};

/// Returns the cluster of these tests.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(&[]).unwrap_or_else(|error| panic!("no cluster: {error:#}")))
}

/// A machine that uses a database: its folder, the address, and the name of its node.
pub struct Machine {
    /// The folder with everything that belongs to it.
    pub folder: TempDir,
    /// The address of its database.
    pub address: String,
    /// The name of its node.
    pub node: String,
}

impl Machine {
    /// A new machine with an empty database.
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::new()?, address: cluster().create_database()?, node: "tx01".to_owned() })
    }

    /// Another machine that uses the same database.
    pub fn another(&self) -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::new()?, address: self.address.clone(), node: "tx02".to_owned() })
    }

    /// Another machine that uses the same database with the same keys.
    pub fn another_with_keys(&self) -> anyhow::Result<Self> {
        let another = self.another()?;
        std::fs::copy(self.key_file(), another.key_file())?;
        Ok(another)
    }

    /// Returns the same machine with another address.
    pub fn with_address(self, address: &str) -> Self {
        Self { address: address.to_owned(), ..self }
    }

    /// Returns the data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Returns the file with the keys of the vault.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("data.key")
    }

    /// Returns the name of the database.
    pub fn database(&self) -> &str {
        self.address.split_once(":///").and_then(|(_, rest)| rest.split('?').next()).unwrap_or_default()
    }

    /// Returns a command with the address in the variable.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = tillgate_command(arguments);
        command.arg("--data").arg(self.data()).env("TILLGATE_DATABASE", &self.address).env("TILLGATE_NODE", &self.node);
        command
    }

    pub async fn run(&self, arguments: &[&str]) -> anyhow::Result<Output> {
        Ok(tokio::time::timeout(PATIENCE, self.command(arguments).output()).await??)
    }

    /// Runs a command that has to be refused. Returns what it prints.
    pub async fn refuse(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(arguments).await?;
        let text = output_text(&output);
        anyhow::ensure!(!output.status.success(), "{arguments:?}: {text}");
        Ok(text)
    }

    /// Runs a command that has to succeed. Returns what it prints.
    pub async fn succeed(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(arguments).await?;
        anyhow::ensure!(output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(String::from_utf8(output.stdout)?)
    }

    /// Starts a server, and returns it with its address.
    pub async fn serve(&self) -> anyhow::Result<(Child, String)> {
        self.serve_with(&[]).await
    }

    /// Starts a server with further options.
    pub async fn serve_with(&self, options: &[&str]) -> anyhow::Result<(Child, String)> {
        let mut command = self.command(&[&["serve", "--listen", "127.0.0.1:0"], options].concat());
        let log = std::fs::File::create(self.folder.path().join("log"))?;
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let line = lines.next_line().await?.with_context(|| format!("no server: {}", self.log()))?;
        let base = format!("{}/", line.trim_start_matches("listening on "));
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok((child, base))
    }

    /// Returns the log of its server.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Creates a merchant of the server at `base`.
    pub async fn create_merchant(&self, base: &str) -> anyhow::Result<MerchantClient> {
        self.create_merchant_with(base, &[]).await
    }

    /// Creates a merchant with further options of the command.
    pub async fn create_merchant_with(&self, base: &str, options: &[&str]) -> anyhow::Result<MerchantClient> {
        let create = ["entity", "create", "--name", "Kiln & Tide", "--json"];
        let created = self.succeed(&[&create, options].concat()).await?;
        let created: serde_json::Value = serde_json::from_str(&created)?;
        let field = |name: &str| created[name].as_str().map(str::to_owned).context("a field of the entity");
        let shop = MerchantClient::new(base.to_owned(), field("entityId")?, field("token")?);
        poll_until("the server knows the token", async || {
            let read = shop.get(&format!("v1/payments/{}", shop.entity_id)).await?;
            Ok((!read.text.contains("The access token is not valid")).then_some(()))
        })
        .await?;
        Ok(shop)
    }
}
