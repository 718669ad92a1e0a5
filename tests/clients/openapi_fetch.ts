// A merchant's server that uses openapi-fetch with the types of openapi-typescript, in `gateway.d.ts`.
//
// Arguments: the gateway's address, entityId, access token. Prints what became of each request.

import createClient from "openapi-fetch";
import type { paths } from "./gateway";

declare const process: { argv: string[] };

const [base, entityId, token] = process.argv.slice(2) as [string, string, string];
const client = createClient<paths, "application/json">({
  baseUrl: base.replace(/\/$/, ""),
  // Requests are forms.
  headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/x-www-form-urlencoded" },
});
const card = {
  paymentBrand: "VISA",
  "card.number": "4200000000000000",
  "card.holder": "Jane Jones",
  "card.expiryMonth": "05",
  "card.expiryYear": "2034",
  "card.cvv": "123",
};

const paid = await client.POST("/v1/payments", {
  params: { header: { "Idempotency-Key": "order-4711" } },
  body: { entityId, amount: "92.00", currency: "EUR", paymentType: "DB", "customParameters[order]": "4711", ...card },
});
console.log("paid", paid.data?.result.code, paid.data?.amount);

const id = paid.data?.id ?? "";
const read = await client.GET("/v1/payments/{id}", { params: { path: { id }, query: { entityId } } });
console.log("read", read.data?.id === id, read.data?.currency);

const refunded = await client.POST("/v1/payments/{id}", {
  params: { path: { id } },
  body: { entityId, paymentType: "RF", amount: "10.00", currency: "EUR" },
});
console.log("refunded", refunded.data?.result.code, refunded.data?.amount);

const registration = await client.POST("/v1/registrations", {
  body: { entityId, "standingInstruction.mode": "INITIAL", "standingInstruction.source": "CIT", ...card },
});
const schedule = await client.POST("/scheduling/v1/schedules", {
  body: {
    entityId,
    registrationId: registration.data?.id ?? "",
    paymentType: "SD",
    amount: "9.90",
    currency: "EUR",
    "job.dayOfMonth": "15",
  },
});
console.log("scheduled", schedule.data?.plan.active, schedule.data?.plan.nextRuns.length);

const report = await client.GET("/reports/v1/totals", {
  params: { query: { entityId, "date.from": "2020-01-01", "date.to": "2099-12-31", groupBy: "paymentType" } },
});
const rows = report.data?.totals.map((row) => `${row.paymentType}:${row.count}:${row.amount}`) ?? [];
console.log("reported", ...rows.sort());

const refused = await client.GET("/v1/payments/{id}", { params: { path: { id: "0".repeat(32) }, query: { entityId } } });
console.log("refused", refused.error?.result.code);
