//! Accounts with a provider. The merchant or the shopper may name one; otherwise the provider asks the shopper itself.

use tillgate_connector::FullAccount;
use tillgate_domain::payment::VirtualSummary;
use tillgate_shared::parameter::Parameters;

/// Reads an account with a provider (`virtualAccount.accountId`). Returns an unknown account if the parameter was not
/// sent.
pub(super) fn read_provider_account(parameters: &Parameters) -> FullAccount {
    match parameters.get("virtualAccount.accountId") {
        Some(id) => FullAccount::Virtual(VirtualSummary { account_id: id.to_owned(), holder: None }),
        None => FullAccount::Unknown,
    }
}
