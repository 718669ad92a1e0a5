//! The connector's ids of a transaction.

use serde::{Deserialize, Serialize};

/// The connector's ids of a transaction, `connectorTxId1` to `connectorTxId3`. Each keeps its place, because each has a
/// meaning of its own, and any of them may be missing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConnectorTxIds(Vec<Option<String>>);

impl ConnectorTxIds {
    /// Makes ids of the values in the order of their numbers.
    pub fn new(ids: [Option<String>; 3]) -> Self {
        let length = ids.iter().rposition(Option::is_some).map_or(0, |last| last + 1);
        Self(ids.into_iter().take(length).collect())
    }

    /// Returns `connectorTxId1`, the acquirer's own id, to which captures and refunds refer.
    pub fn acquirer_id(&self) -> Option<&str> {
        self.get(0).map(String::as_str)
    }

    /// Returns the id at a place, counted from 0. `None` if there is none.
    pub fn get(&self, place: usize) -> Option<&String> {
        self.0.get(place)?.as_ref()
    }

    /// Returns the ids in the order of their numbers.
    pub fn to_array(&self) -> [Option<String>; 3] {
        std::array::from_fn(|place| self.get(place).cloned())
    }

    /// Returns true if there is no id at all.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_id_keeps_its_place_when_it_is_stored() {
        for number in 0..8 {
            let ids: [Option<String>; 3] =
                std::array::from_fn(|place| (number >> place & 1 == 1).then(|| format!("id{place}")));
            let written = ConnectorTxIds::new(ids.clone());
            let stored = serde_json::to_string(&written).unwrap();
            let read: ConnectorTxIds = serde_json::from_str(&stored).unwrap();
            assert_eq!(read, written, "{stored}");
            assert_eq!(std::array::from_fn::<_, 3, _>(|place| read.get(place).cloned()), ids, "{stored}");
            assert_eq!(read.is_empty(), number == 0);
        }
        // Earlier versions stored the ids without their places.
        let earlier: ConnectorTxIds = serde_json::from_str(r#"["000000000001","000001"]"#).unwrap();
        assert_eq!((earlier.acquirer_id(), earlier.get(2)), (Some("000000000001"), None));
    }
}
