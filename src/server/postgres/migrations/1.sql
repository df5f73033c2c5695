CREATE TABLE research.processes (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  settings text,
  model text,
  says_dollars boolean NOT NULL DEFAULT true,
  expires_at timestamptz NOT NULL
);
CREATE TABLE research.keys (
  id text PRIMARY KEY,
  name text NOT NULL,
  hash text NOT NULL UNIQUE,
  tier text NOT NULL,
  creates_per_hour double precision NOT NULL,
  stops_per_hour double precision NOT NULL,
  budget double precision,
  budget_ms double precision,
  at_once double precision,
  dollars double precision,
  dollars_ms double precision,
  changes int NOT NULL DEFAULT 0,
  created_at timestamptz(3) NOT NULL,
  expires_at timestamptz(3),
  revoked_at timestamptz(3)
);
CREATE UNIQUE INDEX key_names ON research.keys (name) WHERE revoked_at IS NULL;
-- `is_counted`: its key has limits. `progress` and `data` are JSON: how far the work is, and what an outcome says beside the
-- output. `remote` is the request at another service that works on the conversation.
CREATE TABLE research.conversations (
  request_id uuid PRIMARY KEY,
  key text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'STOPPED')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL,
  is_counted boolean NOT NULL DEFAULT false,
  claims integer NOT NULL DEFAULT 0,
  starts integer NOT NULL DEFAULT 0,
  worker uuid REFERENCES research.processes ON DELETE SET NULL,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  job text,
  ended_job text,
  progress text,
  output text,
  data text,
  reason text,
  model text,
  cost_dollars double precision,
  input_tokens double precision,
  output_tokens double precision,
  remote jsonb,
  remote_begun_at timestamptz,
  remote_id text
) WITH (fillfactor = 80);
-- What has not begun, and what has and is held by no worker. Keys take turns.
CREATE INDEX waits ON research.conversations (key, due_at) INCLUDE (request_id)
  WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL;
CREATE INDEX begun ON research.conversations (key, due_at)
  WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING');
CREATE INDEX held ON research.conversations (key, worker) WHERE worker IS NOT NULL;
CREATE INDEX lost ON research.conversations (remote_begun_at)
  WHERE status = 'STOPPED' AND remote_id IS NULL AND remote IS NOT NULL AND NOT remote ? 'lost';
