//! A shop with risk rules, and an analyst who changes them in the back office.

use anyhow::Context as _;
use serde_json::Value;
use tillgate_tests::{MerchantClient, TestGateway};

use crate::access::back_office_administration::read_entries;
use crate::access::office_browser::{Answer, Person};

/// Text with markup.
pub const HOSTILE: &str = "<img src=x onerror=alert(1)>";
/// A rules file that denies payments above an amount.
pub const DENY: &str = "[[rule]]\nname = \"large\"\nwhen = 'amount > 100'\noutcome = \"deny\"\n";

/// A shop whose payments are checked, and an analyst.
pub struct Shop {
    pub gateway: TestGateway,
    pub merchant: MerchantClient,
    pub person: Person,
}

impl Shop {
    pub async fn open() -> anyhow::Result<Self> {
        let gateway = TestGateway::start()?;
        let merchant = gateway.create_merchant_with(&["--risk", "on"])?;
        let person = Person::enrol(&gateway, "ana@shop.example", "analyst", Some(&merchant.entity_id)).await?;
        Ok(Self { gateway, merchant, person })
    }

    /// Returns a path of the entity's rules.
    pub fn path(&self, rest: &str) -> String {
        format!("/risk/{}{rest}", self.merchant.entity_id)
    }

    /// Saves a text in the editor. Returns the version to which the answer leads.
    pub async fn save(&self, text: &str) -> anyhow::Result<String> {
        let sent = [("rules", text), ("action", "save")];
        let saved = self.person.browser.post(&self.path("/edit"), &sent).await?;
        assert_eq!(saved.status, 303, "{}", saved.page);
        let (_, version) = saved.header("location").split_once("/versions/").context("no version")?;
        Ok(version.split('?').next().unwrap_or_default().to_owned())
    }

    /// Uses a version in a role, in place of another one.
    pub async fn use_version(&self, version: &str, role: &str, seen: &str) -> anyhow::Result<Answer> {
        let fields = [("seen", seen), ("reason", "Large orders")];
        self.person.browser.post(&self.path(&format!("/versions/{version}/{role}")), &fields).await
    }

    /// Returns what the API says about the versions.
    pub async fn read_versions(&self) -> anyhow::Result<Value> {
        Ok(self.merchant.get("v2/risk/rules").await?.json)
    }

    pub async fn read(&self, path: &str) -> anyhow::Result<String> {
        let answer = self.person.browser.get(&self.path(path)).await?;
        assert_eq!(answer.status, 200, "{path} {}", answer.page);
        assert!(!answer.page.contains(HOSTILE), "{path} has markup: {}", answer.page);
        Ok(answer.page)
    }

    /// Pays an amount. Returns the result code.
    pub async fn pay(&self, amount: &str) -> anyhow::Result<String> {
        Ok(self.merchant.pay_by_card(&[("amount", amount)]).await?.result_code().to_owned())
    }

    /// Asserts that an action has one entry in the audit log, with the user and the address.
    pub fn assert_audited(&self, action: &str, subject: &str) -> anyhow::Result<()> {
        let entries = read_entries(&self.gateway, action)?;
        let user = Person::find_id(&self.gateway, &self.person.mail)?;
        assert_eq!(entries.len(), 1, "{entries:?}");
        assert_eq!((&entries[0]["subject"], &entries[0]["actor"]), (&subject.into(), &format!("user {user}").into()));
        assert_eq!(entries[0]["details"]["address"], "127.0.0.1");
        Ok(())
    }
}
