//! Clients that generators make of `/openapi.json`: each pays, reads, refunds, schedules and reports.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use reqwest::Method;
use serde_json::Value;
use tempfile::TempDir;
use tillgate_tests::{ApiResponse, CARD, TestGateway, encode_form};
use tokio::process::Command;

use crate::support::*;

/// Lines that each client prints.
const PRINTED: [&str; 6] = [
    "paid 000.100.110 92.00",
    "read true EUR",
    "refunded 000.100.110 10.00",
    "scheduled true 5",
    "reported DB:1:92.00 RF:1:10.00",
    "refused 200.300.404",
];

/// Writes the gateway's description into a new folder, and returns both.
async fn save_description() -> anyhow::Result<(TempDir, Value)> {
    let document = sandbox_shop().get("openapi.json").await?.json;
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("openapi.json"), document.to_string())?;
    Ok((folder, document))
}

/// Returns the path of a tool that a variable names.
fn find_tool(variable: &str) -> anyhow::Result<PathBuf> {
    std::env::var_os(variable)
        .map(PathBuf::from)
        .with_context(|| format!("{variable} is not set; use cargo xtask test"))
}

/// Returns the path of a merchant's program that uses a generated client.
fn merchant_program(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients").join(name)
}

/// Runs a program in a folder. Returns both of its outputs. Fails if the program fails.
async fn run_program(folder: &Path, program: &OsStr, arguments: &[&OsStr]) -> anyhow::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env("PYTHONPATH", folder).kill_on_drop(true);
    let output = command.output().await.with_context(|| format!("running {}", program.display()))?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "{}: {text}", program.display());
    Ok(text)
}

