//! Programs and packages that the tests need: finds or installs them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::shops;
use crate::npm;
use crate::toolchain::python::PythonPackage;
use crate::toolchain::{debian, is_on_path, run_command, run_step};

/// Packages from the npm registry, each with a file that exists once it is installed. Versions are pinned, because a
/// new one may find more faults. This TypeScript is the last version written in JavaScript, which runs wherever node
/// does, and this React the last one that a page can load without a bundler. The others are for the shops that are
/// bundled.
const PACKAGES: [(&str, &str); 22] = [
    ("@angular/common@22.2.6", "@angular/common/package.json"),
    ("@angular/compiler@22.2.6", "@angular/compiler/package.json"),
    ("@angular/core@22.2.6", "@angular/core/package.json"),
    ("@angular/platform-browser@22.2.6", "@angular/platform-browser/package.json"),
    ("@angular/router@22.2.6", "@angular/router/package.json"),
    ("@hotwired/turbo@8.0.23", "@hotwired/turbo/dist/turbo.es2017-umd.js"),
    ("@types/react@19.3.3", "@types/react/index.d.ts"),
    ("axe-core@4.14.1", AXE),
    ("esbuild@0.28.2", shops::BUNDLER),
    ("htmx.org@2.0.11", "htmx.org/dist/htmx.min.js"),
    ("jquery@3.7.1", "jquery/dist/jquery.min.js"),
    ("openapi-fetch@0.17.0", "openapi-fetch/dist/index.mjs"),
    ("openapi-typescript@7.13.0", TYPE_GENERATOR),
    ("oxlint@1.94.0", LINTER),
    ("react@18.3.1", "react/umd/react.development.js"),
    ("react-19@npm:react@19.3.1", "react-19/package.json"),
    ("react-dom@18.3.1", "react-dom/umd/react-dom.development.js"),
    ("react-dom-19@npm:react-dom@19.3.1", "react-dom-19/package.json"),
    ("rxjs@7.8.2", "rxjs/package.json"),
    ("typescript@5.9.3", COMPILER),
    ("vue@3.5.13", "vue/dist/vue.runtime.global.prod.js"),
    ("vue-router@4.6.5", "vue-router/package.json"),
];
const AXE: &str = "axe-core/axe.min.js";
const COMPILER: &str = "typescript/lib/tsc.js";
const LINTER: &str = "oxlint/bin/oxlint";
const TYPE_GENERATOR: &str = "openapi-typescript/bin/cli.js";

/// Generator of a client of the gateway in Python, with a package that the client uses.
const CLIENT_GENERATOR: PythonPackage =
    PythonPackage { name: "openapi-python-client", version: "0.29.1", others: &["python-dateutil==2.9.0.post0"] };

/// The program that makes a standby the primary when the primary fails. Debian 12 has 3.0.2, which lets a primary that
/// was stopped for a while take its place back, without what was committed meanwhile (mended in 3.0.3). From 3.1 on, a
/// failover takes twenty seconds at least.
const PATRONI: PythonPackage = PythonPackage {
    name: "patroni",
    version: "3.0.4",
    // This driver is Python alone, so any interpreter of the machine can run it.
    others: &["patroni[etcd3]", "psycopg==3.2.10", "python-etcd==0.4.5"],
};

/// A codec of ISO 8583 that knows nothing of ours, and checks its messages.
const ISO_CODEC: PythonPackage = PythonPackage { name: "pyiso8583", version: "4.0.1", others: &[] };

/// A host that speaks ISO 8583, and knows nothing of ours either. Its licence is the AGPL, so it stays a process of its
/// own that nothing of ours is linked with.
const ISO_HOST: PythonPackage = PythonPackage { name: "iso8583sim", version: "1.6.0", others: &[] };

/// Environment variables of the test programs with the paths of tools.
pub type Environment = Vec<(&'static str, OsString)>;

/// Installs the missing tools of the tests: node, FTP clients, servers for files, clusters of PostgreSQL, generators of
/// clients, the packages of the npm registry, and if `browsers` is true Chromium, Firefox and WebKit. Returns the
/// variables with the paths of tools.
///
/// # Errors
/// If something is missing and cannot be installed.
pub fn set_up(browsers: bool) -> Result<Environment> {
    let mut missing = Vec::new();
    if browsers {
        missing.extend(missing_chromium());
        // Firefox needs no driver.
        missing.extend((!["firefox", "firefox-esr"].into_iter().any(is_on_path)).then_some("firefox-esr"));
        let webkit = [("WebKitWebDriver", "webkit2gtk-driver"), ("Xvfb", "xvfb")];
        missing.extend(webkit.into_iter().filter(|(program, _)| !is_on_path(program)).map(|(_, package)| package));
    }
    if !is_on_path("node") || !is_on_path("npm") {
        missing.push("npm");
    }
    // Clients of the gateway's FTP server, and its certificate.
    missing.extend(["curl", "lftp", "openssl"].into_iter().filter(|program| !is_on_path(program)));
    missing.extend(missing_file_receivers());
    missing.extend(missing_cluster_programs());
    // Installed in one call, because apt spends most of the time on things that it does once.
    install_packages("the tests", &missing)?;
    let packages = ensure_packages()?;
    let tarball = npm::install_into(&packages)?;
    let tools = [
        ("TILLGATE_AXE", AXE),
        ("TILLGATE_TSC", COMPILER),
        ("TILLGATE_OXLINT", LINTER),
        ("TILLGATE_OPENAPI_TYPESCRIPT", TYPE_GENERATOR),
    ];
    let mut environment: Environment = tools.map(|(name, file)| (name, packages.join(file).into())).to_vec();
    environment.push(("TILLGATE_OPENAPI_PYTHON_CLIENT", CLIENT_GENERATOR.ensure_installed()?.into()));
    environment.push(("TILLGATE_PYISO8583", ISO_CODEC.ensure_installed()?.join("python").into()));
    environment.push(("TILLGATE_ISO8583SIM", ISO_HOST.ensure_installed()?.join("iso8583sim").into()));
    environment.push(ensure_patroni()?);
    if browsers {
        environment.push(("TILLGATE_SHOPS", shops::bundle_all(&packages, &tarball)?.into()));
    }
    environment.push(("TILLGATE_PACKAGES", packages.into()));
    Ok(environment)
}

/// Returns Debian's packages that are missing for servers to which files are pushed: OpenSSH, pyftpdlib with TLS,
/// and paramiko.
fn missing_file_receivers() -> impl Iterator<Item = &'static str> {
    let packages = [
        ("/usr/sbin/sshd", "openssh-server"),
        ("/usr/lib/python3/dist-packages/pyftpdlib", "python3-pyftpdlib"),
        ("/usr/lib/python3/dist-packages/OpenSSL", "python3-openssl"),
        ("/usr/lib/python3/dist-packages/paramiko", "python3-paramiko"),
    ];
    packages.into_iter().filter(|(path, _)| !Path::new(path).exists()).map(|(_, package)| package)
}

