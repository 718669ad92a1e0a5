-- Settings that allow browsers to store accounts and to send customer ids. Both were always allowed, so they stay
-- allowed for existing entities; new ones decide.
UPDATE entity SET settings = json_set(settings, '$.browser_registrations', json('true'),
    '$.browser_customer_ids', json('true'));
