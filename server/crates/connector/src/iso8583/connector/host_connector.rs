//! The connector: translates the gateway's requests and the host's answers.

use std::sync::Arc;

use async_trait::async_trait;
use tillgate_domain::id::log_tag;
use tillgate_domain::payment::connector_message::FaultKind;
use tillgate_domain::payment::{Payment, PaymentType, RequestPlace};
use tillgate_shared::brand::Brand;
use tillgate_shared::result::{ResultCode, codes};

use super::answer::{AnswerMeaning, make_result};
use super::authorization::{build_order, find_card, request_kind};
use super::call::IsoCall;
use super::config::{Iso8583Config, Iso8583ConfigError};
use super::connection::HostMessages;
use super::control::IsoLineProtocol;
use super::follow_up::build_follow_up;
use super::late_answers::LateApprovals;
use super::numbering::TraceSequence;
use super::record::CallEnd;
use super::request::RequestFault;
use super::routing::{RoutedLine, RoutedLines, RoutedPayment};
use super::sample_requests::check_requests;
use crate::http::codes::not_executed_code;
use crate::iso8583::{IsoMessage, IsoRequestKind};
use crate::line::{GroupLine, HostLine, LateAnswers, LineGroup, LineProtocol};
use crate::{
    Capabilities, Connector, ConnectorOutcome, ConnectorResult, EarlierPayment, Inquiry, Modification, Order,
    OrderRequest,
};

/// A connector to the host of a card acquirer. Clones share the lines.
#[derive(Debug, Clone)]
pub struct Iso8583Connector {
    name: String,
    config: Arc<Iso8583Config>,
    messages: HostMessages,
    lines: Arc<RoutedLines>,
    late_approvals: Arc<LateApprovals>,
    traces: Arc<TraceSequence>,
    capabilities: Capabilities,
    approval_code: ResultCode,
}

impl Iso8583Connector {
    /// Starts a connector with this name and its lines, in the current runtime. `mac_key` is in hexadecimal digits.
    /// `approval_code` is the result code of approvals: 000.100.112 in a test system, 000.000.000 for real money.
    ///
    /// # Errors
    /// The key is missing or none of the dialect's algorithm, a request of the dialect cannot be made, or a line cannot
    /// be started. A host that cannot be
    /// reached is no error.
    pub fn start(
        name: &str,
        config: Iso8583Config,
        mac_key: Option<&str>,
        approval_code: ResultCode,
    ) -> Result<Self, Iso8583ConfigError> {
        let messages = HostMessages::new(Arc::clone(&config.dialect), config.read_mac_key(mac_key)?);
        let protocol: Arc<dyn LineProtocol> =
            IsoLineProtocol::new(messages.clone(), &config.terminal, &config.acquirer, config.time_zone.clone());
        let dialect = &config.dialect;
        let is_lost = |kind, message: Option<_>| dialect.request(kind).is_some() && message.is_none();
        // Without its sign-on, a line would be taken for one that needs none.
        if is_lost(IsoRequestKind::SignOn, protocol.create_sign_on())
            || is_lost(IsoRequestKind::Echo, protocol.create_echo())
            || is_lost(IsoRequestKind::SignOff, protocol.create_sign_off())
        {
            let fault = "its sign-on, echo or sign-off cannot be encoded; the log has the field";
            return Err(Iso8583ConfigError::new("dialect", fault));
        }
        check_requests(&config, &messages)?;
        let late_approvals = Arc::new(LateApprovals::new(messages.clone()));
        let late_answers: Arc<dyn LateAnswers> = Arc::clone(&late_approvals) as Arc<dyn LateAnswers>;
        let mut lines = Vec::new();
        for routed in &config.lines {
            let line = HostLine::start(routed.line.clone(), Arc::clone(&protocol), Arc::clone(&late_answers));
            let line = line.map_err(|error| Iso8583ConfigError::Line { name: routed.line.name.clone(), error })?;
            lines.push(RoutedLine {
                member: GroupLine { priority: routed.priority, line: Arc::new(line) },
                system: Arc::clone(&routed.system),
                entities: routed.entities,
                rules: routed.rules.clone(),
            });
        }
        let capabilities = describe_capabilities(&config);
        let traces = Arc::new(TraceSequence::new(config.trace_numbers.clone()));
        Ok(Self {
            name: name.to_owned(),
            config: Arc::new(config),
            messages,
            lines: Arc::new(RoutedLines::new(lines)),
            late_approvals,
            traces,
            capabilities,
            approval_code,
        })
    }

    /// Returns a connector over the same lines whose approvals have another result code.
    #[must_use]
    pub fn with_approval_code(&self, approval_code: ResultCode) -> Self {
        Self { approval_code, ..self.clone() }
    }

    /// Returns the lines, for operators.
    pub fn lines(&self) -> impl Iterator<Item = &GroupLine> {
        self.lines.all()
    }

    /// Returns true if real money moves.
    fn is_live(&self) -> bool {
        self.approval_code == codes::SUCCESS_LIVE
    }

    /// Returns the facts about an order that rules of lines look at.
    fn routed_order<'a>(&'a self, order: &'a Order) -> RoutedPayment<'a> {
        RoutedPayment::of_order(order, self.config.merchant_country.as_deref(), self.is_live())
    }

