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
use tillgate_domain::id::log_tag;

use crate::database::{Database, create_database, find_database, is_on_postgres, wrap_program};
use crate::process::Process;
use crate::wait::{poll_until, poll_until_blocking};
use crate::{MerchantClient, Proxy};

/// A running gateway. Dropping it stops the process and deletes its files.
#[derive(Debug)]
pub struct TestGateway {
    // Fields are dropped in this order: the process before its files.
    process: Process,
    address: String,
    folder: TempDir,
    /// The vault's key, if it comes from the environment: commands need it, too.
    vault_key: Option<String>,
}

impl TestGateway {
    /// Starts the binary on a free port with an empty data folder.
    pub fn start() -> anyhow::Result<Self> {
        Self::start_with(&[])
    }

    /// Starts the binary like [`Self::start`], with additional arguments for `tillgate serve`.
    pub fn start_with(arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_in(create_temporary_folder()?, arguments, &[])
    }

    /// Starts the binary like [`Self::start_with`], with environment variables that only the gateway sees.
    pub fn start_with_environment(arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        Self::start_in(create_temporary_folder()?, arguments, environment)
    }

    /// Starts a gateway whose card frames have their own host, `fields.localhost`, and a proxy through which browsers
    /// reach both hosts.
    ///
    /// # Errors
    /// If there is no free port, the binary is missing or does not become ready.
    pub async fn start_with_fields_host() -> anyhow::Result<(Self, Proxy)> {
        let proxy = Proxy::start_without_gateway().await?;
        let fields = proxy.public.replace("//pay.", "//fields.");
        let gateway = Self::start_with(&["--public-url", &proxy.public, "--fields-url", &fields])?;
        proxy.forward_to(&gateway)?;
        Ok((gateway, proxy))
    }

