//! Disputes: a cardholder's bank questions a charged payment. The stages, the allowed transitions, and the deadlines.
//!
//! The clearing institute opens a dispute with a retrieval request or a chargeback, and decides it. The merchant
//! accepts it, or answers with evidence before its deadline.

pub mod evidence;
mod record;

use jiff::SignedDuration;
use serde::{Deserialize, Serialize};

pub use record::{Dispute, DisputeStep, DisputeTimerAction, NewDispute, StepDetails};

/// The stage of a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DisputeStage {
    /// The bank asks for documents about the payment. No money has moved.
    RetrievalRequest,
    /// The bank has charged the amount back.
    Chargeback,
    /// The merchant contests the chargeback with evidence.
    Representment,
    /// The bank insists after a representment.
    PreArbitration,
    /// Ended: the bank has returned the amount.
    Reversal,
    /// Ended: the bank has returned the amount after a pre-arbitration.
    Won,
    /// Ended: the bank keeps the amount, although the merchant has contested.
    Lost,
    /// Ended: the merchant has accepted the chargeback.
    Accepted,
    /// Ended: the merchant has let its deadline pass.
    Expired,
    /// Ended: the bank has taken its retrieval request as answered.
    Closed,
}

impl DisputeStage {
    /// Every stage.
    pub const ALL: [Self; 10] = [
        Self::RetrievalRequest,
        Self::Chargeback,
        Self::Representment,
        Self::PreArbitration,
        Self::Reversal,
        Self::Won,
        Self::Lost,
        Self::Accepted,
        Self::Expired,
        Self::Closed,
    ];

    /// Returns the name in requests and responses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RetrievalRequest => "RETRIEVAL_REQUEST",
            Self::Chargeback => "CHARGEBACK",
            Self::Representment => "REPRESENTMENT",
            Self::PreArbitration => "PRE_ARBITRATION",
            Self::Reversal => "REVERSAL",
            Self::Won => "WON",
            Self::Lost => "LOST",
            Self::Accepted => "ACCEPTED",
            Self::Expired => "EXPIRED",
            Self::Closed => "CLOSED",
        }
    }

    /// Returns true if nothing is awaited any more.
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::RetrievalRequest | Self::Chargeback | Self::Representment | Self::PreArbitration)
    }
}

/// An act that moves a dispute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DisputeAction {
    /// The institute asks for documents. Opens a dispute.
    RequestRetrieval,
    /// The institute charges back. Opens a dispute, or continues one with a retrieval request.
    ChargeBack,
    /// The merchant answers with evidence.
    Represent,
    /// The merchant accepts the chargeback.
    Accept,
    /// The institute insists.
    PreArbitrate,
    /// The institute returns the amount.
    Reverse,
    /// The institute decides against the merchant.
    Lose,
    /// The institute takes its retrieval request as answered.
    Close,
    /// The merchant's deadline has passed.
    Expire,
}

impl DisputeAction {
    /// Every action.
    pub const ALL: [Self; 9] = [
        Self::RequestRetrieval,
        Self::ChargeBack,
        Self::Represent,
        Self::Accept,
        Self::PreArbitrate,
        Self::Reverse,
        Self::Lose,
        Self::Close,
        Self::Expire,
    ];

    /// Returns the name in responses and in the audit log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RequestRetrieval => "REQUEST_RETRIEVAL",
            Self::ChargeBack => "CHARGE_BACK",
            Self::Represent => "REPRESENT",
            Self::Accept => "ACCEPT",
            Self::PreArbitrate => "PRE_ARBITRATE",
            Self::Reverse => "REVERSE",
            Self::Lose => "LOSE",
            Self::Close => "CLOSE",
            Self::Expire => "EXPIRE",
        }
    }

    /// Returns the action of the institute that leads to a stage, by the stage's name. `None` for a stage to which no
    /// message of the institute leads.
    pub fn parse_institute_stage(text: &str) -> Option<Self> {
        INSTITUTE_STAGES.iter().find(|(stage, _)| stage.as_str() == text).map(|(_, action)| *action)
    }
}

