//! Components of pages: one file for each. All return markup whose texts are escaped.

pub mod badge;
pub mod bar_chart;
pub mod chart;
pub mod copy;
pub mod dialog;
pub mod facts;
pub mod field;
pub mod figure;
pub mod filter_bar;
pub mod gallery;
pub mod icon;
pub mod list_address;
pub mod notice;
pub mod result;
pub mod table;
pub mod tasks;
pub mod time;
pub mod timeline;
pub mod toast;
