//! Shops of the browser tests, built as merchants build theirs: a framework from the npm registry, bundled by esbuild.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::SystemTime;

use anyhow::Result;

use crate::toolchain::{run_command, run_step};

/// The bundler, in the folder of the npm packages.
pub const BUNDLER: &str = "esbuild/bin/esbuild";

/// Folder of the sources, in the workspace.
const SOURCES: &str = "tests/tests/browser/shops";

/// Folder in it with the shops that use our own package.
const PACKAGE_SOURCES: &str = "npm/";

/// Options of the bundler for both versions of React. The folder of packages has the later one under another name.
const REACT_18: &[&str] = &["--jsx=automatic"];
const REACT_19: &[&str] = &["--jsx=automatic", "--alias:react=react-19", "--alias:react-dom=react-dom-19"];

/// Shops: name of the bundle, its source, and options of the bundler.
const SHOPS: [(&str, &str, &[&str]); 8] = [
    ("react-18.js", "react.jsx", REACT_18),
    ("react-19.js", "react.jsx", REACT_19),
    ("vue.js", "vue.js", &[]),
    ("angular.js", "angular.js", &[]),
    ("npm-core.js", "npm/core.js", &[]),
    ("npm-react-18.js", "npm/react.jsx", REACT_18),
    ("npm-react-19.js", "npm/react.jsx", REACT_19),
    ("npm-vue.js", "npm/vue.js", &[]),
];

/// Bundles the shops whose source or package is newer than their bundle, and returns the folder of the bundles.
/// `packages` is the folder of the npm packages, and `tarball` our own package.
///
/// # Errors
/// If a shop cannot be bundled.
pub fn bundle_all(packages: &Path, tarball: &Path) -> Result<PathBuf> {
    let folder = packages.with_file_name("shops");
    let sources = crate::workspace_root().join(SOURCES);
    let is_stale = |bundle: &str, source: &str| -> Result<bool> {
        let Ok(built) = folder.join(bundle).metadata() else { return Ok(true) };
        let changed = sources.join(source).metadata()?.modified()?;
        // Files from a tarball have no time of their own.
        let packed = source.starts_with(PACKAGE_SOURCES).then(|| tarball.metadata()?.modified()).transpose()?;
        Ok(packed.into_iter().fold(changed, SystemTime::max) > built.modified()?)
    };
    for (bundle, source, options) in SHOPS {
        if !is_stale(bundle, source)? {
            continue;
        }
        fs::create_dir_all(&folder)?;
        let mut output = OsString::from("--outfile=");
        output.push(folder.join(bundle));
        let mut esbuild = Command::new("node");
        esbuild.arg(packages.join(BUNDLER)).arg(sources.join(source)).args(["--bundle", "--log-level=warning"]);
        // The sources lie outside of the folder that has the packages.
        esbuild.args(options).arg(output).env("NODE_PATH", packages);
        run_step(&format!("esbuild {bundle}"), || run_command(&mut esbuild))?;
    }
    Ok(folder)
}
