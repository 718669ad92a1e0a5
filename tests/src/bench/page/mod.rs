//! How long a shopper waits for the form: a page with the hosted form against a page that holds the same DOM as static
//! HTML with two static frames, in the same browser: cold and warm, near and at the end of a long line, and each on a slow
//! processor too.
//!
//! Shop and gateway are two sites, as in life. The static page, the floor, is made of the form itself: what stands in the
//! document when the form is ready, its style sheet, and the frames' documents without their scripts. It is usable once
//! both frames are there and the document is parsed; the form, once it calls `onReady`: from then on everything can be typed
//! and pressed. What judges that, the page part, comes a little later, and makes good what was done before.
//! A third page has a script that puts the static form in and does nothing else: what it takes longer, whatever comes by a
//! script tag does.

mod delay;
mod pages;
mod throttle;
mod visit;
mod weight;

use std::time::Duration;

use serde::Serialize;

use crate::Gateway;
use delay::delayed;
use pages::{Pages, StaticForm};
use visit::{Stay, stay};
use weight::{Weight, weigh};

/// How many times slower the slow processor is.
pub const SLOWER: f64 = 4.0;

/// What the bench tells.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Near and far, each at the machine's speed and slower.
    pub ways: Vec<Way>,
    /// Everything that was loaded, and its weight.
    pub files: Vec<Weight>,
}

/// Visits under the same conditions.
#[derive(Debug, Default, Serialize)]
pub struct Way {
    /// Through a proxy that delays each way.
    pub far: bool,
    /// On a processor that is [`SLOWER`] times slower.
    pub slow: bool,
    /// By browsers that have never been there.
    pub cold: Times,
    /// By browsers that have been there twice or more.
    pub warm: Times,
    /// The longest chain of requests until the hosted form was usable, of which each began after the one before had
    /// ended, when cold.
    pub round_trips: Vec<usize>,
    /// Milliseconds of the longest task of a page and its frames, 0 where none took 50 or more; of slow visits alone.
    pub longest_task: Times,
    /// How far the hosted form moved the page about after its first paint (cumulative layout shift).
    pub shift: Vec<f64>,
}

/// Milliseconds, one for each visit.
#[derive(Debug, Default, Serialize)]
pub struct Times {
    /// Of the static page.
    pub page: Vec<f64>,
    /// Of the page whose script puts the static form in.
    pub scripted: Vec<f64>,
    /// Of the hosted form.
    pub form: Vec<f64>,
    /// Of the hosted form, until its page part was there too; of times to a form alone.
    pub complete: Vec<f64>,
}

impl Way {
    fn note(&mut self, page: &Stay, scripted: &Stay, form: &Stay) {
        for (at, ((page, scripted), form)) in page.visits().zip(scripted.visits()).zip(form.visits()).enumerate() {
            let times = if at == 0 { &mut self.cold } else { &mut self.warm };
            times.page.push(page.usable);
            times.scripted.push(scripted.usable);
            times.form.push(form.usable);
            times.complete.push(form.complete);
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

/// Visits all pages `rounds` times each way, in turn, each time with a fresh profile.
///
/// # Errors
/// When a page does not become usable.
pub async fn compare(rounds: usize, delay: Duration) -> anyhow::Result<Report> {
    let gateway = Gateway::start()?;
    let prepared = gateway.merchant()?.checkout(&[("integrity", "true")]).await?;
    let near = Pages::start(&gateway.public(), &prepared).await?;
    let model = stay(&near.model(), None).await?.cold;
    near.take(StaticForm::of(&model, &gateway.base()).await?);
    let distant = near.behind(&delayed(&gateway.public(), delay).await?, delay).await?;

    let all = [(false, false), (false, true), (true, false), (true, true)];
    let mut ways = all.map(|(far, slow)| Way { far, slow, ..Way::default() });
    for _ in 0..rounds {
        for way in &mut ways {
            let pages = if way.far { &distant } else { &near };
            let slower = way.slow.then_some(SLOWER);
            let page = stay(&pages.still(), slower).await?;
            let scripted = stay(&pages.scripted(), slower).await?;
            way.note(&page, &scripted, &stay(&pages.form(), slower).await?);
        }
    }
    Ok(Report { ways: ways.into(), files: weigh(&model.loaded()).await? })
}
