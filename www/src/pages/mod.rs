//! The pages. Every one is whole HTML from the server; the only script they have sets the form's options.

mod art;
mod checkout;
mod layout;
mod product;
mod result;
mod trouble;

pub use checkout::checkout;
pub use product::product;
pub use result::result;
pub use trouble::{Trouble, trouble};
