//! WebKit, the engine of Safari, in the build for GTK. It has no mode without a screen, so it gets one in memory.

use std::ffi::OsStr;
use std::net::TcpListener;

use anyhow::bail;

use crate::process::Process;
use crate::wait::poll_until;

/// The driver of WebKit, and the screen of its browsers. Both end on drop.
#[derive(Debug)]
pub struct WebKit {
    /// Address of the driver.
    pub driver: String,
    _processes: [Process; 2],
}

impl WebKit {
    /// Starts a screen and a driver.
    ///
    /// # Errors
    /// If one of them does not start.
    pub async fn start() -> anyhow::Result<Self> {
        let screen = ["-displayfd", "1", "-screen", "0", "1280x1024x24", "-nolisten", "tcp"].map(OsStr::new);
        let number = |line: &str| line.trim().parse::<u32>().ok();
        let (screen, number) = Process::start(OsStr::new("Xvfb"), &screen, &[], number)
            .map_err(|error| error.context("no Xvfb (Debian: xvfb); `cargo xtask test` brings it"))?;
        let (driver, process) = start_driver(&format!(":{number}")).await?;
        Ok(Self { driver, _processes: [process, screen] })
    }
}

/// Starts a driver for browsers on this display. Returns its address.
async fn start_driver(display: &str) -> anyhow::Result<(String, Process)> {
    // The driver does not tell its port. Another process may have taken the free one meanwhile.
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port().to_string();
        let program = "echo starting; WebKitWebDriver --host=127.0.0.1 --port=\"$0\"; echo it has ended";
        let begun = |line: &str| line.starts_with("starting").then_some(());
        let arguments = [OsStr::new("-c"), OsStr::new(program), OsStr::new(&port)];
        let (process, ()) = Process::start(OsStr::new("sh"), &arguments, &[("DISPLAY", display)], begun)?;
        let address = format!("http://127.0.0.1:{port}");
        let is_ready = poll_until("WebKit's driver answers or has ended", async || {
            let answer = reqwest::get(format!("{address}/status")).await;
            let is_driver = match answer {
                Ok(answer) => answer.text().await?.contains("\"ready\""),
                Err(_) if process.output().contains("it has ended") => false,
                Err(_) => return Ok(None),
            };
            Ok(Some(is_driver))
        });
        if is_ready.await? {
            return Ok((address, process));
        }
    }
    bail!("WebKit's driver does not start (Debian: webkit2gtk-driver); `cargo xtask test` brings it")
}
