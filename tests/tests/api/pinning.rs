//! A checkout pins the build of the form that its `integrity` was given for, across an upgrade of the gateway.

use reqwest::Method;
use tillgate_tests::{Gateway, Merchant};

use crate::bundle::Bundle;
use crate::frame_document::configuration;

async fn loader(shop: &Merchant, checkout: &str) -> anyhow::Result<Vec<u8>> {
    let path = format!("v1/paymentWidgets.js?checkoutId={checkout}");
    Ok(shop.bare(Method::GET, &path).send().await?.bytes().await?.to_vec())
}

async fn script(shop: &Merchant, build: &str) -> anyhow::Result<(u16, Vec<u8>)> {
    let response = shop.bare(Method::GET, &format!("v1/static/{build}/js/static.min.js")).send().await?;
    Ok((response.status().as_u16(), response.bytes().await?.to_vec()))
}

#[tokio::test]
async fn an_older_checkout_keeps_its_form_after_an_upgrade() -> anyhow::Result<()> {
    let (old, new) = (Bundle::new("old")?, Bundle::new("new")?);
    let gateway = Gateway::start_with(&["--form", old.folder()])?;
    let shop = gateway.merchant()?;
    let before = shop.checkout(&[("integrity", "true")]).await?;
    assert_eq!(before.json["integrity"], old.integrity());

    let gateway = gateway.restart(&["--form", new.folder()])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_eq!(loader(&shop, before.id()).await?, old.loader);
    assert_eq!(configuration(&shop, before.id(), "VISA").await?["build"], old.build.as_str());
    assert_eq!(script(&shop, &old.build).await?, (200, old.script.clone()));
    assert_eq!(shop.submit(before.id(), &[]).await?.status, 200);

    let after = shop.checkout(&[("integrity", "true")]).await?;
    assert_eq!(after.json["integrity"], new.integrity());
    assert_eq!(loader(&shop, after.id()).await?, new.loader);
    assert_eq!(loader(&shop, "").await?, new.loader);
    assert_eq!(script(&shop, &new.build).await?, (200, new.script.clone()));

    // Back again, as after an upgrade that went wrong: both kinds of checkout still load what they were given.
    let gateway = gateway.restart(&["--form", old.folder()])?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_eq!(loader(&shop, before.id()).await?, old.loader);
    assert_eq!(loader(&shop, after.id()).await?, new.loader);
    assert_eq!(script(&shop, &new.build).await?, (200, new.script.clone()));
    Ok(())
}

#[tokio::test]
async fn a_stored_build_that_somebody_changed_is_not_served_and_the_current_one_is() -> anyhow::Result<()> {
    // Every way to change what is stored without the vault's key.
    for change in [
        "UPDATE form_file SET content = CAST('alert(1)' AS BLOB) WHERE path = 'paymentWidgets.js'",
        "UPDATE form_file SET content = CAST(content || ' ' AS BLOB) WHERE path = 'static/js/static.min.js.br'",
        "UPDATE form_file SET content = CAST(replace(content, 'AAAA', 'EVIL') AS BLOB) WHERE path = 'manifest.json'",
        "INSERT INTO form_file SELECT build, 'codeIframe.html', CAST('<script>' AS BLOB) FROM form_build",
        "DELETE FROM form_file WHERE path = 'paymentWidgets.js.br'",
        "UPDATE form_file SET path = 'x' WHERE path = 'paymentWidgets.js.gz'",
        "UPDATE form_build SET seal = NULL",
        "UPDATE form_build SET seal = CAST(substr(seal, 1, 30) AS BLOB)",
        "UPDATE form_build SET seal = (SELECT sealed FROM webhook LIMIT 1)",
    ] {
        let (old, new) = (Bundle::new("old")?, Bundle::new("new")?);
        let gateway = Gateway::start_with(&["--form", old.folder()])?;
        let shop = gateway.merchant()?;
        let before = shop.checkout(&[]).await?;
        let gateway = gateway.restart_after(&["--form", new.folder()], |data| {
            rusqlite::Connection::open(data.join("tillgate.db"))?.execute_batch(change)?;
            Ok(())
        })?;
        let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        assert_eq!(script(&shop, &old.build).await?.0, 404, "{change}");
        assert!(gateway.log().contains("an earlier build of the form is not what this gateway stored"), "{change}");
        assert_eq!(loader(&shop, before.id()).await?, new.loader, "{change}");
        assert_eq!(script(&shop, &new.build).await?, (200, new.script.clone()), "{change}");
        assert_eq!(shop.submit(before.id(), &[]).await?.status, 200, "{change}");

        // The build comes back as its own files and is stored anew.
        let gateway = gateway.restart(&["--form", old.folder()])?.restart(&["--form", new.folder()])?;
        let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
        assert_eq!(loader(&shop, before.id()).await?, old.loader, "{change}");
        assert_eq!(script(&shop, &old.build).await?, (200, old.script.clone()), "{change}");
    }
    Ok(())
}

#[tokio::test]
async fn a_build_that_nobody_has_used_for_days_is_forgotten() -> anyhow::Result<()> {
    let (old, new) = (Bundle::new("old")?, Bundle::new("new")?);
    let gateway = Gateway::start_with(&["--form", old.folder()])?;
    let shop = gateway.merchant()?;
    let before = shop.checkout(&[]).await?;
    let gateway = gateway.restart_after(&["--form", new.folder()], |data| {
        let database = rusqlite::Connection::open(data.join("tillgate.db"))?;
        database.execute("UPDATE form_build SET seen = seen - 2 * 24 * 3600 * 1000", [])?;
        Ok(())
    })?;
    let shop = Merchant::new(gateway.base(), shop.entity_id, shop.token);
    assert_eq!(script(&shop, &old.build).await?.0, 404);
    // A checkout that outlived its build is given what there is.
    assert_eq!(loader(&shop, before.id()).await?, new.loader);
    let database = crate::support::database(&gateway)?;
    let files: u32 =
        database.query_row("SELECT count(*) FROM form_file WHERE build = ?1", [&old.build], |row| row.get(0))?;
    assert_eq!(files, 0);
    Ok(())
}

#[tokio::test]
async fn a_folder_that_is_no_build_does_not_start_a_gateway() -> anyhow::Result<()> {
    let empty = tempfile::tempdir()?;
    let error = Gateway::start_with(&["--form", empty.path().to_str().unwrap_or_default()]);
    let error = error.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("form"), "{error}");
    let broken = Bundle::new("broken")?;
    std::fs::remove_file(std::path::Path::new(broken.folder()).join("static/js/static.min.js"))?;
    let error =
        Gateway::start_with(&["--form", broken.folder()]).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(error.contains("static/js/static.min.js"), "{error}");
    Ok(())
}
