//! The demo shop of `tillgate demo`. It runs in a process of its own, like a merchant's server: the program
//! `tillgate-shop`, which is in the same folder as this one.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context as _, ensure};

/// File name of the program.
const PROGRAM: &str = "tillgate-shop";

/// Settings of the shop. All addresses end with a slash.
pub(in crate::cli) struct ShopSettings<'a> {
    /// The shop's own address; port 0 selects a free port.
    pub(in crate::cli) listen: SocketAddr,
    /// The gateway's address for calls from the shop's server.
    pub(in crate::cli) gateway: &'a str,
    /// The gateway's address for browsers.
    pub(in crate::cli) gateway_public: &'a str,
    /// The host of the card frames, or `None` if they have no host of their own.
    pub(in crate::cli) gateway_fields: Option<&'a str>,
    /// The channel that processes the shop's payments.
    pub(in crate::cli) entity_id: &'a str,
    /// The shop's access token.
    pub(in crate::cli) token: &'a str,
    /// Command that starts this program, as a shell reads it.
    pub(in crate::cli) command: &'a str,
    /// The gateway's data folder, as a shell reads it.
    pub(in crate::cli) data: &'a str,
}

/// A running demo shop. Dropping it ends the process.
pub(in crate::cli) struct DemoShop {
    process: Child,
    /// The shop's address for browsers, with a trailing slash.
    pub(in crate::cli) public: String,
}

impl DemoShop {
    /// Finds the shop's program.
    ///
    /// # Errors
    /// If the program is not in the folder of this program; the text says how to build it.
    pub(in crate::cli) fn find_program() -> anyhow::Result<PathBuf> {
        let path = std::env::current_exe().context("looking for this program")?.with_file_name(PROGRAM);
        ensure!(
            path.exists(),
            "the demo shop is not built: there is no {}; build it with `cargo build`, or start `cargo xtask demo`",
            path.display()
        );
        Ok(path)
    }

    /// Starts the shop, and waits until it prints its address, which means that it listens.
    ///
    /// # Errors
    /// If the shop cannot be started or exits at once, for example because its address is in use.
    pub(in crate::cli) fn start(program: PathBuf, settings: &ShopSettings<'_>) -> anyhow::Result<Self> {
        let listen = settings.listen.to_string();
        let mut command = Command::new(&program);
        // The token is passed in the environment, which only this user can read; all users can see arguments.
        let mut set = |name: &str, value: &dyn AsRef<OsStr>| {
            command.env(format!("TILLGATE_SHOP_{name}"), value.as_ref());
        };
        set("LISTEN", &listen);
        set("GATEWAY", &settings.gateway);
        set("GATEWAY_PUBLIC", &settings.gateway_public);
        set("ENTITY_ID", &settings.entity_id);
        set("TOKEN", &settings.token);
        set("COMMAND", &settings.command);
        set("DATA", &settings.data);
        match settings.gateway_fields {
            Some(fields) => set("GATEWAY_FIELDS", &fields),
            None => drop(command.env_remove("TILLGATE_SHOP_GATEWAY_FIELDS")),
        }
        // The shop's standard input is closed when this process exits for any reason, and the shop then exits too.
        let process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let mut process = process.with_context(|| format!("starting {}", program.display()))?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line).context("reading the demo shop's address")?;
        }
        let shop = Self { process, public: line.trim().to_owned() };
        ensure!(!shop.public.is_empty(), "the demo shop ended at once; it said above why");
        Ok(shop)
    }
}

impl Drop for DemoShop {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}
