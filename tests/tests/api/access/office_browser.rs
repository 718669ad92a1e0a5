//! A browser in the back office, and the people who use it. Cookies are kept as a browser does, and redirects are not
//! followed, so that tests see each answer.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, ensure};
use jiff::Timestamp;
use reqwest::header::{HeaderMap, SET_COOKIE};
use reqwest::redirect::Policy;
use reqwest::{Client, Method};
use tillgate_domain::access::one_time_code::{CodeSecret, SECRET, step_at};
use tillgate_tests::{TestGateway, encode_form};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A password that the rules accept.
pub const PASSWORD: &str = "umbrella gravel nineteen tulips";

/// The line between the parts of a form with files.
const BOUNDARY: &str = "----office-form-boundary";

/// An answer of the back office.
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The page.
    pub page: String,
}

impl Answer {
    /// Returns a header, and an empty text if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// Returns the text between two others, the first time that they occur.
    pub fn between(&self, before: &str, after: &str) -> Option<&str> {
        let (_, rest) = self.page.split_once(before)?;
        Some(rest.split_once(after)?.0)
    }
}

/// A browser.
pub struct OfficeBrowser {
    /// Address of the gateway, without a trailing slash.
    pub base: String,
    client: Client,
    cookies: Mutex<BTreeMap<String, String>>,
    /// Headers that replace those of a browser.
    pub headers: Vec<(&'static str, String)>,
}

impl OfficeBrowser {
    /// Opens a new browser without cookies.
    pub fn new(gateway: &TestGateway) -> Self {
        // These options cannot fail.
        let client = Client::builder().redirect(Policy::none()).build().unwrap_or_default();
        let base = gateway.base_url().trim_end_matches('/').to_owned();
        Self { base, client, cookies: Mutex::default(), headers: vec![("sec-fetch-site", "same-origin".to_owned())] }
    }

    /// Returns the cookie with this name.
    pub fn cookie(&self, name: &str) -> Option<String> {
        self.lock().get(name).cloned()
    }

    /// Sets a cookie, as somebody does who has the browser in hand.
    pub fn set_cookie(&self, name: &str, value: &str) {
        self.lock().insert(name.to_owned(), value.to_owned());
    }

