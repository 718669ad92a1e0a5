//! The inventory of scripts, and the start of a gateway with a changed or unsigned build of the form.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::Method;
use ring::rand::SystemRandom;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use tillgate_shared::language::LANGUAGES;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::bundle::{TestBundle, integrity_value};
use crate::support::*;

/// Creates a key pair. Also returns its public key in the format of `--form-key`.
fn create_key_pair() -> anyhow::Result<(Ed25519KeyPair, String)> {
    let document = Ed25519KeyPair::generate_pkcs8(&SystemRandom::new()).map_err(|error| anyhow::anyhow!("{error}"))?;
    let pair = Ed25519KeyPair::from_pkcs8(document.as_ref()).map_err(|error| anyhow::anyhow!("{error}"))?;
    let public = STANDARD.encode(pair.public_key());
    Ok((pair, public))
}

/// Signs the manifest of a build as `cargo xtask form` does.
fn sign_build(bundle: &TestBundle, pair: &Ed25519KeyPair) -> anyhow::Result<()> {
    let folder = Path::new(bundle.folder());
    let manifest = fs::read(folder.join("manifest.json"))?;
    Ok(fs::write(folder.join("manifest.sig"), STANDARD.encode(pair.sign(&manifest)))?)
}

/// Returns the error of a gateway that does not start with these options, or an empty string if it starts.
fn start_error(options: &[&str]) -> String {
    TestGateway::start_with(options).err().map(|error| error.to_string()).unwrap_or_default()
}

/// Reads the inventory of scripts, and asserts success.
async fn read_inventory(shop: &MerchantClient) -> anyhow::Result<ApiResponse> {
    let answer = ApiResponse::read_from(shop.bare_request(Method::GET, "v1/scripts").send().await?).await?;
    assert_result(&answer, 200, "000.000.100");
    Ok(answer)
}

/// Returns the paths of all scripts and of the documents of the frames. The first English texts are part of the loader.
fn expected_paths() -> BTreeSet<String> {
    let modules = [
        "js/static.min.js",
        "js/plain/static.min.js",
        "js/choice.js",
        "js/fault.js",
        "js/parts.js",
        "js/focusNextField.js",
        "js/fonts.js",
        "js/debit.js",
        "frame/frame.js",
        "frame/frame.wasm",
        "frame/plain.js",
    ];
    let frames = ["pciIframe.html", "textIframe.html", "internalRequestIframe.html"];
    let tags = || LANGUAGES.iter().map(|language| language.tag);
    let languages = tags().filter(|tag| *tag != "en").map(|tag| format!("static/js/locale-{tag}.js"));
    let languages = languages.chain(tags().map(|tag| format!("static/js/later-{tag}.js")));
    let modules = modules.iter().map(|path| format!("static/{path}"));
    let rest = ["paymentWidgets.js"].into_iter().chain(frames).map(str::to_owned);
    languages.chain(modules).chain(rest).collect()
}

