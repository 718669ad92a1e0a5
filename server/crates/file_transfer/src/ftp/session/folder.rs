//! The folder of a user: its files, their facts and their listings.

use std::sync::Arc;

use jiff::civil::Date;
use tillgate_domain::access::entity::Entity;
use tillgate_domain::settlement::reconciliation::file::FileName;
use tillgate_gateway::Failure;
use tillgate_store::settlement::reconciliation_file::StoredFile;

use super::FtpSession;
use super::control::Reply;
use crate::ftp::command::FolderPath;
use crate::ftp::listing::{ListingForm, format_facts, format_listing};
use crate::ftp::pattern::{fits_pattern, is_pattern};

impl FtpSession {
    /// Returns the user's entity as it is now.
    fn load_entity(&self) -> Result<Arc<Entity>, Reply> {
        let Some(user) = &self.user else { return Err(Reply::new(530, "Log in first.")) };
        match self.server.reload_entity(user) {
            Ok(Some(entity)) => Ok(entity),
            Ok(None) => Err(Reply::new(421, "The user has been revoked.")),
            Err(error) => {
                tracing::warn!(%error, "an FTP user cannot be loaded");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }

    /// Finds the file with a path.
    pub(super) fn find_file(&self, path: &str) -> Result<(Arc<Entity>, StoredFile), Reply> {
        let entity = self.load_entity()?;
        let found = match FolderPath::parse(path) {
            FolderPath::Folder => Ok(None),
            FolderPath::Entry(name) => self.server.app.gateway.find_file(&entity, name),
        };
        match found {
            Ok(Some(file)) => Ok((entity, file)),
            Ok(None) => Err(Reply::new(550, "There is no such file.")),
            Err(error) => {
                tracing::warn!(%error, "a reconciliation file cannot be found");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }

    pub(super) fn describe_file(&self, path: &str, describe: impl FnOnce(&Entity, &StoredFile) -> Reply) -> Reply {
        match self.find_file(path) {
            Ok((entity, file)) => describe(&entity, &file),
            Err(reply) => reply,
        }
    }

    pub(super) fn answer_mlst(&self, path: &str) -> Reply {
        if FolderPath::parse(path) == FolderPath::Folder {
            return Reply::new(250, "Listing:\n Type=dir;Perm=el; /\nEnd");
        }
        self.describe_file(path, |entity, file| {
            Reply::new(250, format!("Listing:\n {}\nEnd", format_facts(&entity.id, file)))
        })
    }

    /// Returns the listing of the folder, of the files that fit a pattern, or of the one file with a path.
    pub(super) fn list_folder(&self, path: &str, form: ListingForm) -> Result<String, Reply> {
        let pattern = match FolderPath::parse(path) {
            FolderPath::Folder => None,
            // Clients ask for the names that fit (RFC 1123, 4.1.2.7) before they fetch several files.
            FolderPath::Entry(name) if is_pattern(name) && form != ListingForm::Facts => Some(name),
            FolderPath::Entry(_) => {
                let (entity, file) = self.find_file(path)?;
                return Ok(format_listing(&entity.id, &[file], form));
            }
        };
        let entity = self.load_entity()?;
        match self.server.app.gateway.list_files(&entity, Date::MIN, Date::MAX) {
            Ok(mut files) => {
                let name = |file: &StoredFile| FileName { entity: entity.id.clone(), day: file.day }.to_string();
                files.retain(|file| pattern.is_none_or(|pattern| fits_pattern(pattern, &name(file))));
                if pattern.is_some() && files.is_empty() {
                    return Err(Reply::new(550, "There is no such file."));
                }
                Ok(format_listing(&entity.id, &files, form))
            }
            // The entity has become one without files.
            Err(Failure::Refused(_)) => Ok(String::new()),
            Err(error) => {
                tracing::warn!(%error, "reconciliation files cannot be listed");
                Err(Reply::new(451, "Not available now, try again later."))
            }
        }
    }
}