    /// Returns the token of the session.
    pub fn session(&self) -> String {
        self.cookie("tillgate-session").unwrap_or_default()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, String>> {
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request to a path of the back office, such as `/users`.
    pub async fn send(&self, method: Method, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        let body = (method == Method::POST).then(|| encode_form(fields.iter().copied()));
        self.send_body(method, path, body.map(|body| ("application/x-www-form-urlencoded", body))).await
    }

    /// Sends a JSON document, as the script of passkeys does.
    pub async fn post_json(&self, path: &str, document: &serde_json::Value) -> anyhow::Result<Answer> {
        self.send_body(Method::POST, path, Some(("application/json", document.to_string()))).await
    }

    /// Sends a request with a body of a content type.
    pub async fn send_body(&self, method: Method, path: &str, body: Option<(&str, String)>) -> anyhow::Result<Answer> {
        let url = if path.starts_with("http") { path.to_owned() } else { format!("{}/backoffice{path}", self.base) };
        let cookies = self.lock().iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join("; ");
        let mut request = self.client.request(method, url);
        if !cookies.is_empty() {
            request = request.header("cookie", cookies);
        }
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        if let Some((kind, body)) = body {
            request = request.header("content-type", kind).body(body);
        }
        self.receive(request).await
    }

    /// Sends a form with files: each has the name of its field, its own name, and its content.
    pub async fn upload(
        &self,
        path: &str,
        fields: &[(&str, &str)],
        files: &[(&str, &str, &[u8])],
    ) -> anyhow::Result<Answer> {
        let mut body = Vec::new();
        for (name, value) in fields {
            let head = format!("--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{name}\"\r\n\r\n{value}\r\n");
            body.extend_from_slice(head.as_bytes());
        }
        for (field, name, content) in files {
            let head = format!(
                "--{BOUNDARY}\r\ncontent-disposition: form-data; name=\"{field}\"; filename=\"{name}\"\r\n\
                 content-type: text/html\r\n\r\n"
            );
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(format!("--{BOUNDARY}--\r\n").as_bytes());
        let mut request = self.client.post(format!("{}/backoffice{path}", self.base));
        request = request.header("cookie", format!("tillgate-session={}", self.session()));
        for (name, value) in &self.headers {
            request = request.header(*name, value);
        }
        let request = request.header("content-type", format!("multipart/form-data; boundary={BOUNDARY}")).body(body);
        self.receive(request).await
    }

    /// Sends a request, and keeps the cookies of its answer.
    async fn receive(&self, request: reqwest::RequestBuilder) -> anyhow::Result<Answer> {
        let response = request.send().await?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        for value in headers.get_all(SET_COOKIE).iter().filter_map(|value| value.to_str().ok()) {
            let pair = value.split(';').next().unwrap_or_default();
            let (name, content) = pair.split_once('=').context("a cookie without a value")?;
            if content.is_empty() {
                self.lock().remove(name);
            } else {
                self.set_cookie(name, content);
            }
        }
        Ok(Answer { status, headers, page: response.text().await? })
    }

    /// Begins to send a form: returns when the gateway has admitted its head and waits for its body.
    pub async fn begin_form(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<SlowForm> {
        let kind = "application/x-www-form-urlencoded";
        self.begin_body(path, kind, encode_form(fields.iter().copied())).await
    }

    /// Begins a form with files, which has no file. Its body is asked for, and not sent yet.
    pub async fn begin_upload(&self, path: &str) -> anyhow::Result<SlowForm> {
        let kind = format!("multipart/form-data; boundary={BOUNDARY}");
        self.begin_body(path, &kind, format!("--{BOUNDARY}--\r\n")).await
    }

    async fn begin_body(&self, path: &str, kind: &str, body: String) -> anyhow::Result<SlowForm> {
        let host = self.base.trim_start_matches("http://");
        let head = format!(
            "POST /backoffice{path} HTTP/1.1\r\nHost: {host}\r\nCookie: tillgate-session={}\r\n\
             Sec-Fetch-Site: same-origin\r\nContent-Type: {kind}\r\n\
             Content-Length: {}\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n",
            self.session(),
            body.len(),
        );
        let mut connection = TcpStream::connect(host).await?;
        connection.write_all(head.as_bytes()).await?;
        // The gateway asks for the body when its handler reads the body.
        let mut answer = [0; 25];
        connection.read_exact(&mut answer).await?;
        ensure!(answer.starts_with(b"HTTP/1.1 100 "), "{}", String::from_utf8_lossy(&answer));
        Ok(SlowForm { connection, body })
    }

    /// Reads a page.
    pub async fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.send(Method::GET, path, &[]).await
    }

    /// Sends a form.
    pub async fn post(&self, path: &str, fields: &[(&str, &str)]) -> anyhow::Result<Answer> {
        self.send(Method::POST, path, fields).await
    }

    /// Returns true if the browser is signed in.
    pub async fn is_signed_in(&self) -> anyhow::Result<bool> {
        Ok(self.get("/account").await?.status == 200)
    }
}

/// A form whose body has not been sent.
pub struct SlowForm {
    connection: TcpStream,
    body: String,
}

impl SlowForm {
    /// Sends the body. Returns the status.
    pub async fn finish(mut self) -> anyhow::Result<u16> {
        self.connection.write_all(self.body.as_bytes()).await?;
        let mut answer = Vec::new();
        self.connection.read_to_end(&mut answer).await?;
        let text = String::from_utf8_lossy(&answer).into_owned();
        text.get(9..12).with_context(|| text.clone())?.parse().with_context(|| text.clone())
    }
}

/// A user with everything that the user knows.
pub struct Person {
    /// The browser.
    pub browser: OfficeBrowser,
    /// The mail address.
    pub mail: String,
    /// The secret of the authenticator app.
    pub secret: CodeSecret,
    /// The latest step of a code that was used.
    pub last_step: i64,
    /// The recovery codes that are not used.
    pub recovery: Vec<String>,
}

/// Reads the secret of an authenticator app from a page.
pub fn read_secret(answer: &Answer) -> anyhow::Result<CodeSecret> {
    let text = answer.between("<code id=\"secret\">", "</code>").context("the page shows no secret")?;
    let mut bits = 0u128;
    let mut bytes = Vec::new();
    let mut count = 0;
    for character in text.bytes().filter(|byte| *byte != b' ') {
        let value = match character {
            b'A'..=b'Z' => character - b'A',
            b'2'..=b'7' => character - b'2' + 26,
            other => anyhow::bail!("{other} is no digit of base32"),
        };
        bits = bits << 5 | u128::from(value);
        count += 5;
        if count >= 8 {
            count -= 8;
            bytes.push(u8::try_from(bits >> count & 255)?);
        }
    }
    ensure!(bytes.len() == SECRET, "a secret of {} bytes", bytes.len());
    CodeSecret::from_bytes(&bytes).context("a secret")
}

/// Returns the current step of one-time codes.
pub fn current_step() -> i64 {
    step_at(Timestamp::now())
}

impl Person {
    /// Creates a user by the command line. Returns the link.
    pub fn invite(gateway: &TestGateway, mail: &str, role: &str, entity: Option<&str>) -> anyhow::Result<String> {
        let mut arguments = vec!["user", "create", "--mail", mail, "--name", "Robin Quill", "--role", role];
        arguments.extend(entity.iter().flat_map(|entity| ["--entity", entity]));
        let url = gateway.base_url();
        arguments.extend(["--public-url", &url]);
        let created = gateway.run_command(&arguments)?;
        Ok(created["link"].as_str().context("no link")?.to_owned())
    }

    /// Accepts an invitation. The person is signed in.
    pub async fn accept(gateway: &TestGateway, link: &str, mail: &str) -> anyhow::Result<Self> {
        let browser = OfficeBrowser::new(gateway);
        let shown = browser.get(link).await?;
        ensure!(shown.status == 200, "{} {}", shown.status, shown.page);
        let (secret, last_step) = (read_secret(&shown)?, current_step());
        let code = secret.code_of_step(last_step);
        let fields =
            [("mail", mail), ("name", "Robin Quill"), ("password", PASSWORD), ("repeated", PASSWORD), ("code", &code)];
        let accepted = browser.post(link, &fields).await?;
        ensure!(accepted.status == 200, "{} {}", accepted.status, accepted.page);
        let list = accepted.between("<ol class=\"recovery\">", "</ol>").context("no recovery codes")?;
        let recovery: Vec<String> =
            list.split("<code>").skip(1).filter_map(|part| Some(part.split_once('<')?.0.to_owned())).collect();
        ensure!(recovery.len() == 10, "{recovery:?}");
        Ok(Self { browser, mail: mail.to_owned(), secret, last_step, recovery })
    }

    /// Creates a user who is signed in.
    pub async fn enrol(gateway: &TestGateway, mail: &str, role: &str, entity: Option<&str>) -> anyhow::Result<Self> {
        let link = Self::invite(gateway, mail, role, entity)?;
        Self::accept(gateway, &link, mail).await
    }

    /// Returns a second factor that was not used: a code of the app, or a recovery code if the app has no newer one.
    pub fn next_code(&mut self) -> String {
        let next = current_step().max(self.last_step + 1);
        if next <= current_step() + 1 {
            self.last_step = next;
            return self.secret.code_of_step(next).to_string();
        }
        self.recovery.pop().unwrap_or_default()
    }

    /// Signs in with both factors in a browser. Returns the last answer.
    pub async fn sign_in_with(&mut self, browser: &OfficeBrowser) -> anyhow::Result<Answer> {
        let password = browser.post("/sign-in", &[("mail", &self.mail), ("password", PASSWORD)]).await?;
        ensure!(password.status == 303, "{} {}", password.status, password.page);
        ensure!(password.header("location").starts_with("/backoffice/sign-in/factor"), "no second factor is asked for");
        let code = self.next_code();
        browser.post("/sign-in/factor", &[("code", &code)]).await
    }

    /// Returns the id of the user.
    pub fn find_id(gateway: &TestGateway, mail: &str) -> anyhow::Result<String> {
        let users = gateway.run_command(&["user", "list"])?;
        let user = users.as_array().into_iter().flatten().find(|user| user["mail"] == mail);
        Ok(user.and_then(|user| user["id"].as_str()).context("no such user")?.to_owned())
    }
}
