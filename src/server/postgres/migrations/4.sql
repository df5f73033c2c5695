-- The hour of a key is a ring of as many slots as its limit: request n takes slot n % size, which has to be older
-- than an hour. Programs before this version count in research.windows, and the triggers keep both the same: they
-- and the columns of that table can go with the next version.
LOCK TABLE research.windows IN SHARE ROW EXCLUSIVE MODE;
CREATE TABLE research.counters (
  key text,
  operation text,
  taken bigint NOT NULL,
  size bigint,
  PRIMARY KEY (key, operation)
) WITH (fillfactor = 50);
CREATE TABLE research.slots (
  key text,
  operation text,
  number bigint,
  at timestamptz NOT NULL,
  PRIMARY KEY (key, operation, number)
) WITH (fillfactor = 80);
INSERT INTO research.counters SELECT key, operation, cardinality(times) FROM research.windows;
INSERT INTO research.slots SELECT key, operation, number - 1, at
  FROM research.windows, unnest(times) WITH ORDINALITY AS counted (at, number);

-- Counts as many of the wanted requests as the hour allows. The row of the counter is locked first: what is
-- read after that is what the others have left. A size of NULL has no limit yet; another size lays the ring anew.
CREATE FUNCTION research.take(of_key text, of_operation text, wanted int, new_size bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  own research.counters;
  granted int := 0;
  moment timestamptz;
  hour timestamptz[];
BEGIN
  LOOP
    SELECT * INTO own FROM research.counters WHERE key = of_key AND operation = of_operation FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO research.counters VALUES (of_key, of_operation, 0, new_size) ON CONFLICT DO NOTHING;
  END LOOP;
  moment := clock_timestamp();
  IF own.size IS DISTINCT FROM new_size THEN
    SELECT array_agg(at ORDER BY at) INTO hour FROM (
      SELECT at FROM research.slots
      WHERE key = of_key AND operation = of_operation AND at > moment - interval '1 hour'
      ORDER BY at DESC LIMIT new_size
    ) AS counted;
    DELETE FROM research.slots WHERE key = of_key AND operation = of_operation;
    INSERT INTO research.slots SELECT of_key, of_operation, number - 1, at
      FROM unnest(hour) WITH ORDINALITY AS counted (at, number);
    own.taken := coalesce(cardinality(hour), 0);
  END IF;
  WHILE granted < wanted LOOP
    INSERT INTO research.slots AS slot
    VALUES (of_key, of_operation, own.taken % coalesce(new_size, own.taken + 1), moment)
    ON CONFLICT (key, operation, number) DO UPDATE SET at = moment WHERE slot.at <= moment - interval '1 hour';
    EXIT WHEN NOT FOUND;
    own.taken := own.taken + 1;
    granted := granted + 1;
  END LOOP;
  IF granted > 0 OR own.size IS DISTINCT FROM new_size THEN
    UPDATE research.counters SET taken = own.taken, size = new_size
    WHERE key = of_key AND operation = of_operation;
  END IF;
  RETURN granted;
END $$;

CREATE FUNCTION research.count_of_an_older_program() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  own research.counters;
BEGIN
  INSERT INTO research.counters VALUES (NEW.key, NEW.operation, 0) ON CONFLICT DO NOTHING;
  SELECT * INTO own FROM research.counters WHERE key = NEW.key AND operation = NEW.operation FOR UPDATE;
  IF TG_WHEN = 'AFTER' THEN
    PERFORM research.take(NEW.key, NEW.operation, 1, own.size);
  ELSIF EXISTS (
    SELECT FROM research.slots WHERE key = NEW.key AND operation = NEW.operation
      AND number = own.taken % own.size AND at > clock_timestamp() - interval '1 hour'
  ) THEN
    RETURN NULL;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER ring_has_room BEFORE INSERT ON research.windows
  FOR EACH ROW EXECUTE FUNCTION research.count_of_an_older_program();
CREATE TRIGGER ring_counts AFTER INSERT OR UPDATE ON research.windows
  FOR EACH ROW EXECUTE FUNCTION research.count_of_an_older_program();
