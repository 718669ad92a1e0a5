//! Lists that users keep. They are bookmarks: each list checks the query of its address again when it is opened.

use tillgate_domain::id::UserId;
use tillgate_store::access::saved_view::SavedView;

use crate::access::settings::parse_name;
use crate::administration::{ActError, Administration};

/// Maximum number of lists of a user.
pub const MAX_VIEWS: u32 = 30;
/// Maximum length of a name, in characters.
pub const MAX_VIEW_NAME: usize = 60;
/// Maximum length of a query, in bytes.
pub const MAX_VIEW_QUERY: usize = 300;

impl Administration {
    /// Saves a list of a user, in place of the one with this name. `query` is that of an address that the filter of the
    /// list has written.
    ///
    /// # Errors
    /// `name` or `query` by name if the list cannot be saved, or the user has too many.
    pub fn save_view(&self, user: &UserId, name: &str, query: String) -> Result<(), ActError> {
        let name = parse_name(name).map_err(|message| ActError::refuse("name", message))?;
        if name.chars().count() > MAX_VIEW_NAME {
            return Err(ActError::refuse("name", format!("a name has at most {MAX_VIEW_NAME} characters")));
        }
        if query.len() > MAX_VIEW_QUERY {
            return Err(ActError::refuse("query", "the filters are too long to be saved"));
        }
        if self.store.save_view(user, &SavedView { name, query }, MAX_VIEWS)? {
            return Ok(());
        }
        Err(ActError::refuse("name", format!("you have {MAX_VIEWS} saved lists already: delete one first")))
    }

    /// Deletes a list of a user. A list that does not exist is no error, because a form may be sent twice.
    pub fn delete_view(&self, user: &UserId, name: &str) -> Result<(), ActError> {
        self.store.delete_view(user, name)?;
        Ok(())
    }
}
