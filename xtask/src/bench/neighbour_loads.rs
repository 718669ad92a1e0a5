//! The hostile loads of [`super::neighbours`], each on one resource. Every load is tried once, so that a refused load
//! cannot pass for a harmless one.

use std::fmt::Write as _;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::Bench;
use super::child::ServerProcess;
use super::hostile_load::{HostileLoad, RawRequest, Repetition, open_passive_ports, send_halves, send_request};
use super::requests::MerchantAccess;

/// Starts a load.
pub type StartLoad = Box<dyn Fn() -> Result<HostileLoad>>;

/// Arguments of a gateway with FTP. The ports are below those that the system assigns.
pub const FTP_ARGUMENTS: &[&str] = &["--ftp", FTP_ADDRESS, "--ftp-passive-ports", "29100-29107"];
const FTP_ADDRESS: &str = "127.0.0.1:29121";

/// Connections that send without pause.
const CONNECTIONS: usize = 8;
/// Comparisons in the costly rules: as many as the largest cost of a rules file allows for a list of 1000 items.
const COMPARISONS: usize = 199;
/// Comparisons in a rule, whose condition has a largest length.
const COMPARISONS_PER_RULE: usize = 100;
/// Disputes with evidence, each with room for four of the files.
const DISPUTES: usize = 64;
/// Largest size of an evidence file in bytes.
const EVIDENCE_SIZE: usize = 4 << 20;
/// Schedules that run every second.
const SCHEDULES: usize = 20;

/// A hostile merchant, the servers that it shares with others, and the folder of the gateway's store.
pub struct Neighbour<'a> {
    /// The bench that runs.
    pub bench: &'a Bench,
    /// Folder with the store in `data`.
    pub folder: &'a Path,
    /// The hostile merchant.
    pub merchant: &'a MerchantAccess,
    /// The gateway.
    pub server: &'a ServerProcess,
    /// The acquirer's host, if it is a process of its own.
    pub host: Option<&'a ServerProcess>,
}

impl Neighbour<'_> {
    /// Returns a POST request with a form body.
    fn form_request(&self, path: &str, body: &str) -> RawRequest {
        let body = format!("entityId={}&{body}", self.merchant.entity_id);
        self.merchant.post_requests(path, &[body]).concat().into()
    }

    /// Returns a request without a body, or with one of this media type.
    fn build_request(&self, method: &str, path: &str, body: Option<(&str, Arc<[u8]>)>) -> RawRequest {
        let MerchantAccess { entity_id, token } = self.merchant;
        let separator = if path.contains('?') { '&' } else { '?' };
        let mut head = format!("{method} {path}{separator}entityId={entity_id} HTTP/1.1\r\nHost: 127.0.0.1\r\n");
        let _ = write!(head, "Authorization: Bearer {token}\r\n");
        if let Some((media_type, body)) = &body {
            let _ = write!(head, "Content-Type: {media_type}\r\nContent-Length: {}\r\n", body.len());
        }
        head.push_str("\r\n");
        RawRequest { head, body: body.map_or_else(|| Arc::from([]), |(_, body)| body) }
    }

    /// Sends a request, which has to succeed. Returns the response.
    fn send_checked(&self, request: &RawRequest) -> Result<Vec<u8>> {
        let (status, body) = send_request(&self.server.address, request)?;
        let start = request.head.lines().next().unwrap_or_default();
        ensure!(status == 200, "{start}: {status} {}", String::from_utf8_lossy(&body));
        Ok(body)
    }

    /// Sends a request, which has to succeed. Returns the response as JSON.
    fn send_for_json(&self, request: &RawRequest) -> Result<Value> {
        Ok(serde_json::from_slice(&self.send_checked(request)?)?)
    }

    /// Returns a load that sends these requests in turn, each connection as fast as it gets responses.
    fn loop_requests(&self, requests: Vec<RawRequest>) -> StartLoad {
        let (address, requests) = (self.server.address.clone(), Arc::<[RawRequest]>::from(requests));
        Box::new(move || Ok(HostileLoad::send_requests(&address, &requests, CONNECTIONS, Repetition::UntilStopped)))
    }
}

/// Returns the id in a response.
fn read_id(response: &Value) -> Result<&str> {
    response["id"].as_str().with_context(|| format!("no id in {response}"))
}

/// Form body of a card payment.
const PAYMENT: &str = "amount=92.00&currency=EUR&paymentType=DB&paymentBrand=VISA&card.number=4200000000000000\
                       &card.holder=Jane+Jones&card.expiryMonth=05&card.expiryYear=2034&card.cvv=123";

/// Activates the costliest rules that the gateway stores, and pays with 1000 cart items that no rule finds.
pub fn prepare_costly_rules(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let mut rules = String::new();
    for first in (0..COMPARISONS).step_by(COMPARISONS_PER_RULE) {
        let tests = vec!["cart.items[n].sku = \"x\""; COMPARISONS_PER_RULE.min(COMPARISONS - first)].join(" or ");
        let _ = write!(rules, "[[rule]]\nname = 'from {first}'\nscore = 1\nwhen = '''{tests}'''\n");
    }
    let added = neighbour
        .send_for_json(&neighbour.form_request("/v2/risk/rules", &format!("rules={}", escape_text(&rules))))?;
    let version = added["version"].as_str().context("no version")?;
    neighbour.send_checked(&neighbour.form_request(&format!("/v2/risk/rules/{version}/activate"), ""))?;
    let mut body = PAYMENT.to_owned();
    for item in 0..1000 {
        let _ = write!(body, "&cart.items[{item}].sku=sku-{item}");
    }
    let payment = neighbour.form_request("/v1/payments", &body);
    neighbour.send_checked(&payment)?;
    Ok(neighbour.loop_requests(vec![payment]))
}

