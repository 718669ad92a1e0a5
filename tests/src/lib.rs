//! The harness of the black-box tests: the real binary on a free port with an empty file, a merchant that talks HTTP
//! to it, the demo shop, and a real browser. Tests start what they need and drop it; nothing outlives the test process.

mod answer;
mod gateway;
mod merchant;
mod process;

pub use answer::{Answer, form};
pub use gateway::Gateway;
pub use merchant::{CARD, Merchant};
