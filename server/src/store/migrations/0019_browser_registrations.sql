-- Browsers could always store accounts and name the customer. Merchants that rely on it keep it; new ones choose.
UPDATE entity SET settings = json_set(settings, '$.browser_registrations', json('true'),
    '$.browser_customer_ids', json('true'));
