//! The harness of the black-box tests: the real binary on a free port with an empty file, a merchant that talks HTTP
//! to it, shops, and a real browser. Tests start what they need and drop it; nothing outlives the test process.

mod acquirer;
mod answer;
mod axe;
pub mod bench;
mod browser;
pub mod card_form;
pub mod crash;
pub mod devtools;
mod driver;
mod firefox;
mod gateway;
mod line;
mod merchant;
mod past;
mod pool;
mod process;
mod proxy;
mod receiver;
pub mod reconciliation;
pub mod shop;
mod site;
mod wait;

pub use acquirer::{AcquirerHost, HostCaller, HostReply, HostRequest};
pub use answer::{Answer, form};
pub use browser::{Browser, browse, browse_in_firefox, browse_with};
pub use card_form::CardForm;
pub use devtools::Tab;
pub use gateway::{Gateway, binary};
pub use line::Line;
pub use merchant::{CARD, Merchant};
pub use past::{set_back, take_clock_back};
pub use proxy::{Proxy, Trouble};
pub use receiver::{Received, Receiver, Reply};
pub use shop::DemoShop;
pub use site::{Page, Site};
pub use wait::{PATIENCE, poll, until};
