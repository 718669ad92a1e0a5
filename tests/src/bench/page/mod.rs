//! Benchmark of the time until the form is usable. It compares a page with the hosted form to a page that holds the
//! same DOM as static HTML with two static frames, in the same browser: with cold and warm caches, with low and high
//! network latency, and each of these also on a slow processor.
//!
//! Shop and gateway are two sites, as in production. The static page is the lower bound. It is made from the form
//! itself: the document at the time when the form is ready, its style sheet, and the frames' documents without their
//! scripts. The static page is usable once both frames are loaded and the document is parsed. The form is usable once
//! it calls `onReady`: from then on the shopper can type and press everything, and scripts of the page see it as it
//! stays. Its frames take the first digits earlier, which the page module, once it has come, processes like all others.
//! A third page has a script that only inserts the static form. Its extra time is the unavoidable cost of a form that
//! is inserted by a script tag.

mod delay;
mod pages;
mod throttle;
mod transfer_size;
mod visit;

use std::time::Duration;

use serde::Serialize;

use crate::TestGateway;
use delay::start_delay_proxy;
use pages::{Pages, StaticForm};
use transfer_size::{TransferSize, measure_transfer_sizes};
use visit::{VisitSeries, measure_visits};

/// Slow-down factor of the slow processor.
pub const SLOWER: f64 = 4.0;

/// Result of the benchmark.
#[derive(Debug, Serialize)]
pub struct PageReport {
    /// Low and high network latency, each at full and at reduced processor speed.
    pub ways: Vec<ConditionMeasurements>,
    /// Every file that was loaded, with its size.
    pub files: Vec<TransferSize>,
}

/// Visits under the same conditions.
#[derive(Debug, Default, Serialize)]
pub struct ConditionMeasurements {
    /// True if a proxy delays each direction.
    pub far: bool,
    /// True if the processor is slowed down by [`SLOWER`].
    pub slow: bool,
    /// Visits with a fresh profile.
    pub cold: VisitTimes,
    /// Visits after two or more earlier visits.
    pub warm: VisitTimes,
    /// Length of the longest chain of requests until the hosted form was usable, for cold visits. Each request in a
    /// chain began after the previous one ended.
    pub round_trips: Vec<usize>,
    /// Milliseconds of the longest task of a page and its frames, 0 if no task took 50 or more. Measured in slow visits
    /// only.
    pub longest_task: VisitTimes,
    /// Cumulative layout shift of the hosted form after its first paint.
    pub shift: Vec<f64>,
}

/// Milliseconds, one value per visit.
#[derive(Debug, Default, Serialize)]
pub struct VisitTimes {
    /// The static page.
    pub page: Vec<f64>,
    /// The page whose script inserts the static form.
    pub scripted: Vec<f64>,
    /// The hosted form.
    pub form: Vec<f64>,
    /// The hosted form, until both frames take digits. Only filled for times until a form is usable.
    pub typable: Vec<f64>,
}

impl ConditionMeasurements {
    /// Adds a series of visits to each page. Visits are compared in order, of which the first is the cold one. Long
    /// tasks are recorded on a slow processor only, round trips for the cold visit of the form only.
    fn record_visits(&mut self, page: &VisitSeries, scripted: &VisitSeries, form: &VisitSeries) {
        for (at, ((page, scripted), form)) in page.visits().zip(scripted.visits()).zip(form.visits()).enumerate() {
            let times = if at == 0 { &mut self.cold } else { &mut self.warm };
            times.page.push(page.usable);
            times.scripted.push(scripted.usable);
            times.form.push(form.usable);
            times.typable.push(form.typable);
            if self.slow {
                self.longest_task.page.push(page.longest_task);
                self.longest_task.scripted.push(scripted.longest_task);
                self.longest_task.form.push(form.longest_task);
            }
            self.shift.push(form.shift);
        }
        self.round_trips.push(form.cold.round_trips());
    }
}

/// Starts a gateway, and visits all pages `rounds` times under each condition, in turn, each time with a fresh profile.
/// `delay` is that of each direction on the slow connection.
///
/// # Errors
/// If a page does not become usable.
pub async fn compare_pages(rounds: usize, delay: Duration) -> anyhow::Result<PageReport> {
    let gateway = TestGateway::start()?;
    let checkout = gateway.create_merchant()?.create_checkout(&[("integrity", "true")]).await?;
    let near = Pages::start(&gateway.public_url(), &checkout).await?;
    let model = measure_visits(&near.model_url(), None).await?.cold;
    near.set_static_form(StaticForm::from_visit(&model, &gateway.base_url()).await?);
    let distant = near.with_delay(&start_delay_proxy(&gateway.public_url(), delay).await?, delay).await?;

    let conditions = [(false, false), (false, true), (true, false), (true, true)];
    let mut ways =
        conditions.map(|(far, slow)| ConditionMeasurements { far, slow, ..ConditionMeasurements::default() });
    for _ in 0..rounds {
        for way in &mut ways {
            let pages = if way.far { &distant } else { &near };
            let slower = way.slow.then_some(SLOWER);
            let page = measure_visits(&pages.static_url(), slower).await?;
            let scripted = measure_visits(&pages.scripted_url(), slower).await?;
            way.record_visits(&page, &scripted, &measure_visits(&pages.form_url(), slower).await?);
        }
    }
    Ok(PageReport { ways: ways.into(), files: measure_transfer_sizes(&model.loaded_addresses()).await? })
}
