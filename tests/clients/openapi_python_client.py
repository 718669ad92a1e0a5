"""A merchant's server that uses the client of openapi-python-client, in the package `gateway_client`.

Arguments: the gateway's address, entityId, access token. Prints what became of each request.
"""

import sys
from datetime import date

from gateway_client import AuthenticatedClient
from gateway_client.api.payments import create_payment, read_payment, refer_to_payment
from gateway_client.api.registrations import create_registration
from gateway_client.api.reports import report_totals
from gateway_client.api.schedules import create_schedule
from gateway_client.models import (
    CreatePaymentBody,
    CreateRegistrationBody,
    CreateScheduleBody,
    PaymentTypeValue,
    ReferToPaymentBody,
    StandingInstructionModeValue,
    StandingInstructionSourceValue,
)

base, entity, token = sys.argv[1:]
client = AuthenticatedClient(base_url=base, token=token)
card = {
    "payment_brand": "VISA",
    "card_number": "4200000000000000",
    "card_holder": "Jane Jones",
    "card_expiry_month": "05",
    "card_expiry_year": "2034",
    "card_cvv": "123",
}

body = CreatePaymentBody(
    entity_id=entity, amount="92.00", currency="EUR", payment_type=PaymentTypeValue.DB, **card
)
body["customParameters[order]"] = "4711"
paid = create_payment.sync(client=client, body=body, idempotency_key="order-4711")
print("paid", paid.result.code, paid.amount)

read = read_payment.sync(paid.id, client=client, entity_id=entity)
print("read", read.id == paid.id, read.currency)

body = ReferToPaymentBody(entity_id=entity, payment_type=PaymentTypeValue.RF, amount="10.00", currency="EUR")
refunded = refer_to_payment.sync(paid.id, client=client, body=body)
print("refunded", refunded.result.code, refunded.amount)

body = CreateRegistrationBody(
    entity_id=entity,
    standing_instruction_mode=StandingInstructionModeValue.INITIAL,
    standing_instruction_source=StandingInstructionSourceValue.CIT,
    **card,
)
registration = create_registration.sync(client=client, body=body)
body = CreateScheduleBody(
    entity_id=entity,
    registration_id=registration.id,
    payment_type=PaymentTypeValue.SD,
    amount="9.90",
    currency="EUR",
    job_day_of_month="15",
)
schedule = create_schedule.sync(client=client, body=body)
print("scheduled", schedule.plan.active, len(schedule.plan.next_runs))

report = report_totals.sync(
    client=client,
    entity_id=entity,
    date_from=date(2020, 1, 1),
    date_to=date(2099, 12, 31),
    group_by="paymentType",
)
print("reported", *sorted(f"{row.payment_type}:{row.count}:{row.amount}" for row in report.totals))

refused = read_payment.sync("0" * 32, client=client, entity_id=entity)
print("refused", refused.result.code)
