//! The harness of the black-box tests: the real binary on a free port with an empty data folder, a merchant's HTTP
//! client, shops, and a real browser. Tests start what they need and drop it. Nothing outlives the test process.

mod acquirer;
mod api_response;
pub mod axe;
pub mod bench;
mod browser;
pub mod card_form;
pub mod crash;
pub mod database;
pub mod devtools;
mod driver;
mod firefox;
pub mod ftp;
mod gateway;
mod merchant;
mod pool;
mod process;
mod proxy;
pub mod push;
mod raw_receiver;
mod receiver;
pub mod reconciliation;
pub mod records;
pub mod shop;
mod site;
mod stored_times;
mod tcp_forwarder;
mod wait;
mod webkit;

pub use acquirer::{AcquirerHostClient, HostReply, HostRequest, TestAcquirerHost};
pub use api_response::{ApiResponse, encode_form};
pub use browser::{Browser, run_in_browser, run_in_desktop_browser, run_in_firefox, run_in_new_browser, run_in_webkit};
pub use card_form::CardForm;
pub use database::{Database, is_on_postgres};
pub use devtools::Tab;
pub use gateway::{TestGateway, binary_path};
pub use merchant::{CARD, MerchantClient};
pub use process::Process;
pub use proxy::{Proxy, ProxyFault};
pub use raw_receiver::{RawReaction, RawReceiver, RawRequest};
pub use receiver::{ReceivedRequest, Receiver, ReceiverReply};
pub use shop::TestDemoShop;
pub use site::{MerchantPage, MerchantSite};
pub use stored_times::{backdate_checkout, reset_sandbox_clock};
pub use tcp_forwarder::TcpForwarder;
pub use wait::{PATIENCE, poll_until, poll_until_blocking};
