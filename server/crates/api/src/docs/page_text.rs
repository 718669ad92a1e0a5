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
        title: "Requests and answers",
        paragraphs: &[
            "Bodies are `application/x-www-form-urlencoded` in UTF-8, at most 1 MiB and 20 000 fields. Names have dots and indexes: `cart.items[0].name`. Indexes go from 0 to 999, without signs and leading zeros; in any order, and some may be left out: of lists inside lists (the `legs` of all `passengers`) 999 together. A name that comes twice is refused (but see Compatibility mode), and an empty optional parameter counts as absent. Any `customer` parameter asks for `customer.givenName` and `customer.surname` as well; `customer.ip`, `customer.browser.*` and `customer.browserFingerprint.*` alone ask for no names.",
            "Answers are JSON. They carry `result.code`, and `buildNumber`, `timestamp` and `ndc` at their end. `ndc` identifies the request: it is the checkout's id wherever the path names a checkout and where one is made, otherwise `entityId`, an underscore and 32 hexadecimal digits (the digits alone where it is not known who asks). New fields may come at any time: read what you know, and leave the rest alone.",
            "Responses return the request's parameters nested: `customer.givenName` inside `customer`, items such as `cart.items[3].name` in a list, each at its own index, with `null` at every index that you left out before it, and your own keys as they are. Defaults of a group that you use come back with it.",
            "Amounts have a dot and two decimals for every currency. An amount that the currency cannot express, such as 12.50 JPY, is refused.",
            "Two slashes in a path are one, so an address that ends with a slash and a `resourcePath` that begins with one go together.",
            "A number that looks like a card number is masked in free text. In values that are kept to the letter, such as references, telephone numbers and addresses, it is refused: put a letter between the digits of a reference that is a number of 15, 16 or 19 digits.",
        ],
    },
    Topic {
        anchor: "authentication",
        title: "Authentication",
        paragraphs: &[
            "Send `Authorization: Bearer` with the access token, and `entityId` with every request: in the query of GET and DELETE, in the body of POST.",
            "Older clients send `authentication.userId`, `authentication.password` and `authentication.entityId` as fields, and no header; a POST may have them in its query as well. Both speak for the same pair: the token is the Base64 of user, a bar and password.",
            "Credentials belong on your server. Routes that take them refuse requests made by a browser: one with the header `Sec-Fetch-Site` or `Origin` gets 403 with 800.900.100, whatever credentials it carries.",
            "A token has scopes: `read` for every GET; `pay` for checkouts, payments, captures and registrations; `refund` in place of `pay` where money is paid out (RF, RV, CB, CR, CD), also by `overridePaymentType[brand]` of a checkout that is created, updated or confirmed; `admin` for the clock, risk rules and lists; `review` for claims, notes and decisions in the review queue. Without the scope that the route names the status is 403 with 800.900.301. A token has all scopes unless its operator chose some.",
            "Without a usable header the status is 401; a wrong token, or one that does not speak for the entity, gives 403 with 800.900.300; so does one that has expired or comes from a network that it may not be used from. After too many wrong tokens from one address, further wrong ones get 429; right ones always pass. What belongs to another entity is as unknown as what never was: 404.",
        ],
    },
    Topic {
        anchor: "compatibility",
        title: "Compatibility mode",
        paragraphs: &[
            "For clients that were written for another gateway of this contract, an operator can switch an entity to its compatibility mode: `tillgate entity set --compatible on`. It is off unless chosen, and a merchant's channels have it with their merchant. `tillgate entity show` tells which mode is on. It allows the following, and nothing else.",
            "`merchantTransactionId` from 1 character. Telephone numbers (`phone`, `mobile`, `fax`) of any characters on one line, with the lengths of the table below. `date.from` and `date.to` with a time, `yyyy-MM-dd HH:mm:ss` or with a T between, in UTC; the second of `date.to` is included.",
            "A name that comes twice: the last value counts, for the whole of the request, and the others count for nothing. Two different values are refused as ever where they would leave open who asks, what is paid, from which account, or on what proof: `entityId`, `authentication.*`, `amount`, `currency`, `paymentType`, `overridePaymentType[brand]`, `referencedPaymentId`, `registrationId`, `registrations[n].id`, `card.number`, `bankAccount.number`, `bankAccount.iban`, `virtualAccount.accountId`, `walletPay.paymentToken`, `standingInstruction.*` and `threeDSecure.*`.",
            "`entityId` of a GET or DELETE in its form-encoded body, of at most 1 MiB. The token, or the pair in the query, has to speak for it as for one in the query, and where both are sent they have to be the same. Nothing else of that body counts.",
        ],
    },
    Topic {
        anchor: "statuses",
        title: "HTTP statuses",
        paragraphs: &[
            "200 is done or pending. 400 is a wrong parameter, named in `parameterErrors`, or a declined payment: branch on `result.code`. 404 is an unknown resource, 405 another method's address, 429 too many attempts or too many long queries at once, 503 a busy moment, or with 999.999.888 a disk that is full, failing or damaged. 429 and 503 carry `Retry-After`. 500 with 999.999.999 is a failure of ours; the operator finds it in the log by its `ndc`.",
        ],
    },
    Topic {
        anchor: "idempotency",
        title: "Sending a request again",
        paragraphs: &[
            "Any POST of a merchant may carry an `Idempotency-Key` of 1 to 255 visible ASCII characters. For 24 hours the same key with the same request gives the first answer again, to the byte, with the header `Idempotent-Replayed: true`, and does nothing twice. Keys are your entity's own; a request that was refused leaves its key free.",
            "The same key with another request is refused. While the first request is still under way, its twin gets 409.",
        ],
    },
    Topic {
        anchor: "risk",
        title: "Risk checks",
        paragraphs: &[
            "A channel with `--risk on` checks every payment by the rules and lists of its entity, before its connector is asked or after the approval (`--screen`). Every checked payment, also an accepted one, has `risk.score` in its answer, its status, queries and webhooks. Captures, refunds and reversals are not checked.",
            "A payment that is not accepted has one code of the group 100.400. Before the connector is asked, it is not executed: 100.400.142 the check denied it, 100.400.141 it cannot be challenged by 3-D Secure or has to be reviewed, 100.400.145 the check failed. After the approval it is reversed, and the reversal is among the linked payments: 100.400.147, 100.400.148 and 100.400.150 in the same order. 100.400.500 is pending: a channel with `--review hold` or `--review authorize` holds what has to be reviewed. An approved review ends with the code of the payment, a cancelled one with 100.400.142, or 100.400.147 where the reserved amount is reversed. A rule may name another code of the group, so branch on the group.",
            "In a sandbox, customer.givenName `simulate` asks for an outcome where payments are checked, by customer.surname: `red` is denied, `yellow` is approved, reversed and declined with 100.400.148, `error` is a check that fails.",
        ],
    },
    Topic {
        anchor: "notifications",
        title: "Later notifications",
        paragraphs: &[
            "Reminder: 29 minutes after the last submit of a checkout, when its status was not asked for since, `shopperResultUrl` is asked for (GET) with `id` and `resourcePath`, once. Every attempt that the checkout took is a submit, also a declined one; what was refused, or repeats an attempt under way, is none. While the shopper is with the issuer or on a brand's page the reminder waits, and comes when the attempt has ended; a status that said pending until then does not take it back. The form's own address serves where you sent none, if it lies on an origin that the operator named. Notification: when a payment ends after its request was answered, its `notificationUrl` is asked for in the same way; for what refers to a payment (a refund, a reversal by itself) with `referencedId` too. Answer within 10 seconds. Addresses have port 80, 443, or a port from 1024 that belongs to no database, mail server, cache or administration service; others are refused with 400.",
            "Webhooks tell an entity everything that becomes of its payments and registrations. The operator sets them up with `tillgate webhook create`. A POST has the event in its body: AES-256-GCM in hexadecimal digits, or inside `{\"encryptedBody\": …}`. `X-Initialization-Vector` has 12 bytes, `X-Authentication-Tag` 16, both in hexadecimal digits. Inside is `{type, payload}`, the type `PAYMENT` or `REGISTRATION` and the fields of the status; a registration has an `action` too, `CREATED`, `UPDATED` or `DELETED`. The type `RISK` tells of the risk check of a payment: `paymentType` is `RI`, `referencedId` the payment, `result` and `risk.score` those of the check. A held payment causes a second one with the same `id` when its review has ended. The type `SCHEDULE` tells of a schedule that is made, changed, run or ended: `plan` and, after a run, `run`; `source` is `SCHEDULER` for what the gateway does by itself. The type `DISPUTE` tells of a dispute, with the `action` `CREATED`, `UPDATED` or `REMINDER` and the fields of the dispute. `payload.ndc` is the checkout's id, or that of the answer to the request that made the payment: a capture has its own, and what becomes of a pending payment later has the payment's.",
            "Review decision callbacks tell your server what became of a held payment. The operator sets them up with `tillgate review-callback set`: the address, the keys and the headers. A POST has `Expect: 100-continue` and a form-encoded body of the configured keys in their order: constants such as credentials, and fields of the decision and of the payment under names of your choice. The transaction id is always among them: the `merchantTransactionId`, or the payment's id. The decision is `APPROVE`, `CANCEL` or `PENDING`, with the user id of the analyst, a note, the process date (`yyyy-MM-dd HH:mm:ss.SSS` in UTC), and with `CANCEL` a numeric reason. A key that does not apply is left out. A review that nobody has decided in time is a `CANCEL` by `tillgate` without a reason. Answer with one of the configured statuses, 200 unless others were chosen, within 30 seconds; otherwise the same bytes come again after 1 to 5 minutes, 1 to 5 times, as configured. What fails then stays with the operator, who can send it once more.",
            "To try your own code: the key `000102030405060708090a0b0c0d0e0f000102030405060708090a0b0c0d0e0f`, an initialization vector of 24 zeros, the tag `CE573FB7A41AB78E743180DC83FF09BD` and the body `0A3471C72D9BE49A8520F79C66BBD9A12FF9` are `{\"type\":\"PAYMENT\"}`. `docs/webhooks.md` of the source has it in three languages.",
            "`webhook-key-id` names the secret, of which there are two while one is rotated. `webhook-id` is the same for every attempt of a message: what you have seen before, take and leave alone. `webhook-signature` is `v1,` and the Base64 of the HMAC-SHA-256, with the signature key, of id, `webhook-timestamp` and body with dots between. What is not answered with 2xx within 30 seconds comes again after 1, 2, 4, 8, 15, 30 and 60 minutes, then daily for 30 days, or as `Retry-After` asks. Messages may overtake each other.",
        ],
    },
];
