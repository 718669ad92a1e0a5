//! Firefox without a driver in between: it speaks Marionette, and what the WebDriver library asks becomes that. Firefox's own
//! driver does nothing else, but comes as source only where there is no download, and takes minutes to build.

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

/// Names of the program, Debian's first.
const PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];
/// The key of an element's reference, as WebDriver has it.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Settings of a new profile, besides those that Firefox itself makes under Marionette: any free port, and no pages that
/// nobody asked for.
const SETTINGS: [(&str, &str); 7] = [
    ("marionette.port", "0"),
    ("intl.accept_languages", "\"en-US\""),
    ("browser.shell.checkDefaultBrowser", "false"),
    ("browser.startup.page", "0"),
    ("browser.startup.homepage_override.mstone", "\"ignore\""),
    ("datareporting.policy.dataSubmissionEnabled", "false"),
    ("startup.homepage_welcome_url", "\"about:blank\""),
];

/// WebDriver's commands: method, path behind the session, and Marionette's name. What is in braces in a path becomes a
/// parameter of that name.
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

/// A running Firefox with a profile of its own. It ends when this is dropped.
#[derive(Debug)]
pub struct Firefox {
    // Ends first: it writes into the profile.
    _process: Process,
    _profile: TempDir,
}

impl Firefox {
    /// Starts Firefox, without a window to be seen, and connects to it.
    ///
    /// # Errors
    /// When Firefox is not installed, or does not start.
    pub fn start() -> anyhow::Result<(Self, Marionette)> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let there = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
        let program =
            PROGRAMS.iter().find(there).context("no Firefox (Debian: firefox-esr); `cargo xtask test` brings it")?;
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

fn write_settings(profile: &Path) -> anyhow::Result<()> {
    let lines = SETTINGS.map(|(name, value)| format!("user_pref(\"{name}\", {value});\n"));
    std::fs::write(profile.join("user.js"), lines.concat()).context("writing Firefox's settings")
}

/// A connection to Firefox, in place of one over HTTP to a driver.
#[derive(Clone, Debug)]
pub struct Marionette(Arc<Mutex<Connection>>);

#[derive(Debug)]
struct Connection {
    stream: BufReader<TcpStream>,
    count: u64,
}

impl Marionette {
    fn connect(port: u16) -> anyhow::Result<Self> {
        let stream = TcpStream::connect(("127.0.0.1", port)).context("connecting to Firefox")?;
        stream.set_read_timeout(Some(PATIENCE))?;
        stream.set_nodelay(true)?;
        let mut connection = Connection { stream: BufReader::new(stream), count: 0 };
        let hello = connection.receive()?;
        ensure!(hello["marionetteProtocol"] == 3, "Firefox speaks an unknown protocol: {hello}");
        Ok(Self(Arc::new(Mutex::new(connection))))
    }

    /// Answers a request of WebDriver's as a driver would: a status, and a body with a `value`.
    fn answer(&self, method: &str, path: &str, body: Value) -> anyhow::Result<(u16, Value)> {
        let Some((name, parameters)) = command(method, path, body) else {
            let text = format!("{method} {path} is no command that the tests need");
            return Ok((404, json!({ "value": { "error": "unknown command", "message": text, "stacktrace": "" } })));
        };
        let mut connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match connection.call(name, &parameters)? {
            Ok(value) => Ok((200, value)),
            Err(error) => Ok((if error["error"] == "unknown error" { 500 } else { 404 }, json!({ "value": error }))),
        }
    }
}

impl Connection {
    /// Calls a command. The inner error is Firefox's answer.
    fn call(&mut self, name: &str, parameters: &Value) -> anyhow::Result<Result<Value, Value>> {
        self.count += 1;
        let message = json!([0, self.count, format!("WebDriver:{name}"), parameters]).to_string();
        self.stream.get_mut().write_all(format!("{}:{message}", message.len()).as_bytes())?;
        let answer: [Value; 4] = serde_json::from_value(self.receive()?).context("an answer of Firefox's")?;
        let [kind, count, error, value] = answer;
        ensure!(kind == 1 && count == self.count, "Firefox answered something else than {name}");
        // Where the value is no object, Firefox has wrapped it as WebDriver wants it.
        let wrapped = value.as_object().is_some_and(|it| it.len() == 1 && it.contains_key("value"));
        Ok(if error.is_null() { Ok(if wrapped { value } else { json!({ "value": value }) }) } else { Err(error) })
    }

    /// A message: its length in bytes, a colon, JSON.
    fn receive(&mut self) -> anyhow::Result<Value> {
        let mut length = Vec::new();
        self.stream.read_until(b':', &mut length)?;
        let length = std::str::from_utf8(&length)?.strip_suffix(':').context("Firefox has hung up")?.parse()?;
        let mut message = vec![0; length];
        self.stream.read_exact(&mut message)?;
        Ok(serde_json::from_slice(&message)?)
    }
}

/// Marionette's command, and its parameters, for a request of WebDriver's.
fn command(method: &str, path: &str, body: Value) -> Option<(&'static str, Value)> {
    let path = path.trim_matches('/').strip_prefix("session")?;
    // Capabilities are for drivers: they choose a browser and start it.
    if path.is_empty() {
        return (method == "POST").then(|| ("NewSession", json!({})));
    }
    let path = path.strip_prefix('/')?.split_once('/').map_or("", |(_, path)| path);
    let fitting = COMMANDS.iter().filter(|(its, _, _)| *its == method);
    let (name, found) = fitting.filter_map(|(_, pattern, name)| Some((*name, segments(pattern, path)?))).next()?;
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

/// What stands in a path where its pattern has braces, with the names in them; `None` where they do not fit together.
fn segments(pattern: &str, path: &str) -> Option<Map<String, Value>> {
    if pattern.split('/').count() != path.split('/').count() {
        return None;
    }
    let mut found = Map::new();
    for (wanted, given) in pattern.split('/').zip(path.split('/')) {
        match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
            Some(name) => drop(found.insert(name.to_owned(), json!(given))),
            None if wanted == given => {}
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
        // Not to be cut off in the middle of a message when the caller has waited long enough.
        let answer = tokio::task::spawn_blocking(move || marionette.answer(&method, &path, body)).await;
        let (status, body) =
            answer.map_err(|error| failed(error.to_string()))?.map_err(|error| failed(format!("{error:#}")))?;
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
        let asked = |method, path: &str, body| command(method, &format!("/session/1-2{path}"), body);
        let found = asked("POST", "/element/e/elements", json!({ "using": "css selector", "value": "a" })).unwrap();
        assert_eq!(found, ("FindElements", json!({ "using": "css selector", "value": "a", "element": "e" })));
        let found = asked("GET", "/element/e/attribute/title", Value::Null).unwrap();
        assert_eq!(found, ("GetElementAttribute", json!({ "id": "e", "name": "title" })));
        assert_eq!(asked("GET", "/element/active", Value::Null).unwrap().0, "GetActiveElement");
        let found = asked("POST", "/frame", json!({ "id": { ELEMENT: "e", "ELEMENT": "e" } })).unwrap();
        assert_eq!(found, ("SwitchToFrame", json!({ "element": "e" })));
        assert_eq!(asked("POST", "/frame", json!({ "id": null })).unwrap().1, json!({ "id": null }));
        assert_eq!(asked("DELETE", "", Value::Null).unwrap().0, "DeleteSession");
        assert_eq!(command("POST", "/session", json!({ "capabilities": {} })).unwrap(), ("NewSession", json!({})));
        assert!(asked("PUT", "/url", Value::Null).is_none() && command("GET", "/status", Value::Null).is_none());
    }
}
