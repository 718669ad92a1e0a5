//! A store that moves between a data folder and a database of a machine, with its servers and copies.

use std::path::PathBuf;
use std::process::{Output, Stdio};
use std::sync::OnceLock;

use anyhow::Context as _;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_test_cluster::Cluster;
use tillgate_tests::{MerchantClient, PATIENCE, poll_until};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::service::command_line::{output_text, tillgate_command};

/// Returns the cluster of the databases.
pub fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(&[]).unwrap_or_else(|error| panic!("no cluster: {error:#}")))
}

/// A machine with a data folder and an empty database.
pub struct MovingStore {
    folder: TempDir,
    pub address: String,
}

/// A place of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file of the data folder with this name.
    Folder(&'static str),
    /// The database. The server has the first folder.
    Database,
}

pub const FIRST: Place = Place::Folder("data");
pub const BACK: Place = Place::Folder("back");

/// A server, which is killed when it is dropped.
pub struct Server {
    pub child: Child,
    pub base: String,
}

/// A copy that runs.
pub struct RunningCopy {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl MovingStore {
    pub fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::new()?, address: cluster().create_database()? })
    }

    pub fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn database(&self) -> &str {
        self.address.split_once(":///").and_then(|(_, rest)| rest.split('?').next()).unwrap_or_default()
    }

    pub fn name(&self, place: Place) -> String {
        match place {
            Place::Folder(name) => self.data(name).display().to_string(),
            Place::Database => self.address.clone(),
        }
    }

    /// Returns a command on the store in a place. All places have the keys of the first folder.
    fn command(&self, place: Place, arguments: &[&str]) -> Command {
        let mut command = tillgate_command(arguments);
        command.env("TILLGATE_KEY_FILE", self.data("data.key"));
        match place {
            Place::Folder(name) => command.arg("--data").arg(self.data(name)),
            Place::Database => command.arg("--data").arg(self.data("data")).env("TILLGATE_DATABASE", &self.address),
        };
        command
    }

    async fn run(&self, place: Place, arguments: &[&str]) -> anyhow::Result<Output> {
        Ok(tokio::time::timeout(PATIENCE, self.command(place, arguments).output()).await??)
    }

    pub async fn succeed(&self, place: Place, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(place, arguments).await?;
        anyhow::ensure!(output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(String::from_utf8(output.stdout)?)
    }

    pub async fn refuse(&self, place: Place, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(place, arguments).await?;
        anyhow::ensure!(!output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(output_text(&output))
    }

    /// Starts a server on the store in a place.
    pub async fn serve(&self, place: Place) -> anyhow::Result<Server> {
        self.serve_as(place, "tx01").await
    }

    /// Starts a server with the name of a node.
    pub async fn serve_as(&self, place: Place, node: &str) -> anyhow::Result<Server> {
        let options = ["serve", "--listen", "127.0.0.1:0", "--allow-network", "127.0.0.0/8", "--node", node];
        let mut command = self.command(place, &options);
        let log = std::fs::File::create(self.data("log"))?;
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let mut lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        let log = || std::fs::read_to_string(self.data("log")).unwrap_or_default();
        let line = lines.next_line().await?.with_context(|| format!("no server: {}", log()))?;
        let base = format!("{}/", line.trim_start_matches("listening on "));
        tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
        Ok(Server { child, base })
    }

    /// Creates a merchant of a server.
    pub async fn create_merchant(&self, server: &Server) -> anyhow::Result<MerchantClient> {
        let created: Value = serde_json::from_str(
            &self.succeed(FIRST, &["entity", "create", "--name", "Kiln & Tide", "--json"]).await?,
        )?;
        let field = |name: &str| created[name].as_str().map(str::to_owned).context("a field of the entity");
        let shop = MerchantClient::new(server.base.clone(), field("entityId")?, field("token")?);
        poll_until("the server knows the token", async || {
            let read = shop.get(&format!("v1/payments/{}", shop.entity_id)).await?;
            Ok((!read.text.contains("The access token is not valid")).then_some(()))
        })
        .await?;
        Ok(shop)
    }

    /// Returns a copy between two places.
    pub fn copy_command(&self, from: Place, to: Place, options: &[&str]) -> Command {
        let (from, to) = (self.name(from), self.name(to));
        let mut command = tillgate_command(&["store", "copy", "--from", &from, "--to", &to]);
        command.args(options).env("TILLGATE_KEY_FILE", self.data("data.key"));
        command
    }

    pub async fn copy(&self, from: Place, to: Place, options: &[&str]) -> anyhow::Result<Output> {
        Ok(tokio::time::timeout(PATIENCE, self.copy_command(from, to, options).output()).await??)
    }

    /// Starts a copy that is to move the store.
    pub fn start_move(&self, from: Place, to: Place) -> anyhow::Result<RunningCopy> {
        let mut child = self.copy_command(from, to, &["--switch"]).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        Ok(RunningCopy { child, lines })
    }

    /// Verifies the store in a place. Returns the head of its audit log.
    pub async fn verify(&self, place: Place) -> anyhow::Result<String> {
        let verified: Value = serde_json::from_str(&self.succeed(place, &["verify", "--json"]).await?)?;
        self.succeed(place, &["audit", "verify"]).await?;
        Ok(format!("{}:{}", verified["last"], verified["hash"].as_str().context("a hash")?))
    }
}

impl Server {
    /// Stops the server as its service manager does.
    pub async fn stop(mut self) -> anyhow::Result<()> {
        let process = self.child.id().context("it has ended")?.to_string();
        Command::new("kill").args(["-TERM", &process]).status().await?;
        tokio::time::timeout(PATIENCE, self.child.wait()).await??;
        Ok(())
    }
}

impl RunningCopy {
    pub async fn wait_until_caught_up(&mut self) -> anyhow::Result<()> {
        while let Some(line) = tokio::time::timeout(PATIENCE, self.lines.next_line()).await?? {
            if line.starts_with("caught up: stop the gateway") {
                return Ok(());
            }
        }
        anyhow::bail!("the copy has ended")
    }

    /// Waits for the end of the move. Returns the head of the audit log that it prints.
    pub async fn finish(mut self) -> anyhow::Result<String> {
        let mut head = None;
        while let Some(line) = tokio::time::timeout(PATIENCE, self.lines.next_line()).await?? {
            head = head.or_else(|| line.split_once("the head of the audit log is ").map(|(_, head)| head.to_owned()));
        }
        anyhow::ensure!(self.child.wait().await?.success(), "the move has failed");
        head.context("no head")
    }
}

/// Returns the client of a merchant at another server.
pub fn at(server: &Server, shop: &MerchantClient) -> MerchantClient {
    MerchantClient::new(server.base.clone(), shop.entity_id.clone(), shop.token.clone())
}

/// Moves the store of a server, and starts a server in the new place.
pub async fn move_served(store: &MovingStore, server: Server, from: Place, to: Place) -> anyhow::Result<Server> {
    let mut copy = store.start_move(from, to)?;
    copy.wait_until_caught_up().await?;
    server.stop().await?;
    let head = copy.finish().await?;
    assert_eq!(store.verify(to).await?, head);
    store.serve(to).await
}
