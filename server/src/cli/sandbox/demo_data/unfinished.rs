//! The note about a run of the demo data that has not ended. A later run completes it.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tillgate_domain::id::EntityId;

/// Everything that the plan of a run follows from.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DemoRun {
    entity_id: String,
    pub(super) payments: u32,
    pub(super) seed: u64,
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

impl DemoRun {
    /// Creates a run for an entity.
    pub(super) fn new(entity: &EntityId, payments: u32, seed: u64, (from, until): (Timestamp, Timestamp)) -> Self {
        Self { entity_id: entity.to_string(), payments, seed, from, until }
    }

    /// Returns the run of an entity that was interrupted. `None` if there is none.
    pub(super) fn find_interrupted(data: &Path, entity: &EntityId) -> anyhow::Result<Option<Self>> {
        let path = note_path(data);
        let note = match fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            read => read.with_context(|| path.display().to_string())?,
        };
        // A note that was cut is of a run that has made nothing yet.
        let run: Option<Self> = serde_json::from_slice(&note).ok();
        Ok(run.filter(|run| run.entity_id == entity.as_str()))
    }

    /// Notes that the run has begun.
    pub(super) fn note_begin(&self, data: &Path) -> anyhow::Result<()> {
        let path = note_path(data);
        fs::write(&path, serde_json::to_string_pretty(self)?).with_context(|| path.display().to_string())
    }

    /// Notes that the run has ended.
    pub(super) fn note_end(&self, data: &Path) -> anyhow::Result<()> {
        let path = note_path(data);
        fs::remove_file(&path).with_context(|| path.display().to_string())
    }
}

fn note_path(data: &Path) -> PathBuf {
    data.join("demo-data.json")
}
