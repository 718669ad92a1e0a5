//! Firefox without a driver: this module translates the requests of the WebDriver library to Marionette, Firefox's own
//! protocol. geckodriver does nothing else, but without a download it must be compiled, which takes minutes.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use axum::body::Bytes;
use axum::http::{Request, Response};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use thirtyfour::prelude::{WebDriverError, WebDriverResult};
use thirtyfour::session::http::{Body, HttpClient};

use crate::process::Process;
use crate::wait::PATIENCE;

/// Names of the program. Debian's name comes first.
const PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];
/// The key of an element reference in the WebDriver specification.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Settings of a new profile, in addition to those that Firefox itself applies under Marionette: use any free port, and
/// load no pages unasked.
const SETTINGS: [(&str, &str); 7] = [
    ("marionette.port", "0"),
    ("intl.accept_languages", "\"en-US\""),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("browser.startup.homepage_override.mstone", "\"ignore\""),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("startup.homepage_welcome_url", "\"about:blank\""),
];

/// WebDriver's commands: method, path after the session, and Marionette's name. A part in braces becomes a parameter of
/// that name.
const COMMANDS: [(&str, &str, &str); 37] = [
    ("DELETE", "", "DeleteSession"),
    ("GET", "timeouts", "GetTimeouts"),
    ("POST", "timeouts", "SetTimeouts"),
    ("POST", "url", "Navigate"),
    ("GET", "url", "GetCurrentURL"),
    ("POST", "back", "Back"),
    ("POST", "forward", "Forward"),
    ("POST", "refresh", "Refresh"),
    ("GET", "title", "GetTitle"),
    ("GET", "source", "GetPageSource"),
    ("GET", "window", "GetWindowHandle"),
    ("POST", "window", "SwitchToWindow"),
    ("DELETE", "window", "CloseWindow"),
    ("GET", "window/handles", "GetWindowHandles"),
    ("POST", "window/new", "NewWindow"),
    ("GET", "window/rect", "GetWindowRect"),
    ("POST", "window/rect", "SetWindowRect"),
    ("POST", "frame", "SwitchToFrame"),
    ("POST", "frame/parent", "SwitchToParentFrame"),
    ("GET", "element/active", "GetActiveElement"),
    ("POST", "element", "FindElement"),
    ("POST", "elements", "FindElements"),
    ("POST", "element/{element}/element", "FindElement"),
    ("POST", "element/{element}/elements", "FindElements"),
    ("GET", "element/{id}/attribute/{name}", "GetElementAttribute"),
    ("GET", "element/{id}/property/{name}", "GetElementProperty"),
    ("GET", "element/{id}/css/{propertyName}", "GetElementCSSValue"),
    ("GET", "element/{id}/text", "GetElementText"),
    ("GET", "element/{id}/displayed", "IsElementDisplayed"),
    ("GET", "element/{id}/enabled", "IsElementEnabled"),
    ("POST", "element/{id}/click", "ElementClick"),
    ("POST", "element/{id}/clear", "ElementClear"),
    ("POST", "element/{id}/value", "ElementSendKeys"),
    ("POST", "execute/sync", "ExecuteScript"),
    ("POST", "execute/async", "ExecuteAsyncScript"),
    ("POST", "actions", "PerformActions"),
    ("GET", "screenshot", "TakeScreenshot"),
];

/// A running Firefox with its own profile. It ends on drop.
#[derive(Debug)]
pub struct Firefox {
    // Must end before the profile is deleted, because the process writes into it.
    _process: Process,
    _profile: TempDir,
}

