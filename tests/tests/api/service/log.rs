//! The log: it contains routes and log tags, but never a complete secret id of a checkout or a page.

use reqwest::Method;
use tillgate_api::reference::ROUTES;
use tillgate_domain::id::log_tag;
use tillgate_tests::{TestGateway, poll_until};

use crate::payment::asynchronous::{BACK, pay_by_brand, redirect_url};
use crate::support::*;

/// Returns the last segment of an address.
fn last_segment(address: &str) -> &str {
    address.rsplit('/').next().unwrap_or_default()
}

#[tokio::test]
async fn no_line_of_any_level_holds_a_whole_checkout_or_page_id() -> anyhow::Result<()> {
    let options = ["--allow-network", "127.0.0.0/8"];
    let gateway = TestGateway::start_with_environment(&options, &[("TILLGATE_LOG", "trace")])?;
    let shop = gateway.create_merchant()?;
    // Nothing listens at this port: each delivery fails and is logged.
    let nowhere = "http://127.0.0.1:65535/told";
    let submitted = shop.create_checkout(&[("shopperResultUrl", nowhere), ("notificationUrl", nowhere)]).await?;
    assert_result(&shop.submit_card(submitted.id(), &[]).await?, 200, "000.000.100");
    let open = shop.create_checkout(&[]).await?;
    let waiting = redirect_url(&pay_by_brand(&shop, "PAYPAL", &[("notificationUrl", nowhere)]).await?);
    let redirected = shop.create_checkout(&[BACK, ("notificationUrl", nowhere)]).await?;
    let checkouts_page = redirect_url(&shop.submit_card(redirected.id(), &[("paymentBrand", "PAYPAL")]).await?);
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build()?;
    let ids = [submitted.id(), open.id(), redirected.id(), last_segment(&waiting), last_segment(&checkouts_page)]
        .map(str::to_owned);
    assert!(ids.iter().all(|id| id.len() >= 37), "{ids:?}");

    for id in &ids {
        let mut paths = vec![format!("{id}"), format!("v1/{id}/x"), format!("v1/clock/{id}")];
        for route in ROUTES.iter() {
            let mut path = route.path.trim_start_matches('/').to_owned();
            for name in ["{id}", "{registration}", "{build}", "{*path}", "{path}", "{advance}"] {
                path = path.replace(name, id);
            }
            paths.push(path);
        }
        for path in paths {
            for method in [Method::GET, Method::POST, Method::DELETE, Method::PUT] {
                let path = format!("{path}?entityId={}&checkoutId={id}&brands=VISA", shop.entity_id);
                let mut request = browser
                    .request(method, format!("{}{path}", shop.base))
                    .header("idempotency-key", id)
                    .header("referer", id);
                if path.len() % 2 == 0 {
                    request = request.bearer_auth(&shop.token);
                }
                request = request.header("content-type", "application/x-www-form-urlencoded");
                request
                    .body(format!("entityId={}&answer=success&paymentBrand={id}&checkoutId={id}", shop.entity_id))
                    .send()
                    .await?;
            }
        }
    }
    shop.advance_clock("1h").await?;
    poll_until("the receiver was asked in vain", async || {
        let failed: u32 = open_database(&gateway)?.query_row("SELECT count(*) FROM delivery", [], |row| row.get(0))?;
        Ok((failed >= 2).then_some(()))
    })
    .await?;

    assert!(!gateway.logged_requests_about(open.id()).is_empty());
    let log = gateway.read_log();
    assert!(log.contains("\"level\":\"DEBUG\""), "the log is at its most talkative");
    for id in &ids {
        // The first 12 digits are the time, which many ids share. The rest gives access to the checkout or the page.
        let secret = id[12..].split('.').next().unwrap_or_default();
        let line = log.lines().find(|line| line.to_ascii_lowercase().contains(&secret.to_ascii_lowercase()));
        assert_eq!(line, None, "the log holds {id}");
        assert!(log.contains(&log_tag(id)), "the log tag of {id} is not in the log");
    }
    Ok(())
}

#[tokio::test]
async fn a_path_is_logged_as_its_route_whatever_stands_in_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let shop = gateway.create_merchant()?;
    let number = "4111111111111111";
    for path in [
        format!("v1/payments/{number}"),
        format!("v1/checkouts/{number}/payment"),
        format!("v1/static/{number}/{number}.js"),
        number.to_owned(),
        format!("v1/{number}/{number}"),
    ] {
        shop.get(&path).await?;
    }
    let methods = ["GET", "4111111111111111"];
    for method in methods {
        let request = shop.bare_request(method.parse()?, "v1/payments/4111-1111-1111-1111");
        request.send().await?;
    }
    let requests = gateway.logged_requests();
    for line in [
        "GET /v1/payments/{id} 404",
        "GET /v1/checkouts/{id}/payment 404",
        "GET /v1/static/{build}/{*path} 404",
        "GET /{other} 404",
        "OTHER /v1/payments/{id} 405",
    ] {
        assert!(requests.iter().any(|request| request == line), "{line} is not among {requests:#?}");
    }
    let log = gateway.read_log();
    assert!(!log.contains(number) && !log.contains("4111-1111"), "{log}");
    Ok(())
}
