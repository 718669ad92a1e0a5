//! `tillgate demo`: the gateway and a demo shop on another site, ready for a payment in a browser.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};
use tillgate_domain::id::EntityId;
use tillgate_gateway::access::entity::EntityChange;
use tillgate_gateway::access::settings::SettingsChange;
use tillgate_gateway::administration::Administration;
use tillgate_os::process;
use tillgate_store::is_served;

use crate::cli::CommonOptions;
use crate::cli::administration::create_administration;
use crate::cli::data_place::DataPlace;
use crate::cli::sandbox::demo_data::{self, fill_entity, has_payments};
use crate::cli::sandbox::demo_rules::ensure_demo_rules;
use crate::cli::sandbox::demo_shop::{DemoShop, ShopSettings};
use crate::cli::serve::settings::GatewaySettings;
use crate::cli::serve::{bind_listener, create_runtime, serve_until_stopped, stop_after_drain};
use crate::control::listener::ControlSocket;

/// The creditor identifier of the demo merchant, which the Bundesbank has published for tests.
const CREDITOR_ID: &str = "DE98ZZZ09999999999";

/// Run the gateway and a demo shop.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate demo --data ./tillgate-data")]
pub(in crate::cli) struct Demo {
    #[command(flatten)]
    common: CommonOptions,
    /// Address of the gateway. Port 0 selects a free port.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Address of the shop.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8081")]
    shop: SocketAddr,
    /// Number of payments that the demo makes at its first start, in the last 30 days. 0 for none.
    #[arg(long, value_name = "N", default_value_t = demo_data::PAYMENTS)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=20_000))]
    payments: u32,
    #[command(flatten)]
    settings: GatewaySettings,
}

/// The demo merchant's credentials. A real merchant keeps its token in a place of its own. The demo's token is in the
/// data folder, readable only by its owner, so that the printed commands work again after a restart.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct DemoMerchant {
    entity_id: String,
    token: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct DemoOutput {
    shop: String,
    gateway: String,
    fields: String,
    #[serde(flatten)]
    merchant: DemoMerchant,
    curl: String,
    /// Command that lists the held orders.
    review: String,
    /// Link for the first administrator of the back office, if there is no user yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    first_administrator: Option<String>,
}

impl Demo {
    /// Opens the gateway, starts the shop, prints addresses and credentials, and serves until SIGTERM or SIGINT.
    /// Creates the store, the demo merchant, its wallet key, its risk rules and its payments if they are missing.
    pub(in crate::cli) fn run(mut self) -> anyhow::Result<()> {
        self.common.place.refuse_database("the demo keeps its play money in the data folder. Leave it out")?;
        self.settings.allow_loopback();
        let warnings = self.settings.start_log();
        let shop_program = DemoShop::find_program()?;
        let merchant = ensure_demo_merchant(&self.common.place)?;
        let entity = EntityId::parse(&merchant.entity_id).context("the demo merchant's entityId")?;
        ensure_demo_rules(&create_administration(&self.common.place)?, &entity)?;
        ensure_demo_data(&self.common.place, &entity, self.payments)?;
        create_runtime()?.block_on(async {
            let listener = bind_listener(self.listen).await?;
            let gateway = listener.local_addr()?;
            let data = fs::canonicalize(self.common.place.folder())?;
            let command = find_command()?;
            let mut started = describe_demo(gateway, &merchant);
            let data = quote_for_shell(&data.to_string_lossy());
            started.review = format!("{command} review list --data {data}");
            if self.settings.public_url.is_none() {
                self.settings.public_url = Some(started.gateway.clone());
                self.settings.fields_url = Some(started.fields.clone());
            }
            let state = self.settings.open_gateway(&self.common.place).await?;
            let store = self.common.place.open_store()?;
            let vault = Box::new(Arc::clone(&state.gateway.vault));
            let administration =
                Administration::new(store.for_actor(process::describe_user()), vault, Arc::clone(&state.gateway.clock));
            // A key for the simulated wallets.
            if administration.load_wallet_keys(&entity)?.is_empty() {
                administration.create_wallet_key(&entity)?;
            }
            drop(administration);
            let limits = self.settings.connection_limits();
            let control = ControlSocket::bind(self.common.place.folder());
            let stop = stop_after_drain(&self.settings, Arc::clone(&state))?;
            // Dropping the shop ends its process. It is dropped after the gateway.
            let shop = DemoShop::start(
                shop_program,
                &ShopSettings {
                    listen: self.shop,
                    gateway: &format!("http://{gateway}/"),
                    gateway_public: &started.gateway,
                    gateway_fields: self.settings.fields_url.as_deref(),
                    entity_id: &merchant.entity_id,
                    token: &merchant.token,
                    command: &command,
                    data: &data,
                },
            )?;
            started.shop.clone_from(&shop.public);
            let office = self.settings.open_office(&state, warnings, None)?;
            started.first_administrator = office.setup_link(self.settings.public_url.as_deref(), gateway);
            self.common.print_output(&started, format_demo)?;
            std::io::stdout().flush()?;
            serve_until_stopped(state, office.pages, listener, limits, None, control, stop).await
        })
    }
}