    /// Returns the lines to the system that knows an earlier payment. Of a payment without a stored system, the lines
    /// whose rules admit it.
    fn find_group_of(&self, earlier: &EarlierPayment) -> Option<Arc<LineGroup>> {
        match &earlier.place {
            Some(place) => self.lines.find_system(&place.system, self.is_live()),
            None => {
                let country = self.config.merchant_country.as_deref();
                self.lines.find_group(&RoutedPayment::of_earlier(earlier, country, self.is_live()), None)
            }
        }
    }

    /// Sends a request on these lines. See [`HostMessages::send_call`].
    async fn send_call(
        &self,
        group: &LineGroup,
        call: IsoCall<'_>,
        build: impl Fn(u32) -> Result<IsoMessage, RequestFault> + Send + Sync,
    ) -> (Option<IsoMessage>, CallEnd) {
        self.messages.send_call((group, &self.late_approvals), call, self.config.answer_timeout, build).await
    }

    /// Sends the order of a payment. Declines an order that the dialect cannot express, without sending it.
    async fn send_order(&self, request: &OrderRequest<'_>, kind: IsoRequestKind) -> ConnectorOutcome {
        let order = request.order;
        let Some(card) = find_card(order) else { return codes::METHOD_NOT_CONFIGURED.into() };
        if self.config.dialect.request(kind).is_none() {
            return codes::TYPE_NOT_CONFIGURED.into();
        }
        let system = request.place.map(|place| place.system.as_str());
        let Some(group) = self.lines.find_group(&self.routed_order(order), system) else {
            return codes::METHOD_NOT_CONFIGURED.into();
        };
        let call = IsoCall {
            kind,
            reference: request.reference,
            amount: order.amount,
            allows_part: matches!(kind, IsoRequestKind::Authorize | IsoRequestKind::Debit),
            is_repeated: false,
            is_original_known: false,
            can_renumber: kind == IsoRequestKind::Verify,
        };
        let build = |attempt| build_order(&self.config, request, card, kind, attempt);
        let (message, end) = self.send_call(&group, call, build).await;
        self.translate_end(request.reference, message, end)
    }

    /// Sends a follow-up payment.
    async fn send_follow_up(&self, modification: &Modification, kind: IsoRequestKind) -> ConnectorOutcome {
        if self.config.dialect.request(kind).is_none() {
            return codes::TYPE_NOT_CONFIGURED.into();
        }
        let reference = &modification.reference;
        let is_reversal = matches!(kind, IsoRequestKind::Reverse | IsoRequestKind::ReverseRepeat);
        let Some(group) = self.find_group_of(&modification.earlier) else {
            // The configuration may have changed since the request was sent the first time.
            let fault = "no line takes the payment".to_owned();
            let fault = CallEnd::NotSent(FaultKind::Connection, fault);
            return self.translate_repeatable(modification, None, fault);
        };
        let call = IsoCall {
            kind,
            reference,
            amount: modification.amount,
            allows_part: false,
            is_repeated: modification.is_repeated,
            is_original_known: !modification.connector_tx_ids.is_empty(),
            can_renumber: is_reversal,
        };
        let build = |attempt| build_follow_up(&self.config, modification, kind, attempt);
        let (message, end) = self.send_call(&group, call, build).await;
        self.translate_repeatable(modification, message, end)
    }

    /// Translates the end of a modification. If it could not be sent but may have been sent before, its outcome is
    /// unknown.
    fn translate_repeatable(
        &self,
        modification: &Modification,
        message: Option<IsoMessage>,
        end: CallEnd,
    ) -> ConnectorOutcome {
        let end = match end {
            CallEnd::NotSent(kind, fault) if modification.is_repeated => CallEnd::Unknown(kind, fault),
            end => end,
        };
        self.translate_end(&modification.reference, message, end)
    }

    /// Translates the end of a call, and logs calls without an outcome.
    fn translate_end(&self, reference: &str, message: Option<IsoMessage>, end: CallEnd) -> ConnectorOutcome {
        let connector = self.name.as_str();
        let (answer, meaning) = match end {
            CallEnd::Answered(answer, meaning) => (answer, meaning),
            CallEnd::NotSent(_, fault) => {
                tracing::warn!(connector, reference = log_tag(reference), fault, "sending a request failed");
                return not_executed_code().into();
            }
            CallEnd::Unknown(kind, fault) => {
                // The detail of this kind is a number, as other connectors have it.
                let fault = if kind == FaultKind::Late { format!("no answer within {fault} ms") } else { fault };
                tracing::warn!(connector, reference = log_tag(reference), fault, "the outcome of a request is unknown");
                return ConnectorOutcome::Unknown;
            }
        };
        let Some(message) = message else { return ConnectorOutcome::Unknown };
        let result = |code| make_result(&self.config.dialect, code, &message, &answer);
        match meaning {
            AnswerMeaning::Approved => ConnectorOutcome::Approved(result(self.approval_code)),
            AnswerMeaning::ApprovedPart(part) => ConnectorOutcome::Approved(ConnectorResult {
                approved_amount: Some(part),
                ..result(self.approval_code)
            }),
            AnswerMeaning::Declined(code) => ConnectorOutcome::Declined(result(code)),
            AnswerMeaning::Contradictory(part) => {
                tracing::warn!(
                    connector,
                    reference = log_tag(reference),
                    part,
                    "the answer of the acquirer's host failed to match its request"
                );
                ConnectorOutcome::Unknown
            }
        }
    }
}

