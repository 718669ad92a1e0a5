//! The demo shop: a small but real merchant of a Tillgate gateway. It keeps its orders in memory, prepares each
//! checkout from its own server with its own token, shows the hosted form, and trusts only responses that it gets
//! server to server, never data from the browser.

mod catalogue;
mod customer;
mod gateway;
mod money;
mod order;
mod outcome;
mod pages;
mod playground;
mod policy;
mod resource_path;
mod routes;
mod texts;
mod view;

use std::future::Future;

use tokio::net::TcpListener;

/// Addresses of the shop and of its gateway. All of them end with a slash.
#[derive(Clone)]
pub struct ShopConfig {
    /// Base address of the gateway for calls from this server, for example `http://127.0.0.1:8080/`.
    pub gateway: String,
    /// Base address of the gateway as the shopper's browser sees it, for example `http://pay.localhost:8080/`.
    pub gateway_public: String,
    /// Base address of the gateway's card frames, if they have a separate host.
    pub gateway_fields: Option<String>,
    /// Address of the shop itself as the browser sees it, for example `http://shop.localhost:8081/`.
    pub public: String,
    /// The channel through which the shop sells.
    pub entity_id: String,
    /// The shop's access token. It never leaves this server except in the `Authorization` header to the gateway.
    pub token: String,
    /// Command that starts the gateway's program, as a shell reads it, for the commands that a result page shows.
    pub command: String,
    /// Folder of the gateway's data, as a shell reads it, for the same commands. `None` leaves it out of them.
    pub data: Option<String>,
}

impl std::fmt::Debug for ShopConfig {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ShopConfig")
            .field("gateway", &self.gateway)
            .field("gateway_public", &self.gateway_public)
            .field("gateway_fields", &self.gateway_fields)
            .field("public", &self.public)
            .field("entity_id", &self.entity_id)
            .finish_non_exhaustive()
    }
}

/// Serves the shop on `listener` until `shutdown` completes, and then finishes the requests in flight.
///
/// # Errors
/// If the listener fails.
pub async fn serve_shop(
    shop: ShopConfig,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    axum::serve(listener, shop_router(shop)).with_graceful_shutdown(shutdown).await?;
    Ok(())
}

/// Returns the router with all pages of the shop, for a server with its own listener.
pub fn shop_router(shop: ShopConfig) -> axum::Router {
    routes::build_router(shop)
}
