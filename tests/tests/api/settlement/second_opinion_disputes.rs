//! Random chargebacks of every payment type with every end: the ledger and the second opinion of `tillgate verify`
//! agree with the sums that the test computes from its own requests.

use serde_json::Value;
use tillgate_tests::{ApiResponse, MerchantClient, TestGateway};

use crate::settlement::ledger::{Chance, format_amount};
use crate::settlement::second_opinion::{TYPES, assert_owed, assert_settled, begin_day, pay, random_amount};
use crate::support::*;

/// Ends of a chargeback.
const DISPUTE_ENDS: [&str; 4] = ["open", "accepted", "reversed", "reversed in part"];

/// A merchant, and the token of its division, which reverses chargebacks.
struct DisputedShop {
    shop: MerchantClient,
    operator: MerchantClient,
}

impl DisputedShop {
    fn create(gateway: &TestGateway) -> anyhow::Result<Self> {
        let division = gateway.create_merchant_with(&["--level", "division"])?;
        let shop = gateway.create_merchant_with(&["--parent", &division.entity_id])?;
        Ok(Self { operator: MerchantClient { token: division.token, ..shop.clone() }, shop })
    }

    /// Pays every type, captures preauthorizations, and disputes each payment with every end. Returns what all of them
    /// should have moved.
    async fn dispute_all(&self, mode: &[(&str, &str)], chance: &mut Chance) -> anyhow::Result<i64> {
        let mut moved = 0;
        for (payment_type, _) in TYPES {
            for end in DISPUTE_ENDS {
                let whole = random_amount(chance)?;
                let paid = pay(&self.shop, payment_type, whole, mode).await?;
                assert_eq!(paid.status, 200, "{}", paid.text);
                match payment_type {
                    "CD" => {
                        moved -= whole;
                        assert_eq!(self.modify(&self.shop, paid.id(), "CB", whole).await?.status, 400);
                    }
                    "PA" => {
                        let captured = self.modify(&self.shop, paid.id(), "CP", whole).await?;
                        moved += whole + self.dispute(captured.id(), whole, end, chance).await?;
                    }
                    _ => moved += whole + self.dispute(paid.id(), whole, end, chance).await?,
                }
            }
        }
        Ok(moved)
    }

    /// Charges back a random part of a payment, and ends the dispute. Returns what that moves.
    async fn dispute(&self, payment: &str, whole: i64, end: &str, chance: &mut Chance) -> anyhow::Result<i64> {
        let charged = i64::try_from(chance.below(u64::try_from(whole)?) + 1)?;
        let chargeback = self.modify(&self.shop, payment, "CB", charged).await?;
        assert_result(&chargeback, 200, "000.100.203");
        let returned = match end {
            "reversed" => charged,
            "reversed in part" => i64::try_from(chance.below(u64::try_from(charged)?) + 1)?,
            "accepted" => {
                let found = self.shop.get("v1/disputes?limit=100").await?;
                let mut disputes = found.json["disputes"].as_array().into_iter().flatten();
                let dispute = disputes.find(|dispute| dispute["paymentId"] == payment).unwrap_or(&Value::Null);
                let id = dispute["id"].as_str().unwrap_or_default();
                assert_eq!(
                    self.shop.post(&format!("v1/disputes/{id}/accept"), &[]).await?.status,
                    200,
                    "{}",
                    found.text
                );
                return Ok(-charged);
            }
            _ => return Ok(-charged),
        };
        let reversal = self.modify(&self.operator, chargeback.id(), "CR", returned).await?;
        assert_eq!(reversal.status, 200, "{}", reversal.text);
        // A chargeback is reversed once at most.
        assert_eq!(self.modify(&self.operator, chargeback.id(), "CR", 1).await?.status, 400);
        Ok(returned - charged)
    }

    /// Sends a follow-up payment of an amount in euros with the token of `client`. Returns any response.
    async fn modify(
        &self,
        client: &MerchantClient,
        payment: &str,
        kind: &str,
        hundredths: i64,
    ) -> anyhow::Result<ApiResponse> {
        let amount = format_amount(hundredths);
        let mut fields = vec![("paymentType", kind), ("amount", &*amount), ("currency", "EUR")];
        if kind == "CB" {
            fields.push(("chargebackResultCode", "000.100.203"));
        }
        client.post(&format!("v1/payments/{payment}"), &fields).await
    }
}

#[tokio::test]
async fn chargebacks_and_their_reversals_move_what_was_disputed() -> anyhow::Result<()> {
    let gateway = TestGateway::start()?;
    let mut chance = Chance(20_262);
    for mode in [&[][..], &[("testMode", "EXTERNAL")]] {
        let disputed = DisputedShop::create(&gateway)?;
        begin_day(&disputed.shop).await?;
        let moved = disputed.dispute_all(mode, &mut chance).await?;
        assert_owed(&gateway, &disputed.shop, moved).await?;
        if mode.is_empty() {
            assert_settled(&gateway, &disputed.shop, moved).await?;
        }
    }
    Ok(())
}
