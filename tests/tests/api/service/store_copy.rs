//! Moves of a store between a data folder and a database: what merchants and operators see before, during and after.
//! These tests run on both whatever the database of the others is.

use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_test_cluster::Cluster;
use tillgate_tests::{MerchantClient, PATIENCE, Receiver, poll_until};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::schedule::schedules::{create_schedule, read_schedule, register_card};
use crate::service::command_line::{output_text, tillgate_command};
use crate::support::*;

const PASSWORD: &str = "hunter2-pass";

/// Returns the cluster of these tests.
fn cluster() -> &'static Cluster {
    static CLUSTER: OnceLock<Cluster> = OnceLock::new();
    CLUSTER.get_or_init(|| Cluster::start(&[]).unwrap_or_else(|error| panic!("no cluster: {error:#}")))
}

/// A machine with a data folder and an empty database.
struct MovingStore {
    folder: TempDir,
    address: String,
}

/// A place of the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// The file of the data folder with this name.
    Folder(&'static str),
    /// The database. The server has the first folder.
    Database,
}

const FIRST: Place = Place::Folder("data");
const BACK: Place = Place::Folder("back");

/// A server, which is killed when it is dropped.
struct Server {
    child: Child,
    base: String,
}

/// A copy that runs.
struct RunningCopy {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl MovingStore {
    fn new() -> anyhow::Result<Self> {
        Ok(Self { folder: TempDir::new()?, address: cluster().create_database()? })
    }

