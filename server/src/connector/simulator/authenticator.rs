//! 3-D Secure in the simulator: the [`directory`] says what a card is there to show, the [`issuer`] answers by it.

use async_trait::async_trait;
use tillgate_shared::brand::Brand;
use tillgate_shared::format::card_number::CardNumber;
use tillgate_shared::parameter::Parameters;

use super::{Simulator, directory, issuer};
use crate::connector::three_ds::{AuthenticationRequest, Authenticator, ChallengeResult, Enrolment};
use crate::domain::authentication::{Authentication, Proof, Said};

#[async_trait]
impl Authenticator for Simulator {
    async fn look_up(&self, number: &CardNumber, parameters: &Parameters) -> Option<Enrolment> {
        let flow = directory::look_up(number.digits(), parameters)?;
        Some(Enrolment { version: flow.version(), has_method: flow.has_method() })
    }

    async fn authenticate(&self, request: &AuthenticationRequest<'_>) -> Proof {
        let flow = directory::look_up(request.number.digits(), request.parameters);
        let said = flow.map_or(Said::Outside, |flow| issuer::authenticate(flow, request.message));
        issuer::proof(request.brand.code, request.version, request.transaction, said, None)
    }

    fn challenge_proof(&self, brand: &Brand, authentication: &Authentication, result: &ChallengeResult) -> Proof {
        let (version, transaction) = (Some(authentication.version), Some(authentication.transaction.as_str()));
        issuer::proof(brand.code, version, transaction, Said::Issuer(result.status), result.reason)
    }
}
