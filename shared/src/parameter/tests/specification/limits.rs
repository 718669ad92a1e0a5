//! Limits of the specification, group by group: prefixes, and the fields of each with their minimum and maximum
//! lengths.

/// Texts of any characters.
#[rustfmt::skip] // rows
pub(super) const TEXTS: &[(&str, &str)] = &[
    ("", "descriptor 1-127, merchantTransactionId 8-255, merchantInvoiceId 8-255, merchantMemo 8-255"),
    ("card.", "holder 3-128"),
    ("virtualAccount.", "accountId 1-100"),
    ("bankAccount.", "holder 4-128, bankName 1-255"),
    ("customer. shipping.customer.",
        "merchantCustomerId 1-255, middleName 2-50, workPhone 1-25, companyName 1-60, \
         identificationDocId 8-64, ip 1-255, merchantReference 1-255, browser.acceptHeader 1-2048, \
         browser.userAgent 1-2048"),
    ("customer.", "browserFingerprint.id 1-255, browserFingerprint.value 1-4096, browser.deviceId 1-32"),
    ("billing. merchant.billing.",
        "street1 1-100, street2 1-100, houseNumber1 1-100, houseNumber2 1-100, city 1-48, state 1-10, postcode 1-16, \
         normalized 1-255, validationStatus 1-255"),
    ("merchant.billing.",
        "givenName 1-255, surname 1-255, middleName 1-255, companyName 1-60, phone 1-25, workPhone 1-25, email 6-128"),
    ("shipping. merchant.shipping.",
        "street1 1-100, street2 1-100, houseNumber1 1-100, houseNumber2 1-100, comment 1-160, \
         logisticsProvider 1-255, trackingNumber 1-255, returnTrackingNumber 1-255, normalized 1-255, \
         validationStatus 1-255, warehouse 1-100, middleName 1-255, companyName 1-60, workPhone 1-25, email 6-128"),
    ("corporate.",
        "name 1-30, description 1-160, street 1-100, address 1-100, city 1-80, state 1-50, postCode 1-16, suite 1-30, \
         postboxNumber 1-15"),
    ("merchant.", "name 1-100, city 1-100, street 1-100, submerchantId 1-100, data[key] 0-2048, websiteId 0-255"),
    ("cart.items[n].",
        "name 1-255, merchantItemId 1-255, sku 1-255, description 1-2048, giftMessage 1-255, shippingMethod 1-255, \
         shippingInstructions 1-255, shippingTrackingNumber 1-255, originalPrice 1-255, productCode 1-30, \
         partNumber 1-30, vatReferenceNumber 1-30"),
    ("cart.items[n].recipient.",
        "salutation 1-5, firstName 1-48, middleName 1-50, lastName 1-48, apartment 1-100, street 1-100, \
         address 1-100, city 1-80, state 1-50, postcode 1-16, email 1-60"),
    ("cart.payments[n].", "name 1-255, brand 1-255"),
    ("airline.",
        "ticketIssueAddress 1-255, thirdPartyBooking 1-255, bookingtype 1-255, ticketDeliveryMethod 1-255, \
         bookingRefNum 1-255, agentName 1-255, agentCode 1-255"),
    ("airline.passengers[n].",
        "type 1-255, name 1-255, ticketRestricted 1-255, ticketNumber 1-255, status 1-255, phone 1-255, \
         frequentFlyerNumber 1-255, email 1-255, dob 1-255, checkDigit 1-255"),
    ("airline.passengers[n].legs[n].",
        "ticketNumber 1-255, stopOverAllowed 1-255, restrictions 1-255, flightNumber 1-255, fareBasis 1-255, \
         exchangeTicketNum 1-255, departureCountry 1-255, departureAirport 1-255, airlineName 1-255, \
         airlineCode 1-255, departureTime 1-255, arrivalCountry 1-255, arrivalAirport 1-255, arrivalTime 1-255, \
         couponNumber 1-255, classOfService 1-255, carrierCode 1-255, timeToDeparture 1-10"),
    ("recurringMigration.", "connectorTxId1 1-128, connectorTxId2 1-128, connectorTxId3 1-128"),
    ("threeDSecure.merchant.", "name 1-100, url 0-2048"),
    ("threeDSecure.v1.visa. threeDSecure.v1.jcb.", "requestorId 1-100, password 1-100"),
    ("threeDSecure.v1.mastercard. threeDSecure.v1.amex. threeDSecure.v1.diners. threeDSecure.v1.discover. \
      threeDSecure.v1.cartebancaire.", "requestorId 1-100"),
    ("threeDSecure.v2.visa. threeDSecure.v2.mastercard. threeDSecure.v2.amex. threeDSecure.v2.diners. \
      threeDSecure.v2.jcb. threeDSecure.v2.cartebancaire.", "requestorId 1-100, requestorName 1-100"),
    ("", "customParameters[name] 0-2048"),
    ("giftCard.", "message 2-160"),
    ("risk.",
        "channelId 1-255, serviceId 1-255, brand 1-255, parameters[name] 0-2048, merchantWebsite 1-60, \
         accountToken 1-64"),
    ("job.", "name 1-64"),
];

