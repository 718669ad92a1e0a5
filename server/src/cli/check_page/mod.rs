//! `tillgate check-page`: reads a merchant's page as a browser would, and lists the faults in the form's integration.
//! Scripts of the page are not run.

mod document;
mod finding;
mod page;
mod rules;
mod source_list;

use std::process::ExitCode;

use anyhow::{Context as _, bail, ensure};
use clap::Args;
use ipnet::IpNet;
use serde::Serialize;
use tillgate_domain::ip_text;
use tillgate_net::outgoing::OutgoingClient;
use url::{Host, Url};

use crate::cli::CommonOptions;
use crate::cli::serve::create_runtime;
use crate::cli::serve::ports::PortOptions;
use crate::cli::table::to_printable;
use finding::Finding;
use page::{CheckedPage, Inventory, PageGateway, ServedPage};

/// Exit code for a page that gives no answer.
const NO_ANSWER: u8 = 2;

/// Check a merchant's page: script tag, policies, headers, brands.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  tillgate check-page https://shop.example/checkout --gateway https://pay.example\n\n\
    The exit code is 0 if nothing is wrong, 1 if there are findings, and 2 if the page gives no answer."
)]
pub(super) struct CheckPage {
    #[command(flatten)]
    common: CommonOptions,
    /// Address of the page, as a browser opens it.
    #[arg(value_name = "URL", value_parser = parse_address)]
    url: Url,
    /// Public address of the gateway. Default: the address in the page's script tag.
    #[arg(long, value_name = "URL", value_parser = parse_gateway)]
    gateway: Option<Url>,
    /// Network that is not public but allowed for the page and the gateway, as for `serve`. May be repeated. A page
    /// of this machine may always be read, and only such a page or its gateway may lead to this machine.
    #[arg(long = "allow-network", alias = "allow-private", value_name = "CIDR", env = "TILLGATE_ALLOW_NETWORKS",
        value_delimiter = ',', value_parser = ip_text::parse_network)]
    allowed_networks: Vec<IpNet>,
    #[command(flatten)]
    ports: PortOptions,
}

/// Outcome of the command.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct PageReport {
    /// Address of the page, after redirects and without its query.
    url: String,
    /// The gateway's address. Null if it is unknown.
    gateway: Option<String>,
    findings: Vec<Finding>,
}

/// Parses an address of http or https.
fn parse_address(text: &str) -> Result<Url, String> {
    let url: Url = text.parse().map_err(|error| format!("{error}; example: https://shop.example/checkout"))?;
    let is_page = matches!(url.scheme(), "http" | "https") && url.username().is_empty() && url.password().is_none();
    if is_page { Ok(url) } else { Err("an address of http or https without a user is required".to_owned()) }
}

/// Parses the address of a gateway, and adds a slash at its end.
fn parse_gateway(text: &str) -> Result<Url, String> {
    let url = parse_address(text)?;
    if url.query().is_some() || url.fragment().is_some() {
        return Err("the address of a gateway has no query".to_owned());
    }
    if url.path().ends_with('/') { Ok(url) } else { parse_address(&format!("{url}/")) }
}

