//! How long a shopper waits for the form: a page with the hosted form against a page that holds the same DOM as static
//! HTML with two static frames, in the same browser, both cold.
//!
//! Shop and gateway are two sites, as in life. The static page is made of the form itself: what stands in the document
//! when the form is ready, and the frames' documents without their scripts.

mod delay;
mod pages;
mod visit;
mod weight;

use std::time::Duration;

use serde::Serialize;

use crate::Gateway;
use delay::delayed;
use pages::{Pages, StaticForm};
use visit::visit;
use weight::{Weight, weigh};

/// What the bench tells.
#[derive(Debug, Serialize)]
pub struct Report {
    /// Without any delay but the machine's own.
    pub loopback: Way,
    /// Through a proxy that delays each way.
    pub delayed: Way,
    /// Everything that was loaded, and its weight.
    pub files: Vec<Weight>,
}

/// Visits over one way.
#[derive(Debug, Default, Serialize)]
pub struct Way {
    /// Milliseconds from the start of the navigation until the hosted form was usable.
    pub form: Vec<f64>,
    /// The same of the static page.
    pub page: Vec<f64>,
    /// The longest chain of requests until the hosted form was usable, of which each began after the one before had
    /// ended.
    pub round_trips: Vec<usize>,
}

/// Visits both pages `rounds` times over each way, in turn, each time with a fresh profile.
///
/// # Errors
/// When a page does not become usable.
pub async fn compare(rounds: usize, delay: Duration) -> anyhow::Result<Report> {
    let gateway = Gateway::start()?;
    let prepared = gateway.merchant()?.checkout(&[("integrity", "true")]).await?;
    let near = Pages::start(&gateway.public(), &prepared).await?;
    let model = visit(&near.form()).await?;
    near.take(StaticForm::of(&model, &gateway.base()).await?);
    let far = near.behind(&delayed(&gateway.public(), delay).await?, delay).await?;

    let (mut loopback, mut slow) = (Way::default(), Way::default());
    for _ in 0..rounds {
        for (pages, way) in [(&near, &mut loopback), (&far, &mut slow)] {
            way.page.push(visit(&pages.still()).await?.usable);
            let form = visit(&pages.form()).await?;
            way.form.push(form.usable);
            way.round_trips.push(form.round_trips());
        }
    }
    Ok(Report { loopback, delayed: slow, files: weigh(&model.loaded()).await? })
}
