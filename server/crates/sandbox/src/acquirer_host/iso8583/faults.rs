//! Faults of responses.

use tillgate_connector::iso8583::{Datum, Dialect, Frame, IsoMessage};

use super::host::IsoHost;
use super::output::IsoOutput;
use crate::acquirer_host::faults::HostFault;

/// Message of a garbled response. It is the message of no dialect.
const GARBAGE: &[u8] = b"\x00\xffgarbage\xff\x00";

/// Makes the output of a response with a fault. Waits for a slow response. Returns `None` if there is none.
pub(super) async fn respond_with_iso_fault(
    host: &IsoHost,
    request: &Frame,
    response: &IsoMessage,
    fault: HostFault,
) -> Option<IsoOutput> {
    let framed = || host.frame_response(request, response);
    match fault {
        HostFault::Slow => {
            tokio::time::sleep(host.state.slow_delay).await;
            framed().map(IsoOutput::Frames)
        }
        // The booking was late already.
        HostFault::Late => framed().map(IsoOutput::Frames),
        HostFault::Silent => None,
        HostFault::Cut => {
            let mut frame = framed()?;
            frame.truncate(frame.len() / 2);
            Some(IsoOutput::Last(frame))
        }
        HostFault::Twice => framed().map(|frame| IsoOutput::Frames(frame.repeat(2))),
        // The frame is whole, so that the client can keep the connection for its other requests.
        HostFault::Garbage => host.frame_bytes(request, GARBAGE.to_vec()).map(IsoOutput::Frames),
        HostFault::Dropped => Some(IsoOutput::Last(Vec::new())),
        HostFault::Forged => match host.encode_with_wrong_mac(response) {
            Some(message) => host.frame_bytes(request, message).map(IsoOutput::Frames),
            // Without a MAC only the data can show that a response belongs to another request.
            None => host.frame_response(request, &with_wrong_reference(&host.dialect, response)).map(IsoOutput::Frames),
        },
        HostFault::Mismatched => {
            host.frame_response(request, &with_wrong_amount(&host.dialect, response)).map(IsoOutput::Frames)
        }
    }
}

/// Changes the first character of the reference.
fn with_wrong_reference(dialect: &Dialect, response: &IsoMessage) -> IsoMessage {
    let mut wrong = response.clone();
    if let Some(reference) = dialect.data().get(response, Datum::Reference) {
        let first = if reference.starts_with('9') { '8' } else { '9' };
        let text: String = std::iter::once(first).chain(reference.chars().skip(1)).collect();
        // A text of the same length and kind always fits.
        let _ = dialect.data().set(&mut wrong, Datum::Reference, &text);
    }
    wrong
}

/// Adds one minor unit to the amount.
fn with_wrong_amount(dialect: &Dialect, response: &IsoMessage) -> IsoMessage {
    let mut wrong = response.clone();
    if let Some(amount) = dialect.data().get_number(response, Datum::Amount) {
        // The largest amount has no room for another unit. It is no amount that requests a fault.
        let _ = dialect.data().set(&mut wrong, Datum::Amount, &(amount + 1).to_string());
    }
    wrong
}
