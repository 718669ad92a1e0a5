//! axe-core in the page and in every frame of it.

use anyhow::{Context, bail};
use serde_json::{Value, json};
use thirtyfour::prelude::*;

use crate::Browser;

impl Browser {
    /// What axe-core finds in the page and in each of its frames, as readable lines; nothing is what one hopes for.
    ///
    /// # Errors
    /// When axe-core is not there (its file is named by `TILLGATE_AXE`) or does not run.
    pub async fn axe(&self) -> anyhow::Result<Vec<String>> {
        let Some(file) = std::env::var_os("TILLGATE_AXE") else {
            bail!(
                "TILLGATE_AXE does not name axe-core's script; `cargo xtask test` does, \
                 by hand: npm install axe-core, then node_modules/axe-core/axe.min.js"
            );
        };
        let axe = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
        let mut found = self.axe_here(&axe, "page", &[]).await?;
        // A page without frames, such as that of a bank, is not waited for to get one.
        let frames = self.query(By::Css("iframe")).nowait().all_from_selector().await?;
        for frame in frames {
            // What nobody sees yet, such as the place for a bank's page, is nobody's barrier.
            if !frame.is_displayed().await? {
                continue;
            }
            let name = frame.attr("title").await?.or(frame.attr("name").await?).unwrap_or_default();
            frame.enter_frame().await?;
            // A frame is a part of its page: what every page must have once, the page has; and its background is the
            // page's, which shows through and which axe cannot know there.
            let of_pages = ["landmark-one-main", "page-has-heading-one", "region", "bypass", "color-contrast"];
            let inside = self.axe_here(&axe, &format!("frame \"{name}\""), &of_pages).await;
            self.enter_default_frame().await?;
            found.extend(inside?);
        }
        Ok(found)
    }

    async fn axe_here(&self, axe: &str, place: &str, without: &[&str]) -> anyhow::Result<Vec<String>> {
        // It is half a megabyte: once is enough for a document.
        if self.value("typeof axe").await? == "undefined" {
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
