//! 3-D Secure in the simulator: the [`directory`] determines the flow of a card, the [`issuer`] responds accordingly.

use async_trait::async_trait;
use tillgate_connector::three_ds::request::AuthType;
use tillgate_connector::three_ds::{
    ChallengePage, ChallengeResult, Enrolment, MethodPage, ThreeDsAnswer, ThreeDsAuthenticator, ThreeDsRequest,
};
use tillgate_domain::three_ds::{AuthenticationResult, Proof, ThreeDsSession};
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;

use super::{Simulator, directory, issuer, passkey};

#[async_trait]
impl ThreeDsAuthenticator for Simulator {
    async fn look_up_card(&self, number: &CardNumber, parameters: &Parameters) -> Option<Enrolment> {
        let flow = directory::find_flow(number.digits(), parameters)?;
        let method = if flow.has_method() { MethodPage::Own } else { MethodPage::None };
        Some(Enrolment { version: flow.version(), method })
    }

    async fn authenticate(&self, request: &ThreeDsRequest<'_>) -> ThreeDsAnswer {
        let flow = directory::find_flow(request.number.digits(), request.parameters);
        let wishes = issuer::IssuerWishes::of_message(request.message);
        let result =
            flow.map_or(AuthenticationResult::NotSupported, |flow| issuer::authenticate_cardholder(flow, wishes));
        issuer::build_proof(request.brand.code, request.version, request.transaction_id, result, None).into()
    }

    fn challenge_proof(&self, brand: &Brand, authentication: &ThreeDsSession, result: &ChallengeResult) -> Proof {
        let (version, transaction) = (Some(authentication.version), Some(authentication.transaction.as_str()));
        issuer::build_proof(
            brand.code,
            version,
            transaction,
            AuthenticationResult::Issuer(result.status),
            result.reason,
        )
    }

    fn challenge_page(&self, auth_type: Option<AuthType>, parameters: &Parameters, transaction: &str) -> ChallengePage {
        let page = issuer::challenge_page(auth_type);
        match directory::wants_passkey(parameters) {
            true => issuer::with_passkey(page, passkey::passkey_challenge(transaction)),
            false => page,
        }
    }

    fn check_passkey(&self, transaction: &str, origin: &str, answer: &str) -> Result<(), &'static str> {
        passkey::check_passkey(transaction, origin, answer)
    }
}
