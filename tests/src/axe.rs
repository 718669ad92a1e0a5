//! axe-core checks of a page and all its frames, and records of them for the accessibility statement.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::panic::Location;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::Browser;

/// Finds the look of a page: style sheet of the form, colours, direction.
const LOOK: &str = "(() => {
    const style = document.querySelector('.wpwl-container')
        ? ['card', 'plain'].find(name => document.querySelector(`link[href*='/css/${name}.css']`)) || 'none' : 'page';
    const root = getComputedStyle(document.documentElement);
    const prefersDark = matchMedia('(prefers-color-scheme: dark)').matches && root.colorScheme.includes('dark');
    const grounds = [root, getComputedStyle(document.body)].map(it => it.backgroundColor.match(/[\\d.]+/g).map(Number));
    const isGroundDark = grounds.some(([red, green, blue, alpha = 1]) => alpha > 0 && red + green + blue < 200);
    const isDark = document.querySelector('.wpwl-dark') || prefersDark || isGroundDark;
    const form = document.querySelector('.wpwl-form[dir], .wpwl-container [dir]') || document.querySelector('.wpwl-container') || document.body;
    return [style, isDark ? 'dark' : 'light', getComputedStyle(form).direction];
})()";

/// Returns the folder with a file for each page that [`Browser::sweep`] has checked.
pub fn swept_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/swept")
}

impl Browser {
    /// Runs axe-core as [`Self::run_axe`], and records for the accessibility statement that there was no finding in
    /// this state. The state has to be a literal, because a test searches for it.
    ///
    /// # Errors
    /// If axe-core does not run, or finds something.
    #[track_caller]
    pub fn sweep(&self, state: &'static str) -> impl Future<Output = anyhow::Result<()>> {
        let file = Path::new(Location::caller().file()).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        async move {
            let found = self.run_axe().await?;
            ensure!(found.is_empty(), "{state}:\n{}", found.join("\n"));
            let look = self.evaluate(LOOK).await?;
            let record = json!({ "file": file, "state": state, "look": look }).to_string();
            let mut hasher = DefaultHasher::new();
            record.hash(&mut hasher);
            std::fs::create_dir_all(swept_folder())?;
            std::fs::write(swept_folder().join(format!("{:016x}.json", hasher.finish())), record)?;
            Ok(())
        }
    }

    /// Runs axe-core in the page and in each of its visible frames, and returns its findings as readable lines. An
    /// empty list means no findings.
    ///
    /// # Errors
    /// If axe-core is missing (`TILLGATE_AXE` names its file) or does not run.
    pub async fn run_axe(&self) -> anyhow::Result<Vec<String>> {
        let Some(file) = std::env::var_os("TILLGATE_AXE") else {
            bail!(
                "TILLGATE_AXE does not name axe-core's script; `cargo xtask test` does, \
                 by hand: npm install axe-core, then node_modules/axe-core/axe.min.js"
            );
        };
        let axe = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let mut found = self.run_axe_here(&axe, "page", &[]).await?;
        // `nowait`: a page without frames, such as a bank's, must not cause a wait for frames.
        let frames = self.query(By::Css("iframe")).nowait().all_from_selector().await?;
        for frame in frames {
            // Skips hidden frames, such as the container for a bank's page: they are no barrier to anybody yet.
            if !frame.is_displayed().await? {
                continue;
            }
            let name = frame.attr("title").await?.or(frame.attr("name").await?).unwrap_or_default();
            frame.enter_frame().await?;
            // A frame is a part of its page. Elements that are required once per page are in the page itself. The frame
            // is transparent, so axe-core cannot determine the background color.
            let page_rules = ["landmark-one-main", "page-has-heading-one", "region", "bypass", "color-contrast"];
            let inside = self.run_axe_here(&axe, &format!("frame \"{name}\""), &page_rules).await;
            self.enter_default_frame().await?;
            found.extend(inside?);
        }
        Ok(found)
    }

    /// Runs axe-core in the current document, except the rules in `without`. Returns a line for each violation, which
    /// begins with `place`; an error of axe-core is such a line, too.
    async fn run_axe_here(&self, axe: &str, place: &str, without: &[&str]) -> anyhow::Result<Vec<String>> {
        // axe-core has half a megabyte; it is injected once per document.
        if self.evaluate("typeof axe").await? == "undefined" {
            self.execute(axe, vec![]).await?;
        }
        let rules: serde_json::Map<String, Value> =
            without.iter().map(|rule| ((*rule).to_owned(), json!({ "enabled": false }))).collect();
        let script = "const [rules, done] = arguments;
            axe.run(document, { iframes: false, preload: false, resultTypes: ['violations'], rules })
               .then(it => done(it.violations), error => done([{ id: String(error), nodes: [] }]))";
        let violations = self.execute_async(script, vec![Value::Object(rules)]).await?;
        let violations = violations.json().as_array().cloned().unwrap_or_default();
        let line = |violation: &Value| {
            let nodes = violation["nodes"].as_array().into_iter().flatten();
            let nodes: Vec<String> =
                nodes.map(|node| format!("{} ({})", node["html"], node["failureSummary"])).collect();
            format!("{place}: {} {}: {}", violation["id"], violation["help"], nodes.join(" | "))
        };
        Ok(violations.iter().map(line).collect())
    }
}