/// Returns true for an address of this machine.
pub(crate) fn is_of_this_machine(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => {
            let name = name.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

impl CheckPage {
    /// Checks the page and prints the findings. Returns the exit code.
    pub(super) fn run(self) -> ExitCode {
        match self.check() {
            Ok(report) => {
                let is_clean = report.findings.is_empty();
                match self.common.print_output(&report, format_report) {
                    Ok(()) if is_clean => ExitCode::SUCCESS,
                    _ => ExitCode::FAILURE,
                }
            }
            Err(error) => {
                eprintln!("tillgate: {}", to_printable(&format!("{error:#}")));
                NO_ANSWER.into()
            }
        }
    }

    fn check(&self) -> anyhow::Result<PageReport> {
        let mut networks = self.allowed_networks.clone();
        // An operator who names this machine as page or gateway wants it to be asked. Otherwise no page leads here.
        if is_of_this_machine(&self.url) || self.gateway.as_ref().is_some_and(is_of_this_machine) {
            networks.extend(["127.0.0.0/8", "::1/128"].iter().filter_map(|network| network.parse::<IpNet>().ok()));
        }
        let client = OutgoingClient::new(&networks, self.ports.allowed_ports())?;
        let checked = create_runtime()?.block_on(self.read_page(&client))?;
        Ok(PageReport {
            url: without_query(&checked.page.url).into(),
            gateway: checked.gateway.as_ref().map(|gateway| gateway.base.to_string()),
            findings: rules::find_faults(&checked),
        })
    }

    /// Reads the page, and from its gateway the list of scripts and the page's script.
    async fn read_page(&self, client: &OutgoingClient) -> anyhow::Result<CheckedPage> {
        let fetched =
            client.fetch_document(&self.url).await.with_context(|| format!("{} gives no answer", self.url))?;
        let shown = without_query(&fetched.url);
        ensure!(fetched.status.is_success(), "{shown} answers with the status {}", fetched.status.as_u16());
        let media_type = fetched.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
        if !media_type.to_ascii_lowercase().contains("html") {
            bail!("{shown} is no page: its media type is {media_type}");
        }
        let page = ServedPage::new(fetched);
        let tag = page.loader_tags().last().copied();
        let base = self.gateway.clone().or_else(|| page.gateway_base(tag?));
        let loader_url = tag.and_then(|tag| page.loader_url(tag.element));
        let loader = match loader_url {
            Some(url) => Some(client.fetch_document(&url).await.map_err(|error| error.to_string())),
            None => None,
        };
        let gateway = match base {
            Some(base) => Some(read_gateway(client, base).await),
            None => None,
        };
        Ok(CheckedPage { page, gateway, loader })
    }
}

/// Returns an address as it is shown: the query of a payment page may hold the id of an order.
fn without_query(url: &Url) -> Url {
    let mut shown = url.clone();
    shown.set_query(None);
    shown.set_fragment(None);
    shown
}

/// Asks a gateway for the list of its scripts.
async fn read_gateway(client: &OutgoingClient, base: Url) -> PageGateway {
    let mut gateway = PageGateway { base, inventory: Err(String::new()) };
    gateway.inventory = match client.fetch_document(&gateway.address("v1/scripts")).await {
        Ok(answer) if answer.status.is_success() => {
            Inventory::parse(&answer.body).ok_or_else(|| "the answer is no list of scripts".to_owned())
        }
        Ok(answer) => Err(format!("it answers with the status {}", answer.status.as_u16())),
        Err(error) => Err(error.to_string()),
    };
    gateway
}

/// Formats the findings, each with its name, a sentence and the line to write.
fn format_report(report: &PageReport) -> String {
    let mut lines = vec![to_printable(&report.url)];
    if report.findings.is_empty() {
        lines.push("Nothing is wrong with the form's integration.".to_owned());
    }
    for finding in &report.findings {
        lines.push(format!("\n{}: {}\n    {}", finding.kind.name(), finding.message, finding.line));
    }
    lines.join("\n")
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_that_a_browser_opens_are_taken() {
        for text in ["shop.example", "ftp://shop.example/", "file:///etc/passwd", "https://user:pw@shop.example/", ""] {
            assert!(parse_address(text).is_err(), "{text}");
        }
        assert_eq!(parse_gateway("https://pay.example").unwrap().as_str(), "https://pay.example/");
        assert_eq!(parse_gateway("https://pay.example/base").unwrap().as_str(), "https://pay.example/base/");
        assert!(parse_gateway("https://pay.example/?x=1").is_err());
    }

    #[test]
    fn only_a_page_of_this_machine_may_lead_to_this_machine() {
        for (address, expected) in [
            ("http://localhost:8000/", true),
            ("http://shop.localhost./", true),
            ("http://127.0.0.2/", true),
            ("http://[::1]/", true),
            ("http://0x7f.1/", true),
            ("http://localhost.example/", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_of_this_machine(&address.parse().unwrap()), expected, "{address}");
        }
    }
}
