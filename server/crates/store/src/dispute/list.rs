//! Lists of disputes for people: the open ones by their deadline, and the others by their age.

use jiff::Timestamp;
use tillgate_domain::dispute::{Dispute, DisputeStage};
use tillgate_domain::id::{DisputeId, EntityId};
use tillgate_engine::{Session, params};

use crate::document::read_document;
use crate::{Store, StoreError};

/// Text after every time, for disputes without a deadline.
const NO_DEADLINE: &str = "~";

/// A part of the disputes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DisputeView {
    /// The open ones, the nearest deadline first. Those that wait for the institute come last.
    Open,
    /// All, newest first.
    All,
    /// Those that ended in the merchant's favour, newest first.
    Won,
    /// Those that cost the merchant the amount, newest first.
    Lost,
}

impl DisputeView {
    /// Every part.
    pub const ALL: [Self; 4] = [Self::Open, Self::All, Self::Won, Self::Lost];

    /// Returns the name in addresses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::All => "all",
            Self::Won => "won",
            Self::Lost => "lost",
        }
    }

    /// Parses the name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|view| view.as_str() == text)
    }

    /// Returns the stages of an ended part.
    fn stages(self) -> &'static [DisputeStage] {
        match self {
            Self::Open | Self::All => &DisputeStage::ALL,
            Self::Won => &[DisputeStage::Reversal, DisputeStage::Won],
            Self::Lost => &[DisputeStage::Lost, DisputeStage::Accepted, DisputeStage::Expired],
        }
    }
}

/// The place of a dispute in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DisputePlace {
    /// Its deadline.
    pub deadline: Option<Timestamp>,
    /// Its id.
    pub id: DisputeId,
}

impl DisputePlace {
    /// Returns the place of a dispute.
    pub fn of(dispute: &Dispute) -> Self {
        Self { deadline: dispute.deadline, id: dispute.id.clone() }
    }

    /// Parses a place in an address.
    pub fn parse(text: &str) -> Option<Self> {
        let (deadline, id) = text.split_once('_')?;
        let deadline = if deadline.is_empty() { None } else { Some(deadline.parse().ok()?) };
        Some(Self { deadline, id: DisputeId::parse(id)? })
    }

    /// Returns the deadline as the list orders it.
    fn deadline_text(&self) -> String {
        self.deadline.map_or_else(|| NO_DEADLINE.to_owned(), |deadline| deadline.to_string())
    }
}

impl std::fmt::Display for DisputePlace {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let deadline = self.deadline.map(|deadline| deadline.to_string()).unwrap_or_default();
        write!(f, "{deadline}_{}", self.id)
    }
}

/// Loads the disputes of some entities after a place in a list. Without an entity there is none.
fn load_view(
    session: &dyn Session,
    entities: &[EntityId],
    (view, after): (DisputeView, Option<&DisputePlace>),
    limit: usize,
) -> Result<Vec<Dispute>, StoreError> {
    let ids: Vec<&str> = entities.iter().map(EntityId::as_str).collect();
    let stages: Vec<&str> = view.stages().iter().map(|stage| stage.as_str()).collect();
    let (deadline, id) = match after {
        Some(place) => (place.deadline_text(), place.id.as_str()),
        None => (String::new(), ""),
    };
    // The open disputes of a tenant are few, so their deadlines need no index.
    let query = match view {
        DisputeView::Open => {
            "SELECT document, coalesce(json_extract(CAST(document AS TEXT), '$.deadline'), '~') AS deadline FROM dispute
             WHERE entity IN (SELECT value FROM json_each(?1)) AND open
                 AND (coalesce(json_extract(CAST(document AS TEXT), '$.deadline'), '~'), id) > (?3, ?4) AND ?2 <> '[]'
             ORDER BY deadline, id LIMIT ?5"
        }
        _ => {
            "SELECT document FROM dispute
             WHERE entity IN (SELECT value FROM json_each(?1)) AND (?4 = '' OR id < ?4) AND CAST(?3 AS TEXT) IS NOT NULL
                 AND json_extract(CAST(document AS TEXT), '$.stage') IN (SELECT value FROM json_each(?2))
             ORDER BY id DESC LIMIT ?5"
        }
    };
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values = params![serde_json::to_string(&ids)?, serde_json::to_string(&stages)?, deadline, id, limit];
    session.query_all(query, values, |row| read_document(row, 0))
}

impl Store {
    /// Loads the disputes of some entities after a place in a list.
    pub fn load_dispute_view(
        &self,
        entities: &[EntityId],
        view: DisputeView,
        after: Option<&DisputePlace>,
        limit: usize,
    ) -> Result<Vec<Dispute>, StoreError> {
        self.run_read(|session| load_view(session, entities, (view, after), limit))
    }
}
