//! Options for the 3DS server that authenticates cardholders.

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use tillgate_connector::http::{HostAddress, SharedKey};
use tillgate_connector::three_ds::server::{MessageClient, RequestorProfile, ThreeDsServer, country_number};
use tillgate_connector::web::address::HostAddressError;
use tillgate_gateway::registry::Registry;
use tillgate_os::clock::SystemClock;

/// The 3DS server of a gateway.
#[derive(Debug, Args)]
pub(in crate::cli) struct ThreeDsOptions {
    /// Address of the 3DS server: https://, or http:// on this machine. It authenticates the cardholders of live
    /// payments, and of sandbox payments whose channel names an external connector.
    #[arg(long, value_name = "URL", env = "TILLGATE_THREE_DS_SERVER", value_parser = parse_address)]
    #[arg(requires_all = ["three_ds_key_file", "three_ds_requestor_id", "three_ds_acquirer_bin"])]
    three_ds_server: Option<HostAddress>,
    /// File with the key that the gateway shares with the 3DS server: 64 hexadecimal digits, mode 0600.
    #[arg(long, value_name = "FILE", env = "TILLGATE_THREE_DS_KEY_FILE", requires = "three_ds_server")]
    three_ds_key_file: Option<PathBuf>,
    /// Id that the directory servers have assigned (threeDSRequestorID), for merchants that send none of their own.
    #[arg(long, value_name = "ID", env = "TILLGATE_THREE_DS_REQUESTOR_ID", requires = "three_ds_server")]
    #[arg(value_parser = |text: &str| parse_text(text, 35))]
    three_ds_requestor_id: Option<String>,
    /// Name that the directory servers have assigned (threeDSRequestorName).
    #[arg(long, value_name = "NAME", env = "TILLGATE_THREE_DS_REQUESTOR_NAME", default_value = "Tillgate")]
    #[arg(value_parser = |text: &str| parse_text(text, 40))]
    three_ds_requestor_name: String,
    /// Number that EMVCo has assigned to the 3DS server (threeDSServerRefNumber).
    #[arg(long, value_name = "TEXT", env = "TILLGATE_THREE_DS_REFERENCE", default_value = "TILLGATE")]
    #[arg(value_parser = |text: &str| parse_text(text, 32))]
    three_ds_reference: String,
    /// BIN of the acquirer (acquirerBIN).
    #[arg(long, value_name = "DIGITS", env = "TILLGATE_THREE_DS_ACQUIRER_BIN", requires = "three_ds_server")]
    #[arg(value_parser = |text: &str| parse_digits(text, 4..=11))]
    three_ds_acquirer_bin: Option<String>,
    /// Merchant category code of merchants that send none (merchant.mcc).
    #[arg(long, value_name = "DIGITS", env = "TILLGATE_THREE_DS_MCC", default_value = "5999")]
    #[arg(value_parser = |text: &str| parse_digits(text, 4..=4))]
    three_ds_mcc: String,
    /// Country of merchants that send none (merchant.country), two letters.
    #[arg(long, value_name = "CODE", env = "TILLGATE_THREE_DS_COUNTRY", default_value = "DE", value_parser = parse_country)]
    three_ds_country: String,
}

impl ThreeDsOptions {
    /// Adds the 3DS server to the connectors of a gateway, and loads its card ranges in the background. Adds nothing
    /// without the option.
    ///
    /// # Errors
    /// If the key or the system's certificates cannot be read.
    pub(in crate::cli) fn add_server(&self, registry: Registry) -> anyhow::Result<Registry> {
        let (Some(address), Some(key), Some(requestor_id), Some(acquirer_bin)) =
            (&self.three_ds_server, &self.three_ds_key_file, &self.three_ds_requestor_id, &self.three_ds_acquirer_bin)
        else {
            return Ok(registry);
        };
        let key = SharedKey::read_from_file(key).context("reading the key of the 3DS server")?;
        let client = MessageClient::new(address.clone(), key, Arc::new(SystemClock));
        let client = client.context("the system's certificates")?;
        let profile = RequestorProfile {
            requestor_id: requestor_id.clone(),
            requestor_name: self.three_ds_requestor_name.clone(),
            server_reference: self.three_ds_reference.clone(),
            acquirer_bin: acquirer_bin.clone(),
            mcc: self.three_ds_mcc.clone(),
            country: self.three_ds_country.clone(),
        };
        let server = Arc::new(ThreeDsServer::new(client, profile));
        server.keep_ranges_loaded();
        Ok(registry.with_three_ds_server(server))
    }
}

fn parse_address(text: &str) -> Result<HostAddress, HostAddressError> {
    HostAddress::parse(text)
}

/// Checks a text of at most `limit` visible characters and spaces.
fn parse_text(text: &str, limit: usize) -> Result<String, String> {
    let is_valid = (1..=limit).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    if is_valid { Ok(text.to_owned()) } else { Err(format!("has 1 to {limit} characters")) }
}

/// Checks a text of digits with an allowed number of them.
fn parse_digits(text: &str, length: std::ops::RangeInclusive<usize>) -> Result<String, String> {
    let is_valid = length.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if is_valid { Ok(text.to_owned()) } else { Err(format!("has {} to {} digits", length.start(), length.end())) }
}

/// Checks a country code of two letters.
fn parse_country(text: &str) -> Result<String, String> {
    let is_known = text.len() == 2 && country_number(text).is_some();
    if is_known { Ok(text.to_ascii_uppercase()) } else { Err("is not an ISO 3166-1 code, such as DE".to_owned()) }
}