/// Builds the addresses to print. The shop's address and the command for reviews are still empty. Gateway and frames
/// have host names of their own instead of ports of one host, so that browsers treat the form's frames as cross-site,
/// as on the internet.
fn describe_demo(gateway: SocketAddr, merchant: &DemoMerchant) -> DemoOutput {
    let curl = format!(
        "curl -H 'Authorization: Bearer {}' -d entityId={} -d amount=92.00 -d currency=EUR -d paymentType=DB http://{gateway}/v1/checkouts",
        merchant.token, merchant.entity_id
    );
    DemoOutput {
        // Known only when the shop listens.
        shop: String::new(),
        gateway: format!("http://pay.localhost:{}/", gateway.port()),
        fields: format!("http://fields.localhost:{}/", gateway.port()),
        merchant: merchant.clone(),
        curl,
        review: String::new(),
        first_administrator: None,
    }
}

/// Formats addresses, credentials, a test card, and commands for a checkout and for held orders as text.
fn format_demo(started: &DemoOutput) -> String {
    let office = match &started.first_administrator {
        Some(link) => {
            format!("The back office has no user yet. Become its administrator, once and within 24 hours:\n\n  {link}")
        }
        None => format!("Back office  {}backoffice", started.gateway),
    };
    format!(
        "\n  Demo shop   {}\n  Playground  {}playground\n  Gateway     {}\n  entityId    {}\n  token       {}\n\n  Pay with 4200 0000 0000 0000, any expiry in the future, code 123.\n  \
         Prepare a checkout yourself:\n\n  {}\n\n  \
         An order with the demo setting \"A suspicious order\" is held for review. List what is held:\n\n  {}\n\n  {office}\n",
        started.shop,
        started.shop,
        started.gateway,
        started.merchant.entity_id,
        started.merchant.token,
        started.curl,
        started.review
    )
}

/// Returns the command that starts this program, as a shell reads it: `tillgate` if the search path leads to this
/// program, otherwise its path. In a clone of the repository it is in no folder of the search path.
fn find_command() -> anyhow::Result<String> {
    let program = fs::canonicalize(std::env::current_exe().context("looking for this program")?)?;
    let path = std::env::var_os("PATH").unwrap_or_default();
    let first = std::env::split_paths(&path).map(|folder| folder.join("tillgate")).find(|file| file.is_file());
    if first.and_then(|file| fs::canonicalize(file).ok()).is_some_and(|file| file == program) {
        return Ok("tillgate".to_owned());
    }
    Ok(quote_for_shell(&program.to_string_lossy()))
}

/// Quotes a text for a shell, unless it has only characters that mean nothing there.
fn quote_for_shell(text: &str) -> String {
    if text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-".contains(&byte)) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Returns the demo merchant that `demo.json` in the data folder names. If the file is missing or the store does not
/// know the merchant, creates another merchant and writes the file, readable only by its owner.
fn ensure_demo_merchant(place: &DataPlace) -> anyhow::Result<DemoMerchant> {
    let administration = create_administration(place)?;
    let path = place.folder().join("demo.json");
    if let Ok(text) = fs::read_to_string(&path) {
        let merchant: DemoMerchant =
            serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        let known = EntityId::parse(&merchant.entity_id).map(|id| administration.has_entity(&id)).transpose()?;
        if known == Some(true) {
            return Ok(merchant);
        }
    }
    let settings = SettingsChange { sepa_creditor_id: Some(CREDITOR_ID.to_owned()), ..SettingsChange::default() };
    let change = EntityChange { name: Some("Kiln & Tide".to_owned()), settings, ..EntityChange::default() };
    let (entity, pair) = administration.create_entity(&change, |_| Ok(()))?;
    let merchant = DemoMerchant { entity_id: entity.id.to_string(), token: pair.bearer_token() };
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(serde_json::to_string_pretty(&merchant)?.as_bytes())?;
    Ok(merchant)
}

/// Fills the demo merchant if the store has no payment, or completes a filling that was interrupted. Leaves out both if
/// a server is running on the data folder.
fn ensure_demo_data(place: &DataPlace, merchant: &EntityId, payments: u32) -> anyhow::Result<()> {
    if payments > 0 && !is_served(place.folder())? {
        fill_entity(place, merchant, (payments, demo_data::SEED), |gateway| Ok(!has_payments(gateway)?))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::cli::sandbox::demo::quote_for_shell;

    #[test]
    fn a_path_is_quoted_where_a_shell_would_split_it() {
        assert_eq!(quote_for_shell("/home/jane/tillgate-data"), "/home/jane/tillgate-data");
        assert_eq!(quote_for_shell("/home/jane doe/$x"), "'/home/jane doe/$x'");
        assert_eq!(quote_for_shell("jane's"), r"'jane'\''s'");
    }
}
