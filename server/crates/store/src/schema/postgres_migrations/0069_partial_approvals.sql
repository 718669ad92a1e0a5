-- A pending payment of which its connector approves a part gets the approved amount, and keeps the requested one.
DROP TRIGGER IF EXISTS payment_update ON payment;
CREATE TRIGGER payment_update BEFORE UPDATE ON payment FOR EACH ROW WHEN (
    NEW.id <> OLD.id OR NEW.entity <> OLD.entity
    OR (json_extract(utf8(NEW.document), '$.amount')
            IS DISTINCT FROM json_extract(utf8(OLD.document), '$.amount')
        AND (json_extract(utf8(NEW.document), '$.requested')
                IS DISTINCT FROM json_extract(utf8(OLD.document), '$.amount')
            OR NOT is_open_result(json_extract(utf8(OLD.document), '$.result'))))
    OR (json_extract(utf8(NEW.document), '$.result')
            IS DISTINCT FROM json_extract(utf8(OLD.document), '$.result')
        AND NOT is_open_result(json_extract(utf8(OLD.document), '$.result')))
) EXECUTE FUNCTION refuse('the amount and the final result of a payment never change');