#[tokio::test]
async fn every_script_is_listed_with_its_reason_and_the_hash_of_what_is_served() -> anyhow::Result<()> {
    let fields = ["--public-url", "https://pay.example", "--fields-url", "https://fields.pay.example"];
    let expected = expected_paths();
    for options in [&[][..], &fields] {
        let gateway = TestGateway::start_with(options)?;
        let shop = gateway.create_merchant()?;
        let answer = read_inventory(&shop).await?;
        let scripts = answer.json["scripts"].as_array().cloned().unwrap_or_default();
        let paths: BTreeSet<_> = scripts.iter().filter_map(|script| script["path"].as_str()).collect();
        assert_eq!((paths.len(), paths), (scripts.len(), expected.iter().map(String::as_str).collect()));
        for script in &scripts {
            assert!(script["reason"].as_str().is_some_and(|reason| reason.len() > 20), "{script}");
            assert!(has_shape(script["sha256"].as_str().unwrap_or_default(), &"x".repeat(64)), "{script}");
            let is_document = script["path"].as_str().is_some_and(|path| path.ends_with(".html"));
            assert_eq!(script["address"].is_null(), is_document, "{script}");
            let Some(address) = script["address"].as_str() else { continue };
            let frame = address.contains("/frame/") && !options.is_empty();
            let host = if frame { "fields.pay.example" } else { "pay.example" };
            let request = shop.bare_request(Method::GET, address.trim_start_matches('/')).header("host", host);
            let bytes = request.send().await?.bytes().await?;
            assert_eq!(script["integrity"], integrity_value(&bytes), "{address}");
            assert_eq!(script["bytes"], bytes.len(), "{address}");
        }
        let checkout = shop.create_checkout(&[("integrity", "true")]).await?;
        assert!(scripts.iter().any(|script| script["integrity"] == checkout.json["integrity"]));
        // The policies are equal to those that browsers receive.
        let documents = answer.json["documents"].as_array().cloned().unwrap_or_default();
        assert_eq!(documents.len(), 5);
        for document in documents {
            let path = document["path"].as_str().unwrap_or_default().trim_start_matches('/');
            let separator = if path.contains('?') { '&' } else { '?' };
            let request = shop.bare_request(Method::GET, &format!("{path}{separator}checkoutId={}", checkout.id()));
            let response =
                request.header("host", if options.is_empty() { "pay.example" } else { "fields.pay.example" });
            let response = response.send().await?;
            for (name, value) in document["headers"].as_object().into_iter().flatten() {
                let value =
                    value.as_str().unwrap_or_default().replace("ORIGINS", "*").replace("CHECKOUT", checkout.id());
                assert_eq!(response.headers()[name.as_str()], value, "{path} {name}");
            }
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_signed_form_starts_under_its_key_only_and_shows_its_signature() -> anyhow::Result<()> {
    let (pair, public) = create_key_pair()?;
    let (_, other) = create_key_pair()?;
    let bundle = TestBundle::new("signed")?;
    let options = ["--form", bundle.folder(), "--form-key", &public];
    assert!(start_error(&options).contains("not signed"), "without a signature");
    sign_build(&bundle, &pair)?;
    let gateway = TestGateway::start_with(&options)?;
    let answer = read_inventory(&gateway.create_merchant()?).await?;
    let manifest = fs::read_to_string(Path::new(bundle.folder()).join("manifest.json"))?;
    assert_eq!(answer.json["manifest"], manifest);
    let signature = STANDARD.decode(answer.json["signature"].as_str().unwrap_or_default())?;
    let verified = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, pair.public_key());
    assert!(verified.verify(manifest.as_bytes(), &signature).is_ok());
    assert!(start_error(&["--form", bundle.folder(), "--form-key", &other]).contains("not signed"));
    assert!(start_error(&["--form", bundle.folder(), "--form-key", "x"]).contains("44 characters"));
    // The signature covers the manifest.
    fs::write(Path::new(bundle.folder()).join("manifest.json"), manifest.replace("image/png", "text/html"))?;
    assert!(start_error(&options).contains("not signed"));
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_not_what_was_built_stops_the_start_also_without_a_key() -> anyhow::Result<()> {
    for file in [
        "paymentWidgets.js",
        "paymentWidgets.js.br",
        "paymentWidgets.js.gz",
        "static/js/static.min.js",
        "static/js/static.min.js.br",
        "static/js/static.min.js.gz",
        "static/img/picture.png",
    ] {
        let bundle = TestBundle::new("changed")?;
        let path = Path::new(bundle.folder()).join(file);
        let other = TestBundle::new("another")?;
        fs::copy(Path::new(other.folder()).join(file), &path)?;
        let error = start_error(&["--form", bundle.folder()]);
        assert!(error.contains(&format!("{file} of the form is not what was built")), "{file}: {error}");
        fs::write(&path, "")?;
        let error = start_error(&["--form", bundle.folder()]);
        assert!(error.contains(&format!("{file} of the form is not what was built")), "{file}: {error}");
    }
    Ok(())
}