/// Runs a merchant's program for a new merchant, and compares what it prints.
async fn expect_sales(folder: &Path, interpreter: &OsStr, program: &Path) -> anyhow::Result<()> {
    let gateway = TestGateway::shared();
    let shop = gateway.create_merchant()?;
    let base = gateway.base_url();
    let arguments = [program.as_os_str(), base.as_ref(), shop.entity_id.as_ref(), shop.token.as_ref()];
    let printed = run_program(folder, interpreter, &arguments).await?;
    // Python writes True.
    let lines: Vec<String> = printed.lines().map(|line| line.replace("True", "true")).collect();
    assert_eq!(lines, PRINTED, "{printed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_client_of_openapi_python_client_has_every_operation_and_sells() -> anyhow::Result<()> {
    let programs = find_tool("TILLGATE_OPENAPI_PYTHON_CLIENT")?;
    let (folder, document) = save_description().await?;
    let generate = ["generate", "--path", "openapi.json", "--meta", "none", "--output-path", "gateway_client"];
    let generator = programs.join("openapi-python-client");
    let said = run_program(folder.path(), generator.as_os_str(), &generate.map(OsStr::new)).await?;
    // Bodies of other types than JSON are left to the caller; nothing is left out.
    assert!(!said.contains("will not be generated") && !said.contains("Unable to process"), "{said}");
    let operations = document["paths"].as_object().context("no paths")?.values().filter_map(Value::as_object);
    let mut sections = std::fs::read_dir(folder.path().join("gateway_client/api"))?.collect::<Result<Vec<_>, _>>()?;
    sections.retain(|section| section.path().is_dir());
    let mut generated = 0;
    for section in sections {
        let files = std::fs::read_dir(section.path())?.collect::<Result<Vec<_>, _>>()?;
        let is_operation =
            |name: &OsStr| name.to_str().is_some_and(|name| name.ends_with(".py") && name != "__init__.py");
        generated += files.iter().filter(|file| is_operation(&file.file_name())).count();
    }
    assert_eq!(generated, operations.map(serde_json::Map::len).sum::<usize>());
    expect_sales(folder.path(), programs.join("python").as_os_str(), &merchant_program("openapi_python_client.py"))
        .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_types_of_openapi_typescript_are_strict_and_a_program_with_them_sells() -> anyhow::Result<()> {
    let (generator, compiler) = (find_tool("TILLGATE_OPENAPI_TYPESCRIPT")?, find_tool("TILLGATE_TSC")?);
    let modules = generator.ancestors().nth(3).context("the generator is in no folder of packages")?;
    let (folder, _) = save_description().await?;
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules"))?;
    std::fs::copy(merchant_program("openapi_fetch.ts"), folder.path().join("merchant.mts"))?;
    let node = OsStr::new("node");
    let generate = ["openapi.json", "-o", "gateway.d.ts"].map(OsStr::new);
    run_program(folder.path(), node, &[&[generator.as_os_str()], &generate[..]].concat()).await?;
    let options = "--strict --noUncheckedIndexedAccess --exactOptionalPropertyTypes --target es2022 --module esnext \
                   --moduleResolution bundler merchant.mts gateway.d.ts";
    let compile: Vec<&OsStr> =
        std::iter::once(compiler.as_os_str()).chain(options.split(' ').map(OsStr::new)).collect();
    let said = run_program(folder.path(), node, &compile).await?;
    assert_eq!(said, "", "the types and the program compile");
    expect_sales(folder.path(), node, Path::new("merchant.mjs")).await?;
    // The types tell what is wrong, and do not take everything.
    let program = std::fs::read_to_string(merchant_program("openapi_fetch.ts"))?;
    for (right, wrong) in
        [("paymentType: \"RF\"", "paymentType: \"XX\""), ("entityId, amount: \"92.00\",", "entityId,")]
    {
        ensure!(program.contains(right), "the program has no {right}");
        std::fs::write(folder.path().join("merchant.mts"), program.replacen(right, wrong, 1))?;
        assert!(run_program(folder.path(), node, &compile).await.is_err(), "{wrong} compiles");
    }
    Ok(())
}

/// Needs openapi-generator, which needs Java: `TILLGATE_OPENAPI_GENERATOR` names its program, and
/// `TILLGATE_OPENAPI_GENERATOR_PYTHON` an interpreter with the packages that its clients use.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs Java; docs/development.md says how to run it"]
async fn the_python_client_of_openapi_generator_can_be_imported_and_sells() -> anyhow::Result<()> {
    let (generator, python) =
        (find_tool("TILLGATE_OPENAPI_GENERATOR")?, find_tool("TILLGATE_OPENAPI_GENERATOR_PYTHON")?);
    let (folder, _) = save_description().await?;
    let generate = "generate -i openapi.json -g python -o . --package-name gateway_client";
    let arguments: Vec<&OsStr> = generate.split(' ').map(OsStr::new).collect();
    run_program(folder.path(), generator.as_os_str(), &arguments).await?;
    let every = "import gateway_client, pkgutil, importlib\n\
                 [importlib.import_module(m.name) for m in pkgutil.walk_packages(gateway_client.__path__, 'gateway_client.')]";
    run_program(folder.path(), python.as_os_str(), &["-c", every].map(OsStr::new)).await?;
    expect_sales(folder.path(), python.as_os_str(), &merchant_program("openapi_generator.py")).await
}

#[tokio::test]
async fn the_older_credentials_of_the_description_are_accepted_where_it_says() -> anyhow::Result<()> {
    let (_folder, document) = save_description().await?;
    let schemes = &document["components"]["securitySchemes"];
    let [user, password] = ["userId", "password"].map(|name| {
        assert_eq!((&schemes[name]["type"], &schemes[name]["in"]), (&"apiKey".into(), &"query".into()));
        schemes[name]["name"].as_str().unwrap_or_default().to_owned()
    });
    let shop = sandbox_shop();
    for (path, method) in [("/v1/payments", "post"), ("/v1/payments/{id}", "get"), ("/v2/risk/lists", "delete")] {
        let security = &document["paths"][path][method]["security"];
        assert_eq!(*security, serde_json::json!([{ "bearer": [] }, { "userId": [], "password": [] }]), "{path}");
    }
    let (user_id, secret) = crate::access::authentication::decode_token(&shop.token)?;
    let pair = format!("?{user}={user_id}&{password}={secret}");
    let order = [("entityId", shop.entity_id.as_str()), ("amount", "1.00"), ("currency", "EUR"), ("paymentType", "DB")];
    let form = encode_form(order.into_iter().chain(CARD));
    let paid = shop.bare_request(Method::POST, &format!("v1/payments{pair}")).body(form);
    let paid = paid.header("content-type", "application/x-www-form-urlencoded").send().await?;
    let paid = ApiResponse::read_from(paid).await?;
    assert_eq!(paid.status, 200, "{}", paid.text);
    let path = format!("v1/payments/{}{pair}&entityId={}", paid.id(), shop.entity_id);
    assert_eq!(shop.bare_request(Method::GET, &path).send().await?.status(), 200);
    Ok(())
}
