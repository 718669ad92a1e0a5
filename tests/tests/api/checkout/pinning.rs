//! A checkout keeps the build of the form that its `integrity` belongs to, across an upgrade of the gateway.

use anyhow::Context as _;
use reqwest::Method;
use tillgate_tests::{Database, MerchantClient, TestGateway};

use crate::bundle::TestBundle;
use crate::checkout::frame_document::read_configuration;

/// Gets the loader script of a checkout. Returns its bytes, whatever the status.
pub async fn get_loader(shop: &MerchantClient, checkout: &str) -> anyhow::Result<Vec<u8>> {
    let path = format!("v1/paymentWidgets.js?checkoutId={checkout}");
    Ok(shop.bare_request(Method::GET, &path).send().await?.bytes().await?.to_vec())
}

/// Gets the script of a build. Returns status and bytes.
pub async fn get_script(shop: &MerchantClient, build: &str) -> anyhow::Result<(u16, Vec<u8>)> {
    let response = shop.bare_request(Method::GET, &format!("v1/static/{build}/js/static.min.js")).send().await?;
    Ok((response.status().as_u16(), response.bytes().await?.to_vec()))
}

#[tokio::test]
async fn an_older_checkout_keeps_its_form_after_an_upgrade() -> anyhow::Result<()> {
    let (old, new) = (TestBundle::new("old")?, TestBundle::new("new")?);
    let gateway = TestGateway::start_with(&["--form", old.folder()])?;
    let shop = gateway.create_merchant()?;
    let before = shop.create_checkout(&[("integrity", "true")]).await?;
    assert_eq!(before.json["integrity"], old.loader_integrity());

    let gateway = gateway.kill_and_restart(&["--form", new.folder()])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(get_loader(&shop, before.id()).await?, old.loader);
    assert_eq!(read_configuration(&shop, before.id(), "VISA").await?["build"], old.build.as_str());
    assert_eq!(get_script(&shop, &old.build).await?, (200, old.script.clone()));
    assert_eq!(shop.submit_card(before.id(), &[]).await?.status, 200);

    let after = shop.create_checkout(&[("integrity", "true")]).await?;
    assert_eq!(after.json["integrity"], new.loader_integrity());
    assert_eq!(get_loader(&shop, after.id()).await?, new.loader);
    assert_eq!(get_loader(&shop, "").await?, new.loader);
    assert_eq!(get_script(&shop, &new.build).await?, (200, new.script.clone()));

    // A downgrade, as after a failed upgrade: both checkouts still load their own build.
    let gateway = gateway.kill_and_restart(&["--form", old.folder()])?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(get_loader(&shop, before.id()).await?, old.loader);
    assert_eq!(get_loader(&shop, after.id()).await?, new.loader);
    assert_eq!(get_script(&shop, &new.build).await?, (200, new.script.clone()));
    Ok(())
}

#[tokio::test]
async fn a_stored_build_that_somebody_changed_is_not_served_and_the_current_one_is() -> anyhow::Result<()> {
    // All kinds of changes to the stored build that are possible without the vault's key.
    for change in [
        "UPDATE form_file SET content = CAST('alert(1)' AS BLOB) WHERE path = 'paymentWidgets.js'",
        "UPDATE form_file SET content = CAST(content || CAST(' ' AS BLOB) AS BLOB) WHERE path = 'static/js/static.min.js.br'",
        "UPDATE form_file SET content = CAST('EVIL' AS BLOB) WHERE path = 'manifest.json'",
        "INSERT INTO form_file SELECT build, 'otherIframe.html', CAST('<script>' AS BLOB) FROM form_build",
        "DELETE FROM form_file WHERE path = 'paymentWidgets.js.br'",
        "UPDATE form_file SET path = 'x' WHERE path = 'paymentWidgets.js.gz'",
        "UPDATE form_build SET seal = NULL",
        "UPDATE form_build SET seal = CAST(substr(seal, 1, 30) AS BLOB)",
        "UPDATE form_build SET seal = (SELECT sealed FROM webhook LIMIT 1)",
    ] {
        let (old, new) = (TestBundle::new("old")?, TestBundle::new("new")?);
        let gateway = TestGateway::start_with(&["--form", old.folder()])?;
        let shop = gateway.create_merchant()?;
        let before = shop.create_checkout(&[]).await?;
        let gateway = gateway.kill_and_restart_after(&["--form", new.folder()], |data| {
            Database::open(data)?.execute_batch(change)?;
            Ok(())
        })?;
        let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        assert_eq!(get_script(&shop, &old.build).await?.0, 404, "{change}");
        gateway.wait_for_log("an earlier build of the form was changed by another program").await.context(change)?;
        assert_eq!(get_loader(&shop, before.id()).await?, new.loader, "{change}");
        assert_eq!(get_script(&shop, &new.build).await?, (200, new.script.clone()), "{change}");
        assert_eq!(shop.submit_card(before.id(), &[]).await?.status, 200, "{change}");

        // The original files of the build are provided again and stored anew.
        let gateway =
            gateway.kill_and_restart(&["--form", old.folder()])?.kill_and_restart(&["--form", new.folder()])?;
        let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
        assert_eq!(get_loader(&shop, before.id()).await?, old.loader, "{change}");
        assert_eq!(get_script(&shop, &old.build).await?, (200, old.script.clone()), "{change}");
    }
    Ok(())
}

#[tokio::test]
async fn a_build_that_nobody_has_used_for_days_is_forgotten() -> anyhow::Result<()> {
    let (old, new) = (TestBundle::new("old")?, TestBundle::new("new")?);
    let gateway = TestGateway::start_with(&["--form", old.folder()])?;
    let shop = gateway.create_merchant()?;
    let before = shop.create_checkout(&[]).await?;
    let gateway = gateway.kill_and_restart_after(&["--form", new.folder()], |data| {
        let database = Database::open(data)?;
        database.execute("UPDATE form_build SET seen = seen - 2 * 24 * 3600 * 1000", [])?;
        Ok(())
    })?;
    let shop = MerchantClient::new(gateway.base_url(), shop.entity_id, shop.token);
    assert_eq!(get_script(&shop, &old.build).await?.0, 404);
    // A checkout whose build was deleted gets the current one.
    assert_eq!(get_loader(&shop, before.id()).await?, new.loader);
    let database = crate::support::open_database(&gateway)?;
    let files: u32 =
        database.query_row("SELECT count(*) FROM form_file WHERE build = ?1", [&old.build], |row| row.get(0))?;
    assert_eq!(files, 0);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_is_no_build_does_not_start_a_gateway() -> anyhow::Result<()> {
    let empty = tempfile::tempdir()?;
    let error = TestGateway::start_with(&["--form", empty.path().to_str().unwrap_or_default()]);
    let error = error.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("form"), "{error}");
    let broken = TestBundle::new("broken")?;
    std::fs::remove_file(std::path::Path::new(broken.folder()).join("static/js/static.min.js"))?;
    let error =
        TestGateway::start_with(&["--form", broken.folder()]).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("static/js/static.min.js"), "{error}");
    Ok(())
}