/// Installs Patroni if it is missing. Returns the variable with the folder of its packages.
fn ensure_patroni() -> Result<(&'static str, OsString)> {
    let programs = PATRONI.ensure_installed()?;
    let mut command = Command::new(programs.join("python"));
    command.args(["-c", "import sysconfig; print(sysconfig.get_path('purelib'), end='')"]);
    let asked = command.output().context("running Python")?;
    ensure!(asked.status.success(), "Python does not say where Patroni is");
    Ok(("TILLGATE_PATRONI", String::from_utf8(asked.stdout)?.into()))
}

/// Returns Debian's packages that are missing for clusters of PostgreSQL, which the tests start: PostgreSQL itself,
/// what Patroni and the nodes use, and a pooler.
fn missing_cluster_programs() -> impl Iterator<Item = &'static str> {
    let packages = [
        ("/usr/lib/postgresql", "postgresql"),
        ("/usr/bin/etcd", "etcd-server"),
        ("/usr/sbin/haproxy", "haproxy"),
        ("/usr/sbin/pgbouncer", "pgbouncer"),
    ];
    packages.into_iter().filter(|(path, _)| !Path::new(path).exists()).map(|(_, package)| package)
}

/// Makes sure that the programs of a cluster of PostgreSQL are installed. Returns the variable with the folder of
/// Patroni's packages.
///
/// # Errors
/// If something is missing and cannot be installed.
pub fn ensure_cluster_programs() -> Result<(&'static str, OsString)> {
    install_packages("a cluster of PostgreSQL", &missing_cluster_programs().collect::<Vec<_>>())?;
    ensure_patroni()
}

/// Makes sure that Chromium and a matching chromedriver are installed, from Debian's packages if necessary.
pub fn ensure_chromium() -> Result<()> {
    install_packages("a test in a browser", &missing_chromium())
}

/// Returns Debian's packages that are missing for tests in Chromium: the browser, its driver, its headless shell.
/// Returns none if Chrome and a driver are on the path.
fn missing_chromium() -> Vec<&'static str> {
    if ["google-chrome", "chromium-browser"].into_iter().any(is_on_path) && is_on_path("chromedriver") {
        return Vec::new();
    }
    // The headless shell is the same engine without a user interface, for tests that need none (`tests/src/pool.rs`).
    let packages = [("chromium", "chromium"), ("chromedriver", "chromium-driver")];
    let missing = packages.into_iter().filter(|(program, _)| !is_on_path(program)).map(|(_, package)| package);
    let shell = (!is_on_path("chromium-headless-shell")).then_some("chromium-headless-shell");
    missing.chain(shell).collect()
}

/// Installs those of Debian's packages that are missing. On other systems, fails with the names of all. `what` names
/// the work that needs them.
///
/// # Errors
/// If the system is not Debian, or apt-get fails.
pub fn install_packages(what: &str, packages: &[&str]) -> Result<()> {
    if packages.is_empty() {
        return Ok(());
    }
    ensure!(debian::is_debian(), "{what} needs {}, as Debian names it; please install it", packages.join(" and "));
    debian::install_packages(packages)
}

/// Returns the folder in which tools are installed.
fn tools_folder() -> PathBuf {
    crate::workspace_root().join("target/tools")
}

/// Returns true if all packages of the npm registry are installed.
fn has_packages() -> bool {
    let packages = tools_folder().join("node_modules");
    PACKAGES.iter().all(|(_, file)| packages.join(file).exists())
}

/// Returns the folder with the packages of the npm registry, in `target/tools`, after installing them if needed.
fn ensure_packages() -> Result<PathBuf> {
    if !has_packages() {
        let names = PACKAGES.map(|(name, _)| name);
        std::fs::create_dir_all(tools_folder())?;
        let mut npm = Command::new("npm");
        npm.args(["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]);
        // The second React is refused otherwise, since a page has one.
        npm.args(["--legacy-peer-deps", "--prefix"]);
        npm.arg(tools_folder()).args(names);
        run_step(&format!("npm install {}", names.join(" ")), || run_command(&mut npm))?;
        ensure!(has_packages(), "npm did not install {}", names.join(" and "));
    }
    Ok(tools_folder().join("node_modules"))
}
