//! Flights: the booking, its passengers and the legs of each.

use super::super::Need::Conditional;
use super::super::{Group, Parameter};
use super::{text, verbatim};
use crate::format::Format;

const fn row(name: &'static str, format: Format, note: &'static str) -> Parameter {
    Parameter::new(Group::Airline, name, Conditional, format, note)
}

#[rustfmt::skip] // a row reads as a line
pub(super) static ROWS: &[Parameter] = &[
    row("airline.totalTaxAmount", Format::Money, "Taxes in total."),
    row("airline.totalFeesAmount", Format::Money, "Fees in total."),
    row("airline.totalFareAmount", Format::Money, "Fares in total."),
    row("airline.ticketIssueDate", Format::Date, "Day on which the ticket was issued."),
    row("airline.ticketIssueAddress", text(1, 255), "Where the ticket was issued."),
    row("airline.thirdPartyBooking", text(1, 255), "Whether somebody else than the passenger booked."),
    row("airline.bookingtype", text(1, 255), "Kind of the booking."),
    row("airline.ticketDeliveryMethod", text(1, 255), "How the ticket gets to the passenger."),
    row("airline.bookingRefNum", verbatim(1, 255), "Reference of the booking."),
    row("airline.agentName", text(1, 255), "Name of the travel agency."),
    row("airline.agentCode", verbatim(1, 255), "Code of the travel agency."),
    row("airline.passengers[n].type", text(1, 255), "Kind of passenger, e.g. adult or child."),
    row("airline.passengers[n].name", text(1, 255), "Name of the passenger."),
    row("airline.passengers[n].ticketRestricted", text(1, 255), "Whether the ticket can be given back."),
    row("airline.passengers[n].ticketNumber", verbatim(1, 255), "Number of the passenger's ticket."),
    row("airline.passengers[n].status", text(1, 255), "Status of the passenger."),
    row("airline.passengers[n].phone", verbatim(1, 255), "The passenger's telephone number."),
    row("airline.passengers[n].frequentFlyerNumber", verbatim(1, 255), "Number in the frequent flyer programme."),
    row("airline.passengers[n].email", text(1, 255), "The passenger's mail address."),
    row("airline.passengers[n].dob", text(1, 255), "The passenger's day of birth."),
    row("airline.passengers[n].checkDigit", verbatim(1, 255), "Check digit of the ticket number."),
    row("airline.passengers[n].legs[n].ticketNumber", verbatim(1, 255), "Number of the ticket for this leg."),
    row("airline.passengers[n].legs[n].taxAmount", Format::Money, "Taxes on this leg."),
    row("airline.passengers[n].legs[n].stopOverAllowed", text(1, 255), "Whether the journey may be broken here."),
    row("airline.passengers[n].legs[n].restrictions", text(1, 255), "Restrictions of the ticket."),
    row("airline.passengers[n].legs[n].flightNumber", verbatim(1, 255), "Number of the flight."),
    row("airline.passengers[n].legs[n].feesAmount", Format::Money, "Fees on this leg."),
    row("airline.passengers[n].legs[n].fareBasis", verbatim(1, 255), "Code of the fare."),
    row("airline.passengers[n].legs[n].fareAmount", Format::Money, "Fare of this leg."),
    row("airline.passengers[n].legs[n].exchangeTicketNum", verbatim(1, 255),
        "Number of the ticket that this one was exchanged for."),
    row("airline.passengers[n].legs[n].departureTaxAmount", Format::Money, "Tax on the departure."),
    row("airline.passengers[n].legs[n].departureCountry", text(1, 255), "Country of departure."),
    row("airline.passengers[n].legs[n].departureAirport", text(1, 255), "Airport of departure."),
    row("airline.passengers[n].legs[n].airlineName", text(1, 255), "Name of the airline."),
    row("airline.passengers[n].legs[n].airlineCode", verbatim(1, 255), "Code of the airline."),
    row("airline.passengers[n].legs[n].departureTime", text(1, 255), "Time of departure."),
    row("airline.passengers[n].legs[n].departureDate", Format::Date, "Day of departure."),
    row("airline.passengers[n].legs[n].arrivalCountry", text(1, 255), "Country of arrival."),
    row("airline.passengers[n].legs[n].arrivalAirport", text(1, 255), "Airport of arrival."),
    row("airline.passengers[n].legs[n].arrivalTime", text(1, 255), "Time of arrival."),
    row("airline.passengers[n].legs[n].arrivalDate", Format::Date, "Day of arrival."),
    row("airline.passengers[n].legs[n].couponNumber", verbatim(1, 255), "Number of the coupon."),
    row("airline.passengers[n].legs[n].classOfService", text(1, 255), "Class of travel."),
    row("airline.passengers[n].legs[n].carrierCode", verbatim(1, 255), "Code of the carrier."),
    row("airline.passengers[n].legs[n].timeToDeparture", text(1, 10), "Days until departure."),
];
