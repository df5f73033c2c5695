CREATE TABLE research.processes (
  id uuid PRIMARY KEY,
  role text NOT NULL,
  settings text,
  model text,
  says_dollars boolean NOT NULL DEFAULT true,
  expires_at timestamptz NOT NULL
);
CREATE VIEW research.workers AS SELECT * FROM research.processes WHERE role <> 'api' AND expires_at > now();
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
-- `is_counted`: whether the key has limits. `progress`: JSON of the work's progress. `data`: JSON of the fields that the client gets
-- beside the output. `remote`: the request at the upstream service that does the research.
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
-- `waits`: conversations that have not begun. `begun`: those that have, and have no worker. By key, because keys take turns.
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
-- Totals of conversations for each hour, each UTC day and all time ('ever'). Created conversations of keys with limits count under
-- the model '', ended ones under their model, or '' if it is unknown. Deleted conversations have separate totals.
CREATE TABLE research.sums (
  span text,
  key text,
  at timestamptz,
  model text,
  is_deleted boolean,
  created bigint,
  completed bigint,
  failed bigint,
  stopped bigint,
  dollars numeric,
  priced bigint,
  input_tokens double precision,
  output_tokens double precision,
  unsaid bigint,
  PRIMARY KEY (span, key, at, model, is_deleted)
) WITH (fillfactor = 50);
-- Conversations that have begun and have not ended.
CREATE VIEW research.running AS
  SELECT * FROM research.conversations
  WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING')
  UNION ALL SELECT * FROM research.conversations WHERE worker IS NOT NULL;
