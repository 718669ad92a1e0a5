//! The bridge to JavaScript: values without a known shape, the loader's functions, and nodes of a hostile page. Only
//! the files of this folder read or set properties by name.
//!
//! A merchant's page may add properties to every object, and its markup may shadow the properties of its document, its
//! forms and its window. So what every object inherits does not count here, and methods of forms, documents and windows
//! are those of their prototypes.

mod call;
pub mod document;
mod global;
mod language;
mod loader;
mod node;
mod part;
mod value;

pub use call::{call, report_thrown, settle};
pub use global::{find_global, set_global};
pub use language::{compare_texts, country_names, format_money};
pub use loader::{Loader, PlacedForm};
pub use node::{FormNode, Target, find_all};
pub use part::{OpenPart, make_view};
pub use value::{Data, Value, format_number, inherit_from, list_of};
