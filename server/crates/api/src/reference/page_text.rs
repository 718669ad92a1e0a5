//! The prose of the reference page: rules for all requests.

/// A heading with its anchor, and paragraphs. Text between backquotes is code.
pub(super) struct Topic {
    /// The anchor.
    pub(super) anchor: &'static str,
    /// The heading.
    pub(super) title: &'static str,
    /// The paragraphs.
    pub(super) paragraphs: &'static [&'static str],
}

/// Topics to know before the first request.
pub(super) const TOPICS: &[Topic] = &[
    Topic {
        anchor: "requests",
        title: "Requests and responses",
        paragraphs: &[
            "Bodies are `application/x-www-form-urlencoded` in UTF-8, at most 1 MiB and 20 000 fields. Names have dots and indexes: `cart.items[0].name`. Indexes are 0 to 999, without signs and leading zeros, in any order and with gaps. Unused indexes of lists inside lists (the `legs` of all `passengers`) are limited to 999 in total. A repeated name is refused (but see Compatibility mode), and an empty optional parameter counts as absent. Any `customer` parameter requires `customer.givenName` and `customer.surname` as well, except for `customer.ip`, `customer.browser.*` and `customer.browserFingerprint.*`.",
            "Responses are JSON. They contain `result.code`, and end with `buildNumber`, `timestamp` and `ndc`. `ndc` identifies the request: it is the checkout's id if the path names a checkout or the request creates one, otherwise `entityId`, an underscore and 32 hexadecimal digits (only the digits if the caller is not known). New fields may be added at any time, so ignore unknown fields.",
            "Responses return the request's parameters nested: `customer.givenName` inside `customer`, items such as `cart.items[3].name` in a list, each at its index, with `null` at every unused index before it, and your own keys unchanged. The response also contains the defaults of the groups that you use.",
            "Amounts have a dot and two decimals for every currency. An amount that is not possible in the currency, such as 12.50 JPY, is refused.",
            "Two slashes in a path count as one, so you can append a `resourcePath` to an address that ends with a slash.",
            "A number that looks like a card number is masked in free text. In values that are stored unchanged, such as references, phone numbers and addresses, it is refused. If your references are numbers of 15, 16 or 19 digits, put a letter between the digits.",
        ],
    },
    Topic {
        anchor: "authentication",
        title: "Authentication",
        paragraphs: &[
            "Send `Authorization: Bearer` with the access token, and `entityId` with every request: in the query of GET and DELETE, in the body of POST.",
            "Older clients send `authentication.userId`, `authentication.password` and `authentication.entityId` as fields, without the header; a POST may also have them in its query. Both forms are equivalent: the token is the Base64 of user, a bar and password.",
            "Credentials belong on your server. Routes that take them refuse requests made by a browser: one with the header `Sec-Fetch-Site` or `Origin` gets 403 with 800.900.100, even with valid credentials.",
            "A token has scopes: `read` for every GET; `pay` for checkouts, payments, captures and registrations; `refund` instead of `pay` if money is paid out (RF, RV, CB, CR, CD), also by `overridePaymentType[brand]` of a checkout that is created, updated or confirmed; `admin` for the clock, risk rules and lists; `review` for claims, notes and decisions in the review queue. Without the scope of the route, the status is 403 with 800.900.301. A token has all scopes unless the operator has selected some.",
            "Without a usable header, the status is 401. A token that is wrong, expired, not valid for the entity, or used from a network that is not allowed gets 403 with 800.900.300. After too many wrong tokens from one address, further wrong tokens get 429, and valid tokens always pass. Resources of other entities get 404, like resources that do not exist.",
        ],
    },
    Topic {
        anchor: "compatibility",
        title: "Compatibility mode",
        paragraphs: &[
            "For clients of another gateway with this contract, an operator can switch on the compatibility mode of an entity: `tillgate entity set --compatible on`. It is off by default, and a merchant's channels use the mode of their merchant. `tillgate entity show` shows the mode. It allows the following differences only.",
            "`merchantTransactionId` from 1 character. Phone numbers (`phone`, `mobile`, `fax`) of any characters on one line, with the lengths of the table below. `date.from` and `date.to` with a time in UTC, `yyyy-MM-dd HH:mm:ss`, optionally with a T instead of the space. The second of `date.to` is included.",
            "Repeated names: the last value is used for the whole request, and the others are ignored. Two different values are still refused for parameters that decide about the caller, the amount, the account or the authorization: `entityId`, `authentication.*`, `amount`, `currency`, `paymentType`, `overridePaymentType[brand]`, `partialApproval`, `finalCapture`, `referencedPaymentId`, `registrationId`, `registrations[n].id`, `card.number`, `bankAccount.number`, `bankAccount.iban`, `virtualAccount.accountId`, `walletPay.paymentToken`, `standingInstruction.*` and `threeDSecure.*`.",
            "`entityId` of a GET or DELETE in its form-encoded body, of at most 1 MiB. The token, or the pair in the query, has to be valid for this entity, and if the query has an `entityId` as well, both have to be the same. Everything else in the body is ignored.",
        ],
    },
    Topic {
        anchor: "statuses",
        title: "HTTP statuses",
        paragraphs: &[
            "200 means done or pending. 400 means a wrong parameter, named in `parameterErrors`, or a declined payment: branch on `result.code`. 404 means an unknown resource, 405 a method that the address does not support, 429 too many payment attempts or too many long queries at once, and 503 that the gateway is busy, or with 999.999.888 that its data cannot be read or written. If its description says that the service cannot tell whether the request was done, send it again with the same `Idempotency-Key`. 429 and 503 have a `Retry-After` header. 500 with 999.999.999 is a fault of the gateway; the operator finds it in the log by its `ndc`.",
        ],
    },
    Topic {
        anchor: "idempotency",
        title: "Repeated requests",
        paragraphs: &[
            "Any POST of a merchant may carry an `Idempotency-Key` of 1 to 255 visible ASCII characters. For 24 hours, the same key with the same request gets the first response again, byte for byte, with the header `Idempotent-Replayed: true`, and nothing is done twice. Each entity has its own keys, and a refused request does not use up its key.",
            "The same key with a different request is refused. While the first request is in flight, a repeated request gets 409.",
        ],
    },
    Topic {
        anchor: "risk",
        title: "Risk checks",
        paragraphs: &[
            "A channel with `--risk on` checks every payment by the rules and lists of its entity, before the request to the connector or after the approval (`--screen`). Every checked payment, including an accepted one, has `risk.score` in its response, its status, queries and webhooks. Captures, refunds and reversals are not checked.",
            "A payment that is not accepted has a code of the group 100.400. A check before the request to the connector prevents the payment: 100.400.142 if it is denied, 100.400.141 if 3-D Secure cannot challenge it or it has to be reviewed, 100.400.145 if the check failed. A check after the approval reverses the payment, and the reversal is one of the linked payments: the codes are 100.400.147, 100.400.148 and 100.400.150 in the same order. 100.400.500 is pending: a channel with `--review hold` or `--review authorize` holds payments for review. An approved review ends with the code of the payment, and a cancelled review with 100.400.142, or 100.400.147 if the reserved amount is reversed. A rule may name another code of the group, so branch on the group.",
            "In a sandbox that checks payments, customer.givenName `simulate` requests an outcome by customer.surname: `red` is denied, `yellow` is approved, reversed and declined with 100.400.148, and `error` makes the check fail.",
        ],
    },
    Topic {
        anchor: "notifications",
        title: "Notifications, webhooks and callbacks",
        paragraphs: &[
            "Reminder: if the status of a checkout was not read within 29 minutes after its last submit, the gateway sends one GET to `shopperResultUrl` with `id` and `resourcePath`. Every accepted payment attempt counts as a submit, including declined ones; refused requests and repeats of an attempt in flight do not. While the shopper is on a page of the issuer or of a brand, the reminder waits until the payment attempt has ended, even if you have read the pending status. If you sent no `shopperResultUrl`, the form's address is used if the operator has listed its origin. Notification: when a payment ends after the response to its request, the gateway sends a GET to `notificationUrl` in the same way; for follow-up payments (a refund, an automatic reversal) with `referencedId`. Respond within 10 seconds. Addresses have port 80, 443, or a port from 1024 that belongs to no database, mail server, cache or administration service; others are refused with 400.",
            "Webhooks send every event of an entity's payments and registrations. The operator creates them with `tillgate webhook create`. The body of a POST is the encrypted event: AES-256-GCM in hexadecimal digits, or inside `{\"encryptedBody\": …}`. `X-Initialization-Vector` has 12 bytes and `X-Authentication-Tag` 16 bytes, both in hexadecimal digits. The event is `{type, payload}`, with the type `PAYMENT` or `REGISTRATION` and the fields of the status; a registration also has an `action`, `CREATED`, `UPDATED` or `DELETED`. The type `RISK` is the risk check of a payment: `paymentType` is `RI`, `referencedId` is the payment, and `result` and `risk.score` are the results of the check. A held payment causes a second event with the same `id` when its review has ended. The type `SCHEDULE` is a schedule that is created, changed, run or ended, with `plan` and, after a run, `run`; `source` is `SCHEDULER` for automatic events. The type `DISPUTE` is a dispute, with the `action` `CREATED`, `UPDATED` or `REMINDER` and the fields of the dispute. `payload.ndc` is the checkout's id, or the `ndc` of the response to the request that created the payment: a capture has its own `ndc`, and later events of a pending payment have the `ndc` of the payment.",
            "Review decision callbacks notify your server of decisions about held payments. The operator configures their address, keys and headers with `tillgate review-callback set`. A POST has `Expect: 100-continue` and a form-encoded body with the configured keys in their order: constants such as credentials, and fields of the decision and the payment under names of your choice. The transaction id is always included: the `merchantTransactionId`, or the payment's id. The decision is `APPROVE`, `CANCEL` or `PENDING`, with the user id of the analyst, a note, the process date (`yyyy-MM-dd HH:mm:ss.SSS` in UTC), and with `CANCEL` a numeric reason. A key that does not apply is omitted. If a review is not decided in time, the gateway sends `CANCEL` by `tillgate` without a reason. Respond with one of the configured statuses, by default 200, within 30 seconds; otherwise the same body is sent again after 1 to 5 minutes, 1 to 5 times, as configured. The operator can resend a callback once after its last retry.",
            "Test values for your code: the key `000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f`, an initialization vector of 24 zeros, the tag `CE573FB7A41AB78E743180DC83FF09BD` and the body `0A3471C72D9BE49A8520F79C66BBD9A12FF9` are `{\"type\":\"PAYMENT\"}`. `docs/webhooks.md` in the repository has examples in three languages.",
            "`webhook-key-id` names the secret; there are two secrets during a rotation. `webhook-id` is the same for every delivery attempt of a message, so accept and ignore a message that you have received before. `webhook-signature` is `v1,` and the Base64 of the HMAC-SHA-256, with the signature key, of id, `webhook-timestamp` and body joined by dots. A message without a 2xx response within 30 seconds is sent again after 1, 2, 4, 8, 15, 30 and 60 minutes, then daily for 30 days, or at the time of `Retry-After`. Messages may arrive in a different order.",
        ],
    },
];