CREATE INDEX ended ON research.conversations (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX listed ON research.conversations (status, created_at);
CREATE INDEX creates ON research.conversations (key, created_at) WHERE is_counted;
CREATE INDEX costs ON research.conversations (key, completed_at) WHERE cost_dollars IS NOT NULL;
-- What conversations add up to: creates of keys with limits under the model '', all that ended under its model ('' if that is not
-- known), in the hour, the day of UTC and the span 'ever' of that moment. Who reads a sum adds up its parts: -1 holds what was
-- deleted, 0 what is there of an added key. Of another key each connection writes one of 16 parts, so that its statements do
-- not wait for another's commit.
CREATE TABLE research.sums (
  span text,
  key text,
  at timestamptz,
  model text,
  part int,
  created bigint NOT NULL DEFAULT 0,
  completed bigint NOT NULL DEFAULT 0,
  failed bigint NOT NULL DEFAULT 0,
  stopped bigint NOT NULL DEFAULT 0,
  dollars numeric NOT NULL DEFAULT 0,
  priced bigint NOT NULL DEFAULT 0,
  input_tokens double precision NOT NULL DEFAULT 0,
  output_tokens double precision NOT NULL DEFAULT 0,
  unsaid bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (span, key, at, model, part)
) WITH (fillfactor = 50);
-- What has begun and not ended.
CREATE VIEW research.running AS
  SELECT * FROM research.conversations
  WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING')
  UNION ALL SELECT * FROM research.conversations WHERE worker IS NOT NULL;
-- The highest cost that a conversation of each model had; as long as none said one, how many have ended, up to 3.
CREATE TABLE research.models (model text PRIMARY KEY, dollars double precision, unpriced int NOT NULL);
CREATE TABLE research.exchanges (
  request_id uuid NOT NULL REFERENCES research.conversations ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  record text NOT NULL,
  PRIMARY KEY (request_id, number)
);
CREATE TABLE research.cancellations (
  request_id uuid PRIMARY KEY,
  at text NOT NULL,
  provider text NOT NULL,
  remote_id text NOT NULL,
  due_at timestamptz NOT NULL DEFAULT now()
);
-- A create that another service refused waits; why, and until when, all processes know.
CREATE TABLE research.gate (
  id int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  version int NOT NULL,
  kind text,
  next_at timestamptz NOT NULL,
  state text NOT NULL
);
-- Creates at another service of the last 24 hours, by the account there.
CREATE TABLE research.sent (
  request_id uuid PRIMARY KEY,
  account text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX sent_by_account ON research.sent (account, at);
-- The hour of a key is a ring of as many slots as its limit: request n takes slot n % size, which has to be older
-- than an hour.
CREATE TABLE research.counters (
  key text,
  operation text,
  taken bigint NOT NULL,
  size bigint NOT NULL,
  PRIMARY KEY (key, operation)
) WITH (fillfactor = 50);
CREATE TABLE research.slots (
  key text,
  operation text,
  number bigint,
  at timestamptz NOT NULL,
  PRIMARY KEY (key, operation, number)
) WITH (fillfactor = 80);

-- The model that a conversation is going to have: that of the workers.
CREATE FUNCTION research.model() RETURNS text LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN (SELECT max(model) FROM research.processes WHERE role <> 'api' AND expires_at > now());
END $$;

-- Adds these to the sums, which have to come in the order of key, model and part, the widest span first: so no two statements
-- that do it wait for each other.
CREATE FUNCTION research.add(entries research.sums[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO research.sums AS own SELECT * FROM unnest(entries)
  ON CONFLICT (span, key, at, model, part) DO UPDATE SET
    created = own.created + excluded.created, completed = own.completed + excluded.completed,
    failed = own.failed + excluded.failed, stopped = own.stopped + excluded.stopped,
    dollars = own.dollars + excluded.dollars, priced = own.priced + excluded.priced,
    input_tokens = own.input_tokens + excluded.input_tokens,
    output_tokens = own.output_tokens + excluded.output_tokens, unsaid = own.unsaid + excluded.unsaid;
END $$;

-- The beginning of the span that a moment is in.
CREATE FUNCTION research.start_of(span text, moment timestamptz) RETURNS timestamptz LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE span WHEN 'hour' THEN date_bin('1 hour', moment, '2000-01-01Z') WHEN 'day' THEN date_bin('1 day', moment, '2000-01-01Z')
    ELSE '-infinity' END
$$;

-- The part of the sums of a key that this connection writes.
CREATE FUNCTION research.part_of(of_key text) RETURNS int LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN EXISTS (SELECT FROM research.keys WHERE id = of_key) THEN 0 ELSE pg_backend_pid() % 16 END;
END $$;

-- Adds `n` conversations that were created now (`of_status` is NULL), or that ended so now.
CREATE FUNCTION research.add_now(
  of_key text, of_model text, of_status text, n bigint, cost numeric, n_priced bigint, tokens_in float8, tokens_out float8,
  n_unsaid bigint
) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  of_part int := research.part_of(of_key);
BEGIN
  PERFORM research.add(ARRAY(
    SELECT (span, of_key, research.start_of(span, now()), coalesce(of_model, ''), of_part,
      CASE WHEN of_status IS NULL THEN n ELSE 0 END, CASE of_status WHEN 'COMPLETED' THEN n ELSE 0 END,
      CASE of_status WHEN 'FAILED' THEN n ELSE 0 END, CASE of_status WHEN 'STOPPED' THEN n ELSE 0 END,
      coalesce(cost, 0), n_priced, coalesce(tokens_in, 0), coalesce(tokens_out, 0), n_unsaid)::research.sums
    FROM unnest(ARRAY['ever', 'day', 'hour']) AS span
  ));
  RETURN n;
END $$;

-- Adds these conversations to the sums (`sign` 1), or takes them away (-1); `of_part` is -1, or else where they are.
CREATE FUNCTION research.tally(ids uuid[], sign int, of_part int) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM research.add(ARRAY(
    SELECT (span, key, start, under, coalesce(of_part, research.part_of(key)), sign * count(*) FILTER (WHERE NOT is_end),
      sign * count(*) FILTER (WHERE is_end AND status = 'COMPLETED'), sign * count(*) FILTER (WHERE is_end AND status = 'FAILED'),
      sign * count(*) FILTER (WHERE is_end AND status = 'STOPPED'),
      sign * coalesce(sum(cost_dollars::numeric) FILTER (WHERE is_end), 0), sign * count(cost_dollars) FILTER (WHERE is_end),
      sign * coalesce(sum(input_tokens) FILTER (WHERE is_end), 0), sign * coalesce(sum(output_tokens) FILTER (WHERE is_end), 0),
      sign * count(*) FILTER (WHERE is_end AND coalesce(cost_dollars, input_tokens, output_tokens) IS NULL)
    )::research.sums
    FROM (
      SELECT c.*, span, research.start_of(span, moment) AS start, is_end, CASE WHEN is_end THEN coalesce(c.model, '') ELSE '' END AS under
      FROM unnest(ids) AS id JOIN research.conversations AS c ON request_id = id,
        LATERAL (VALUES (created_at, false), (completed_at, true)) AS moments (moment, is_end),
        unnest(ARRAY['ever', 'day', 'hour']) AS span
      WHERE moment IS NOT NULL AND (is_end OR is_counted)
    ) AS facts GROUP BY span, key, start, under
    ORDER BY key, under, array_position(ARRAY['ever', 'day', 'hour'], span), start
  ));
END $$;

-- Makes the sums of what is there anew, after a restore or a repair by hand. What is written meanwhile waits.
CREATE FUNCTION research.recount() RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  block bigint;
BEGIN
  LOCK TABLE research.conversations IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM research.sums WHERE part >= 0 AND span <> 'ever';
  UPDATE research.sums SET created = 0, completed = 0, failed = 0, stopped = 0, dollars = 0, priced = 0, input_tokens = 0,
    output_tokens = 0, unsaid = 0 WHERE part >= 0;
  FOR block IN 0 .. pg_relation_size('research.conversations') / current_setting('block_size')::int BY 1000 LOOP
    PERFORM research.tally(ARRAY(
      SELECT request_id FROM research.conversations
      WHERE ctid >= format('(%s,0)', block)::tid AND ctid < format('(%s,0)', block + 1000)::tid
    ), 1, NULL);
  END LOOP;
END $$;

-- Deletes some of what ended more than `age` ms ago, and says how many. Their sums stay, as those of what was deleted.
CREATE FUNCTION research.delete_ended(age float8, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[] := ARRAY(
    SELECT request_id FROM research.conversations WHERE completed_at < now() - age * interval '1 ms'
    ORDER BY completed_at LIMIT most FOR UPDATE SKIP LOCKED
  );
BEGIN
  PERFORM research.tally(ids, -1, NULL);
  PERFORM research.tally(ids, 1, -1);
  DELETE FROM research.conversations WHERE request_id = ANY (ids);
  RETURN cardinality(ids);
END $$;

-- What counts in a window of a key that ends now, by when it leaves the window. Windows of a day and more move by whole hours;
-- in a shorter one each conversation counts by itself, and what was deleted by its hour.
CREATE FUNCTION research.counted(of_key text, ms float8)
RETURNS TABLE (leaves timestamptz, created numeric, dollars numeric) LANGUAGE plpgsql AS $$
DECLARE
  length interval := ms * interval '1 ms';
  since timestamptz := clock_timestamp() - length;
  is_short boolean := ms < 86400000;
BEGIN
  RETURN QUERY SELECT at + interval '1 hour' + length, sum(sums.created), sum(sums.dollars) FROM research.sums
    WHERE span = 'hour' AND key = of_key AND at >= date_bin('1 hour', since, '2000-01-01Z') AND (part < 0 OR NOT is_short)
    GROUP BY at;
  IF is_short THEN
    RETURN QUERY SELECT created_at + length, 1::numeric, 0::numeric FROM research.conversations
      WHERE key = of_key AND created_at > since AND is_counted;
    RETURN QUERY SELECT completed_at + length, 0::numeric, cost_dollars::numeric FROM research.conversations
      WHERE key = of_key AND completed_at > since AND cost_dollars IS NOT NULL;
  END IF;
END $$;

-- The sum of that. Of a long window it reads the hours of its first day, and whole days after it.
CREATE FUNCTION research.used(of_key text, ms float8, OUT created numeric, OUT dollars numeric) LANGUAGE plpgsql AS $$
DECLARE
  hour timestamptz := date_bin('1 hour', clock_timestamp() - ms * interval '1 ms', '2000-01-01Z');
  day timestamptz := date_bin('1 day', hour + interval '1 day' - interval '1 ms', '2000-01-01Z');
BEGIN
  IF ms < 86400000 THEN
    SELECT coalesce(sum(c.created), 0), coalesce(sum(c.dollars), 0) INTO created, dollars FROM research.counted(of_key, ms) AS c;
  ELSE
    SELECT coalesce(sum(c.created), 0), coalesce(sum(c.dollars), 0) INTO created, dollars FROM (
      SELECT h.created, h.dollars FROM research.sums AS h WHERE span = 'hour' AND key = of_key AND at >= hour AND at < day
      UNION ALL SELECT d.created, d.dollars FROM research.sums AS d WHERE span = 'day' AND key = of_key AND at >= day
    ) AS c;
  END IF;
END $$;

-- What counts against the limits of a key. What is reserved is read before what was said: a conversation that ends in between
-- counts twice, and not in neither.
CREATE FUNCTION research.figures(
  own research.keys, OUT created numeric, OUT said numeric, OUT reserved numeric, OUT begun numeric, OUT running bigint,
  OUT waiting bigint, OUT price numeric, OUT is_measured boolean
) LANGUAGE plpgsql AS $$
DECLARE
  of_model text;
  unpriced int;
BEGIN
  SELECT max(model), coalesce(bool_and(says_dollars), true) INTO of_model, is_measured FROM research.processes
  WHERE role <> 'api' AND expires_at > now();
  SELECT count(*), coalesce(sum((
      SELECT max(m.dollars) FROM research.models AS m WHERE r.model IS NULL OR m.model = r.model
    )::numeric), 0),
    (SELECT sum(s.created - s.completed - s.failed - s.stopped) FROM research.sums AS s WHERE span = 'ever' AND key = own.id),
    (SELECT max(m.dollars) FROM research.models AS m WHERE of_model IS NULL OR m.model = of_model),
    (SELECT m.unpriced FROM research.models AS m WHERE m.model = coalesce(of_model, ''))
  INTO running, begun, waiting, price, unpriced FROM research.running AS r WHERE key = own.id;
  waiting := greatest(0, waiting - running);
  reserved := begun + waiting * coalesce(price, 0);
  said := CASE WHEN own.dollars IS NULL THEN 0 ELSE (research.used(own.id, own.dollars_ms)).dollars END;
  created := CASE WHEN own.budget IS NULL THEN 0 ELSE (research.used(own.id, own.budget_ms)).created END;
  is_measured := is_measured AND (price IS NOT NULL OR unpriced IS NULL OR unpriced < 3);
END $$;

-- How many of the wanted creates the budgets of a key allow: the rules of `createBlocks` (budget-rules.ts). The caller holds a
-- lock that lets one count at a time.
CREATE FUNCTION research.room(of_key text, wanted int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  own research.keys;
  f record;
BEGIN
  SELECT * INTO own FROM research.keys WHERE id = of_key AND (budget IS NOT NULL OR dollars IS NOT NULL);
  IF NOT FOUND THEN
    RETURN wanted;
  END IF;
  f := research.figures(own);
  RETURN greatest(0, least(wanted, own.budget - f.created, CASE
    WHEN own.dollars IS NULL THEN wanted
    WHEN NOT f.is_measured OR f.said + f.reserved >= own.dollars::numeric THEN 0
    WHEN f.price IS NULL THEN 10 - f.waiting
    WHEN f.price > 0 THEN ceil((own.dollars::numeric - f.said - f.reserved) / f.price)
    ELSE wanted END));
END $$;

-- Whether a conversation of a key may begin: the rules of `beginBlock` (budget-rules.ts).
CREATE FUNCTION research.may_begin(of_key text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  own research.keys;
  f record;
BEGIN
  SELECT * INTO own FROM research.keys WHERE id = of_key AND (at_once IS NOT NULL OR dollars IS NOT NULL);
  IF NOT FOUND THEN
    RETURN true;
  END IF;
  IF own.dollars IS NULL THEN
    RETURN own.at_once > (SELECT count(*) FROM research.running WHERE key = of_key);
  END IF;
  f := research.figures(own);
  RETURN coalesce(f.running < own.at_once, true) AND f.is_measured AND f.said + f.begun < own.dollars::numeric
    AND (f.price IS NOT NULL OR f.running = 0);
END $$;

-- Claims a conversation for a worker whose lease holds, of the key that comes next after `last`: what has begun, or else what
-- waits. `which`: 'any', 'begun' (at another service), or 'new' (not sent there yet, and younger than `limit_ms`; while that service refuses
-- creates, one each `probe_ms`). It asks one key after the other whether it may begin one, and locks the row of a key that may. If another
-- worker begins the last one meanwhile, the caller has to look again. A row without an id says in `due_at` when.
CREATE FUNCTION research.claim(of_worker uuid, last text, which text, probe_ms float8, limit_ms float8)
RETURNS SETOF research.conversations LANGUAGE plpgsql AS $$
DECLARE
  own_model text;
  turn text;
  head record;
  next_id uuid;
  none research.conversations;
  is_second boolean := last = '';
  oldest timestamptz := CASE which WHEN 'new' THEN now() - limit_ms * interval '1 ms' ELSE '-infinity' END;
BEGIN
  SELECT model INTO own_model FROM research.processes WHERE id = of_worker AND expires_at > now();
  IF NOT FOUND OR (which = 'new' AND EXISTS (SELECT FROM research.gate WHERE kind IS NOT NULL AND next_at > now())) THEN
    RETURN;
  END IF;
  IF which <> 'new' THEN
    SELECT request_id INTO next_id FROM research.conversations
    WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING') AND due_at <= now()
      AND (which = 'any' OR remote IS NOT NULL)
    ORDER BY key, due_at LIMIT 1 FOR UPDATE SKIP LOCKED;
  END IF;
  turn := last;
  WHILE next_id IS NULL AND which <> 'begun' LOOP
    SELECT key, due_at INTO head FROM research.conversations
    WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL AND key > turn ORDER BY key, due_at LIMIT 1;
    IF NOT FOUND OR (is_second AND last <> '' AND head.key > last) THEN
      EXIT WHEN is_second;
      is_second := true;
      turn := '';
      CONTINUE;
    END IF;
    turn := head.key;
    none.due_at := least(none.due_at, head.due_at);
    CONTINUE WHEN head.due_at > now() OR NOT research.may_begin(turn);
    SELECT request_id INTO next_id FROM research.conversations
    WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL AND key = turn AND due_at > oldest
      AND due_at <= now() AND created_at > oldest
    ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED;
    CONTINUE WHEN NOT FOUND;
    PERFORM FROM research.keys WHERE id = turn AND (at_once IS NOT NULL OR dollars IS NOT NULL) FOR NO KEY UPDATE;
    IF FOUND AND NOT research.may_begin(turn) THEN
      next_id := NULL;
      none.due_at := now();
      EXIT;
    END IF;
    IF which = 'new' AND EXISTS (SELECT FROM research.gate WHERE kind IS NOT NULL) THEN
      UPDATE research.gate SET next_at = now() + probe_ms * interval '1 ms' WHERE kind IS NOT NULL AND next_at <= now();
      IF NOT FOUND THEN
        RETURN;
      END IF;
    END IF;
  END LOOP;
  IF next_id IS NULL THEN
    RETURN NEXT none;
    RETURN;
  END IF;
  RETURN QUERY UPDATE research.conversations AS own SET worker = of_worker, claims = claims + 1,
    model = coalesce(own_model, own.model),
    status = CASE which WHEN 'any' THEN 'PROCESSING' ELSE status END,
    started_at = CASE which WHEN 'any' THEN coalesce(started_at, now()) ELSE started_at END,
    starts = starts + (which = 'any' AND remote IS NULL)::int
  WHERE request_id = next_id RETURNING *;
END $$;

-- Counts as many of the wanted requests as the hour and, for creates, the budgets allow. The row of the counter is locked
-- first: what is read after that is what the others have left. Another size lays the ring anew.
CREATE FUNCTION research.take(of_key text, of_operation text, wanted int, new_size bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  own research.counters;
  granted int;
  moment timestamptz;
  hour timestamptz[];
BEGIN
  LOOP
    SELECT * INTO own FROM research.counters WHERE key = of_key AND operation = of_operation FOR UPDATE;
    EXIT WHEN FOUND;
    INSERT INTO research.counters VALUES (of_key, of_operation, 0, new_size) ON CONFLICT DO NOTHING;
  END LOOP;
  IF of_operation = 'create' THEN
    wanted := research.room(of_key, wanted);
  END IF;
  moment := clock_timestamp();
  IF own.size <> new_size THEN
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
  -- The slots that come next are the oldest, so that those that are free come first.
  WITH taken AS (
    INSERT INTO research.slots AS slot
    SELECT of_key, of_operation, (own.taken + n) % new_size, moment FROM generate_series(0, least(wanted, new_size) - 1) AS n
    ON CONFLICT (key, operation, number) DO UPDATE SET at = moment WHERE slot.at <= moment - interval '1 hour'
    RETURNING 1
  ) SELECT count(*) INTO granted FROM taken;
  IF granted > 0 OR own.size <> new_size THEN
    UPDATE research.counters SET taken = own.taken + granted, size = new_size
    WHERE key = of_key AND operation = of_operation;
  END IF;
  IF granted > 0 AND of_operation = 'create' THEN
    PERFORM research.add_now(of_key, NULL, NULL, granted, 0, 0, 0, 0, 0);
  END IF;
  RETURN granted;
END $$;

-- Counts a create at another service in the 24 hours of the account there. Returns for how many ms they are full; NULL if
-- it counts, once for each conversation. The lock lets one count at a time.
CREATE FUNCTION research.send(of_request uuid, of_account text, most int) RETURNS float8 LANGUAGE plpgsql AS $$
DECLARE
  oldest timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended(of_account, 0));
  DELETE FROM research.sent WHERE account = of_account AND at < clock_timestamp() - interval '1 day';
  SELECT at INTO oldest FROM research.sent
  WHERE account = of_account AND request_id <> of_request ORDER BY at DESC OFFSET most - 1 LIMIT 1;
  IF FOUND THEN
    RETURN extract(epoch FROM oldest + interval '1 day' - clock_timestamp()) * 1000;
  END IF;
  INSERT INTO research.sent VALUES (of_request, of_account, clock_timestamp()) ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
