//! A line to the tools that Chromium itself offers, the DevTools protocol. It reaches what WebDriver does not: the processes of
//! cross-site frames, and pages in which WebDriver's own scripts do not work.

use anyhow::{Context as _, bail, ensure};
use futures_util::{SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use thirtyfour::WebDriver;
use tokio::net::TcpStream;
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{MaybeTlsStream, WebSocketStream, connect_async};

use crate::wait::{PATIENCE, until};

/// An open line. It closes on drop.
#[derive(Debug)]
pub struct DevTools {
    stream: WebSocketStream<MaybeTlsStream<TcpStream>>,
    calls: u64,
}

impl DevTools {
    /// Connects to a running Chromium.
    ///
    /// # Errors
    /// When the browser is no Chromium, or offers no tools.
    pub async fn connect(browser: &WebDriver) -> anyhow::Result<Self> {
        let options = browser.capabilities().get("goog:chromeOptions").cloned().unwrap_or_default();
        let address = options["debuggerAddress"].as_str().context("the browser names no address for its tools")?;
        let version = reqwest::get(format!("http://{address}/json/version")).await?.bytes().await?;
        let version: Value = serde_json::from_slice(&version)?;
        Self::open(version["webSocketDebuggerUrl"].as_str().context("the browser offers no line to its tools")?).await
    }

    /// Connects to the Chromium whose tools have this address, which begins with `ws://`.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn open(address: &str) -> anyhow::Result<Self> {
        let (stream, _) = connect_async(address).await?;
        Ok(Self { stream, calls: 0 })
    }

    /// Sends a command to a session, or to the browser, without waiting for its answer.
    ///
    /// # Errors
    /// When the line is closed.
    pub async fn send(&mut self, session: Option<&str>, method: &str, parameters: Value) -> anyhow::Result<()> {
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
    /// When the browser refuses the command, or stays silent.
    pub async fn call(&mut self, session: Option<&str>, method: &str, parameters: Value) -> anyhow::Result<Value> {
        self.send(session, method, parameters).await?;
        self.result().await.with_context(|| method.to_owned())
    }

    /// Returns the result of the latest command.
    ///
    /// # Errors
    /// When the browser refuses the command, or stays silent.
    pub async fn result(&mut self) -> anyhow::Result<Value> {
        loop {
            let message = timeout(PATIENCE, self.next_message()).await.context("the browser's tools are silent")??;
            if message["id"] == self.calls {
                ensure!(message["error"].is_null(), "the browser's tools: {}", message["error"]);
                return Ok(message["result"].clone());
            }
        }
    }

    /// Waits for the next message of the browser: a result, or an event.
    ///
    /// # Errors
    /// When the line is closed.
    pub async fn next_message(&mut self) -> anyhow::Result<Value> {
        while let Some(message) = self.stream.next().await {
            if let Message::Text(text) = message? {
                return Ok(serde_json::from_str(&text)?);
            }
        }
        bail!("the browser's tools have hung up")
    }

    /// Opens a session with a target. Its id is the result.
    ///
    /// # Errors
    /// When there is no such target.
    pub async fn attach(&mut self, target: &Value) -> anyhow::Result<String> {
        let attached = self.call(None, "Target.attachToTarget", json!({ "targetId": target, "flatten": true })).await?;
        Ok(attached["sessionId"].as_str().context("the target cannot be reached")?.to_owned())
    }

    /// Returns the id of a target of this type whose address contains `part`, `None` if there is none.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub async fn find_target(&mut self, kind: &str, part: &str) -> anyhow::Result<Option<Value>> {
        Ok(self.find_targets(kind, part).await?.into_iter().next())
    }

    /// Returns the ids of all targets of this type whose address contains `part`.
    ///
    /// # Errors
    /// When the browser does not answer.
    pub async fn find_targets(&mut self, kind: &str, part: &str) -> anyhow::Result<Vec<Value>> {
        let targets = self.call(None, "Target.getTargets", json!({})).await?;
        let is_wanted = |target: &&Value| {
            target["type"] == kind && target["url"].as_str().is_some_and(|address| address.contains(part))
        };
        let wanted = targets["targetInfos"].as_array().into_iter().flatten().filter(is_wanted);
        Ok(wanted.map(|target| target["targetId"].clone()).collect())
    }
}

/// A tab of its own that WebDriver does not touch.
#[derive(Debug)]
pub struct Tab {
    tools: DevTools,
    session: String,
    target: Value,
}

impl Tab {
    /// Opens a tab with the page at `address` in the browser context of the window that `browser` shows.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn open(browser: &WebDriver, address: &str) -> anyhow::Result<Self> {
        let mut tools = DevTools::connect(browser).await?;
        let shown = browser.window().await?.to_string();
        let shown = tools.call(None, "Target.getTargetInfo", json!({ "targetId": shown })).await?;
        let wanted = json!({ "url": "about:blank", "browserContextId": shown["targetInfo"]["browserContextId"] });
        let made = tools.call(None, "Target.createTarget", wanted).await?;
        let target = made["targetId"].clone();
        let session = tools.attach(&target).await?;
        let focused = json!({ "enabled": true });
        tools.call(Some(&session), "Emulation.setFocusEmulationEnabled", focused).await?;
        tools.call(Some(&session), "Page.navigate", json!({ "url": address })).await?;
        Ok(Self { tools, session, target })
    }

    /// Closes the tab.
    ///
    /// # Errors
    /// When the browser refuses.
    pub async fn close(mut self) -> anyhow::Result<()> {
        self.tools.call(None, "Target.closeTarget", json!({ "targetId": self.target })).await?;
        Ok(())
    }

    /// Returns the value of an expression in the page.
    ///
    /// # Errors
    /// When the expression throws.
    pub async fn value(&mut self, expression: &str) -> anyhow::Result<Value> {
        let session = self.session.clone();
        self.value_in(&session, expression).await
    }

    /// Waits until an expression holds in the page, or in the page that it makes way for.
    ///
    /// # Errors
    /// When it does not become true in time.
    pub async fn until(&mut self, condition: &str) -> anyhow::Result<()> {
        until(condition, async || {
            let value = self.value(&format!("!!({condition})")).await.unwrap_or_default();
            Ok((value == true).then_some(()))
        })
        .await
    }

    /// Types into the input of the cross-site frame whose address contains `part`.
    ///
    /// # Errors
    /// When there is no such frame, or the text does not arrive.
    pub async fn type_into_frame(&mut self, part: &str, text: &str) -> anyhow::Result<()> {
        let target = until(part, async || self.tools.find_target("iframe", part).await).await?;
        let frame = self.tools.attach(&target).await?;
        // The frame has its address before it has its document.
        until("the frame's input", async || {
            let value =
                self.value_in(&frame, "document.readyState === 'complete' && !!document.querySelector('input')");
            Ok((value.await.unwrap_or_default() == true).then_some(()))
        })
        .await?;
        self.value_in(&frame, "document.querySelector('input').focus()").await?;
        self.tools.call(Some(&frame), "Input.insertText", json!({ "text": text })).await?;
        let typed = self.value_in(&frame, "document.querySelector('input').value.replaceAll(' ', '')").await?;
        ensure!(typed == text, "the frame {part} holds {typed} in place of {text}");
        Ok(())
    }

    async fn value_in(&mut self, session: &str, expression: &str) -> anyhow::Result<Value> {
        let parameters = json!({ "expression": expression, "returnByValue": true, "awaitPromise": true });
        let answer = self.tools.call(Some(session), "Runtime.evaluate", parameters).await?;
        ensure!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        Ok(answer["result"]["value"].clone())
    }
}
