//! `tillgate-shop`: the demo shop as a separate process, which `tillgate demo` starts beside the gateway.

use std::io::{Read as _, Write as _};
use std::process::ExitCode;

use anyhow::Context as _;
use tillgate_shop::ShopConfig;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

const HELP: &str = "\
The demo shop of Tillgate. `tillgate demo` starts it; by hand, set:

  TILLGATE_SHOP_LISTEN          its own address, such as 127.0.0.1:8081; port 0 takes a free one
  TILLGATE_SHOP_GATEWAY         the gateway's address for this server: http://127.0.0.1:8080/
  TILLGATE_SHOP_GATEWAY_PUBLIC  the gateway's address for browsers: http://pay.localhost:8080/
  TILLGATE_SHOP_GATEWAY_FIELDS  the address of the card frames, if they have a host of their own
  TILLGATE_SHOP_ENTITY_ID       the channel that it sells through
  TILLGATE_SHOP_TOKEN           its access token
  TILLGATE_SHOP_COMMAND         the command of the gateway, for those that a result page shows; `tillgate` without it
  TILLGATE_SHOP_DATA            the gateway's data folder as a shell reads it, for the same commands; may be left out

It prints its address for browsers, and ends when its standard input ends: it does not outlive the program that
started it.";

/// Serves the shop until standard input ends. Any argument prints the help instead. An error is printed and ends with
/// status 1.
fn main() -> ExitCode {
    if std::env::args().len() > 1 {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    match serve_from_environment() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tillgate-shop: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Serves the shop, with settings from the environment, until standard input ends. Prints the shop's address for
/// browsers once it listens.
///
/// # Errors
/// If a setting other than `GATEWAY_FIELDS`, `COMMAND` and `DATA` is missing, or the address cannot be listened on.
fn serve_from_environment() -> anyhow::Result<()> {
    tokio::runtime::Builder::new_multi_thread().enable_all().build()?.block_on(async {
        let address = read_setting("LISTEN")?;
        let listener = TcpListener::bind(&address).await.with_context(|| format!("listening on {address}"))?;
        // Another site, and not only another port, than the gateway: browsers then treat the form's frames as on the
        // internet.
        let public = format!("http://shop.localhost:{}/", listener.local_addr()?.port());
        let shop = ShopConfig {
            gateway: read_setting("GATEWAY")?,
            gateway_public: read_setting("GATEWAY_PUBLIC")?,
            gateway_fields: read_setting("GATEWAY_FIELDS").ok(),
            public: public.clone(),
            entity_id: read_setting("ENTITY_ID")?,
            token: read_setting("TOKEN")?,
            command: read_setting("COMMAND").unwrap_or_else(|_| "tillgate".to_owned()),
            data: read_setting("DATA").ok(),
        };
        println!("{public}");
        std::io::stdout().flush()?;
        tillgate_shop::serve_shop(shop, listener, wait_for_input_end()).await
    })
}

/// Reads the setting `TILLGATE_SHOP_{name}` from the environment.
///
/// # Errors
/// If it is not set.
fn read_setting(name: &str) -> anyhow::Result<String> {
    let name = format!("TILLGATE_SHOP_{name}");
    std::env::var(&name).with_context(|| format!("{name} is not set; see tillgate-shop --help"))
}

/// Completes when standard input ends or cannot be read.
async fn wait_for_input_end() {
    let (ended, end) = oneshot::channel();
    // A separate thread: the runtime would wait for a blocking read before it ends.
    std::thread::spawn(move || {
        let mut ignored = [0; 64];
        while matches!(std::io::stdin().read(&mut ignored), Ok(1..)) {}
        let _ = ended.send(());
    });
    let _ = end.await;
}
