//! The pages. Each is complete HTML from the server, and the only script sets the form's options.

mod art;
mod checkout;
mod error;
mod layout;
mod product;
mod result;

pub use checkout::{BRANDS, render_checkout};
pub use error::{ErrorPage, render_error};
pub use product::render_product;
pub use result::render_result;
