//! `cargo xtask deny`: checks that each dependency has an allowed licence, comes from crates.io, is not banned, was
//! looked up in the database of advisories, and has none that applies. The rules are those of cargo-deny (`deny.toml`).
//! cargo-deny itself cannot be downloaded everywhere, and building it takes longer than the whole test.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context as _, Result, bail, ensure};
use semver::{Version, VersionReq};
use serde_json::Value;
use spdx::{Expression, ParseMode};
use toml::Table;

use crate::cargo;

/// Text of `cargo xtask deny --help`.
pub const HELP: &str = "\
Checks everything in Cargo.lock: it comes from an allowed source, is not banned, was looked up for
xtask/advisories.toml, and has no advisory there. Everything that is compiled has an allowed licence.
The rules are in deny.toml, which cargo-deny understands as well.

Example: cargo xtask deny";

/// Platforms that the project is compiled for.
const PLATFORMS: [&str; 2] = ["x86_64-unknown-linux-gnu", "wasm32-unknown-unknown"];

/// Checks the packages of this workspace, as Cargo.lock and `cargo metadata` name them, against deny.toml and the
/// copied advisories. Prints a summary, or fails with all faults.
pub fn check_dependencies(_: &[String]) -> Result<()> {
    let root = crate::workspace_root();
    let read = |path: &str| fs::read_to_string(root.join(path)).with_context(|| format!("reading {path}"));
    let rules = Rules::parse(&read("deny.toml")?, &read("xtask/advisories.toml")?)?;
    let lock: Table = read("Cargo.lock")?.parse()?;
    let mut command = cargo::command();
    command.args(["metadata", "--format-version", "1", "--locked"]);
    for platform in PLATFORMS {
        command.args(["--filter-platform", platform]);
    }
    let output = command.output().context("running cargo metadata")?;
    ensure!(output.status.success(), "cargo metadata: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut faults = check_lock(&lock, &rules)?;
    faults.extend(check_licenses(&metadata, &rules));
    if !faults.is_empty() {
        bail!("deny.toml forbids what Cargo.lock has:\n  {}", faults.join("\n  "));
    }
    let packages = lock.get("package").and_then(toml::Value::as_array).map_or(0, Vec::len);
    println!(
        "{packages} packages: licences, sources and bans are as deny.toml wants; none of {} advisories (state of {}) \
         applies, but for {} that deny.toml ignores.",
        rules.advisories.len(),
        rules.taken,
        rules.ignored.len()
    );
    Ok(())
}

/// An advisory: a fault in some versions of a crate.
struct Advisory {
    id: String,
    package: String,
    unaffected: Vec<VersionReq>,
}

/// Rules and advisories to check against.
struct Rules {
    licenses: BTreeSet<String>,
    /// Licences that are allowed for one crate only: the crate and the licence.
    exceptions: BTreeSet<(String, String)>,
    registries: Vec<String>,
    banned: Vec<String>,
    ignored: Vec<String>,
    advisories: Vec<Advisory>,
    /// Crates that were looked up for the advisories.
    checked: BTreeSet<String>,
    /// Date of the copied state of the advisory database.
    taken: String,
}

impl Rules {
    /// Parses the texts of `deny.toml` and `xtask/advisories.toml`. Fails if a list or the date is missing.
    fn parse(deny: &str, snapshot: &str) -> Result<Self> {
        let (deny, snapshot): (Table, Table) = (deny.parse()?, snapshot.parse()?);
        let list = |section: &str, name: &str| -> Result<Vec<toml::Value>> {
            let found = deny.get(section).and_then(|section| section.get(name)).and_then(toml::Value::as_array);
            found.cloned().with_context(|| format!("deny.toml has no list {section}.{name}"))
        };
        let texts = |values: Vec<toml::Value>, key: &str| -> Vec<String> {
            let text = |value: &toml::Value| value.as_str().or_else(|| value.get(key)?.as_str()).map(str::to_owned);
            values.iter().filter_map(text).collect()
        };
        let snapshot_list = |name: &str| {
            let found = snapshot.get(name).and_then(toml::Value::as_array);
            found.with_context(|| format!("advisories.toml has no list {name}"))
        };
        let mut exceptions = BTreeSet::new();
        for row in list("licenses", "exceptions")? {
            let package = row.get("crate").and_then(toml::Value::as_str).context("an exception has no crate")?;
            let allowed = row.get("allow").and_then(toml::Value::as_array).context("an exception allows nothing")?;
            exceptions.extend(texts(allowed.clone(), "").into_iter().map(|license| (package.to_owned(), license)));
        }
        let taken = snapshot.get("taken").and_then(toml::Value::as_str).context("advisories.toml has no day taken")?;
        Ok(Self {
            licenses: texts(list("licenses", "allow")?, "").into_iter().collect(),
            exceptions,
            registries: texts(list("sources", "allow-registry")?, ""),
            banned: texts(list("bans", "deny")?, "crate"),
            ignored: texts(list("advisories", "ignore")?, "id"),
            advisories: snapshot_list("advisory")?.iter().map(parse_advisory).collect::<Result<_>>()?,
            checked: texts(snapshot_list("checked")?.clone(), "").into_iter().collect(),
            taken: taken.to_owned(),
        })
    }
}

/// Parses an advisory of `xtask/advisories.toml`: its id, its crate, and the versions that it does not affect.
fn parse_advisory(row: &toml::Value) -> Result<Advisory> {
    let text =
        |name: &str| row.get(name).and_then(toml::Value::as_str).with_context(|| format!("an advisory has no {name}"));
    let ranges = row.get("unaffected").and_then(toml::Value::as_array).context("an advisory has no unaffected")?;
    let unaffected = ranges.iter().map(|range| VersionReq::parse(range.as_str().unwrap_or_default()));
    Ok(Advisory {
        id: text("id")?.to_owned(),
        package: text("crate")?.to_owned(),
        unaffected: unaffected.collect::<Result<_, _>>().with_context(|| format!("the versions of {}", row))?,
    })
}

/// Checks sources, checksums, bans and advisories of all packages in a `Cargo.lock`, except those of the workspace.
/// Returns a line for each fault.
fn check_lock(lock: &Table, rules: &Rules) -> Result<Vec<String>> {
    let packages = lock.get("package").and_then(toml::Value::as_array).context("Cargo.lock lists no packages")?;
    let mut faults = Vec::new();
    for package in packages {
        let text = |name: &str| package.get(name).and_then(toml::Value::as_str);
        let (name, version) = (text("name").unwrap_or_default(), text("version").unwrap_or_default());
        // A package without a source is part of the workspace.
        let Some(source) = text("source") else { continue };
        let registry = source.strip_prefix("registry+").map(str::to_owned);
        if !registry.is_some_and(|registry| rules.registries.contains(&registry)) {
            faults.push(format!("{name} {version} comes from {source}"));
        }
        if text("checksum").is_none() {
            faults.push(format!("{name} {version} has no checksum"));
        }
        if rules.banned.iter().any(|banned| banned == name) {
            faults.push(format!("{name} {version} is banned"));
        }
        if !rules.checked.contains(name) {
            faults.push(format!(
                "{name} {version} was not looked up: add the advisories of https://rustsec.org/packages/{name}.html (no such \
                 page: there are none) and the crate's name to xtask/advisories.toml"
            ));
        }
        let version = Version::parse(version).with_context(|| format!("the version of {name}"))?;
        for advisory in rules.advisories.iter().filter(|advisory| advisory.package == name) {
            let affected = !advisory.unaffected.iter().any(|range| range.matches(&version));
            if affected && !rules.ignored.contains(&advisory.id) {
                faults.push(format!(
                    "{name} {version} has {}: https://rustsec.org/advisories/{}",
                    advisory.id, advisory.id
                ));
            }
        }
    }
    Ok(faults)
}

/// Checks the licences of all packages in an output of `cargo metadata`, except those of the workspace. Returns a line
/// for each fault.
fn check_licenses(metadata: &Value, rules: &Rules) -> Vec<String> {
    let packages = metadata["packages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let foreign = packages.iter().filter(|package| !package["source"].is_null());
    let fault = |package: &Value| {
        let name = package["name"].as_str()?;
        let title = format!("{name} {}", package["version"].as_str()?);
        let Some(license) = package["license"].as_str() else { return Some(format!("{title} names no licence")) };
        let Ok(expression) = Expression::parse_mode(license, ParseMode::LAX) else {
            return Some(format!("{title} has a licence that cannot be read: {license}"));
        };
        let allowed = expression.evaluate(|requirement| {
            let license = requirement.to_string();
            rules.licenses.contains(&license) || rules.exceptions.contains(&(name.to_owned(), license))
        });
        (!allowed).then(|| format!("{title} has the licence {license}"))
    };
    foreign.filter_map(fault).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Returns rules with a banned crate, and with an advisory and an ignored one for the crate `broken`.
    fn sample_rules() -> Rules {
        let deny = r#"
            licenses.allow = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception"]
            licenses.exceptions = [{ crate = "shared", allow = ["MPL-2.0"] }]
            sources = { allow-registry = ["https://github.com/rust-lang/crates.io-index"] }
            bans = { deny = [{ crate = "openssl-sys" }] }
            advisories = { ignore = [{ id = "RUSTSEC-2000-0002", reason = "a test" }] }
        "#;
        let snapshot = r#"
            taken = "2026-11-23"
            checked = ["fine", "broken", "openssl-sys"]
            [[advisory]]
            id = "RUSTSEC-2000-0001"
            crate = "broken"
            unaffected = [">=1.2.3", "<1.0.0"]
            [[advisory]]
            id = "RUSTSEC-2000-0002"
            crate = "broken"
            unaffected = []
        "#;
        Rules::parse(deny, snapshot).unwrap()
    }

    const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

    /// Returns the faults of a lock with this package and one of the workspace.
    fn check_sample_lock(name: &str, version: &str, source: &str) -> Vec<String> {
        let text = format!(
            "[[package]]\nname = \"{name}\"\nversion = \"{version}\"\nsource = \"{source}\"\nchecksum = \"00\"\n\
             [[package]]\nname = \"own\"\nversion = \"0.1.0\"\n"
        );
        check_lock(&text.parse().unwrap(), &sample_rules()).unwrap()
    }

    #[test]
    fn a_source_other_than_crates_io_is_a_fault() {
        assert!(check_sample_lock("fine", "1.0.0", CRATES_IO).is_empty());
        for source in [
            "git+https://github.com/rust-lang/crates.io-index#abc",
            "registry+https://github.com/rust-lang/crates.io-index.evil.example",
            "sparse+https://crates.example/",
            "",
        ] {
            assert_eq!(check_sample_lock("fine", "1.0.0", source).len(), 1, "{source}");
        }
    }

    #[test]
    fn a_package_without_checksum_is_a_fault() {
        let text = format!("[[package]]\nname = \"fine\"\nversion = \"1.0.0\"\nsource = \"{CRATES_IO}\"\n");
        assert_eq!(check_lock(&text.parse().unwrap(), &sample_rules()).unwrap(), ["fine 1.0.0 has no checksum"]);
    }

    #[test]
    fn a_listed_advisory_is_a_fault_of_its_versions() {
        for (version, faults) in
            [("0.9.9", 0), ("1.0.0", 1), ("1.2.2", 1), ("1.2.3", 0), ("2.0.0", 0), ("1.2.3-rc.1", 1)]
        {
            assert_eq!(check_sample_lock("broken", version, CRATES_IO).len(), faults, "{version}");
        }
        assert!(check_sample_lock("openssl-sys", "0.9.0", CRATES_IO)[0].contains("banned"));
    }

    #[test]
    fn a_package_that_was_not_looked_up_is_a_fault_that_tells_the_remedy() {
        let faults = check_sample_lock("new", "0.1.0-rc.1", CRATES_IO);
        assert_eq!(faults.len(), 1, "{faults:?}");
        for part in ["new 0.1.0-rc.1 was not looked up", "https://rustsec.org/packages/new.html", "advisories.toml"] {
            assert!(faults[0].contains(part), "{faults:?}");
        }
        // The names are compared exactly.
        for other in ["fin", "fine2", "Fine", "fine-", "open_ssl-sys", "openssl_sys"] {
            assert_eq!(check_sample_lock(other, "1.0.0", CRATES_IO).len(), 1, "{other}");
        }
    }

    #[test]
    fn a_snapshot_that_lacks_a_part_is_refused() {
        let deny = fs::read_to_string(crate::workspace_root().join("deny.toml")).unwrap();
        let whole = "taken = \"2026-11-23\"\nchecked = []\nadvisory = []\n";
        assert!(Rules::parse(&deny, whole).is_ok());
        for name in ["taken", "checked", "advisory"] {
            let lines = whole.lines().filter(|line| !line.starts_with(name));
            let error = Rules::parse(&deny, &lines.collect::<Vec<_>>().join("\n")).err().unwrap();
            assert!(error.to_string().ends_with(name), "{error}");
        }
    }

    #[test]
    fn an_unknown_licence_is_a_fault() {
        for (license, allowed) in [
            (json!("MIT"), true),
            (json!("MIT/Apache-2.0"), true),
            (json!("GPL-3.0-only OR MIT"), true),
            (json!("Apache-2.0 WITH LLVM-exception"), true),
            (json!("MIT AND GPL-3.0-only"), false),
            (json!("GPL-3.0-only"), false),
            (json!("Nonsense-1.0"), false),
            (json!("MIT WITH LLVM-exception"), false),
            (Value::Null, false),
        ] {
            let packages = json!([
                { "name": "other", "version": "1.0.0", "source": CRATES_IO, "license": license },
                { "name": "own", "version": "0.1.0", "source": null, "license": "Proprietary" },
            ]);
            let faults = check_licenses(&json!({ "packages": packages }), &sample_rules());
            assert_eq!(faults.is_empty(), allowed, "{license}: {faults:?}");
        }
    }

    #[test]
    fn an_exception_allows_a_licence_for_one_crate() {
        for (name, license, allowed) in
            [("shared", "MPL-2.0", true), ("other", "MPL-2.0", false), ("shared", "MPL-1.1", false)]
        {
            let packages = json!([{ "name": name, "version": "1.0.0", "source": CRATES_IO, "license": license }]);
            let faults = check_licenses(&json!({ "packages": packages }), &sample_rules());
            assert_eq!(faults.is_empty(), allowed, "{name} {license}: {faults:?}");
        }
    }

    #[test]
    fn this_workspace_follows_its_rules() {
        check_dependencies(&[]).unwrap();
    }
}
