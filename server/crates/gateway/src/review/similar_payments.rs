//! Counts of the payments that share a value with a held one: the card, the e-mail address, the shopper's address or
//! network.
//!
//! An index leads to the payments with a card or an e-mail address. Addresses have none, so the latest payments are
//! read. All reads are bounded, and a count that is not complete says how far back it reaches.

use std::net::IpAddr;
use std::ops::ControlFlow;

use ipnet::IpNet;
use jiff::Timestamp;
use tillgate_domain::id::{EntityId, PaymentId};
use tillgate_domain::ip_text::parse_address;
use tillgate_domain::payment::query::PaymentRange;
use tillgate_domain::payment::{Payment, PaymentType};
use tillgate_store::{Cancellation, ListedPayment, PaymentIndex, SearchTerm};

use crate::payment::listing::ListedState;
use crate::risk::listable::client_address;
use crate::{Failure, Gateway};

/// Maximum number of payments that are read for each index. It is no time, because somebody decides by the counts, and
/// a page that is read again has to show the same.
const MAX_READ: usize = 2_000;
/// Maximum number of payments with the same visible digits whose whole numbers are compared.
const MAX_COMPARED: usize = 200;
/// Maximum number of approved payments of a group of which chargebacks are looked up.
const MAX_FOLLOWED: usize = 200;
/// Length of the network of an IPv4 and of an IPv6 address, as in risk rules.
const NETWORK_BITS: (u8, u8) = (24, 48);

/// The value that payments share.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SharedValue {
    /// The number of the card.
    Card,
    /// The customer's e-mail address.
    Mail,
    /// The address of the shopper's client.
    Address,
    /// The /24 of that address, or its /48 for IPv6.
    Network,
}

/// The other payments with a value, counted by their outcomes.
#[derive(Debug, Clone)]
pub struct SimilarPayments {
    /// The kind of the shared value.
    pub shared: SharedValue,
    /// The value. Of a card, the last four digits.
    pub value: String,
    /// Number of approved payments.
    pub approved: u64,
    /// Number of declined payments.
    pub declined: u64,
    /// Number of payments that are held, or whose outcome is not known.
    pub pending: u64,
    /// Number of the approved ones that were charged back.
    pub charged_back: u64,
    /// The time back to which payments were counted. `None` if all were.
    pub since: Option<Timestamp>,
    /// The approved payments.
    followed: Vec<PaymentId>,
}

impl SimilarPayments {
    fn new(shared: SharedValue, value: impl Into<String>) -> Self {
        Self {
            shared,
            value: value.into(),
            approved: 0,
            declined: 0,
            pending: 0,
            charged_back: 0,
            since: None,
            followed: Vec::new(),
        }
    }

    fn count_listed(&mut self, payment: &ListedPayment<'_>) {
        let Some(id) = PaymentId::parse(&payment.id) else { return };
        self.count(id, ListedState::of(payment.payment_type, payment.result));
    }

    fn count(&mut self, id: PaymentId, state: ListedState) {
        match state {
            ListedState::Approved => {
                self.approved += 1;
                if self.followed.len() < MAX_FOLLOWED {
                    self.followed.push(id);
                }
            }
            ListedState::Declined => self.declined += 1,
            ListedState::Pending | ListedState::Held => self.pending += 1,
        }
    }
}

/// A search for similar payments, by a user who sees the payments of these entities.
struct SimilarSearch<'a> {
    gateway: &'a Gateway,
    entities: &'a [EntityId],
    payment: &'a Payment,
    cancelled: &'a Cancellation<'a>,
}

impl Gateway {
    /// Counts the payments of some entities that share a value with a payment, for each of its values.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn count_similar_payments(
        &self,
        entities: &[EntityId],
        payment: &Payment,
        cancelled: &Cancellation<'_>,
    ) -> Result<Vec<SimilarPayments>, Failure> {
        let search = SimilarSearch { gateway: self, entities, payment, cancelled };
        let mut groups = Vec::new();
        groups.extend(search.count_by_card()?);
        groups.extend(search.count_by_mail()?);
        groups.extend(search.count_by_address()?);
        for group in &mut groups {
            for id in std::mem::take(&mut group.followed) {
                let follow_ups = self.store.load_follow_up_types(&id)?;
                let is_charged_back = follow_ups.iter().any(|(kind, _)| *kind == PaymentType::Chargeback);
                group.charged_back += u64::from(is_charged_back);
            }
        }
        Ok(groups)
    }
}

