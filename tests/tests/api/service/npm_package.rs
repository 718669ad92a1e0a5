//! The npm package of the form without a browser: its content, its size, its types, and its import on a server.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use tempfile::TempDir;

/// Name of the package in the npm registry.
const NAME: &str = "@tillgate/payment-widgets";

/// The bundler, in a project.
const BUNDLER: &str = "node_modules/esbuild/bin/esbuild";

/// Maximum size of the function without the components, minified and compressed with gzip, in bytes.
const CORE_SIZE: usize = 3000;

/// Returns the folder of npm packages, in which the tarball is unpacked.
fn packages() -> anyhow::Result<PathBuf> {
    std::env::var_os("TILLGATE_PACKAGES")
        .map(PathBuf::from)
        .context("TILLGATE_PACKAGES is not set; use cargo xtask test")
}

/// Makes a folder with the npm packages and these files of `tests/typescript`.
fn make_project(files: &[&str]) -> anyhow::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    std::os::unix::fs::symlink(packages()?, folder.path().join("node_modules"))?;
    for name in files {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("typescript").join(name);
        std::fs::copy(source, folder.path().join(name))?;
    }
    Ok(folder)
}

/// Runs node in a project. Returns both of its outputs. Fails if node does.
fn run_node(project: &TempDir, arguments: &[&str]) -> anyhow::Result<String> {
    let output = Command::new("node").args(arguments).current_dir(project.path()).output().context("running node")?;
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    ensure!(output.status.success(), "node {arguments:?}: {text}");
    Ok(text)
}

/// Returns the entry of the package in one minified file, without the framework that it uses.
fn bundle_entry(entry: &str) -> anyhow::Result<String> {
    let file = format!("node_modules/{NAME}/{entry}");
    let options = ["--bundle", "--minify", "--format=esm", "--external:react", "--external:vue"];
    run_node(&make_project(&[])?, &[&[BUNDLER, &file], &options[..]].concat())
}

fn compressed_size(text: &str) -> anyhow::Result<usize> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    Ok(encoder.finish()?.len())
}

#[test]
fn the_function_of_the_package_stays_under_three_kilobytes() -> anyhow::Result<()> {
    let core = compressed_size(&bundle_entry("index.js")?)?;
    assert!((500..=CORE_SIZE).contains(&core), "{core} bytes");
    for component in ["react.js", "vue.js"] {
        let size = compressed_size(&bundle_entry(component)?)?;
        assert!((core..core + 1000).contains(&size), "{component}: {size} bytes");
    }
    Ok(())
}

#[test]
fn the_package_has_the_version_of_the_workspace_and_the_served_declarations_and_needs_no_other() -> anyhow::Result<()> {
    let folder = packages()?.join(NAME);
    let description: Value = serde_json::from_slice(&std::fs::read(folder.join("package.json"))?)?;
    assert_eq!(description["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(description["dependencies"], Value::Null);
    assert_eq!(
        description["peerDependenciesMeta"],
        json!({ "react": { "optional": true }, "vue": { "optional": true } })
    );
    let mut names: Vec<String> = Vec::new();
    for entry in std::fs::read_dir(&folder)? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let expected = "LICENSE README.md index.d.ts index.js package.json react.d.ts react.js vue.d.ts vue.js wpwl.d.ts";
    assert_eq!(names.join(" "), expected);
    let declarations = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/wpwl.d.ts");
    assert_eq!(std::fs::read_to_string(folder.join("wpwl.d.ts"))?, std::fs::read_to_string(declarations)?);
    Ok(())
}

#[test]
fn pages_with_the_package_compile_and_wrong_uses_do_not() -> anyhow::Result<()> {
    let compiler = "node_modules/typescript/lib/tsc.js";
    let options = ["--noEmit", "--strict", "--skipLibCheck", "--jsx", "react-jsx", "--target", "es2022"];
    let project = make_project(&["npm.tsx"])?;
    // Bundlers read the package's `exports`, and older projects its files.
    for resolution in ["bundler", "node10"] {
        let modules = ["--module", "esnext", "--moduleResolution", resolution, "npm.tsx"];
        let said = run_node(&project, &[&[compiler], &options[..], &modules[..]].concat())?;
        assert_eq!(said, "", "{resolution}");
    }
    Ok(())
}

#[test]
fn servers_import_the_package_and_render_its_components_as_empty_elements() -> anyhow::Result<()> {
    let test = "server.test.mjs";
    let project = make_project(&[test])?;
    let said = run_node(&project, &["--test", test])?;
    assert!(said.contains("React 18"), "{said}");
    // React 19 has another name in the folder of packages, which only a bundler can change.
    let names = ["--alias:react=react-19", "--alias:react-dom=react-dom-19", "--define:import.meta.url=__filename"];
    let options = ["--bundle", "--platform=node", "--log-level=error", "--outfile=server.test.cjs"];
    run_node(&project, &[&[BUNDLER, test], &names[..], &options[..]].concat())?;
    let said = run_node(&project, &["--test", "server.test.cjs"])?;
    assert!(said.contains("React 19"), "{said}");
    Ok(())
}
