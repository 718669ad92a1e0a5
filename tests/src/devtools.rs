//! A connection to Chromium's DevTools protocol. It reaches parts that WebDriver does not: the processes of cross-site
//! frames, and pages in which WebDriver's own scripts do not work.

use anyhow::{Context as _, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use thirtyfour::WebDriver;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::wait::{PATIENCE, poll_until};

/// An open connection. It closes on drop.
#[derive(Debug)]
pub struct DevTools {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    calls: u64,
}

impl DevTools {
    /// Connects to a running Chromium.
    ///
    /// # Errors
    /// If the browser is not Chromium, or has no DevTools address.
    pub async fn connect(browser: &WebDriver) -> anyhow::Result<Self> {
        let options = browser.capabilities().get("goog:chromeOptions").cloned().unwrap_or_default();
        let address = options["debuggerAddress"].as_str().context("the browser names no address for its tools")?;
        let version = reqwest::get(format!("http://{address}/json/version")).await?.bytes().await?;
        let version: Value = serde_json::from_slice(&version)?;
        Self::open(version["webSocketDebuggerUrl"].as_str().context("the browser offers no line to its tools")?).await
    }

    /// Connects to the Chromium whose DevTools have this address, which begins with `ws://`.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn open(address: &str) -> anyhow::Result<Self> {
        let (stream, _) = connect_async(address).await?;
        Ok(Self { stream, calls: 0 })
    }

    /// Sends a command to a session, or to the browser, without waiting for the result.
    ///
    /// # Errors
    /// If the connection is closed.
    pub async fn send_command(&mut self, session: Option<&str>, method: &str, parameters: Value) -> anyhow::Result<()> {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": parameters });
        if let Some(session) = session {
            call["sessionId"] = session.into();
        }
        Ok(self.stream.send(Message::text(call.to_string())).await?)
    }

    /// Sends a command and returns its result.
    ///
    /// # Errors
    /// If the browser rejects the command, or does not answer.
    pub async fn run_command(
        &mut self,
        session: Option<&str>,
        method: &str,
        parameters: Value,
    ) -> anyhow::Result<Value> {
        self.send_command(session, method, parameters).await?;
        self.read_result().await.with_context(|| method.to_owned())
    }

    /// Waits for the result of the latest command. Skips events and earlier results.
    ///
    /// # Errors
    /// If the browser rejects the command, or does not answer.
    pub async fn read_result(&mut self) -> anyhow::Result<Value> {
        loop {
            let message = timeout(PATIENCE, self.next_message()).await.context("the browser's tools are silent")??;
            if message["id"] == self.calls {
                ensure!(message["error"].is_null(), "the browser's tools: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    /// Waits for the browser's next message: a result or an event.
    ///
    /// # Errors
    /// If the connection is closed.
    pub async fn next_message(&mut self) -> anyhow::Result<Value> {
        while let Some(message) = self.stream.next().await {
            if let Message::Text(text) = message? {
                return Ok(serde_json::from_str(&text)?);
            }
        }
        bail!("the browser's tools have hung up")
    }

    /// Opens a session with a target and returns its id.
    ///
    /// # Errors
    /// If there is no such target.
    pub async fn attach_to_target(&mut self, target: &Value) -> anyhow::Result<String> {
        let attached =
            self.run_command(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        Ok(attached["sessionId"].as_str().context("the target cannot be reached")?.to_owned())
    }

    /// Returns the id of a target of this type whose address contains `part`, or `None` if there is none.
    pub async fn find_target(&mut self, kind: &str, part: &str) -> anyhow::Result<Option<Value>> {
        Ok(self.find_targets(kind, part).await?.into_iter().next())
    }

    /// Returns the ids of all targets of this type whose address contains `part`.
    pub async fn find_targets(&mut self, kind: &str, part: &str) -> anyhow::Result<Vec<Value>> {
        let targets = self.run_command(None, "Target.getTargets", json!({})).await?;
        let matches = |target: &&Value| {
            target["type"] == kind && target["url"].as_str().is_some_and(|address| address.contains(part))
        };
        let found = targets["targetInfos"].as_array().into_iter().flatten().filter(matches);
        Ok(found.map(|target| target["targetId"].clone()).collect())
    }
}

/// A tab that is not controlled by WebDriver.
#[derive(Debug)]
pub struct Tab {
    devtools: DevTools,
    session: String,
    target: Value,
}

impl Tab {
    /// Opens a tab with the page at `address` in the browser context of the window that `browser` shows.
    ///
    /// # Errors
    /// If the browser rejects a command.
    pub async fn open(browser: &WebDriver, address: &str) -> anyhow::Result<Self> {
        let mut devtools = DevTools::connect(browser).await?;
        let window = browser.window().await?.to_string();
        let window = devtools.run_command(None, "Target.getTargetInfo", json!({ "targetId": window })).await?;
        let options = json!({ "url": "about:blank", "browserContextId": window["targetInfo"]["browserContextId"] });
        let created = devtools.run_command(None, "Target.createTarget", options).await?;
        let target = created["targetId"].clone();
        let session = devtools.attach_to_target(&target).await?;
        let focused = json!({ "enabled": true });
        devtools.run_command(Some(&session), "Emulation.setFocusEmulationEnabled", focused).await?;
        devtools.run_command(Some(&session), "Page.navigate", json!({ "url": address })).await?;
        Ok(Self { devtools, session, target })
    }

    /// Closes the tab.
    ///
    /// # Errors
    /// If the browser rejects the command.
    pub async fn close(mut self) -> anyhow::Result<()> {
        self.devtools.run_command(None, "Target.closeTarget", json!({ "targetId": self.target })).await?;
        Ok(())
    }

    /// Returns the value of an expression in the page.
    ///
    /// # Errors
    /// If the expression throws.
    pub async fn evaluate(&mut self, expression: &str) -> anyhow::Result<Value> {
        let session = self.session.clone();
        self.evaluate_in_session(&session, expression).await
    }

    /// Waits until an expression is true in the page, or in the page that replaces it. An expression that throws counts
    /// as false.
    ///
    /// # Errors
    /// If it does not become true in time.
    pub async fn wait_until(&mut self, condition: &str) -> anyhow::Result<()> {
        poll_until(condition, async || {
            let value = self.evaluate(&format!("!!({condition})")).await.unwrap_or_default();
            Ok((value == true).then_some(()))
        })
        .await
    }

    /// Types into the input of the cross-site frame whose address contains `part`, and checks that the text has
    /// arrived.
    ///
    /// # Errors
    /// If there is no such frame, or the text does not arrive.
    pub async fn type_into_frame(&mut self, part: &str, text: &str) -> anyhow::Result<()> {
        let target = poll_until(part, async || self.devtools.find_target("iframe", part).await).await?;
        let frame = self.devtools.attach_to_target(&target).await?;
        // The frame's address is set before its document is loaded.
        poll_until("the frame's input", async || {
            let value = self
                .evaluate_in_session(&frame, "document.readyState === 'complete' && !!document.querySelector('input')");
            Ok((value.await.unwrap_or_default() == true).then_some(()))
        })
        .await?;
        // The browser's own process moves the focus between frames of different sites, a moment after the call. Until
        // then a text goes nowhere: it arrives whole or not at all.
        let focus_and_read =
            "const input = document.querySelector('input'); input.focus(); return input.value.replaceAll(' ', '')";
        poll_until(&format!("{text} in the frame {part}"), async || {
            let typed = self.evaluate_in_session(&frame, &format!("(() => {{ {focus_and_read} }})()")).await?;
            if typed == "" {
                self.devtools.run_command(Some(&frame), "Input.insertText", json!({ "text": text })).await?;
            }
            Ok((typed == text).then_some(()))
        })
        .await
    }

    /// Evaluates an expression in a session, awaits it if it is a promise, and returns its value as JSON. Fails if the
    /// expression throws.
    async fn evaluate_in_session(&mut self, session: &str, expression: &str) -> anyhow::Result<Value> {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let result = self.devtools.run_command(Some(session), "Runtime.evaluate", parameters).await?;
        ensure!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        Ok(result["result"]["value"].clone())
    }
}