impl Firefox {
    /// Starts Firefox in headless mode and connects to it.
    ///
    /// # Errors
    /// If Firefox is not installed, or does not start.
    pub fn start() -> anyhow::Result<(Self, Marionette)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_installed = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let program = PROGRAMS
            .iter()
            .find(is_installed)
            .context("no Firefox (Debian: firefox-esr); `cargo xtask test` brings it")?;
        let profile = tempfile::tempdir()?;
        write_settings(profile.path())?;
        let arguments = ["--marionette", "--headless", "--no-remote", "--width=1280", "--height=960", "--profile"];
        let mut arguments = arguments.map(OsStr::new).to_vec();
        arguments.push(profile.path().as_os_str());
        let ready = |line: &str| line.split_once("Listening on port ")?.1.trim().parse::<u16>().ok();
        let (process, port) = Process::start(OsStr::new(program), &arguments, &[], ready)?;
        Ok((Self { _process: process, _profile: profile }, Marionette::connect(port)?))
    }
}

/// Writes [`SETTINGS`] into the profile in this folder.
fn write_settings(profile: &Path) -> anyhow::Result<()> {
    let lines = SETTINGS.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"));
    std::fs::write(profile.join("user.js"), lines.concat()).context("writing Firefox's settings")
}

/// A connection to Firefox. It replaces the HTTP connection to a driver.
#[derive(Clone, Debug)]
pub struct Marionette(Arc<Mutex<MarionetteConnection>>);

#[derive(Debug)]
struct MarionetteConnection {
    stream: BufReader<TcpStream>,
    count: u64,
}

impl Marionette {
    /// Connects to Marionette on this port of this machine. Fails unless it speaks version 3 of the protocol.
    fn connect(port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("connecting to Firefox")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut connection = MarionetteConnection { stream: BufReader::new(stream), count: 0 };
        let hello = connection.read_message()?;
        ensure!(hello["marionetteProtocol"] == 3, "Firefox speaks an unknown protocol: {hello}");
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Answers a WebDriver request as a driver would: with a status, and a body that contains a `value`. Unknown
    /// commands give 404, errors of Firefox 404 or 500. Fails if the connection does.
    fn handle_request(&self, method: &str, path: &str, body: Value) -> anyhow::Result<(u16, Value)> {
        let Some((name, parameters)) = translate_command(method, path, body) else {
            let text = format!("{method} {path} is no command that the tests need");
            return Ok((404, json!({ "value": { "error": "unknown command", "message": text, "stacktrace": "" } })));
        };
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match connection.run_command(name, &parameters)? {
            Ok(value) => Ok((200, value)),
            Err(error) => Ok((if error["error"] == "unknown error" { 500 } else { 404 }, json!({ "value": error }))),
        }
    }
}

impl MarionetteConnection {
    /// Sends a command. The inner error is Firefox's error response.
    fn run_command(&mut self, name: &str, parameters: &Value) -> anyhow::Result<Result<Value, Value>> {
        self.count += 1;
        let message = json!([0, self.count, format!("WebDriver:{name}"), parameters]).to_string();
        self.stream.get_mut().write_all(format!("{}:{message}", message.len()).as_bytes())?;
        let response: [Value; 4] = serde_json::from_value(self.read_message()?).context("an answer of Firefox's")?;
        let [kind, count, error, value] = response;
        ensure!(kind == 1 && count == self.count, "Firefox answered something else than {name}");
        // Firefox has already wrapped values that are not objects as WebDriver requires.
        let wrapped = value.as_object().is_some_and(|it| it.len() == 1 && it.contains_key("value"));
        Ok(if error.is_null() { Ok(if wrapped { value } else { json!({ "value": value }) }) } else { Err(error) })
    }

