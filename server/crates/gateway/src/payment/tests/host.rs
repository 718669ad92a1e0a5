//! An external connector that loses requests and responses on demand.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use tillgate_connector::{
    Capabilities, Connector, ConnectorOutcome, ConnectorResult, Inquiry, Modification, Order, OrderRequest, ShopperPage,
};
use tillgate_domain::payment::{ConnectorTxIds, RequestPlace};
use tillgate_shared::result::codes;
use tokio::sync::Semaphore;

/// A fault of the connection to the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ConnectionFault {
    None,
    /// The request never arrives.
    LosesRequests,
    /// The request is executed, but the response never arrives.
    LosesResponses,
    /// Requests arrive, but inquiries get no answer.
    LosesInquiries,
    /// The host redirects the shopper to a page.
    RedirectsShopper,
    /// The host declines reversals, as after its reversal window.
    DeclinesReversals,
    /// The host declines captures.
    DeclinesCaptures,
    /// The host declines every new booking.
    DeclinesBookings,
}

/// A host with a ledger: the effective amounts in hundredths, by reference.
pub(super) struct TestHost {
    fault: Mutex<ConnectionFault>,
    ledger: Mutex<HashMap<String, i64>>,
    /// The order of the last authorization, as its `Debug` shows it.
    last_order: Mutex<String>,
    capabilities: Capabilities,
    /// Systems that the next payments are placed at, the last of them for all further ones.
    pub(super) systems: Mutex<Vec<&'static str>>,
    /// The place of the last request.
    pub(super) last_place: Mutex<Option<RequestPlace>>,
    /// Number of inquiries that have arrived.
    pub(super) inquiries: AtomicUsize,
    /// One permit for each request that may be answered.
    pub(super) permits: Semaphore,
}

impl TestHost {
    /// Creates a host without faults, with an empty ledger and permits for 1000 requests.
    pub(super) fn new() -> Self {
        Self {
            fault: Mutex::new(ConnectionFault::None),
            ledger: Mutex::default(),
            last_order: Mutex::default(),
            capabilities: Capabilities::without_limits(true),
            systems: Mutex::default(),
            last_place: Mutex::default(),
            inquiries: AtomicUsize::new(0),
            permits: Semaphore::new(1_000),
        }
    }

    /// Creates a host that refuses increments.
    pub(super) fn without_increments() -> Self {
        let capabilities = Capabilities { increments: false, ..Capabilities::without_limits(true) };
        Self { capabilities, ..Self::new() }
    }

    /// Creates a host that counts as an in-process connector.
    pub(super) fn in_process() -> Self {
        Self { capabilities: Capabilities::without_limits(false), ..Self::new() }
    }

    /// Waits for a permit, and books an amount under a reference that has none yet, so that a repeated request changes
    /// nothing. The fault decides if the request arrives and if its approval comes back.
    async fn book_amount(&self, reference: &str, hundredths: i64) -> ConnectorOutcome {
        self.permits.acquire().await.unwrap().forget();
        let fault = *self.fault.lock().unwrap();
        if fault == ConnectionFault::LosesRequests {
            return ConnectorOutcome::Unknown;
        }
        if fault == ConnectionFault::DeclinesBookings {
            return codes::REVERSAL_NOT_POSSIBLE.into();
        }
        self.ledger.lock().unwrap().entry(reference.to_owned()).or_insert(hundredths);
        if fault == ConnectionFault::LosesResponses { ConnectorOutcome::Unknown } else { approve_reference(reference) }
    }

    /// Returns the order of the last authorization, as its `Debug` shows it: without secrets.
    pub(super) fn last_order(&self) -> String {
        self.last_order.lock().unwrap().clone()
    }

    /// Sets the fault of all later requests.
    pub(super) fn set_fault(&self, fault: ConnectionFault) {
        *self.fault.lock().unwrap() = fault;
    }

    /// Books what a shopper pays on the host's page, and redirects nobody any more.
    pub(super) fn take_payment_on_page(&self, reference: &str, hundredths: i64) {
        self.ledger.lock().unwrap().insert(reference.to_owned(), hundredths);
        self.set_fault(ConnectionFault::None);
    }

