"""A merchant's server that uses the Python client of openapi-generator, in the package `gateway_client`.

Arguments: the gateway's address, entityId, access token. Prints what became of each request.
"""

import sys

import gateway_client
from gateway_client import PaymentsApi, RegistrationsApi, ReportsApi, SchedulesApi

base, entity, token = sys.argv[1:]
client = gateway_client.ApiClient(gateway_client.Configuration(host=base, access_token=token))
payments = PaymentsApi(client)
card = {
    "payment_brand": "VISA",
    "card_number": "4200000000000000",
    "card_holder": "Jane Jones",
    "card_expiry_month": "05",
    "card_expiry_year": "2034",
    "card_cvv": "123",
}

paid = payments.create_payment(
    entity_id=entity, amount="92.00", currency="EUR", payment_type="DB", idempotency_key="order-4711", **card
)
print("paid", paid.result.code, paid.amount)

read = payments.read_payment(paid.id, entity_id=entity)
print("read", read.id == paid.id, read.currency)

refunded = payments.refer_to_payment(paid.id, entity_id=entity, payment_type="RF", amount="10.00", currency="EUR")
print("refunded", refunded.result.code, refunded.amount)

registration = RegistrationsApi(client).create_registration(
    entity_id=entity, standing_instruction_mode="INITIAL", standing_instruction_source="CIT", **card
)
schedule = SchedulesApi(client).create_schedule(
    entity_id=entity,
    registration_id=registration.id,
    payment_type="SD",
    amount="9.90",
    currency="EUR",
    job_day_of_month="15",
)
print("scheduled", schedule.plan.active, len(schedule.plan.next_runs))

report = ReportsApi(client).report_totals(
    entity_id=entity, date_from="2020-01-01", date_to="2099-12-31", group_by="paymentType"
)
print("reported", *sorted(f"{row.payment_type}:{row.count}:{row.amount}" for row in report.totals))

try:
    payments.read_payment("0" * 32, entity_id=entity)
except gateway_client.exceptions.NotFoundException as refusal:
    print("refused", refusal.data.result.code)
