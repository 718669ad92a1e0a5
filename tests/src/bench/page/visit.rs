//! One stay: a browser with a fresh profile goes to a page until the form there is usable, and comes back some times.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use thirtyfour::WebDriver;
use thirtyfour::prelude::*;

use super::throttle::{LONGEST, throttle};
use crate::driver::chromium;

/// The first visit of a new browser, and those from the third on, when it has kept everything that may be kept.
#[derive(Debug)]
pub(super) struct Stay {
    pub(super) cold: Visit,
    pub(super) warm: Vec<Visit>,
}

impl Stay {
    /// The cold visit, then the warm ones.
    pub(super) fn visits(&self) -> impl Iterator<Item = &Visit> {
        std::iter::once(&self.cold).chain(&self.warm)
    }
}

/// What was seen on a visit.
#[derive(Debug)]
pub(super) struct Visit {
    /// Milliseconds from the start of the navigation until the form was usable.
    pub(super) usable: f64,
    /// Milliseconds until the hosted form's page part had taken it up; a static page has none to come.
    pub(super) complete: f64,
    /// The longest task of the page or a frame in milliseconds, of those that browsers call long (50 ms and more); of
    /// slow browsers alone.
    pub(super) longest_task: f64,
    /// How far the page's content was moved about after it had been painted (cumulative layout shift).
    pub(super) shift: f64,
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

/// The document itself, which is read on from its first byte, and everything that it loaded.
const LOADED: &str = "return performance.getEntries()
    .filter(it => it.entryType === 'navigation' || it.entryType === 'resource')
    .filter(it => it.name.startsWith('http'))
    .map(it => it.entryType === 'navigation'
        ? { name: it.name, start: 0, end: it.responseStart }
        : { name: it.name, start: it.startTime, end: it.responseEnd })";

/// The container as it stood when the form was ready, with marks in place of the frames' addresses; what comes later, nobody
/// waits for. Only the model keeps a copy.
const CONTAINER: &str = "const form = window.standing || document.querySelector('.wpwl-container').cloneNode(true);
    const mark = (name, it) => form.querySelector(`iframe.wpwl-control-${name}`).setAttribute('src', it);
    mark('cardNumber', '%NUMBER%');
    mark('cvv', '%CODE%');
    return form.outerHTML";

/// How many visits of a stay count as warm.
const WARM: usize = 3;

/// How long a new browser is left alone.
const SETTLING: Duration = Duration::from_millis(1200);

/// Goes to `address` again and again, and waits until `window.usable` says when the form became so; with `slower` on a
/// processor so many times slower.
pub(super) async fn stay(address: &str, slower: Option<f64>) -> anyhow::Result<Stay> {
    let browser = chromium(&[]).await?;
    let seen = visits(&browser, address, slower).await;
    browser.quit().await?;
    seen.with_context(|| format!("visiting {address}"))
}

async fn visits(browser: &WebDriver, address: &str, slower: Option<f64>) -> anyhow::Result<Stay> {
    // A browser that has only just started is busy with itself for a while, and nothing tells when that is over.
    tokio::time::sleep(SETTLING).await;
    let _throttle = match slower {
        Some(rate) => Some(throttle(browser, rate).await?),
        None => None,
    };
    let cold = visit(browser, address).await?;
    again(browser, address).await?;
    let mut warm = Vec::new();
    for _ in 0..WARM {
        warm.push(again(browser, address).await?);
    }
    Ok(Stay { cold, warm })
}

/// Comes by another page: the same address again would be a reload, which asks for everything anew.
async fn again(browser: &WebDriver, address: &str) -> anyhow::Result<Visit> {
    browser.goto("about:blank").await?;
    visit(browser, address).await
}

async fn visit(browser: &WebDriver, address: &str) -> anyhow::Result<Visit> {
    browser.goto(address).await?;
    let usable = browser.execute_async(USABLE, vec![]).await?.convert()?;
    let complete = browser.execute_async(COMPLETE, vec![]).await?.convert()?;
    let container = browser.execute(CONTAINER, vec![]).await?.convert()?;
    let page: Vec<Loaded> = browser.execute(LOADED, vec![]).await?.convert()?;
    let mut frames = Vec::new();
    let mut longest_task = 0_f64;
    for frame in browser.find_all(By::Css("iframe.wpwl-control-iframe")).await? {
        frame.enter_frame().await?;
        // What completes the frames comes after they are usable.
        browser.execute_async(SETTLED, vec![]).await?;
        frames.extend(browser.execute(LOADED, vec![]).await?.convert::<Vec<Loaded>>()?);
        longest_task = longest_task.max(longest(browser).await?);
        browser.enter_default_frame().await?;
    }
    longest_task = longest_task.max(longest(browser).await?);
    let shift = browser.execute_async(SHIFT, vec![]).await?.convert()?;
    if page.is_empty() {
        bail!("the browser tells of no requests");
    }
    Ok(Visit { usable, complete, longest_task, shift, container, page, frames })
}

async fn longest(browser: &WebDriver) -> anyhow::Result<f64> {
    Ok(browser.execute(format!("return window.{LONGEST} ? window.{LONGEST}() : 0"), vec![]).await?.convert()?)
}

/// Waits for the page's word, rather than to ask for it again and again: asking costs the page time.
const USABLE: &str = "const done = arguments[0];
    if (window.usable) done(window.usable);
    else addEventListener('usable', () => done(window.usable));";

/// Waits until the form has its live region, which is the page part's. Static pages have neither.
const COMPLETE: &str = "const done = arguments[0];
    const wait = () => {
        if (!window.wpwl || document.querySelector('.wpwl-live')) done(performance.now());
        else setTimeout(wait, 5);
    };
    wait();";

/// Asks the browser for what it has noted since the document began. It tells of what is past in a task of its own.
const SHIFT: &str = "const done = arguments[0];
    let shift = 0;
    new PerformanceObserver(list => {
        for (const it of list.getEntries()) shift += it.value;
    }).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => setTimeout(() => done(shift), 50));";

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
        let visit = |page: Vec<Loaded>| Visit {
            usable: 200.0,
            complete: 200.0,
            longest_task: 0.0,
            shift: 0.0,
            container: String::new(),
            page,
            frames: Vec::new(),
        };
        let good = vec![loaded(0.0, 50.0), loaded(51.0, 100.0), loaded(101.0, 150.0), loaded(101.0, 155.0)];
        assert_eq!(visit(good.clone()).round_trips(), 3);
        let late = [good, vec![loaded(156.0, 190.0)]].concat();
        assert_eq!(visit(late.clone()).round_trips(), 4);
        let after = [late, vec![loaded(191.0, 220.0)]].concat();
        assert_eq!(visit(after).round_trips(), 4, "what ends after the form is usable was not waited for");
    }
}
