//! A series of visits: a browser with a fresh profile opens a page, waits until the form is usable, and returns several
//! times.

use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Deserialize;
use thirtyfour::WebDriver;
use thirtyfour::prelude::*;

use super::throttle::{LONGEST, throttle_browser};
use crate::driver::start_chromium;

/// The first visit of a new browser, and the visits from the third on, when its caches are full.
#[derive(Debug)]
pub(super) struct VisitSeries {
    pub(super) cold: PageVisit,
    pub(super) warm: Vec<PageVisit>,
}

impl VisitSeries {
    /// Returns the cold visit, then the warm ones.
    pub(super) fn visits(&self) -> impl Iterator<Item = &PageVisit> {
        std::iter::once(&self.cold).chain(&self.warm)
    }
}

/// Measurements of one visit.
#[derive(Debug)]
pub(super) struct PageVisit {
    /// Milliseconds from the start of the navigation until the form was usable.
    pub(super) usable: f64,
    /// Milliseconds until both frames of the hosted form take digits, 0 for another page.
    pub(super) typable: f64,
    /// Longest task of the page or a frame in milliseconds. Browsers report tasks of 50 ms and more. Measured in slow
    /// browsers only.
    pub(super) longest_task: f64,
    /// Cumulative layout shift: movement of the page's content after it was painted.
    pub(super) shift: f64,
    /// The form's container at that time, with placeholders for the frames' addresses.
    pub(super) container: String,
    page: Vec<LoadedResource>,
    frames: Vec<LoadedResource>,
}

/// A request of the browser: its address, and its start and end in milliseconds.
#[derive(Debug, Clone, Deserialize)]
struct LoadedResource {
    name: String,
    start: f64,
    end: f64,
}

/// Script that returns the navigation entry of the document and the entries of everything that it loaded. The document
/// is processed from its first byte, before it has completely arrived.
const LOADED: &str = "return performance.getEntries()
    .filter(it => it.entryType === 'navigation' || it.entryType === 'resource')
    .filter(it => it.name.startsWith('http'))
    .map(it => it.entryType === 'navigation'
        ? { name: it.name, start: 0, end: it.responseStart }
        : { name: it.name, start: it.startTime, end: it.responseEnd })";

/// Script that returns the container at the time when the form was ready, with markers in place of the frames'
/// addresses. Later changes are not needed. Only the model page keeps a copy.
const CONTAINER: &str = "const form = window.standing || document.querySelector('.wpwl-container').cloneNode(true);
    const mark = (name, it) => form.querySelector(`iframe.wpwl-control-${name}`).setAttribute('src', it);
    mark('cardNumber', '%NUMBER%');
    mark('cvv', '%CODE%');
    return form.outerHTML";

/// Number of warm visits.
const WARM: usize = 3;

/// Idle time after the start of a new browser.
const SETTLING: Duration = Duration::from_millis(1200);

/// Visits `address` several times in a new browser, waits each time until `window.usable` is set, and quits the
/// browser. `slower` is the slow-down factor of the processor.
pub(super) async fn measure_visits(address: &str, slower: Option<f64>) -> anyhow::Result<VisitSeries> {
    let browser = start_chromium(&[]).await?;
    let series = visit_repeatedly(&browser, address, slower).await;
    browser.quit().await?;
    series.with_context(|| format!("visiting {address}"))
}

/// Waits until the browser has settled, then visits a page once cold, once without measuring, and [`WARM`] times warm.
async fn visit_repeatedly(browser: &WebDriver, address: &str, slower: Option<f64>) -> anyhow::Result<VisitSeries> {
    // A new browser is busy with its own start-up for a while, and no event reports the end of that.
    tokio::time::sleep(SETTLING).await;
    let _throttle = match slower {
        Some(rate) => Some(throttle_browser(browser, rate).await?),
        None => None,
    };
    let cold = measure_visit(browser, address).await?;
    visit_again(browser, address).await?;
    let mut warm = Vec::new();
    for _ in 0..WARM {
        warm.push(visit_again(browser, address).await?);
    }
    Ok(VisitSeries { cold, warm })
}

