//! Flights: the booking, its passengers and the legs of each.

use super::super::Need::Conditional;
use super::super::{Parameter, ParameterGroup};
use super::{text, verbatim};
use crate::format::Format;

/// Creates a conditional row.
const fn new_row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(ParameterGroup::Airline, name, Conditional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    new_row("airline.totalTaxAmount", Format::Amount, "Total taxes."),
    new_row("airline.totalFeesAmount", Format::Amount, "Total fees."),
    new_row("airline.totalFareAmount", Format::Amount, "Total fares."),
    new_row("airline.ticketIssueDate", Format::Date, "Day on which the ticket was issued."),
    new_row("airline.ticketIssueAddress", text(1, 255), "Place where the ticket was issued."),
    new_row("airline.thirdPartyBooking", text(1, 255), "Indicates whether somebody other than the passenger made the booking."),
    new_row("airline.bookingtype", text(1, 255), "Type of the booking."),
    new_row("airline.ticketDeliveryMethod", text(1, 255), "Delivery method of the ticket."),
    new_row("airline.bookingRefNum", verbatim(1, 255), "Booking reference."),
    new_row("airline.agentName", text(1, 255), "Name of the travel agency."),
    new_row("airline.agentCode", verbatim(1, 255), "Code of the travel agency."),
    new_row("airline.passengers[n].type", text(1, 255), "Type of passenger, such as adult or child."),
    new_row("airline.passengers[n].name", text(1, 255), "Name of the passenger."),
    new_row("airline.passengers[n].ticketRestricted", text(1, 255), "Indicates whether the ticket is restricted, for example non-refundable."),
    new_row("airline.passengers[n].ticketNumber", verbatim(1, 255), "Number of the passenger's ticket."),
    new_row("airline.passengers[n].status", text(1, 255), "Status of the passenger."),
    new_row("airline.passengers[n].phone", verbatim(1, 255), "The passenger's phone number."),
    new_row("airline.passengers[n].frequentFlyerNumber", verbatim(1, 255), "Number in the frequent flyer programme."),
    new_row("airline.passengers[n].email", text(1, 255), "The passenger's email address."),
    new_row("airline.passengers[n].dob", text(1, 255), "The passenger's date of birth."),
    new_row("airline.passengers[n].checkDigit", verbatim(1, 255), "Check digit of the ticket number."),
    new_row("airline.passengers[n].legs[n].ticketNumber", verbatim(1, 255), "Number of the ticket for this leg."),
    new_row("airline.passengers[n].legs[n].taxAmount", Format::Amount, "Taxes on this leg."),
    new_row("airline.passengers[n].legs[n].stopOverAllowed", text(1, 255), "Indicates whether a stopover is allowed on this leg."),
    new_row("airline.passengers[n].legs[n].restrictions", text(1, 255), "Restrictions of the ticket."),
    new_row("airline.passengers[n].legs[n].flightNumber", verbatim(1, 255), "Flight number."),
    new_row("airline.passengers[n].legs[n].feesAmount", Format::Amount, "Fees on this leg."),
    new_row("airline.passengers[n].legs[n].fareBasis", verbatim(1, 255), "Fare basis code."),
    new_row("airline.passengers[n].legs[n].fareAmount", Format::Amount, "Fare of this leg."),
    new_row("airline.passengers[n].legs[n].exchangeTicketNum", verbatim(1, 255),
        "Number of the ticket that this one was exchanged for."),
    new_row("airline.passengers[n].legs[n].departureTaxAmount", Format::Amount, "Departure tax."),
    new_row("airline.passengers[n].legs[n].departureCountry", text(1, 255), "Country of departure."),
    new_row("airline.passengers[n].legs[n].departureAirport", text(1, 255), "Airport of departure."),
    new_row("airline.passengers[n].legs[n].airlineName", text(1, 255), "Name of the airline."),
    new_row("airline.passengers[n].legs[n].airlineCode", verbatim(1, 255), "Code of the airline."),
    new_row("airline.passengers[n].legs[n].departureTime", text(1, 255), "Time of departure."),
    new_row("airline.passengers[n].legs[n].departureDate", Format::Date, "Day of departure."),
    new_row("airline.passengers[n].legs[n].arrivalCountry", text(1, 255), "Country of arrival."),
    new_row("airline.passengers[n].legs[n].arrivalAirport", text(1, 255), "Airport of arrival."),
    new_row("airline.passengers[n].legs[n].arrivalTime", text(1, 255), "Time of arrival."),
    new_row("airline.passengers[n].legs[n].arrivalDate", Format::Date, "Day of arrival."),
    new_row("airline.passengers[n].legs[n].couponNumber", verbatim(1, 255), "Number of the coupon."),
    new_row("airline.passengers[n].legs[n].classOfService", text(1, 255), "Class of travel."),
    new_row("airline.passengers[n].legs[n].carrierCode", verbatim(1, 255), "Code of the carrier."),
    new_row("airline.passengers[n].legs[n].timeToDeparture", text(1, 10), "Days until departure."),
];
