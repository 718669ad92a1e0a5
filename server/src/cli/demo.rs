//! `tillgate demo`: the gateway and a demo shop on another site, ready to pay in a browser.

use std::fs;
use std::io::Write as _;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use anyhow::Context as _;
use clap::Args;
use serde::{Deserialize, Serialize};

use super::Common;
use super::demo_shop::{DemoShop, ShopSettings};
use super::serve::{Settings, asked_to_stop, bind, runtime, serve};
use super::wallet::create;
use crate::domain::id::EntityId;
use crate::store::AdminStore;

/// Run the gateway and a demo shop.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  tillgate demo --data ./tillgate-data")]
pub(super) struct Demo {
    #[command(flatten)]
    common: Common,
    /// The gateway's address; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The shop's address.
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8081")]
    shop: SocketAddr,
    #[command(flatten)]
    settings: Settings,
}

/// The demo merchant's credentials. A real merchant keeps its token in its own place; the demo's lies in the data folder,
/// readable by its owner only, so that the printed lines stay true from one start to the next.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Merchant {
    entity_id: String,
    token: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Started {
    shop: String,
    gateway: String,
    fields: String,
    #[serde(flatten)]
    merchant: Merchant,
    curl: String,
}

impl Demo {
    pub(super) fn run(mut self) -> anyhow::Result<()> {
        self.settings.allow_loopback();
        self.settings.start_log();
        let shop_program = DemoShop::program()?;
        let merchant = merchant(&self.common.data)?;
        runtime()?.block_on(async {
            let listener = bind(self.listen).await?;
            let gateway = listener.local_addr()?;
            let mut started = started(gateway, &merchant);
            if self.settings.public_url.is_none() {
                self.settings.public_url = Some(started.gateway.clone());
                self.settings.fields_url = Some(started.fields.clone());
            }
            let edge = self.settings.open(&self.common.data).await?;
            let store = AdminStore::open(&self.common.data)?;
            let entity = EntityId::parse(&merchant.entity_id).context("the demo merchant's entityId")?;
            // What the simulated wallets encrypt for.
            if store.wallet_keys(&entity)?.is_empty() {
                create(&store, &edge.gateway.vault, entity)?;
            }
            drop(store);
            let limits = self.settings.connection_limits();
            let stop = asked_to_stop()?;
            // It ends when this is dropped, after the gateway.
            let shop = DemoShop::start(
                shop_program,
                &ShopSettings {
                    listen: self.shop,
                    gateway: &format!("http://{gateway}/"),
                    gateway_public: &started.gateway,
                    gateway_fields: self.settings.fields_url.as_deref(),
                    entity_id: &merchant.entity_id,
                    token: &merchant.token,
                },
            )?;
            started.shop.clone_from(&shop.public);
            self.common.print(&started, text)?;
            std::io::stdout().flush()?;
            serve(edge, listener, limits, stop).await
        })
    }
}

/// Sites of their own, not ports of one: browsers then treat the form's frames as they would on the internet.
fn started(gateway: SocketAddr, merchant: &Merchant) -> Started {
    let curl = format!(
        "curl -H 'Authorization: Bearer {}' -d entityId={} -d amount=92.00 -d currency=EUR -d paymentType=DB http://{gateway}/v1/checkouts",
        merchant.token, merchant.entity_id
    );
    Started {
        // The shop says it when it listens.
        shop: String::new(),
        gateway: format!("http://pay.localhost:{}/", gateway.port()),
        fields: format!("http://fields.localhost:{}/", gateway.port()),
        merchant: merchant.clone(),
        curl,
    }
}

fn text(started: &Started) -> String {
    format!(
        "\n  Demo shop   {}\n  Playground  {}playground\n  Gateway     {}\n  entityId    {}\n  token       {}\n\n  Pay with 4200 0000 0000 0000, any expiry in the future, code 123.\n  \
         Prepare a checkout yourself:\n\n  {}\n",
        started.shop, started.shop, started.gateway, started.merchant.entity_id, started.merchant.token, started.curl
    )
}

/// The demo merchant of a data folder, made on first start.
fn merchant(data: &Path) -> anyhow::Result<Merchant> {
    let store = AdminStore::open(data)?;
    let path = data.join("demo.json");
    if let Ok(text) = fs::read_to_string(&path) {
        let merchant: Merchant = serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        let known = EntityId::parse(&merchant.entity_id).map(|id| store.entity(&id)).transpose()?.flatten();
        if known.is_some() {
            return Ok(merchant);
        }
    }
    let (entity, pair) = super::entity::create(&store, "Demo shop", |entity| {
        // The playground shows the box that saves a card.
        entity.settings.browser_registrations = true;
        Ok(())
    })?;
    let merchant = Merchant { entity_id: entity.id.to_string(), token: pair.token() };
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path)?;
    file.write_all(serde_json::to_string_pretty(&merchant)?.as_bytes())?;
    Ok(merchant)
}
