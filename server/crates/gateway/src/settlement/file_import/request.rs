//! Request to import a file.

use tillgate_domain::access::entity::Entity;
use tillgate_domain::access::level::Level;
use tillgate_domain::plain_line::PlainLine;
use tillgate_domain::settlement::file_format::FileMapping;

use super::{FileSource, SettlementFileError};

/// Longest name of an institute, in characters.
pub const MAX_INSTITUTE: usize = 64;

/// A file to import.
pub struct ImportRequest<'a> {
    /// The content.
    pub file: FileSource<'a>,
    /// Name of the institute.
    pub institute: &'a str,
    /// The entity whose payments it settles: a division or a merchant.
    pub entity: &'a Entity,
    /// The mapping.
    pub mapping: &'a FileMapping,
    /// True if broken lines are left out; otherwise nothing is taken of a file with one.
    pub skips_broken: bool,
    /// True if nothing is written.
    pub is_dry_run: bool,
    /// The user who imports it.
    pub actor: &'a str,
}

impl ImportRequest<'_> {
    /// Checks the name of the institute and the level of the entity.
    pub(super) fn check(&self) -> Result<(), SettlementFileError> {
        let institute = self.institute;
        let is_name = institute.trim() == institute && PlainLine::<MAX_INSTITUTE>::parse_filled(institute).is_ok();
        if !is_name {
            let message =
                format!("the institute's name must have 1 to {MAX_INSTITUTE} characters, without spaces around them");
            return Err(SettlementFileError::Refused(message));
        }
        if !matches!(self.entity.level, Level::Division | Level::Merchant) {
            let (id, level) = (&self.entity.id, self.entity.level.display_name());
            let message = format!("{id} is a {level}: files are imported for divisions and merchants");
            return Err(SettlementFileError::Refused(message));
        }
        Ok(())
    }
}
