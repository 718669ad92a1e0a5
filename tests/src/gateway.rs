//! The gateway under test: the real binary with an empty data folder on a free port.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Once, OnceLock};

use anyhow::{Context, ensure};
use serde_json::Value;
use tempfile::TempDir;
use tillgate::domain::id::log_tag;

use crate::process::Process;
use crate::wait::poll;
use crate::{Merchant, Proxy};

/// A running gateway. It stops when this is dropped, and its files go with it.
#[derive(Debug)]
pub struct Gateway {
    // Fields are dropped in this order: the process before its files.
    process: Process,
    address: String,
    folder: TempDir,
}

impl Gateway {
    /// Starts the binary on a free port with an empty data folder.
    ///
    /// # Errors
    /// When the binary is missing or does not become ready.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&[])
    }

    /// Like [`Gateway::start`], with more arguments for `tillgate serve`.
    ///
    /// # Errors
    /// When the binary is missing or does not become ready.
    pub fn start_with(arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_in(fresh_folder()?, arguments, &[])
    }

    /// Like [`Gateway::start_with`], with environment variables that the gateway sees and nobody else.
    ///
    /// # Errors
    /// When the binary is missing or does not become ready.
    pub fn start_env(arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_in(fresh_folder()?, arguments, environment)
    }

    /// A gateway whose card frames have a host of their own, `fields.localhost`, and the proxy through which browsers reach
    /// both hosts.
    ///
    /// # Errors
    /// When there is no port, the binary is missing or does not become ready.
    pub async fn start_with_fields_host() -> anyhow::Result<(Self, Proxy)> {
        let proxy = Proxy::bind().await?;
        let fields = proxy.public.replace("//pay.", "//fields.");
        let gateway = Self::start_with(&["--public-url", &proxy.public, "--fields-url", &fields])?;
        proxy.stand_before(&gateway)?;
        Ok((gateway, proxy))
    }

    /// One gateway for all tests of a test binary, for tests that do not mind company. It ends with the test process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<Gateway> = OnceLock::new();
        SHARED.get_or_init(|| match Gateway::start() {
            Ok(gateway) => gateway,
            Err(error) => panic!("no gateway: {error:#}"),
        })
    }

    /// Kills the gateway as a power cut would, and starts it again on the same data (and another port).
    ///
    /// # Errors
    /// When it does not become ready again.
    pub fn restart(self, arguments: &[&str]) -> anyhow::Result<Self> {
        self.restart_after(arguments, |_| Ok(()))
    }

    /// Like [`Gateway::restart`], and lets `meanwhile` work on the data folder while nobody else does.
    ///
    /// # Errors
    /// What `meanwhile` says, or when the gateway does not become ready again.
    pub fn restart_after(
        self,
        arguments: &[&str],
        meanwhile: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let Self { process, folder, .. } = self;
        drop(process);
        meanwhile(&folder.path().join("data"))?;
        Self::start_in(folder, arguments, &[])
    }

    /// Like [`Gateway::start_with`], on what `prepare` puts into the empty folder: the data folder is `data` in it.
    ///
    /// # Errors
    /// What `prepare` says, or when the gateway does not become ready.
    pub fn start_on(arguments: &[&str], prepare: impl FnOnce(&Path) -> anyhow::Result<()>) -> anyhow::Result<Self> {
        let folder = fresh_folder()?;
        prepare(folder.path())?;
        Self::start_in(folder, arguments, &[])
    }

    fn start_in(folder: TempDir, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        let binary = binary();
        ensure!(
            binary.is_file(),
            "{} is missing: build it with `cargo build`, or name one in TILLGATE_BIN",
            binary.display()
        );
        let data = folder.path().join("data");
        let usual = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json", "--data"];
        let mut all: Vec<&OsStr> = usual.map(OsStr::new).to_vec();
        all.push(data.as_os_str());
        all.extend(arguments.iter().map(OsStr::new));
        let environment =
            [&[("TILLGATE_LOG", "info"), ("TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", "0")], environment].concat();
        let (process, address) = Process::start(binary.as_os_str(), &all, &environment, |line| {
            line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        })?;
        Ok(Self { process, address, folder })
    }

    /// Its address for calls from a server, with a slash at the end: `http://127.0.0.1:40001/`.
    pub fn base(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Its address as a browser sees it, on a site of its own: `http://pay.localhost:40001/`.
    pub fn public(&self) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        format!("http://pay.localhost:{port}/")
    }

    /// The data folder.
    pub fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// The folder around the data folder, where the key file is as well.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Everything that the gateway has printed and logged so far.
    pub fn log(&self) -> String {
        self.process.output()
    }

    /// The requests it has answered so far, by its access log, as `POST /v1/checkouts/{id} 200`.
    ///
    /// # Panics
    /// When the gateway does not run, or writes no such log.
    pub fn requests(&self) -> Vec<String> {
        self.logged().into_iter().map(|(request, _)| request).collect()
    }

    /// The requests about one id so far: a checkout's, a page's or a payment's.
    ///
    /// # Panics
    /// Same as [`Gateway::requests`].
    pub fn requests_about(&self, id: &str) -> Vec<String> {
        let tag = log_tag(id);
        self.logged().into_iter().filter(|(_, about)| *about == tag).map(|(request, _)| request).collect()
    }

    /// The lines of the access log: method, route and status, and the log tag of the id in the path.
    fn logged(&self) -> Vec<(String, String)> {
        // What it prints gets here a little later than what it answers, and in the same order: once this request of ours is
        // here, everything before it is.
        static MARKS: AtomicUsize = AtomicUsize::new(0);
        let mark = |number: usize| format!("{number:032x}");
        let last = MARKS.fetch_add(1, Ordering::Relaxed);
        let is_there = format!("\"{}\"", log_tag(&mark(last)));
        let marked = self
            .raw(&format!("GET /{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", mark(last), self.address))
            .and_then(|_| poll("the access log", || Ok(self.log().contains(&is_there).then_some(()))));
        if let Err(error) = marked {
            panic!("{error:#}");
        }
        let marks: HashSet<String> = (0..=MARKS.load(Ordering::Relaxed)).map(|number| log_tag(&mark(number))).collect();
        let log = self.log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let of_access = lines.filter(|line| line["target"] == "tillgate::access");
        let request = |line: Value| {
            let field = |name: &str| line["fields"][name].to_string().trim_matches('"').to_owned();
            (format!("{} {} {}", field("method"), field("route"), field("status")), field("id"))
        };
        of_access.map(request).filter(|(_, about)| !marks.contains(about)).collect()
    }

    /// How often the hosted form has submitted to the checkout `id` so far.
    pub fn submits(&self, id: &str) -> usize {
        let submit = |request: &&String| request.starts_with("POST /v1/checkouts/{id}/payment ");
        self.requests_about(id).iter().filter(submit).count()
    }

    /// Runs `tillgate <arguments> --data … --json` beside the running gateway; the answer is what it prints.
    ///
    /// # Errors
    /// When the command fails or prints something that is not JSON.
    pub fn command(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = Command::new(binary())
            .args(arguments)
            .arg("--data")
            .arg(self.data())
            .arg("--json")
            .output()
            .context("tillgate does not start")?;
        let printed = String::from_utf8_lossy(&output.stdout);
        ensure!(
            output.status.success(),
            "tillgate {} failed:\n{printed}{}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_str(&printed).with_context(|| format!("not JSON: {printed}"))
    }

    /// A new merchant with an entity and a token of its own, which the running gateway knows when this returns.
    ///
    /// # Errors
    /// When the entity cannot be made.
    pub fn merchant(&self) -> anyhow::Result<Merchant> {
        self.merchant_with(&[])
    }

    /// Like [`Gateway::merchant`], with more arguments for `tillgate entity create`.
    ///
    /// # Errors
    /// When the entity cannot be made.
    pub fn merchant_with(&self, arguments: &[&str]) -> anyhow::Result<Merchant> {
        let mut all = vec!["entity", "create", "--name", "Kiln & Tide"];
        all.extend(arguments);
        let made = self.command(&all)?;
        let field = |name: &str| made[name].as_str().map(str::to_owned).with_context(|| format!("no {name} in {made}"));
        let merchant = Merchant::new(self.base(), field("entityId")?, field("token")?);
        // The command line wrote it beside the gateway, which looks for such changes twenty times a second.
        poll("the gateway takes the new token", || Ok(self.knows(&merchant)?.then_some(())))?;
        Ok(merchant)
    }

    /// Returns true if the gateway knows the merchant's token.
    fn knows(&self, merchant: &Merchant) -> anyhow::Result<bool> {
        let (entity, token) = (&merchant.entity_id, &merchant.token);
        let answer = self.raw(&format!(
            "GET /v1/payments/{entity}?entityId={entity} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n",
            self.address
        ))?;
        ensure!(answer.starts_with("HTTP/1.1 "), "not an HTTP answer: {answer}");
        let is_unknown = answer.contains("The access token is not valid") || answer.starts_with("HTTP/1.1 429 ");
        Ok(!is_unknown)
    }

    /// Sends these bytes, and reads until the gateway has said everything.
    fn raw(&self, request: &str) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(request.as_bytes())?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        Ok(answer)
    }
}

/// A folder for a gateway or a browser, gone when it is dropped. A static is never dropped: what earlier test processes left behind
/// goes when the next one makes its first folder.
pub fn fresh_folder() -> anyhow::Result<TempDir> {
    const PREFIX: &str = "tillgate-tests-";
    static SWEEP: Once = Once::new();
    SWEEP.call_once(|| {
        for entry in std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            let owner = name.strip_prefix(PREFIX).and_then(|rest| rest.split('-').next());
            if owner.is_some_and(|process| !Path::new("/proc").join(process).exists()) {
                let _ = std::fs::remove_dir_all(entry.path());
            }
        }
    });
    let prefix = format!("{PREFIX}{}-", std::process::id());
    Ok(tempfile::Builder::new().prefix(&prefix).tempdir()?)
}

/// The binary under test: `TILLGATE_BIN`, or the workspace's debug build.
pub fn binary() -> PathBuf {
    if let Some(named) = std::env::var_os("TILLGATE_BIN") {
        return named.into();
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default();
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target"));
    workspace.join(target).join("debug").join("tillgate")
}
