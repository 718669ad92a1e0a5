//! One cold visit: a browser with a fresh profile goes to a page and stays until the form there is usable.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use thirtyfour::WebDriver;
use thirtyfour::prelude::*;

use crate::driver::chromium;
use crate::until;

/// What was seen on a visit.
#[derive(Debug)]
pub(super) struct Visit {
    /// Milliseconds from the start of the navigation until the form was usable.
    pub(super) usable: f64,
    /// The form's container as it stood then, the frames' addresses left open.
    pub(super) container: String,
    page: Vec<Loaded>,
    frames: Vec<Loaded>,
}

/// A request that the browser made: its address, and when it began and ended, in milliseconds.
#[derive(Debug, Clone, Deserialize)]
struct Loaded {
    name: String,
    start: f64,
    end: f64,
}

/// The document itself and everything that it loaded.
const LOADED: &str = "return performance.getEntries()
    .filter(it => it.entryType === 'navigation' || it.entryType === 'resource')
    .filter(it => it.name.startsWith('http'))
    .map(it => ({ name: it.name, start: it.entryType === 'navigation' ? 0 : it.startTime, end: it.responseEnd }))";

/// The container with marks in place of the frames' addresses.
const CONTAINER: &str = "const form = document.querySelector('.wpwl-container').cloneNode(true);
    const mark = (name, it) => form.querySelector(`iframe.wpwl-control-${name}`).setAttribute('src', it);
    mark('cardNumber', '%NUMBER%');
    mark('cvv', '%CODE%');
    return form.outerHTML";

/// How long a new browser is left alone.
const SETTLING: Duration = Duration::from_millis(1200);

/// Goes to `address` and waits until `window.usable` says when the form became so.
pub(super) async fn visit(address: &str) -> anyhow::Result<Visit> {
    let browser = chromium(&[]).await?;
    let seen = look(&browser, address).await;
    browser.quit().await?;
    seen.with_context(|| format!("visiting {address}"))
}

async fn look(browser: &WebDriver, address: &str) -> anyhow::Result<Visit> {
    // A browser that has only just started is busy with itself for a while, and nothing tells when that is over.
    tokio::time::sleep(SETTLING).await;
    browser.goto(address).await?;
    let usable =
        until("a usable form", async || Ok(browser.execute("return window.usable", vec![]).await?.json().as_f64()))
            .await?;
    let container = browser.execute(CONTAINER, vec![]).await?.convert()?;
    let page: Vec<Loaded> = browser.execute(LOADED, vec![]).await?.convert()?;
    let mut frames = Vec::new();
    for frame in browser.find_all(By::Css("iframe.wpwl-control-iframe")).await? {
        frame.enter_frame().await?;
        // What completes the frames comes after they are usable.
        browser.execute_async(SETTLED, vec![]).await?;
        frames.extend(browser.execute(LOADED, vec![]).await?.convert::<Vec<Loaded>>()?);
        browser.enter_default_frame().await?;
    }
    if page.is_empty() {
        bail!("the browser tells of no requests");
    }
    Ok(Visit { usable, container, page, frames })
}

/// Waits until the frame's checks are there; a static frame has none to come.
const SETTLED: &str = "const done = arguments[0];
    const wait = () => {
        const own = window.tillgate;
        if (!own || (own.judge && own.judge('4').known)) done();
        else setTimeout(wait, 10);
    };
    wait();";

impl Visit {
    /// Every address that was loaded, by the page and by its frames, each once.
    pub(super) fn loaded(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for loaded in self.page.iter().chain(&self.frames) {
            if !names.contains(&loaded.name) {
                names.push(loaded.name.clone());
            }
        }
        names
    }

    /// The longest chain of the page's requests until the form was usable, of which each began after the one before had
    /// ended.
    pub(super) fn round_trips(&self) -> usize {
        let mut requests: Vec<&Loaded> = self.page.iter().filter(|it| it.end <= self.usable).collect();
        requests.sort_by(|a, b| a.start.total_cmp(&b.start));
        let mut depths: Vec<(f64, usize)> = Vec::new();
        for request in requests {
            let before = depths.iter().filter(|(end, _)| *end <= request.start).map(|(_, depth)| *depth).max();
            depths.push((request.end, 1 + before.unwrap_or(0)));
        }
        depths.into_iter().map(|(_, depth)| depth).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_side_by_side_are_one_round_trip() {
        let loaded = |start: f64, end: f64| Loaded { name: String::new(), start, end };
        let visit = |page: Vec<Loaded>| Visit { usable: 200.0, container: String::new(), page, frames: Vec::new() };
        let good = vec![loaded(0.0, 50.0), loaded(51.0, 100.0), loaded(101.0, 150.0), loaded(101.0, 155.0)];
        assert_eq!(visit(good.clone()).round_trips(), 3);
        let late = [good, vec![loaded(156.0, 190.0)]].concat();
        assert_eq!(visit(late.clone()).round_trips(), 4);
        let after = [late, vec![loaded(191.0, 220.0)]].concat();
        assert_eq!(visit(after).round_trips(), 4, "what ends after the form is usable was not waited for");
    }
}