-- For each model, the highest cost of a conversation. `unpriced`: until a cost is reported, the number of ended ones, up to 3.
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
-- Why create calls to the upstream service wait, and until when, for all processes.
CREATE TABLE research.gate (
  id int PRIMARY KEY DEFAULT 1 CHECK (id = 1),
  version int NOT NULL,
  kind text,
  next_at timestamptz NOT NULL,
  state text NOT NULL
);
-- The create calls to the upstream service in the last 24 hours, by account.
CREATE TABLE research.sent (
  request_id uuid PRIMARY KEY,
  account text NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX sent_by_account ON research.sent (account, at);
-- The hour of a key is a ring with as many slots as its limit. Request n takes slot n % size, if that was last taken more
-- than an hour ago.
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

-- Adds conversations to the sums (`sign` 1) or subtracts them (-1), for 'created' and 'ended' in `moments`. It is volatile, so that
-- it sees the changes of its own statement. All statements lock the sums in one order, widest span first.
CREATE FUNCTION research.tally(ids uuid[], moments text[], sign int, of_deleted boolean) RETURNS int LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO research.sums AS own
  SELECT span, key, CASE span WHEN 'ever' THEN '-infinity' ELSE date_bin(('1 ' || span)::interval, moment, '2000-01-01Z') END,
    CASE WHEN ends = 1 THEN coalesce(c.model, '') ELSE '' END, of_deleted, sign * sum(1 - ends),
    sign * sum(ends * (status = 'COMPLETED')::int), sign * sum(ends * (status = 'FAILED')::int),
    sign * sum(ends * (status = 'STOPPED')::int), sign * coalesce(sum(ends * cost_dollars::numeric), 0),
    sign * sum(ends * (cost_dollars IS NOT NULL)::int), sign * coalesce(sum(ends * input_tokens), 0),
    sign * coalesce(sum(ends * output_tokens), 0),
    sign * sum(ends * (coalesce(cost_dollars, input_tokens, output_tokens) IS NULL)::int)
  FROM unnest(ids) AS id JOIN research.conversations AS c ON request_id = id,
    LATERAL (VALUES ('created', created_at, 0), ('ended', completed_at, 1)) AS moment (name, moment, ends),
    unnest(ARRAY['ever', 'day', 'hour']) AS span
  WHERE name = ANY (moments) AND moment IS NOT NULL AND (ends = 1 OR is_counted)
  GROUP BY 1, 2, 3, 4 ORDER BY 2, 4, array_position(ARRAY['ever', 'day', 'hour'], span), 3
  ON CONFLICT (span, key, at, model, is_deleted) DO UPDATE SET
    created = own.created + excluded.created, completed = own.completed + excluded.completed,
    failed = own.failed + excluded.failed, stopped = own.stopped + excluded.stopped,
    dollars = own.dollars + excluded.dollars, priced = own.priced + excluded.priced,
    input_tokens = own.input_tokens + excluded.input_tokens,
    output_tokens = own.output_tokens + excluded.output_tokens, unsaid = own.unsaid + excluded.unsaid;
  RETURN cardinality(ids);
END $$;

-- Recalculates the sums of existing conversations, after a restore or a repair by hand. Blocks writes meanwhile.
CREATE FUNCTION research.recount() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  LOCK TABLE research.conversations IN SHARE ROW EXCLUSIVE MODE;
  DELETE FROM research.sums WHERE NOT is_deleted;
  FOR block IN 0 .. pg_relation_size('research.conversations') / current_setting('block_size')::int BY 1000 LOOP
    PERFORM research.tally(ARRAY(
      SELECT request_id FROM research.conversations
      WHERE ctid >= format('(%s,0)', block)::tid AND ctid < format('(%s,0)', block + 1000)::tid
    ), '{created,ended}', 1, false);
  END LOOP;
END $$;

-- Deletes up to `most` conversations that ended more than `age` ms ago, and returns their number. Moves their sums to the deleted ones.
CREATE FUNCTION research.delete_ended(age float8, most int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  ids uuid[] := ARRAY(
    SELECT request_id FROM research.conversations WHERE completed_at < now() - age * interval '1 ms'
    ORDER BY completed_at LIMIT most FOR UPDATE SKIP LOCKED
  );
BEGIN
  PERFORM research.tally(ids, '{created,ended}', -1, false), research.tally(ids, '{created,ended}', 1, true);
  DELETE FROM research.conversations WHERE request_id = ANY (ids);
  RETURN cardinality(ids);
END $$;

-- Returns what was used in a window that ends now, by the time at which it leaves the window. Windows of a day or more move by whole
-- hours. In a shorter window each conversation counts separately, and deleted ones count by their hour.
CREATE FUNCTION research.counted(of_key text, ms float8)
RETURNS TABLE (leaves timestamptz, created numeric, dollars numeric) LANGUAGE plpgsql AS $$
DECLARE
  length interval := ms * interval '1 ms';
  since timestamptz := clock_timestamp() - length;
BEGIN
  RETURN QUERY SELECT at + interval '1 hour' + length, sum(s.created), sum(s.dollars) FROM research.sums AS s
    WHERE span = 'hour' AND key = of_key AND at >= date_bin('1 hour', since, '2000-01-01Z')
      AND (is_deleted OR ms >= 86400000) GROUP BY at
    UNION ALL SELECT created_at + length, 1, 0 FROM research.conversations
    WHERE ms < 86400000 AND key = of_key AND created_at > since AND is_counted
    UNION ALL SELECT completed_at + length, 0, cost_dollars::numeric FROM research.conversations
    WHERE ms < 86400000 AND key = of_key AND completed_at > since AND cost_dollars IS NOT NULL;
END $$;

-- Sums what was used in a window that ends now. For a day or more, reads the hours of the first day, then whole days.
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

-- Returns when more than `over` of what was used in a window will have left the window.
CREATE FUNCTION research.free_at(of_key text, ms float8, is_dollars boolean, over numeric) RETURNS timestamptz LANGUAGE sql AS $$
  SELECT leaves FROM (
    SELECT leaves, sum(CASE WHEN is_dollars THEN dollars ELSE created END) OVER (ORDER BY leaves) AS gone
    FROM research.counted(of_key, ms)
  ) AS parts WHERE gone > over ORDER BY leaves LIMIT 1
$$;

-- What counts against the limits of a key; see KeyFigures (conversation-store.ts).
CREATE TYPE research.figures AS (
  created numeric, said numeric, reserved numeric, begun numeric, running bigint, waiting bigint, price numeric,
  is_measured boolean, created_free_at timestamptz, said_free_at timestamptz
);

-- Returns what counts against a key's limits. Reads `reserved` first: a conversation that ends meanwhile then counts twice, not never.
CREATE FUNCTION research.figures(own research.keys) RETURNS research.figures LANGUAGE plpgsql AS $$
DECLARE
  f research.figures;
  of_model text;
  unpriced int;
BEGIN
  SELECT max(model), coalesce(bool_and(says_dollars), true) INTO of_model, f.is_measured FROM research.workers;
  SELECT count(*), coalesce(sum((
      SELECT max(m.dollars) FROM research.models AS m WHERE r.model IS NULL OR m.model = r.model
    )::numeric), 0),
    (SELECT sum(s.created - s.completed - s.failed - s.stopped) FROM research.sums AS s WHERE span = 'ever' AND key = own.id),
    (SELECT max(m.dollars) FROM research.models AS m WHERE of_model IS NULL OR m.model = of_model),
    (SELECT m.unpriced FROM research.models AS m WHERE m.model = coalesce(of_model, ''))
  INTO f.running, f.begun, f.waiting, f.price, unpriced FROM research.running AS r WHERE key = own.id;
  f.waiting := greatest(0, f.waiting - f.running);
  f.reserved := f.begun + f.waiting * coalesce(f.price, 0);
  f.is_measured := f.is_measured AND (f.price IS NOT NULL OR unpriced IS NULL OR unpriced < 3);
  IF own.dollars IS NOT NULL THEN
    f.said := (research.used(own.id, own.dollars_ms)).dollars;
    IF f.said >= own.dollars::numeric THEN
      f.said_free_at := research.free_at(own.id, own.dollars_ms, true, f.said - own.dollars::numeric);
    END IF;
  END IF;
  IF own.budget IS NOT NULL THEN
    f.created := (research.used(own.id, own.budget_ms)).created;
    IF f.created >= own.budget THEN
      f.created_free_at := research.free_at(own.id, own.budget_ms, false, f.created - own.budget::numeric);
    END IF;
  END IF;
  RETURN f;
END $$;

-- Returns how many create calls the budgets of a key allow, which must have one. `findBudgetRefusal` (budget-rules.ts) has the same rules.
CREATE FUNCTION research.room(own research.keys, f research.figures) RETURNS numeric LANGUAGE sql IMMUTABLE AS $$
  SELECT greatest(0, least(own.budget - f.created, CASE WHEN own.dollars IS NOT NULL THEN CASE
    WHEN NOT f.is_measured OR f.said + f.reserved >= own.dollars::numeric THEN 0
    WHEN f.price IS NULL THEN 10 - f.waiting
    WHEN f.price = 0 THEN 'Infinity' ELSE ceil((own.dollars::numeric - f.said - f.reserved) / f.price) END END))
$$;

-- Returns whether another conversation of a key may begin. `beginBlock` (budget-rules.ts) has the same rules.
CREATE FUNCTION research.may_begin(own research.keys, f research.figures) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT (own.at_once IS NULL OR f.running < own.at_once) AND (own.dollars IS NULL OR (
    f.is_measured AND f.said + f.begun < own.dollars::numeric AND (f.price IS NOT NULL OR f.running = 0)))
$$;

-- Claims a conversation for a worker with a valid lease. Keys take turns after `last`; begun conversations precede waiting ones.
-- `which`: 'any', 'begun' (at the upstream), or 'new' (not sent yet, and younger than `limit_ms`; while the upstream refuses create
-- calls, only one every `probe_ms`). Checks each key's limits, then locks the row of a key that has room. If another worker takes that
-- room first, the caller has to look again. In a row without an id, `due_at` is the time of the next look. Has
-- few statements, because they are most of its cost.
CREATE FUNCTION research.claim(of_worker uuid, last text, which text, probe_ms float8, limit_ms float8)
RETURNS TABLE (request_id uuid, key text, starts int, claims int, job text, due_at timestamptz) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  own_model text;
  own_key research.keys;
  turn text;
  head record;
  first_due timestamptz;
  next_id uuid;
  is_second boolean := last = '';
  oldest timestamptz := CASE which WHEN 'new' THEN now() - limit_ms * interval '1 ms' ELSE '-infinity' END;
BEGIN
  SELECT model, CASE WHEN which <> 'new' THEN (
    SELECT request_id FROM research.conversations
    WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING') AND due_at <= now()
      AND (which = 'any' OR remote IS NOT NULL)
    ORDER BY key, due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  ) END INTO own_model, next_id FROM research.processes WHERE id = of_worker AND expires_at > now();
  IF NOT FOUND OR (which = 'new' AND EXISTS (SELECT FROM research.gate WHERE kind IS NOT NULL AND next_at > now())) THEN
    RETURN;
  END IF;
  turn := last;
  WHILE next_id IS NULL AND which <> 'begun' LOOP
    SELECT first.*, own AS limits, own.id IS NOT NULL AS is_limited INTO head FROM (
      SELECT key, due_at FROM research.conversations
      WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL AND key > turn ORDER BY key, due_at LIMIT 1
    ) AS first LEFT JOIN research.keys AS own ON id = key AND (at_once IS NOT NULL OR dollars IS NOT NULL);
    IF NOT FOUND OR (is_second AND last <> '' AND head.key > last) THEN
      EXIT WHEN is_second;
      is_second := true;
      turn := '';
      CONTINUE;
    END IF;
    turn := head.key;
    first_due := least(first_due, head.due_at);
    CONTINUE WHEN head.due_at > now()
      OR (head.is_limited AND NOT research.may_begin(head.limits, research.figures(head.limits)));
    -- With more conditions in the inner query, PostgreSQL might sort all waiting conversations of a key to find the first.
    SELECT request_id INTO next_id FROM (
      SELECT request_id, due_at, created_at FROM research.conversations
      WHERE status = 'PENDING' AND worker IS NULL AND remote IS NULL AND key = turn AND due_at > oldest
      ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
    ) AS first WHERE due_at <= now() AND created_at > oldest;
    CONTINUE WHEN NOT FOUND;
    IF head.is_limited THEN
      SELECT * INTO own_key FROM research.keys WHERE id = turn FOR NO KEY UPDATE;
      IF NOT research.may_begin(own_key, research.figures(own_key)) THEN
        next_id := NULL;
        first_due := now();
        EXIT;
      END IF;
    END IF;
    IF which = 'new' AND EXISTS (SELECT FROM research.gate WHERE kind IS NOT NULL) THEN
      UPDATE research.gate SET next_at = now() + probe_ms * interval '1 ms' WHERE kind IS NOT NULL AND next_at <= now();
      IF NOT FOUND THEN
        RETURN;
      END IF;
    END IF;
  END LOOP;
  IF next_id IS NULL THEN
    RETURN QUERY SELECT NULL::uuid, NULL::text, NULL::int, NULL::int, NULL::text, first_due;
    RETURN;
  END IF;
  RETURN QUERY UPDATE research.conversations AS own SET worker = of_worker, claims = own.claims + 1,
    model = coalesce(own_model, own.model),
    status = CASE which WHEN 'any' THEN 'PROCESSING' ELSE status END,
    started_at = CASE which WHEN 'any' THEN coalesce(started_at, now()) ELSE started_at END,
    starts = own.starts + (which = 'any' AND remote IS NULL)::int
  WHERE own.request_id = next_id
  RETURNING own.request_id, own.key, own.starts, own.claims, own.job, own.due_at;
END $$;

-- Counts as many of the wanted requests as the hour and, for create calls, the budgets allow, and returns their number. Locks the
-- counter's row first, so that it then sees what other requests have taken. A different size rebuilds the ring.
CREATE FUNCTION research.take(of_key text, of_operation text, wanted int, new_size bigint) RETURNS int
LANGUAGE plpgsql AS $$
DECLARE
  own research.counters;
  room numeric;
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
    SELECT research.room(k, research.figures(k)) INTO room FROM research.keys AS k
    WHERE id = of_key AND (budget IS NOT NULL OR dollars IS NOT NULL);
    wanted := least(wanted, room);
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
  -- The next slots are the oldest, so free slots come first.
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
  RETURN granted;
END $$;

-- Counts the create call of a conversation, once, in the 24 hours of an account at the upstream service. Returns NULL, or the ms
-- until the account has room. The lock lets only one create call count at a time.
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