/// Values of ASCII digits, or of letters and digits among other characters.
#[rustfmt::skip] // rows
pub(super) const DIGITS: &[(&str, &str)] = &[
    ("", "referencedPaymentId 32-32"),
    ("card.", "number 12-19, cvv 3-4"),
    ("walletPay.", "paymentToken 1-16384"),
    ("bankAccount.", "number 3-64, bankCode 1-12, mandate.id 1-35, mandate.reference 1-32"),
    ("customer. shipping.customer.",
        "phone 8-26, mobile 6-26, browser.screenHeight 1-6, browser.screenWidth 1-6, browser.timezone 1-5, \
         browser.screenColorDepth 1-2, browser.challengeWindow 1-2"),
    ("shipping. merchant.shipping.", "postcode 1-16, phone 6-26, mobile 6-26"),
    ("merchant.billing.", "mobile 6-26"),
    ("corporate.", "phone 1-25, fax 1-25"),
    ("merchant.", "postcode 1-16, state 1-50, phone 0-25, mcc 0-4"),
    ("cart.items[n].", "itemNumber 1-3, recipient.phone 1-25"),
    ("threeDSecure.", "verificationId 28-28, xid 1-64, dsTransactionId 36-36, transactionStatusReason 2-2"),
    ("standingInstruction.", "frequency 1-4, numberOfInstallments 1-3"),
];