/// Charges payments back, uploads a file of the largest size to each dispute, and downloads it, in turn. Full disputes
/// refuse uploads.
pub fn prepare_evidence(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    for _ in 0..DISPUTES {
        let paid = neighbour.send_for_json(&neighbour.form_request("/v1/payments", PAYMENT))?;
        let path = format!("/v1/payments/{}", read_id(&paid)?);
        neighbour.send_checked(&neighbour.form_request(&path, "paymentType=CB&chargebackResultCode=000.100.203"))?;
    }
    let mut file = b"%PDF-1.7\n".to_vec();
    file.resize(EVIDENCE_SIZE - 7, b'x');
    file.extend_from_slice(b"\n%%EOF\n");
    let file = Arc::<[u8]>::from(file);
    let listed = neighbour.send_for_json(&neighbour.build_request("GET", "/v1/disputes?limit=100", None))?;
    let mut requests = Vec::new();
    for dispute in listed["disputes"].as_array().into_iter().flatten() {
        let path = format!("/v1/disputes/{}/evidence?name=slip.pdf", read_id(dispute)?);
        let upload = neighbour.build_request("POST", &path, Some(("application/pdf", Arc::clone(&file))));
        let stored = neighbour.send_for_json(&upload)?;
        let download = neighbour.build_request("GET", &format!("/v1/evidence/{}", read_id(&stored)?), None);
        requests.extend([upload, download]);
    }
    ensure!(requests.len() == 2 * DISPUTES, "{} requests for {DISPUTES} disputes", requests.len());
    Ok(neighbour.loop_requests(requests))
}

/// Reads the reference page without compression.
pub fn prepare_reference_page(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let page: RawRequest = "GET /reference HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".to_owned().into();
    ensure!(neighbour.send_checked(&page)?.len() > 100_000, "the reference page is short");
    Ok(neighbour.loop_requests(vec![page]))
}

/// Sends 300 payments of an amount that the host books and never answers.
pub fn prepare_silent_host(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let body = PAYMENT.replace("92.00", "2000.02");
    let payment = neighbour.form_request("/v1/payments", &format!("{body}&testMode=EXTERNAL"));
    let (address, requests) = (neighbour.server.address.clone(), Arc::<[RawRequest]>::from(vec![payment]));
    Ok(Box::new(move || Ok(HostileLoad::send_requests(&address, &requests, 300, Repetition::Once))))
}

/// Creates an FTP user, which logs in eight times and asks for a passive port each time.
pub fn prepare_ftp_sessions(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let output = Command::new(&neighbour.bench.programs.gateway)
        .args(["ftp-user", "create", "--entity", &neighbour.merchant.entity_id, "--json", "--data"])
        .arg(neighbour.folder.join("data"))
        .output()?;
    ensure!(output.status.success(), "no FTP user: {}", String::from_utf8_lossy(&output.stderr));
    let created: Value = serde_json::from_slice(&output.stdout)?;
    let text = |name: &str| created[name].as_str().map(str::to_owned).with_context(|| format!("no {name}"));
    let (user, password) = (text("user")?, text("password")?);
    Ok(Box::new(move || {
        let sessions = open_passive_ports(FTP_ADDRESS, &user, &password, CONNECTIONS)?;
        Ok(HostileLoad::hold_connections(sessions))
    }))
}

/// Creates schedules of every second, and moves the clock by a year, which is refused, and by a minute, which makes all
/// runs of the minute due.
pub fn prepare_clock_jumps(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let (_, card) = PAYMENT.split_once("&paymentBrand").context("no card")?;
    let terms = "standingInstruction.mode=INITIAL&standingInstruction.source=CIT&standingInstruction.type=UNSCHEDULED";
    let body = format!("paymentBrand{card}&{terms}");
    let registration = neighbour.send_for_json(&neighbour.form_request("/v1/registrations", &body))?;
    let schedule = format!(
        "registrationId={}&amount=92.00&currency=EUR&paymentType=SD&job.expression={}",
        read_id(&registration)?,
        escape_text("* * * * * ?")
    );
    for _ in 0..SCHEDULES {
        neighbour.send_checked(&neighbour.form_request("/scheduling/v1/schedules", &schedule))?;
    }
    Ok(neighbour
        .loop_requests(["8760h", "1m"].map(|by| neighbour.form_request(&format!("/v1/clock/{by}"), "")).to_vec()))
}

/// Sends half requests from another address than the gateway's.
pub fn prepare_half_requests(neighbour: &Neighbour<'_>) -> Result<StartLoad> {
    let address = neighbour.host.context("no host")?.address.clone();
    Ok(Box::new(move || Ok(HostileLoad::hold_connections(send_halves(&address, Ipv4Addr::new(127, 0, 0, 2), 500)?))))
}

/// Escapes a text for a form body: every byte but letters and digits.
fn escape_text(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        if byte.is_ascii_alphanumeric() {
            escaped.push(char::from(byte));
        } else {
            let _ = write!(escaped, "%{byte:02X}");
        }
        escaped
    })
}