/// Returns to the page through another page. Loading the same address again would be a reload, which revalidates
/// everything.
async fn visit_again(browser: &WebDriver, address: &str) -> anyhow::Result<PageVisit> {
    browser.goto("about:blank").await?;
    measure_visit(browser, address).await
}

/// Opens a page, waits until the form is usable and its frames are complete, and reads the measurements. Fails if the
/// browser reports no requests.
async fn measure_visit(browser: &WebDriver, address: &str) -> anyhow::Result<PageVisit> {
    browser.goto(address).await?;
    let usable = browser.execute_async(USABLE, vec![]).await?.convert()?;
    let typable = browser.execute("return window.typable || 0", vec![]).await?.convert()?;
    let container = browser.execute(CONTAINER, vec![]).await?.convert()?;
    let page: Vec<LoadedResource> = browser.execute(LOADED, vec![]).await?.convert()?;
    let mut frames = Vec::new();
    let mut longest_task = 0_f64;
    for frame in browser.find_all(By::Css("iframe.wpwl-control-iframe")).await? {
        frame.enter_frame().await?;
        // The remaining scripts of the frames load after the frames are usable.
        browser.execute_async(SETTLED, vec![]).await?;
        frames.extend(browser.execute(LOADED, vec![]).await?.convert::<Vec<LoadedResource>>()?);
        longest_task = longest_task.max(read_longest_task(browser).await?);
        browser.enter_default_frame().await?;
    }
    longest_task = longest_task.max(read_longest_task(browser).await?);
    let shift = browser.execute_async(SHIFT, vec![]).await?.convert()?;
    if page.is_empty() {
        bail!("the browser tells of no requests");
    }
    Ok(PageVisit { usable, typable, longest_task, shift, container, page, frames })
}

/// Returns the milliseconds of the longest task in the current document, or 0 if no script records them.
async fn read_longest_task(browser: &WebDriver) -> anyhow::Result<f64> {
    Ok(browser.execute(format!("return window.{LONGEST} ? window.{LONGEST}() : 0"), vec![]).await?.convert()?)
}

/// Script that waits for the page's notification. Polling would cost the page time.
const USABLE: &str = "const done = arguments[0];
    if (window.usable) done(window.usable);
    else addEventListener('usable', () => done(window.usable));";

/// Script that reads the layout shifts since the start of the document. The browser reports past shifts in a separate
/// task.
const SHIFT: &str = "const done = arguments[0];
    let shift = 0;
    new PerformanceObserver(list => {
        for (const it of list.getEntries()) shift += it.value;
    }).observe({ type: 'layout-shift', buffered: true });
    requestAnimationFrame(() => setTimeout(() => done(shift), 50));";

/// Script that waits until the frame's validation is loaded. A static frame has none.
const SETTLED: &str = "const done = arguments[0];
    const wait = () => {
        const own = window.tillgate;
        if (!own || own.isComplete()) done();
        else setTimeout(wait, 10);
    };
    wait();";

impl PageVisit {
    /// Returns every address that the page and its frames loaded, without duplicates.
    pub(super) fn loaded_addresses(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for loaded in self.page.iter().chain(&self.frames) {
            if !names.contains(&loaded.name) {
                names.push(loaded.name.clone());
            }
        }
        names
    }

    /// Returns the length of the longest chain of the page's requests until the form was usable. Each request in a
    /// chain began after the previous one ended.
    pub(super) fn round_trips(&self) -> usize {
        let mut requests: Vec<&LoadedResource> = self.page.iter().filter(|it| it.end <= self.usable).collect();
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
        let loaded = |start: f64, end: f64| LoadedResource { name: String::new(), start, end };
        let visit = |page: Vec<LoadedResource>| PageVisit {
            usable: 200.0,
            typable: 100.0,
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
