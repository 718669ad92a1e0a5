//! Debits in two steps whose connector declines the capture, which no test data of a sandbox ask for.

use tillgate_connector::three_ds::ChallengeResult;
use tillgate_domain::access::entity::EntitySettings;
use tillgate_domain::access::scope::Scopes;
use tillgate_domain::payment::debit_step::DebitStep;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_domain::three_ds::TransactionStatus;
use tillgate_shared::parameter::Parameters;
use tillgate_shared::result::codes;

use super::host::{ConnectionFault, TestHost};
use super::interleaving::challenged_form;
use super::{CARD, TestShop, order_parameters};
use crate::payment::addresses::Addresses;
use crate::payment::response_recorder::ResponseRecorder;

/// Starts a gateway whose merchant checks payments.
fn start_checking_shop(host: TestHost) -> TestShop {
    let mut settings = EntitySettings::default();
    settings.channel.risk = true;
    TestShop::start_with(host, settings)
}

/// Returns the parameters of a `PA.CP` with these fields.
fn two_step_parameters(fields: &[(&str, &str)]) -> Parameters {
    let mut parameters = order_parameters(fields);
    parameters.set("paymentType", "PA.CP");
    parameters
}

impl TestShop {
    /// Pays 92.00 EUR by card in two steps.
    async fn pay_in_two_steps(&self) -> Payment {
        let addresses = Addresses { public: "http://127.0.0.1/", result: None, shop_origin: None, shopper: None };
        let parameters = two_step_parameters(&CARD);
        let paid =
            self.gateway.pay(&self.entity, parameters, Scopes::all(), addresses, ResponseRecorder::disabled()).await;
        Payment::clone(&*paid.unwrap())
    }

    /// Pays 92.00 EUR in two steps by a card whose issuer challenges the cardholder, and confirms the challenge.
    async fn pay_challenged(&self) -> Payment {
        let parameters = two_step_parameters(&[]);
        let created = self
            .gateway
            .create_checkout(&self.entity, parameters, "build", Scopes::all(), ResponseRecorder::disabled())
            .await;
        let pending = self.submit_form(&created.unwrap(), challenged_form()).await.pending.unwrap();
        let page = pending.redirect.as_ref().unwrap().page.clone().unwrap();
        self.gateway.advance_three_ds(page.as_str(), true).await.unwrap();
        let transaction = pending.three_ds_session().unwrap().transaction.clone();
        let result =
            ChallengeResult { status: TransactionStatus::Authenticated, reason: None, code: codes::TEST_CONNECTOR };
        self.gateway.process_challenge_result(page.as_str(), &transaction, result).await.unwrap();
        self.stored_payment(&pending)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_debit_whose_capture_is_declined_is_declined_and_its_authorization_reversed() {
    for host in [TestHost::in_process, TestHost::new] {
        let shop = start_checking_shop(host());
        shop.host.set_fault(ConnectionFault::DeclinesCaptures);
        for declined in [shop.pay_in_two_steps().await, shop.pay_challenged().await] {
            assert_eq!(declined.result, codes::CAPTURE_VOLUME_EXCEEDED);
            assert_eq!(declined.debit_step(), Some(DebitStep::Authorization));
            assert!(shop.host.last_order().contains("payment_type: Preauthorization"));
            shop.resolve_all().await;
            assert_eq!(shop.follow_ups(&declined), [(PaymentType::Reversal, 9200, true)]);
        }
        assert_eq!(shop.count_intents(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_debit_that_its_check_accepts_is_captured_at_any_connector() {
    for host in [TestHost::in_process, TestHost::new] {
        let shop = start_checking_shop(host());
        for paid in [shop.pay_in_two_steps().await, shop.pay_challenged().await] {
            assert_eq!(paid.result, codes::TEST_CONNECTOR);
            assert_eq!(
                (paid.debit_step(), paid.type_at_connector()),
                (Some(DebitStep::Capture), PaymentType::TwoStepDebit)
            );
            assert!(shop.host.last_order().contains("payment_type: Preauthorization"));
            assert!(shop.follow_ups(&paid).is_empty());
        }
        assert_eq!(shop.count_intents(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_debit_without_a_check_is_asked_for_in_one_request() {
    let shop = TestShop::start_gateway();
    let paid = shop.pay_in_two_steps().await;
    assert_eq!((paid.result, paid.debit_step()), (codes::TEST_CONNECTOR, None));
    assert!(shop.host.last_order().contains("payment_type: TwoStepDebit"));
}
