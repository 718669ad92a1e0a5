//! Mistakes in the set-up that open a gateway to strangers: told in the log and by `/health`, and no reason to serve
//! real money.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway, binary_path, poll_until};

use crate::service::command_line::run_tillgate;
use crate::support::*;

/// Returns the warnings of `/health`.
async fn read_warnings(gateway: &TestGateway) -> anyhow::Result<Vec<String>> {
    let health: Value = reqwest::get(format!("{}health", gateway.base_url())).await?.json().await?;
    assert_eq!(health["status"], "ok");
    let warnings = health["warnings"].as_array().cloned().unwrap_or_default();
    Ok(warnings.iter().filter_map(|warning| warning["option"].as_str().map(str::to_owned)).collect())
}

/// Runs a command beside a gateway. Returns the printed JSON, and the standard error stream.
fn run_beside(gateway: &TestGateway, arguments: &[&str]) -> anyhow::Result<(Value, String)> {
    let mut command = std::process::Command::new(binary_path());
    let output = command.args(arguments).arg("--data").arg(gateway.data_folder()).arg("--json").output()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    anyhow::ensure!(output.status.success(), "{said}");
    Ok((serde_json::from_slice(&output.stdout)?, said))
}

/// Creates a live merchant. Returns it, and the standard error stream of the command.
fn create_live(gateway: &TestGateway) -> anyhow::Result<(MerchantClient, String)> {
    let (made, said) = run_beside(gateway, &["entity", "create", "--name", "Live", "--live"])?;
    let field = |name: &str| made[name].as_str().unwrap_or_default().to_owned();
    let merchant = MerchantClient::new(gateway.base_url(), field("entityId"), field("token"));
    Ok((merchant, said))
}

#[tokio::test]
async fn an_unsafe_option_is_told_and_serves_no_live_entity() -> anyhow::Result<()> {
    const SAFE: [&str; 4] = ["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"];
    let safe = TestGateway::start_with(&SAFE)?;
    assert!(read_warnings(&safe).await?.is_empty());
    safe.create_merchant_with(&["--live"])?;
    let data = safe.data_folder();
    let data = data.to_str().unwrap_or_default().to_owned();
    for (options, warning) in [
        (&["--trusted-proxy", "0.0.0.0/0"][..], "trusted-proxy"),
        (&["--trusted-proxy", "::/0"], "trusted-proxy"),
        (&["--trusted-proxy", "::ffff:0.0.0.0/96"], "trusted-proxy"),
        (&["--trusted-proxy", "0.0.0.0/1,128.0.0.0/1"], "trusted-proxy"),
        (&["--allow-network", "0.0.0.0/0"], "allow-network"),
        (&["--allow-network", "0.0.0.0/1", "--allow-network", "128.0.0.0/1"], "allow-network"),
        (&["--allow-network", "::/1,8000::/1"], "allow-network"),
    ] {
        let gateway = TestGateway::start_with(&[&SAFE[..2], options].concat())?;
        assert_eq!(read_warnings(&gateway).await?, [warning], "{options:?}");
        assert!(gateway.read_log().contains(warning), "{options:?}");
        gateway.create_merchant()?;
        // A live entity is made with a warning, and not served.
        let (made, said) = create_live(&gateway)?;
        assert!(said.contains("serves no live entities") && said.contains(&format!("--{warning}")), "{said}");
        let made = made.behind_proxy();
        // The gateway takes up the new token within a moment.
        let refused = poll_until("the gateway knows the token", async || {
            let answer = made.create_checkout(&[]).await?;
            Ok((!answer.text.contains("not valid")).then_some(answer))
        })
        .await?;
        assert_result(&refused, 403, "800.900.300");
        assert!(refused.text.contains(warning), "{}", refused.text);
        let serve = ["serve", "--data", &data, "--listen", "127.0.0.1:0"];
        let output = run_tillgate(&[&serve[..], &SAFE[..2], options].concat()).await?;
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && said.contains(&format!("--{warning}")), "{options:?}: {said}");
    }
    let plain = TestGateway::start_with(&["--public-url", "http://pay.example"])?;
    assert_eq!(read_warnings(&plain).await?, ["public-url"]);
    Ok(())
}

#[tokio::test]
async fn a_data_folder_that_everybody_may_write_is_told() -> anyhow::Result<()> {
    for name in ["", "tillgate.lock"] {
        let gateway = TestGateway::start()?;
        let path = gateway.data_folder().join(name);
        let gateway = gateway.kill_and_restart_after(&[], |_| {
            let mode = std::fs::metadata(&path)?.permissions().mode() | 0o002;
            Ok(std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode))?)
        })?;
        assert_eq!(read_warnings(&gateway).await?, ["data-folder"], "{name}");
    }
    Ok(())
}

#[tokio::test]
async fn a_gateway_without_a_public_address_is_told_before_a_live_entity_is_made_beside_it() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let (_, said) = create_live(&gateway)?;
    assert!(said.contains("serves no live entities") && said.contains("--public-url https://"), "{said}");
    let sandbox = gateway.create_merchant()?;
    let set = ["entity", "set", "--entity", &sandbox.entity_id, "--live"];
    assert!(run_beside(&gateway, &set)?.1.contains("--public-url https://"));
    // Nothing is said where the gateway has that address, nor about a sandbox.
    assert!(run_beside(&gateway, &["entity", "create", "--name", "Sandbox"])?.1.is_empty());
    let gateway =
        gateway.kill_and_restart(&["--public-url", "https://pay.example", "--trusted-proxy", "127.0.0.0/8"])?;
    assert!(create_live(&gateway)?.1.is_empty());
    Ok(())
}