/// The stages that the institute reports, with their actions. `REVERSAL` ends as `WON` after a pre-arbitration.
pub const INSTITUTE_STAGES: [(DisputeStage, DisputeAction); 6] = [
    (DisputeStage::RetrievalRequest, DisputeAction::RequestRetrieval),
    (DisputeStage::Chargeback, DisputeAction::ChargeBack),
    (DisputeStage::PreArbitration, DisputeAction::PreArbitrate),
    (DisputeStage::Reversal, DisputeAction::Reverse),
    (DisputeStage::Lost, DisputeAction::Lose),
    (DisputeStage::Closed, DisputeAction::Close),
];

/// The stage, and the side that has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisputePosition {
    /// The stage.
    pub stage: DisputeStage,
    /// True if the merchant has to answer before a deadline. Otherwise the institute decides, unless the stage has
    /// ended.
    pub awaits_merchant: bool,
}

impl DisputePosition {
    /// Returns the position with which an action opens a dispute. `None` for the other actions.
    pub fn after_opening(action: DisputeAction) -> Option<Self> {
        let stage = match action {
            DisputeAction::RequestRetrieval => DisputeStage::RetrievalRequest,
            DisputeAction::ChargeBack => DisputeStage::Chargeback,
            _ => return None,
        };
        Some(Self { stage, awaits_merchant: true })
    }

    /// Returns the position after an action, or `None` if the action is not allowed now.
    ///
    /// The institute never ends a stage in which the merchant's time is running, except in the merchant's favour. It
    /// may return the amount after the end, too.
    #[rustfmt::skip] // keeps each rule on one line
    pub fn after_action(self, action: DisputeAction) -> Option<Self> {
        use DisputeAction::{Accept, ChargeBack, Close, Expire, Lose, PreArbitrate, Represent, Reverse};
        use DisputeStage::{
            Accepted, Chargeback, Closed, Expired, Lost, PreArbitration, Representment, RetrievalRequest, Reversal, Won,
        };

        let (stage, awaits_merchant) = match (action, self.stage, self.awaits_merchant) {
            (ChargeBack,   RetrievalRequest,                                     _)     => (Chargeback, true),
            (Represent,    RetrievalRequest,                                     true)  => (RetrievalRequest, false),
            (Represent,    Chargeback,                                           true)  => (Representment, false),
            (Represent,    PreArbitration,                                       true)  => (PreArbitration, false),
            (Accept,       Chargeback | PreArbitration,                          true)  => (Accepted, false),
            (PreArbitrate, Representment,                                        false) => (PreArbitration, true),
            (Lose,         Representment | PreArbitration,                       false) => (Lost, false),
            (Reverse,      PreArbitration,                                       _)     => (Won, false),
            (Reverse,      Chargeback | Representment | Lost | Accepted | Expired, _)   => (Reversal, false),
            (Close,        RetrievalRequest,                                     _)     => (Closed, false),
            (Expire,       RetrievalRequest | Chargeback | PreArbitration,       true)  => (Expired, false),
            _ => return None,
        };
        Some(Self { stage, awaits_merchant })
    }
}

/// The defence that is proposed to a merchant who has refunded a payment that is charged back.
pub const CREDIT_ALREADY_ISSUED: &str = "CREDIT_ALREADY_ISSUED";

/// Largest number of days that the operator may set for an answer.
pub const MAX_RESPONSE_DAYS: u16 = 365;

/// Time for which evidence is kept after the end of its dispute.
pub const EVIDENCE_RETENTION: SignedDuration = SignedDuration::from_hours(180 * 24);

/// Longest time between the reminder and the deadline.
const REMINDER_LEAD: SignedDuration = SignedDuration::from_hours(5 * 24);

/// Returns the days that a scheme gives the merchant for its answer at a stage. The shortest one is used for brands
/// whose scheme is not known.
pub fn default_response_days(brand: &str, stage: DisputeStage) -> u16 {
    match (brand, stage) {
        ("MASTER" | "MAESTRO", DisputeStage::Chargeback) => 45,
        ("MASTER" | "MAESTRO" | "VISA" | "VISAELECTRON" | "VPAY", _) => 30,
        _ => 20,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