    /// Returns the shared gateway of a test binary, for tests that work beside others. It ends with the test process.
    pub fn shared() -> &'static Self {
        static SHARED: OnceLock<TestGateway> = OnceLock::new();
        SHARED.get_or_init(|| match TestGateway::start() {
            Ok(gateway) => gateway,
            Err(error) => panic!("no gateway: {error:#}"),
        })
    }

    /// Kills the gateway without a clean shutdown, as a power failure would, and restarts it on the same data and
    /// another port.
    ///
    /// # Errors
    /// If it does not become ready again.
    pub fn kill_and_restart(self, arguments: &[&str]) -> anyhow::Result<Self> {
        self.kill_and_restart_after(arguments, |_| Ok(()))
    }

    /// Restarts like [`Self::kill_and_restart`] and calls `meanwhile` with the data folder while no gateway is running.
    ///
    /// # Errors
    /// If `meanwhile` fails, or if the gateway does not become ready again.
    pub fn kill_and_restart_after(
        self,
        arguments: &[&str],
        meanwhile: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let folder = self.kill();
        meanwhile(&folder.path().join("data"))?;
        Self::restart_in(folder, arguments)
    }

    /// Kills the gateway without a clean shutdown. Returns its folder.
    pub fn kill(self) -> TempDir {
        let Self { process, folder, .. } = self;
        drop(process);
        folder
    }

    /// Starts a gateway on the data in the folder of one that was killed.
    ///
    /// # Errors
    /// If it does not become ready.
    pub fn restart_in(folder: TempDir, arguments: &[&str]) -> anyhow::Result<Self> {
        Self::start_in(folder, arguments, &[])
    }

    /// Starts the binary like [`Self::start_with`], on files that `prepare` writes into the empty folder. The data
    /// folder is `data` inside it.
    ///
    /// # Errors
    /// If `prepare` fails, or if the gateway does not become ready.
    pub fn start_on_files(
        arguments: &[&str],
        prepare: impl FnOnce(&Path) -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let folder = create_temporary_folder()?;
        prepare(folder.path())?;
        Self::start_in(folder, arguments, &[])
    }

    /// Starts the binary on the data in a folder, and waits until it listens. It logs in JSON, and does not limit wrong
    /// credentials unless `environment` says otherwise.
    fn start_in(folder: TempDir, arguments: &[&str], environment: &[(&str, &str)]) -> anyhow::Result<Self> {
        let binary = binary_path();
        ensure!(
            binary.is_file(),
            "{} is missing: build it with `cargo build`, or name one in TILLGATE_BIN",
            binary.display()
        );
        let data = folder.path().join("data");
        create_database(&data)?;
        let mut all: Vec<&OsStr> = ["serve", "--log-format", "json", "--data"].map(OsStr::new).to_vec();
        all.push(data.as_os_str());
        all.extend(arguments.iter().map(OsStr::new));
        if !arguments.contains(&"--listen") {
            all.extend(["--listen", "127.0.0.1:0"].map(OsStr::new));
        }
        let database = find_database(&data);
        let mut environment =
            [&[("TILLGATE_LOG", "info"), ("TILLGATE_WRONG_CREDENTIALS_PER_ADDRESS", "0")], environment].concat();
        environment.extend(database.iter().map(|address| ("TILLGATE_DATABASE", address.as_str())));
        let (process, address) = Process::start(binary.as_os_str(), &all, &environment, |line| {
            line.split_once("listening on http://").map(|(_, address)| address.trim().to_owned())
        })?;
        let is_key = |(name, _): &&(&str, &str)| *name == "TILLGATE_VAULT_KEY";
        let vault_key = environment.iter().find(is_key).map(|(_, key)| (*key).to_owned());
        Ok(Self { process, address, folder, vault_key })
    }

    /// Returns the address for calls from a server, with a trailing slash: `http://127.0.0.1:40001/`.
    pub fn base_url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Returns the address for browsers, which is a separate site: `http://pay.localhost:40001/`.
    pub fn public_url(&self) -> String {
        let port = self.address.rsplit(':').next().unwrap_or_default();
        format!("http://pay.localhost:{port}/")
    }

    /// Returns how long processors have worked for the gateway so far, in the kernel's ticks.
    ///
    /// # Errors
    /// If it has ended.
    pub fn processor_ticks(&self) -> anyhow::Result<u64> {
        self.process.processor_ticks()
    }

    /// Returns the data folder.
    pub fn data_folder(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// Writes all that the store contains into a new file: a backup, or the values of all tables of a database.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn copy_store(&self, to: &Path) -> anyhow::Result<()> {
        if is_on_postgres() {
            return Ok(std::fs::write(to, self.read_stored_bytes()?)?);
        }
        self.run_command(&["backup", "--to", &to.to_string_lossy()]).map(drop)
    }

    /// Reads all that the store contains, and what it keeps of deleted data in its file.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn read_stored_bytes(&self) -> anyhow::Result<Vec<u8>> {
        Database::open_to_read(&self.data_folder())?.read_bytes(&self.data_folder())
    }

    /// Reads every file in the data folder, and a database that is in none. The socket in it is no file that can be
    /// read.
    ///
    /// # Errors
    /// If a file cannot be read, or has disappeared since the folder was listed.
    pub fn read_data_files(&self) -> anyhow::Result<Vec<Vec<u8>>> {
        let paths: Vec<PathBuf> =
            std::fs::read_dir(self.data_folder())?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<_>>()?;
        let files = paths.iter().filter(|path| path.is_file()).map(std::fs::read);
        let mut contents = files.collect::<std::io::Result<Vec<_>>>()?;
        if is_on_postgres() {
            contents.push(self.read_stored_bytes()?);
        }
        Ok(contents)
    }

    /// Returns the path of the file with the vault's keys.
    pub fn key_file(&self) -> PathBuf {
        self.folder.path().join("data.key")
    }

    /// Returns the folder that contains the data folder and the key file.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Waits until the gateway has logged a line that contains `text`. A line may arrive after the response that it was
    /// written before, because they come through different pipes.
    ///
    /// # Errors
    /// If there is no such line within two minutes.
    pub async fn wait_for_log(&self, text: &str) -> anyhow::Result<()> {
        let condition = format!("{text:?} is in the log");
        poll_until(&condition, async || Ok(self.read_log().contains(text).then_some(()))).await
    }

    /// Returns everything that the gateway has printed and logged so far, as far as it has arrived here.
    pub fn read_log(&self) -> String {
        self.process.output()
    }

    /// Returns the requests in the access log so far, as `POST /v1/checkouts/{id} 200`.
    ///
    /// # Panics
    /// If the gateway is not running, or writes no access log.
    pub fn logged_requests(&self) -> Vec<String> {
        self.read_access_log().into_iter().map(|(request, _)| request).collect()
    }

    /// Returns the requests so far about one id of a checkout, a page or a payment.
    ///
    /// # Panics
    /// Like [`Self::logged_requests`].
    pub fn logged_requests_about(&self, id: &str) -> Vec<String> {
        let tag = log_tag(id);
        self.read_access_log().into_iter().filter(|(_, about)| *about == tag).map(|(request, _)| request).collect()
    }

    /// Returns the lines of the access log: method, route and status, and the log tag of the id in the path. Sends a
    /// request first, which is left out, to wait for the lines of all earlier ones.
    ///
    /// # Panics
    /// If the gateway is not running, or writes no access log.
    fn read_access_log(&self) -> Vec<(String, String)> {
        // The output arrives a little later than the response, but in the same order. Once the line of this marker
        // request is here, all earlier lines are.
        static MARKS: AtomicUsize = AtomicUsize::new(0);
        let mark = |number: usize| format!("{number:032x}");
        let last = MARKS.fetch_add(1, Ordering::Relaxed);
        let expected = format!("\"{}\"", log_tag(&mark(last)));
        let marked = self
            .send_raw(&format!("GET /{} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", mark(last), self.address))
            .and_then(|_| {
                poll_until_blocking("the access log", || Ok(self.read_log().contains(&expected).then_some(())))
            });
        if let Err(error) = marked {
            panic!("{error:#}");
        }
        let marks: HashSet<String> = (0..=MARKS.load(Ordering::Relaxed)).map(|number| log_tag(&mark(number))).collect();
        let log = self.read_log();
        let lines = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let access_lines = lines.filter(|line| line["target"] == "tillgate::access");
        let request = |line: Value| {
            let field = |name: &str| line["fields"][name].to_string().trim_matches('"').to_owned();
            (format!("{} {} {}", field("method"), field("route"), field("status")), field("id"))
        };
        access_lines.map(request).filter(|(_, about)| !marks.contains(about)).collect()
    }

    /// Returns the number of submits of the hosted form to the checkout `id` so far.
    pub fn submit_count(&self, id: &str) -> usize {
        let submit = |request: &&String| request.starts_with("POST /v1/checkouts/{id}/payment ");
        self.logged_requests_about(id).iter().filter(submit).count()
    }

    /// Runs `tillgate <arguments> --data … --json` beside the running gateway and returns the printed JSON.
    ///
    /// # Errors
    /// If the command fails or prints something that is not JSON.
    pub fn run_command(&self, arguments: &[&str]) -> anyhow::Result<Value> {
        let output = Command::new(binary_path())
            .args(arguments)
            .arg("--data")
            .arg(self.data_folder())
            .arg("--json")
            .envs(self.vault_key.iter().map(|key| ("TILLGATE_VAULT_KEY", key)))
            .envs(find_database(&self.data_folder()).map(|address| ("TILLGATE_DATABASE", address)))
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

    /// Creates a merchant with its own entity and token, and waits until the running gateway knows them.
    ///
    /// # Errors
    /// If the entity cannot be created.
    pub fn create_merchant(&self) -> anyhow::Result<MerchantClient> {
        self.create_merchant_with(&[])
    }

    /// Creates a merchant like [`Self::create_merchant`], with additional arguments for `tillgate entity create`.
    ///
    /// # Errors
    /// If the entity cannot be created.
    pub fn create_merchant_with(&self, arguments: &[&str]) -> anyhow::Result<MerchantClient> {
        let mut all = vec!["entity", "create", "--name", "Kiln & Tide"];
        all.extend(arguments);
        let created = self.run_command(&all)?;
        let field =
            |name: &str| created[name].as_str().map(str::to_owned).with_context(|| format!("no {name} in {created}"));
        let merchant = MerchantClient::new(self.base_url(), field("entityId")?, field("token")?);
        // A separate process wrote the token. The gateway checks for such changes twenty times per second.
        poll_until_blocking("the gateway takes the new token", || {
            Ok(self.is_merchant_known(&merchant)?.then_some(()))
        })?;
        Ok(merchant)
    }

    /// Returns true if the gateway knows the merchant's token. A gateway that refuses the request with 429 counts as
    /// one that does not.
    ///
    /// # Errors
    /// If the gateway does not answer.
    pub fn is_merchant_known(&self, merchant: &MerchantClient) -> anyhow::Result<bool> {
        let (entity, token) = (&merchant.entity_id, &merchant.token);
        let response = self.send_raw(&format!(
            "GET /v1/payments/{entity}?entityId={entity} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {token}\r\n\
             Connection: close\r\n\r\n",
            self.address
        ))?;
        ensure!(response.starts_with("HTTP/1.1 "), "not an HTTP response: {response}");
        let is_unknown = response.contains("The access token is not valid") || response.starts_with("HTTP/1.1 429 ");
        Ok(!is_unknown)
    }

    /// Sends a raw HTTP request, and returns all that the gateway sends until it closes the connection.
    fn send_raw(&self, request: &str) -> anyhow::Result<String> {
        let mut stream = TcpStream::connect(&self.address)?;
        stream.write_all(request.as_bytes())?;
        let mut response = String::new();
        stream.read_to_string(&mut response)?;
        Ok(response)
    }
}

/// Creates a temporary folder for a gateway or a browser, deleted on drop. Statics are never dropped, so the first call
/// in a process also deletes the folders that earlier test processes left behind.
pub fn create_temporary_folder() -> anyhow::Result<TempDir> {
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

/// Returns the path of the binary under test: `TILLGATE_BIN`, or the debug build of the workspace. It need not exist.
pub fn binary_path() -> PathBuf {
    wrap_program(find_binary())
}

fn find_binary() -> PathBuf {
    if let Some(path) = std::env::var_os("TILLGATE_BIN") {
        return path.into();
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).parent().map(Path::to_path_buf).unwrap_or_default();
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| OsString::from("target"));
    workspace.join(target).join("debug").join("tillgate")
}