    /// Returns the sum of all booked amounts in hundredths.
    pub(super) fn balance(&self) -> i64 {
        self.ledger.lock().unwrap().values().sum()
    }

    /// Returns the number of booked references, those with the amount zero included.
    pub(super) fn entry_count(&self) -> usize {
        self.ledger.lock().unwrap().len()
    }
}

#[async_trait]
impl Connector for TestHost {
    fn name(&self) -> &str {
        "host"
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn place_order(&self, _: &Order, stored: Option<&RequestPlace>) -> Option<RequestPlace> {
        let mut systems = self.systems.lock().unwrap();
        let system = if systems.len() > 1 { systems.remove(0) } else { systems.first()? };
        let is_same = |place: &&RequestPlace| place.system == system;
        let new = || RequestPlace { system: system.to_owned(), number: Some(7) };
        Some(stored.filter(is_same).cloned().unwrap_or_else(new))
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        *self.last_place.lock().unwrap() = request.place.cloned();
        *self.last_order.lock().unwrap() = format!("{:#?}", request.order);
        if *self.fault.lock().unwrap() == ConnectionFault::RedirectsShopper {
            return redirect_outcome();
        }
        self.book_amount(request.reference, request.order.amount.hundredths()).await
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.book_amount(request.reference, -request.order.amount.hundredths()).await
    }

    async fn verify(&self, _: &OrderRequest<'_>) -> ConnectorOutcome {
        codes::TEST_CONNECTOR.into()
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        if *self.fault.lock().unwrap() == ConnectionFault::DeclinesCaptures {
            return codes::CAPTURE_VOLUME_EXCEEDED.into();
        }
        self.book_amount(&modification.reference, 0).await
    }

    async fn increment(&self, modification: &Modification) -> ConnectorOutcome {
        if modification.connector_tx_ids.acquirer_id() != Some(&modification.original_reference) {
            return codes::REFERENCE_UNKNOWN.into();
        }
        // Nothing is booked until the capture.
        self.book_amount(&modification.reference, 0).await
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        if modification.connector_tx_ids.acquirer_id() != Some(&modification.original_reference) {
            return codes::REFERENCE_UNKNOWN.into();
        }
        self.book_amount(&modification.reference, -modification.amount.hundredths()).await
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        *self.last_place.lock().unwrap() = modification.earlier.place.clone();
        if *self.fault.lock().unwrap() == ConnectionFault::DeclinesReversals {
            return codes::REVERSAL_NOT_POSSIBLE.into();
        }
        let booked = self.ledger.lock().unwrap().get(&modification.original_reference).copied().unwrap_or_default();
        self.book_amount(&modification.reference, -booked).await
    }

    async fn inquire(&self, inquiry: &Inquiry) -> Option<ConnectorOutcome> {
        self.inquiries.fetch_add(1, Ordering::Relaxed);
        match *self.fault.lock().unwrap() {
            ConnectionFault::RedirectsShopper => return Some(redirect_outcome()),
            ConnectionFault::LosesInquiries => return Some(ConnectorOutcome::Unknown),
            _ => {}
        }
        let is_known = self.ledger.lock().unwrap().contains_key(&inquiry.reference);
        if is_known { Some(approve_reference(&inquiry.reference)) } else { None }
    }
}

/// Returns an approval. The host's own id of the transaction is the reference of its request.
fn approve_reference(reference: &str) -> ConnectorOutcome {
    let connector_tx_ids = ConnectorTxIds::new([Some(reference.to_owned()), None, None]);
    ConnectorOutcome::Approved(ConnectorResult { connector_tx_ids, ..codes::TEST_CONNECTOR.into() })
}

/// Returns the outcome of a host that sends the shopper to a page of its own.
fn redirect_outcome() -> ConnectorOutcome {
    let page = ShopperPage::Foreign {
        url: "https://host.example/pay".to_owned(),
        method: "GET".to_owned(),
        parameters: Vec::new(),
    };
    ConnectorOutcome::Redirect(codes::PENDING.into(), page)
}
