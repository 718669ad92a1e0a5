-- A pending payment of which its connector approves a part gets the approved amount, and keeps the requested one.
DROP TRIGGER IF EXISTS payment_update;
CREATE TRIGGER payment_update BEFORE UPDATE ON payment WHEN
    NEW.id <> OLD.id OR NEW.entity <> OLD.entity
    OR (json_extract(CAST(NEW.document AS TEXT), '$.amount') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
        AND (json_extract(CAST(NEW.document AS TEXT), '$.requested') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.amount')
            OR (json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
                AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
                AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')))
    OR (json_extract(CAST(NEW.document AS TEXT), '$.result') IS NOT json_extract(CAST(OLD.document AS TEXT), '$.result')
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '000.200.*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') NOT GLOB '800.400.5*'
        AND json_extract(CAST(OLD.document AS TEXT), '$.result') <> '100.400.500')
BEGIN
    SELECT RAISE(ABORT, 'the amount and the final result of a payment never change');
END;