    /// Waits for a message and reads it: its length in bytes, a colon, JSON.
    fn read_message(&mut self) -> anyhow::Result<Value> {
        let mut length = Vec::new();
        self.stream.read_until(b':', &mut length)?;
        let length = std::str::from_utf8(&length)?.strip_suffix(':').context("Firefox has hung up")?.parse()?;
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    }
}

/// Translates a WebDriver request to a Marionette command and its parameters. Returns `None` if the command is unknown.
fn translate_command(method: &str, path: &str, body: Value) -> Option<(&'static str, Value)> {
    let path = path.trim_matches('/').strip_prefix("session")?;
    // Capabilities are dropped: only drivers need them, to choose and start a browser.
    if path.is_empty() {
        return (method == "POST").then(|| ("NewSession", json!({})));
    }
    let path = path.strip_prefix('/')?.split_once('/').map_or("", |(_, path)| path);
    let candidates = COMMANDS.iter().filter(|(its, _, _)| *its == method);
    let (name, found) =
        candidates.filter_map(|(_, pattern, name)| Some((*name, match_path_segments(pattern, path)?))).next()?;
    let mut parameters = if let Value::Object(body) = body { body } else { Map::new() };
    parameters.extend(found);
    match name {
        "SwitchToFrame" => {
            if let Some(element) = parameters.get("id").and_then(|id| id.get(ELEMENT)).cloned() {
                parameters = Map::from_iter([("element".to_owned(), element)]);
            }
        }
        "TakeScreenshot" => parameters.extend([("full".to_owned(), json!(false))]),
        _ => {}
    }
    Some((name, Value::Object(parameters)))
}

/// Returns the path segments that match the braces in the pattern, by name, or `None` if the path does not match the
/// pattern.
fn match_path_segments(pattern: &str, path: &str) -> Option<Map<String, Value>> {
    if pattern.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut found = Map::new();
    for (expected, given) in pattern.split('/').zip(path.split('/')) {
        match expected.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => drop(found.insert(name.to_owned(), json!(given))),
            None if expected == given => {}
            None => return None,
        }
    }
    Some(found)
}

#[async_trait::async_trait]
impl HttpClient for Marionette {
    async fn send(&self, request: Request<Body<'_>>) -> WebDriverResult<Response<Bytes>> {
        let failed = |error: String| WebDriverError::RequestFailed(error);
        let (method, path) = (request.method().to_string(), request.uri().path().to_owned());
        let body = if let Body::Json(body) = request.body() { (*body).clone() } else { Value::Null };
        let marionette = self.clone();
        // `spawn_blocking`, so that a timeout of the caller does not interrupt a message.
        let response = tokio::task::spawn_blocking(move || marionette.handle_request(&method, &path, body)).await;
        let (status, body) =
            response.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(format!("{error:#}")))?;
        Response::builder().status(status).body(body.to_string().into()).map_err(|error| failed(error.to_string()))
    }

    async fn new(&self) -> Arc<dyn HttpClient> {
        Arc::new(self.clone())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_a_command_with_what_its_path_names() {
        let translate = |method, path: &str, body| translate_command(method, &format!("/session/1-2{path}"), body);
        let found = translate("POST", "/element/e/elements", json!({ "using": "css selector", "value": "a" })).unwrap();
        assert_eq!(found, ("FindElements", json!({ "using": "css selector", "value": "a", "element": "e" })));
        let found = translate("GET", "/element/e/attribute/title", Value::Null).unwrap();
        assert_eq!(found, ("GetElementAttribute", json!({ "id": "e", "name": "title" })));
        assert_eq!(translate("GET", "/element/active", Value::Null).unwrap().0, "GetActiveElement");
        let found = translate("POST", "/frame", json!({ "id": { ELEMENT: "e", "ELEMENT": "e" } })).unwrap();
        assert_eq!(found, ("SwitchToFrame", json!({ "element": "e" })));
        assert_eq!(translate("POST", "/frame", json!({ "id": null })).unwrap().1, json!({ "id": null }));
        assert_eq!(translate("DELETE", "", Value::Null).unwrap().0, "DeleteSession");
        assert_eq!(
            translate_command("POST", "/session", json!({ "capabilities": {} })).unwrap(),
            ("NewSession", json!({}))
        );
        assert!(
            translate("PUT", "/url", Value::Null).is_none()
                && translate_command("GET", "/status", Value::Null).is_none()
        );
    }
}
