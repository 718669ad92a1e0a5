//! Accounts with a provider: the merchant or the shopper may name one; otherwise the provider asks the shopper itself.

use tillgate_shared::parameter::Parameters;

use crate::connector::FullAccount;
use crate::domain::payment::VirtualSummary;

/// Reads an account with a provider.
pub(super) fn read(parameters: &Parameters) -> FullAccount {
    match parameters.get("virtualAccount.accountId") {
        Some(id) => FullAccount::Virtual(VirtualSummary { account_id: id.to_owned(), holder: None }),
        None => FullAccount::Unknown,
    }
}