/// Returns the capabilities of a connector with this configuration.
fn describe_capabilities(config: &Iso8583Config) -> Capabilities {
    let requests = [
        (PaymentType::Preauthorization, IsoRequestKind::Authorize),
        (PaymentType::Debit, IsoRequestKind::Debit),
        (PaymentType::TwoStepDebit, IsoRequestKind::Debit),
        (PaymentType::Credit, IsoRequestKind::Credit),
        (PaymentType::Capture, IsoRequestKind::Capture),
        (PaymentType::Refund, IsoRequestKind::Refund),
        (PaymentType::Reversal, IsoRequestKind::Reverse),
    ];
    let supported = requests.into_iter().filter(|(_, kind)| config.dialect.request(*kind).is_some());
    let takes_brand = |brand: &&Brand| {
        config
            .lines
            .iter()
            .any(|line| line.rules.brands().is_none_or(|brands| brands.iter().any(|it| it == brand.code)))
    };
    Capabilities {
        payment_types: Some(supported.map(|(payment_type, _)| payment_type).collect()),
        brands: Some(Brand::cards().iter().filter(takes_brand).map(|brand| brand.code.to_owned()).collect()),
        captures: config.captures,
        overcapture: config.overcapture,
        increments: config.dialect.request(IsoRequestKind::Increment).is_some(),
        cut_off: config.cut_off,
        ..Capabilities::without_limits(true)
    }
}

#[async_trait]
impl Connector for Iso8583Connector {
    fn name(&self) -> &str {
        &self.name
    }

    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn refused_account(&self, order: &Order) -> Option<ResultCode> {
        find_card(order).is_none().then_some(codes::METHOD_NOT_CONFIGURED)
    }

    fn known_decline(&self, request: &OrderRequest<'_>) -> Option<ResultCode> {
        (!self.lines.has_line_for(&self.routed_order(request.order))).then_some(codes::METHOD_NOT_CONFIGURED)
    }

    fn place_order(&self, order: &Order, stored: Option<&RequestPlace>) -> Option<RequestPlace> {
        let stored_system = stored.map(|place| place.system.as_str());
        let system = self.lines.choose_system(&self.routed_order(order), stored_system)?;
        let new = || RequestPlace { system: system.to_string(), number: Some(self.traces.next_number()) };
        Some(stored.filter(|place| *place.system == **system).cloned().unwrap_or_else(new))
    }

    fn place_follow_up(&self, earlier: &Payment) -> Option<RequestPlace> {
        let system = earlier.place.as_ref()?.system.clone();
        Some(RequestPlace { system, number: Some(self.traces.next_number()) })
    }

    async fn authorize(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        match request_kind(request.order.payment_type) {
            Some(kind) => self.send_order(request, kind).await,
            None => codes::TYPE_NOT_CONFIGURED.into(),
        }
    }

    async fn credit(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(request, IsoRequestKind::Credit).await
    }

    async fn verify(&self, request: &OrderRequest<'_>) -> ConnectorOutcome {
        self.send_order(request, IsoRequestKind::Verify).await
    }

    async fn capture(&self, modification: &Modification) -> ConnectorOutcome {
        // An approved payment has the ids of its request.
        if modification.connector_tx_ids.acquirer_id().is_none() {
            return codes::REFERENCE_UNKNOWN.into();
        }
        self.send_follow_up(modification, IsoRequestKind::Capture).await
    }

    async fn increment(&self, modification: &Modification) -> ConnectorOutcome {
        if modification.connector_tx_ids.acquirer_id().is_none() {
            return codes::REFERENCE_UNKNOWN.into();
        }
        self.send_follow_up(modification, IsoRequestKind::Increment).await
    }

    async fn refund(&self, modification: &Modification) -> ConnectorOutcome {
        if modification.connector_tx_ids.acquirer_id().is_none() {
            return codes::REFERENCE_UNKNOWN.into();
        }
        self.send_follow_up(modification, IsoRequestKind::Refund).await
    }

    async fn reverse(&self, modification: &Modification) -> ConnectorOutcome {
        let has_repeat = self.config.dialect.request(IsoRequestKind::ReverseRepeat).is_some();
        let kind = if modification.is_repeated && has_repeat {
            IsoRequestKind::ReverseRepeat
        } else {
            IsoRequestKind::Reverse
        };
        self.send_follow_up(modification, kind).await
    }

    async fn inquire(&self, _: &Inquiry) -> Option<ConnectorOutcome> {
        // ISO 8583 has no inquiry. Without an outcome the gateway reverses the payment, and the reversal is certain.
        None
    }

    async fn next_late_approval(&self) -> String {
        self.late_approvals.next_approval().await
    }
}
