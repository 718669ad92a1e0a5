-- A standing instruction is compared with later charges by the displayed part of its account. The index of the whole
-- number is removed, because a comparison with it distinguished right numbers from wrong ones.
UPDATE standing_instruction SET document = CAST(json_remove(json_set(CAST(document AS TEXT), '$.shown', (
    SELECT CASE
        WHEN json_extract(text, '$.account.card') IS NOT NULL THEN
            'card ' || json_extract(text, '$.account.card.bin') || ' ' || json_extract(text, '$.account.card.last4')
        WHEN json_extract(text, '$.account.bank.iban') IS NOT NULL THEN
            'iban ' || json_extract(text, '$.account.bank.iban')
    END
    FROM (SELECT CAST(coalesce(
        (SELECT document FROM registration
         WHERE registration.entity = standing_instruction.entity AND id = standing_instruction.registration),
        (SELECT document FROM payment
         WHERE payment.entity = standing_instruction.entity
             AND id = json_extract(CAST(standing_instruction.document AS TEXT), '$.payment'))
    ) AS TEXT) AS text)
)), '$.account') AS BLOB);
