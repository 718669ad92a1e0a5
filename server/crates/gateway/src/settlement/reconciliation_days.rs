//! The days of reconciliation files: completes the files of each day that is over, and lists them.

use std::collections::{HashMap, HashSet};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::id::{EntityId, log_tag};
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_store::StoreError;
use tillgate_store::entity_directory::FileOwner;
use tillgate_store::settlement::reconciliation_file::FileCalendar;

use crate::Gateway;
use crate::settlement::reconciliation::select_records;

/// Days up to which the files of entities are known to be listed, so that a pass without news reads nothing.
#[derive(Debug, Default)]
pub struct ListedDays(HashMap<EntityId, Date>);

impl Gateway {
    /// Completes the files of every day that is over, and lists them. Returns their names.
    ///
    /// A day is over for a merchant when it is over by the merchant's clock and time zone. For a division, it is over
    /// when it is over for each merchant below it, and these merchants follow their division. A day waits for
    /// settlements that are due. Nothing is written into the file of such a day any more, so its bytes never change.
    ///
    /// # Errors
    /// If the store cannot be read or written. The failure of one entity is logged, and the others go on.
    pub async fn complete_files(&self, listed: &mut ListedDays) -> Result<Vec<FileName>, StoreError> {
        let owners = self.directory.file_owners().into_iter();
        let mut owners: Vec<(FileOwner, Date)> = owners
            .filter_map(|owner| self.last_day_over(&owner).map(|day| (owner, day)))
            .filter(|(owner, day)| listed.0.get(&owner.entity.id) != Some(day))
            .collect();
        // A cut-off that has passed may still write records of the day, so their files wait for its settlement. This is
        // read after the days, because a clock may have moved a cut-off into the past before the days were computed.
        let unsettled =
            if owners.is_empty() { HashSet::new() } else { self.store.load_unsettled_entities(self.now())? };
        owners.retain(|(owner, _)| {
            let merchants = owner.merchants.iter().map(|merchant| &merchant.id);
            !merchants.chain([&owner.entity.id]).any(|id| unsettled.contains(id))
        });
        if owners.is_empty() {
            return Ok(Vec::new());
        }
        let days = owners.iter().map(|(owner, day)| (owner.entity.id.clone(), *day)).collect();
        self.store.close_file_days(days).await?;
        let calendars = self.store.load_file_calendars()?;
        let mut completed = Vec::new();
        for (owner, day) in owners {
            let calendar = calendars.get(&owner.entity.id).copied();
            match self.list_owner_files(&owner, calendar).await {
                Ok(files) => {
                    completed.extend(files);
                    listed.0.insert(owner.entity.id.clone(), day);
                }
                // The files of other owners do not wait for it. It is tried again in the next pass.
                Err(error) => {
                    let entity = log_tag(owner.entity.id.as_str());
                    tracing::warn!(%error, entity, "completing reconciliation files failed");
                }
            }
        }
        Ok(completed)
    }

    /// Measures and lists the complete files of an owner that are not listed yet. Returns their names.
    async fn list_owner_files(
        &self,
        owner: &FileOwner,
        calendar: Option<FileCalendar>,
    ) -> Result<Vec<FileName>, StoreError> {
        let Some(calendar) = calendar.filter(|calendar| calendar.filed.is_none_or(|filed| filed < calendar.closed))
        else {
            return Ok(Vec::new());
        };
        let days = self.store.find_unlisted_days(select_records(&owner.entity), calendar)?;
        let mut files = Vec::with_capacity(days.len());
        for day in &days {
            files.push(self.measure_file(&owner.entity, *day).await?);
        }
        self.store.list_complete_files(owner.entity.id.clone(), files, calendar.closed).await?;
        Ok(days.into_iter().map(|day| FileName { entity: owner.entity.id.clone(), day }).collect())
    }

    /// Returns the last day that is over for an owner of files: the earliest of its merchants. `None` for a division
    /// without merchants.
    fn last_day_over(&self, owner: &FileOwner) -> Option<Date> {
        owner.merchants.iter().filter_map(|merchant| self.last_day_over_for_merchant(merchant)).min()
    }

    /// Returns the last day that is over for a merchant. `None` if its time zone is unknown.
    fn last_day_over_for_merchant(&self, merchant: &Entity) -> Option<Date> {
        let zone = TimeZone::get(merchant.zone_name()).ok()?;
        self.now_of(merchant).to_zoned(zone).date().yesterday().ok()
    }
}