    fn data(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn database(&self) -> &str {
        self.address.split_once(":///").and_then(|(_, rest)| rest.split('?').next()).unwrap_or_default()
    }

    fn name(&self, place: Place) -> String {
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

    async fn succeed(&self, place: Place, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(place, arguments).await?;
        anyhow::ensure!(output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(String::from_utf8(output.stdout)?)
    }

    async fn refuse(&self, place: Place, arguments: &[&str]) -> anyhow::Result<String> {
        let output = self.run(place, arguments).await?;
        anyhow::ensure!(!output.status.success(), "{arguments:?}: {}", output_text(&output));
        Ok(output_text(&output))
    }

    /// Starts a server on the store in a place.
    async fn serve(&self, place: Place) -> anyhow::Result<Server> {
        let mut command = self.command(place, &["serve", "--listen", "127.0.0.1:0", "--allow-network", "127.0.0.0/8"]);
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
    async fn create_merchant(&self, server: &Server) -> anyhow::Result<MerchantClient> {
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
    fn copy_command(&self, from: Place, to: Place, options: &[&str]) -> Command {
        let (from, to) = (self.name(from), self.name(to));
        let mut command = tillgate_command(&["store", "copy", "--from", &from, "--to", &to]);
        command.args(options).env("TILLGATE_KEY_FILE", self.data("data.key"));
        command
    }

    async fn copy(&self, from: Place, to: Place, options: &[&str]) -> anyhow::Result<Output> {
        Ok(tokio::time::timeout(PATIENCE, self.copy_command(from, to, options).output()).await??)
    }

    /// Starts a copy that is to move the store.
    fn start_move(&self, from: Place, to: Place) -> anyhow::Result<RunningCopy> {
        let mut child = self.copy_command(from, to, &["--switch"]).stdout(Stdio::piped()).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("no output")?).lines();
        Ok(RunningCopy { child, lines })
    }

    /// Verifies the store in a place. Returns the head of its audit log.
    async fn verify(&self, place: Place) -> anyhow::Result<String> {
        let verified: Value = serde_json::from_str(&self.succeed(place, &["verify", "--json"]).await?)?;
        self.succeed(place, &["audit", "verify"]).await?;
        Ok(format!("{}:{}", verified["last"], verified["hash"].as_str().context("a hash")?))
    }
}

impl Server {
    /// Stops the server as its service manager does.
    async fn stop(mut self) -> anyhow::Result<()> {
        let process = self.child.id().context("it has ended")?.to_string();
        Command::new("kill").args(["-TERM", &process]).status().await?;
        tokio::time::timeout(PATIENCE, self.child.wait()).await??;
        Ok(())
    }
}

impl RunningCopy {
    async fn wait_until_caught_up(&mut self) -> anyhow::Result<()> {
        while let Some(line) = tokio::time::timeout(PATIENCE, self.lines.next_line()).await?? {
            if line.starts_with("caught up: stop the gateway") {
                return Ok(());
            }
        }
        anyhow::bail!("the copy has ended")
    }

    /// Waits for the end of the move. Returns the head of the audit log that it prints.
    async fn finish(mut self) -> anyhow::Result<String> {
        let mut head = None;
        while let Some(line) = tokio::time::timeout(PATIENCE, self.lines.next_line()).await?? {
            head = head.or_else(|| line.split_once("the head of the audit log is ").map(|(_, head)| head.to_owned()));
        }
        anyhow::ensure!(self.child.wait().await?.success(), "the move has failed");
        head.context("no head")
    }
}

/// Returns the client of a merchant at another server.
fn at(server: &Server, shop: &MerchantClient) -> MerchantClient {
    MerchantClient::new(server.base.clone(), shop.entity_id.clone(), shop.token.clone())
}

/// Moves the store of a server, and starts a server in the new place.
async fn move_served(store: &MovingStore, server: Server, from: Place, to: Place) -> anyhow::Result<Server> {
    let mut copy = store.start_move(from, to)?;
    copy.wait_until_caught_up().await?;
    server.stop().await?;
    let head = copy.finish().await?;
    assert_eq!(store.verify(to).await?, head);
    store.serve(to).await
}

#[tokio::test(flavor = "multi_thread")]
async fn payments_of_before_are_read_refunded_and_captured_after_the_moves_to_a_database_and_back() -> anyhow::Result<()>
{
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let receiver = Receiver::start().await?;
    let url = receiver.url("hook");
    store.succeed(FIRST, &["webhook", "create", "--entity", &shop.entity_id, "--url", &url]).await?;
    let paid = shop.pay_by_card(&[("createRegistration", "true")]).await?;
    assert_result(&paid, 200, "000.100.110");
    let reserved = shop.pay_by_card(&[("paymentType", "PA")]).await?;
    assert_result(&reserved, 200, "000.100.110");
    let registration = register_card(&shop, &[]).await?;
    let schedule = create_schedule(&shop, &registration, &[("job.expression", "0 0 12 * * ?")]).await?;
    let checkout = shop.create_checkout(&[]).await?;
    let refund = async |shop: &MerchantClient, amount: &str| {
        let fields = [("paymentType", "RF"), ("amount", amount), ("currency", "EUR")];
        shop.post(&format!("v1/payments/{}", paid.id()), &fields).await
    };

    let server = move_served(&store, server, FIRST, Place::Database).await?;
    let shop = at(&server, &shop);
    let read = shop.get(&format!("v1/payments/{}", paid.id())).await?;
    assert_eq!(read.json["registrationId"], paid.json["registrationId"], "{}", read.text);
    assert_result(&refund(&shop, "10.00").await?, 200, "000.100.110");
    let capture = [("paymentType", "CP"), ("amount", "92.00"), ("currency", "EUR")];
    assert_result(&shop.post(&format!("v1/payments/{}", reserved.id()), &capture).await?, 200, "000.100.110");
    assert_eq!(shop.submit_card(checkout.id(), &[]).await?.status, 200);
    assert_result(&shop.read_status(checkout.id()).await?, 200, "000.100.110");
    shop.advance_clock("48h").await?;
    read_schedule(&shop, schedule.id()).await?;
    store.verify(Place::Database).await?;

    let server = move_served(&store, server, Place::Database, BACK).await?;
    let shop = at(&server, &shop);
    assert_result(&refund(&shop, "82.00").await?, 200, "000.100.110");
    assert_ne!(refund(&shop, "0.01").await?.status, 200);
    assert_result(&shop.read_status(checkout.id()).await?, 200, "000.100.110");
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    store.verify(BACK).await?;
    // Neither of the earlier places opens again by mistake.
    for place in [FIRST, Place::Database] {
        for command in [&["serve", "--listen", "127.0.0.1:0"][..], &["token", "list"], &["verify"]] {
            let text = store.refuse(place, command).await?;
            assert!(text.contains("has moved to") && text.contains("tillgate store copy"), "{text}");
        }
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_payment_that_was_answered_is_lost_by_a_move_under_load_after_copies_that_were_killed() -> anyhow::Result<()>
{
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let is_over = Arc::new(AtomicBool::new(false));
    let pay = |shop: MerchantClient, is_over: Arc<AtomicBool>| async move {
        let mut answered = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            // The connection ends with the server, and the answer is lost.
            let Ok(paid) = shop.pay_by_card(&[]).await else { continue };
            if paid.result_code() == "000.100.110" {
                answered.push(paid.id().to_owned());
            }
        }
        answered
    };
    let clients: Vec<_> = (0..4).map(|_| tokio::spawn(pay(at(&server, &shop), Arc::clone(&is_over)))).collect();
    for _ in 0..3 {
        let mut copy = store.copy_command(FIRST, Place::Database, &[]).stdout(Stdio::null()).spawn()?;
        // Killed in the middle, once it has begun to write.
        poll_until("the copy has begun", async || {
            let marked = "SELECT count(*) FROM pg_tables WHERE tablename = 'store_move'";
            Ok((cluster().run_sql(store.database(), marked)? == "1").then_some(()))
        })
        .await?;
        copy.kill().await?;
    }
    let text = store.refuse(Place::Database, &["serve", "--listen", "127.0.0.1:0"]).await?;
    assert!(text.contains("not complete"), "{text}");
    let mut copy = store.start_move(FIRST, Place::Database)?;
    copy.wait_until_caught_up().await?;
    // A server that is killed leaves its lock at once.
    let Server { mut child, .. } = server;
    child.kill().await?;
    copy.finish().await?;
    is_over.store(true, Ordering::Relaxed);
    let mut answered = Vec::new();
    for client in clients {
        answered.extend(client.await?);
    }
    let server = store.serve(Place::Database).await?;
    let shop = at(&server, &shop);
    assert!(answered.len() > 10, "{}", answered.len());
    for id in &answered {
        assert_result(&shop.get(&format!("v1/payments/{id}")).await?, 200, "000.100.110");
    }
    store.verify(Place::Database).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_without_a_switch_moves_nothing_and_a_store_that_has_moved_can_be_opened_again() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    let copied = store.copy(FIRST, Place::Database, &["--json"]).await?;
    let last: Value = serde_json::from_str(output_text(&copied).lines().last().unwrap_or_default())?;
    assert_eq!(last["moved"], false, "{}", output_text(&copied));
    let paid = shop.pay_by_card(&[]).await?;
    assert_result(&paid, 200, "000.100.110");
    assert!(store.refuse(Place::Database, &["token", "list"]).await?.contains("not complete"));
    server.stop().await?;
    let moved = store.copy(FIRST, Place::Database, &["--json", "--switch"]).await?;
    let moved: Value = serde_json::from_str(output_text(&moved).lines().last().unwrap_or_default())?;
    assert_eq!(moved["moved"], true, "{moved}");
    let again = store.copy(FIRST, Place::Database, &["--switch"]).await?;
    assert!(!again.status.success() && output_text(&again).contains("already"), "{}", output_text(&again));
    store.succeed(FIRST, &["store", "reopen"]).await?;
    let server = store.serve(FIRST).await?;
    let read = at(&server, &shop).get(&format!("v1/payments/{}", paid.id())).await?;
    assert_result(&read, 200, "000.100.110");
    store.verify(FIRST).await?;
    let entries = store.succeed(FIRST, &["audit", "export"]).await?;
    assert!(entries.contains("\"store move\"") && entries.contains("\"store reopen\""), "{entries}");
    Ok(())
}

#[tokio::test]
async fn wrong_places_are_named_without_what_an_address_contains() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    drop(store.serve(FIRST).await?);
    let (data, absent) = (store.name(FIRST), store.name(Place::Folder("absent")));
    let secret = format!("postgres://me:{PASSWORD}@127.0.0.1:1/tillgate");
    for (from, to, expected) in [
        (&*data, &*absent, "both folders"),
        (&store.address, &store.address, "both databases"),
        (&data, &secret, "list of processes"),
        (&secret, &absent, "list of processes"),
        (&data, &format!("mysql://me:{PASSWORD}@db/tillgate"), "is not valid"),
        (&data, &format!("host=db user=me password={PASSWORD} dbname=tillgate"), "is not valid"),
        (&data, "postgres://me@127.0.0.1:1/tillgate", "cannot be reached"),
        (&absent, &store.address, "there is no store in"),
        (&store.address, &absent, "there is no store in"),
    ] {
        let output = tillgate_command(&["store", "copy", "--from", from, "--to", to]).output().await?;
        let text = output_text(&output);
        assert!(!output.status.success() && text.contains(expected), "{from} {to}: {text}");
        assert!(!text.contains(PASSWORD) && !text.contains("panicked"), "{text}");
    }
    let mut hidden = tillgate_command(&["store", "copy", "--from", &data]);
    let text = output_text(&hidden.env("TILLGATE_COPY_TO", &secret).output().await?);
    assert!(text.contains("cannot be reached") && !text.contains(PASSWORD), "{text}");
    let file = store.data("password");
    std::fs::write(&file, PASSWORD)?;
    let file = file.to_str().context("a path")?;
    for option in ["--from-password-file", "--to-password-file"] {
        let arguments = ["store", "copy", "--from", &data, "--to", &store.address, option, file];
        let text = output_text(&tillgate_command(&arguments).output().await?);
        assert!(text.contains(option) && !text.contains(PASSWORD), "{text}");
    }
    assert!(!Path::new(&absent).exists());
    Ok(())
}

#[tokio::test]
async fn a_store_that_another_program_has_changed_is_not_copied() -> anyhow::Result<()> {
    let store = MovingStore::new()?;
    let server = store.serve(FIRST).await?;
    let shop = store.create_merchant(&server).await?;
    assert_result(&shop.pay_by_card(&[]).await?, 200, "000.100.110");
    let file = rusqlite::Connection::open(store.data("data").join("tillgate.db"))?;
    file.execute("UPDATE balance SET receivable = receivable + 1, cash = cash - 1", [])?;
    let text = output_text(&store.copy(FIRST, Place::Database, &["--switch"]).await?);
    assert!(text.contains("the table balance") && text.contains("tillgate verify"), "{text}");
    let count = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(cluster().run_sql(store.database(), count)?, "0");
    Ok(())
}
