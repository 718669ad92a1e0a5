//! The demo shop: a small but real merchant of a Tillgate gateway. It keeps its orders in memory, prepares each
//! checkout from its own server with its own token, shows the hosted form, and believes only what the gateway tells
//! it server to server, never what the browser brings back.

mod catalogue;
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

/// Where the shop lives and how it reaches its gateway. All addresses end with a slash.
#[derive(Clone)]
pub struct Shop {
    /// Base address of the gateway for calls from this server, for example `http://127.0.0.1:8080/`.
    pub gateway: String,
    /// Base address of the gateway as the shopper's browser sees it, for example `http://pay.localhost:8080/`.
    pub gateway_public: String,
    /// Base address of the gateway's card frames, if they have a host of their own.
    pub gateway_fields: Option<String>,
    /// Address of the shop itself as the browser sees it, for example `http://shop.localhost:8081/`.
    pub public: String,
    /// The channel the shop sells through.
    pub entity_id: String,
    /// The shop's access token. It never leaves this server except in the `Authorization` header to the gateway.
    pub token: String,
}

impl std::fmt::Debug for Shop {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shop")
            .field("gateway", &self.gateway)
            .field("gateway_public", &self.gateway_public)
            .field("gateway_fields", &self.gateway_fields)
            .field("public", &self.public)
            .field("entity_id", &self.entity_id)
            .finish_non_exhaustive()
    }
}

/// Serves the shop on `listener` until `shutdown` completes; requests under way are finished first.
///
/// # Errors
/// When the listener fails.
pub async fn serve(
    shop: Shop,
    listener: TcpListener,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> anyhow::Result<()> {
    axum::serve(listener, router(shop)).with_graceful_shutdown(shutdown).await?;
    Ok(())
}

/// All pages of the shop, for a server that brings its own listener.
pub fn router(shop: Shop) -> axum::Router {
    routes::router(shop)
}
