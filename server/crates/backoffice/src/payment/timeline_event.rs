//! A step of a payment's timeline before it is put in order.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use maud::Markup;

use crate::components::badge::Tone;
use crate::components::timeline::Step;
use crate::layout::texts::Texts;

/// Size of the frame of a step, in bytes: its elements and its time.
pub(super) const FRAME: usize = 200;

/// A step with its time.
pub(super) struct TimelineEvent {
    pub(super) at: Timestamp,
    /// Order of steps with the same time.
    pub(super) rank: u8,
    tone: Tone,
    pub(super) title: Markup,
    pub(super) text: Option<Markup>,
    pub(super) detail: Option<Markup>,
}

impl TimelineEvent {
    pub(super) fn new(at: Timestamp, rank: u8, tone: Tone, title: Markup) -> Self {
        Self { at, rank, tone, title, text: None, detail: None }
    }

    pub(super) fn with_text(self, text: Markup) -> Self {
        Self { text: Some(text), ..self }
    }

    pub(super) fn with_detail(self, detail: Markup) -> Self {
        Self { detail: Some(detail), ..self }
    }

    /// Returns the size of its content, in bytes.
    pub(super) fn size(&self) -> usize {
        let parts = [Some(&self.title), self.text.as_ref(), self.detail.as_ref()];
        parts.into_iter().flatten().map(|part| part.0.len()).sum()
    }

    /// Builds the step with its time in a zone.
    pub(super) fn into_step(self, texts: &Texts, zone: &TimeZone) -> Step {
        Step {
            tone: self.tone,
            title: self.title,
            time: texts.exact_time(&self.at.to_zoned(zone.clone())),
            date_time: self.at.to_string(),
            text: self.text,
            detail: self.detail,
        }
    }
}