impl SimilarSearch<'_> {
    /// Visits the other payments to which an index leads, newest first, without follow-up payments. Returns the time
    /// back to which they were read, `None` if that were all.
    fn visit(
        &self,
        index: &PaymentIndex,
        mut visit: impl FnMut(&ListedPayment<'_>),
    ) -> Result<Option<Timestamp>, Failure> {
        let (mut read, mut since, mut oldest) = (0_usize, None, None);
        let range = PaymentRange::all_time();
        self.gateway.store.visit_latest_payments(self.entities, index, &range, self.cancelled, |payment| {
            if read == MAX_READ {
                since = oldest;
                return ControlFlow::Break(());
            }
            read += 1;
            oldest = Some(payment.created);
            if *payment.id != *self.payment.id.as_str() && payment.referenced.is_none() {
                visit(payment);
            }
            ControlFlow::Continue(())
        })?;
        Ok(since)
    }

    /// Counts the payments with the same card. Those with the same visible digits are found by the last four, and their
    /// blind indexes are compared.
    fn count_by_card(&self) -> Result<Option<SimilarPayments>, Failure> {
        let Some(card) = self.payment.account.as_card() else { return Ok(None) };
        let mut group = SimilarPayments::new(SharedValue::Card, &*card.last4);
        let index = PaymentIndex::Term(SearchTerm::LastFour(card.last4.clone()));
        let (mut candidates, mut compared_since) = (Vec::new(), None);
        let since = self.visit(&index, |other| {
            if other.bin() != Some(&*card.bin) || candidates.len() == MAX_COMPARED {
                return;
            }
            candidates.extend(EntityId::parse(&other.entity).zip(PaymentId::parse(&other.id)));
            if candidates.len() == MAX_COMPARED {
                compared_since = Some(other.created);
            }
        })?;
        // The payments are loaded after the visit, which keeps a snapshot open.
        for (entity, id) in candidates {
            let other = self.gateway.store.load_payment(&entity, &id)?;
            if let Some(other) = other.filter(|other| self.has_same_card(other)) {
                group.count(other.id, ListedState::of(other.payment_type, other.result));
            }
        }
        Ok(Some(SimilarPayments { since: compared_since.or(since), ..group }))
    }

    /// Returns true if another payment with the same visible digits has the same card: by the blind indexes, or without
    /// them by the date of expiry.
    fn has_same_card(&self, other: &Payment) -> bool {
        match (self.gateway.find_account_index(self.payment), self.gateway.find_account_index(other)) {
            (Some(one), Some(another)) => one == another,
            _ => {
                let cards = self.payment.account.as_card().zip(other.account.as_card());
                cards.is_some_and(|(one, another)| {
                    (&one.expiry_year, &one.expiry_month) == (&another.expiry_year, &another.expiry_month)
                })
            }
        }
    }

    /// Counts the payments with the same e-mail address.
    fn count_by_mail(&self) -> Result<Option<SimilarPayments>, Failure> {
        let Some(mail) = self.payment.parameters.get("customer.email") else { return Ok(None) };
        let mut group = SimilarPayments::new(SharedValue::Mail, mail);
        let index = PaymentIndex::Term(SearchTerm::Mail(mail.to_owned()));
        let since = self.visit(&index, |other| group.count_listed(other))?;
        Ok(Some(SimilarPayments { since, ..group }))
    }

    /// Counts the payments from the same address and from its network.
    fn count_by_address(&self) -> Result<Vec<SimilarPayments>, Failure> {
        let Some(address) = client_address(self.payment) else { return Ok(Vec::new()) };
        let Some(network) = find_network(address) else { return Ok(Vec::new()) };
        let mut same = SimilarPayments::new(SharedValue::Address, address.to_string());
        let mut near = SimilarPayments::new(SharedValue::Network, network.to_string());
        let since = self.visit(&PaymentIndex::All, |other| {
            let Some(other_address) = other.parameters.address.as_deref().and_then(parse_address) else { return };
            if other_address == address {
                same.count_listed(other);
            }
            if network.contains(&other_address) {
                near.count_listed(other);
            }
        })?;
        Ok(vec![SimilarPayments { since, ..same }, SimilarPayments { since, ..near }])
    }
}

/// Returns the network of an address.
fn find_network(address: IpAddr) -> Option<IpNet> {
    let (of_ipv4, of_ipv6) = NETWORK_BITS;
    let length = if address.is_ipv4() { of_ipv4 } else { of_ipv6 };
    Some(IpNet::new(address, length).ok()?.trunc())
}
