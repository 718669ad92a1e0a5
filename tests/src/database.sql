-- Functions of SQLite that the tests' own statements use, in a schema that the gateway does not see.
CREATE SCHEMA IF NOT EXISTS tests;
SELECT pg_advisory_lock(7465737473);
SET search_path = public, tests;
DO $do$ BEGIN
IF to_regproc('tests.hex') IS NULL THEN
    CREATE FUNCTION tests.hex(bytes bytea) RETURNS text LANGUAGE sql IMMUTABLE
        RETURN coalesce(upper(encode(bytes, 'hex')), '');
    CREATE FUNCTION tests.unixepoch() RETURNS bigint LANGUAGE sql
        RETURN extract(epoch FROM clock_timestamp())::bigint;
    CREATE FUNCTION tests.set_value(document text, path text, value jsonb) RETURNS text LANGUAGE sql IMMUTABLE
        -- Without the blanks of PostgreSQL, as the gateway writes documents and compares their parts.
        RETURN regexp_replace(jsonb_set(document::jsonb,
            string_to_array(replace(replace(substr(path, 3), '[', '.'), ']', ''), '.'), value)::text,
            '([:,]) ', '\1', 'g');
    CREATE FUNCTION tests.json_set(document text, path text, value text) RETURNS text LANGUAGE sql IMMUTABLE
        RETURN tests.set_value(document, path, to_jsonb(value));
    CREATE FUNCTION tests.json_set(document text, path text, value bigint) RETURNS text LANGUAGE sql IMMUTABLE
        RETURN tests.set_value(document, path, to_jsonb(value));
    CREATE FUNCTION tests.join_texts(whole text, part text) RETURNS text LANGUAGE sql IMMUTABLE
        RETURN CASE WHEN part IS NULL THEN whole ELSE concat_ws(',', whole, part) END;
    CREATE AGGREGATE tests.group_concat(text) (sfunc = tests.join_texts, stype = text);
END IF;
END $do$;
SELECT pg_advisory_unlock(7465737473);