/// Words.
#[rustfmt::skip] // rows
pub(super) const WORDS: &[(&str, &str)] = &[
    // The reversal of a chargeback (CR) is ours.
    ("paymentType", "PA DB CD CP RV RF PA.CP CB CR SD RS DS"), ("transactionCategory", "EC MO TO RC IN PO PM MOTO"),
    ("testMode", "EXTERNAL INTERNAL"), ("partialApproval", "accept decline"), ("finalCapture", "true false"), ("walletPay.source", "web app"),
    ("customer.sex", "M F"), ("shipping.customer.sex", "M F"),
    ("customer.identificationDocType", "IDCARD PASSPORT TAXSTATEMENT"),
    ("shipping.customer.identificationDocType", "IDCARD PASSPORT TAXSTATEMENT"),
    ("customer.salutation", "MR MRS MS MX"), ("shipping.customer.salutation", "MR MRS MS MX"),
    ("customer.category", "INDIVIDUAL COMPANY"), ("shipping.customer.category", "INDIVIDUAL COMPANY"),
    ("customer.status", "NEW EXISTING"), ("shipping.customer.status", "NEW EXISTING"),
    ("customer.browser.javaEnabled", "true false"), ("shipping.customer.browser.javaEnabled", "true false"),
    ("shipping.method", METHODS), ("merchant.shipping.method", METHODS),
    ("shipping.preference", "GET_FROM_FILE NO_SHIPPING SET_PROVIDED_ADDRESS"),
    ("merchant.shipping.preference", "GET_FROM_FILE NO_SHIPPING SET_PROVIDED_ADDRESS"),
    ("shipping.type", "RETURN SHIPMENT"), ("merchant.shipping.type", "RETURN SHIPMENT"),
    ("corporate.purchase", "Y N"),
    ("cart.items[n].type", "PHYSICAL DIGITAL MIXED ANONYMOUS_DONATION AUTHORITIES_PAYMENT"),
    ("cart.items[n].quantityUnit", "M CM KG G COUNT"),
    ("cart.payments[n].type", "GIFTCARD PROMOTION"), ("cart.payments[n].status", "pending authorized captured"),
    ("cart.payments[n].primary", "true false"),
    ("createRegistration", "true false"), ("overrideHolder", "true false"), ("registrationsDeletable", "true false"),
    ("registrationsCreatable", "true false"), ("registrationsRequireCvv", "true false"), ("requireCvv", "true false"),
    ("recurringMigration.paymentType", "DB CD PA"),
    ("threeDSecure.eci", "01 02 03 04 05 06 07 08"),
    ("threeDSecure.enrollmentStatus", "Y U N"), ("threeDSecure.authenticationStatus", "Y A U N"),
    ("threeDSecure.challengeIndicator", "01 02 03 04 05 06 07 08 09 4"),
    ("threeDSecure.challengeMandatedIndicator", "Y N"), ("threeDSecure.authType", "01 02 03 04"),
    ("threeDSecure.exemptionFlag", "01 02 03 04"),
    ("giftCard.type",
        "ANNIVERSARY BIRTHDAY CONGRATULATIONS APRIL_FOOLS_DAY EASTER FATHERS_DAY GRADUATION HOLIDAY SEASONS_GREETINGS \
         PASSOVER KWANZAA HALLOWEEN MOTHERS_DAY NEW_YEARS_DAY BOSSES_DAY ST_PATRICKS_DAY SWEETEST_DAY CHRISTMAS \
         BABY_SHOWER THANKSGIVING OTHER VALENTINES_DAY WEDDING SECRETARYS_DAY CHINESE_NEW_YEAR HANUKKAH \
         CELEBRATE_FALL GRANDPARENTS_DAY INDEPENDENCE_DAY"),
    ("job.noticeUnit", "YEAR MONTH WEEK DAY HOUR MINUTE SECOND"),
    ("job.durationUnit", "YEAR MONTH WEEK DAY HOUR MINUTE SECOND"), ("job.noticeCallable", "ANYTIME DURATION_END"),
    ("standingInstruction.type", "UNSCHEDULED INSTALLMENT RECURRING"), ("standingInstruction.mode", "INITIAL REPEATED"),
    ("standingInstruction.source", "CIT MIT"),
    ("standingInstruction.industryPractice", "INCREMENTAL_AUTH RESUBMISSION REAUTHORIZATION DELAYED_CHARGES NO_SHOW"),
];

const METHODS: &str = "LOWEST_COST CARRIER_DESIGNATED_BY_CUSTOMER ELECTRONIC_DELIVERY GROUND INTERNATIONAL MILITARY \
                       NEXT_DAY_OVERNIGHT OTHER STORE_PICKUP SAME_DAY_SERVICE TWO_DAY_SERVICE THREE_DAY_SERVICE PUDO \
                       EXPEDITED";

/// Amounts with two decimals, which a sender may leave out (contract, 0.33).
pub(super) const MONEY: &str = "shipping.cost merchant.shipping.cost cart.items[n].price cart.items[n].totalAmount \
     cart.items[n].taxAmount cart.items[n].totalTaxAmount cart.items[n].shipping cart.items[n].discount \
     cart.items[n].totalDiscountAmount cart.payments[n].amount airline.totalTaxAmount airline.totalFeesAmount \
     airline.totalFareAmount airline.passengers[n].legs[n].taxAmount airline.passengers[n].legs[n].feesAmount \
     airline.passengers[n].legs[n].fareAmount airline.passengers[n].legs[n].departureTaxAmount";

/// Days.
pub(super) const DATES: &str = "customer.birthDate shipping.customer.birthDate bankAccount.mandate.dateOfSignature \
     transactionDueDate shipping.expectedDate merchant.shipping.expectedDate airline.ticketIssueDate \
     airline.passengers[n].legs[n].departureDate airline.passengers[n].legs[n].arrivalDate date.from date.to \
     standingInstruction.expiry";
