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
-- `progress` and `data` are JSON: how far the work is, and what an outcome says beside the output. `remote` is the
-- request at another service that works on the conversation.
CREATE TABLE research.conversations (
  request_id uuid PRIMARY KEY,
  key text NOT NULL,
  status text NOT NULL DEFAULT 'PENDING'
    CHECK (status IN ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED', 'STOPPED')),
  created_at timestamptz(3) NOT NULL DEFAULT now(),
  due_at timestamptz NOT NULL,
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
-- Keys take turns in the queue.
CREATE INDEX queue ON research.conversations (key, due_at) WHERE job IS NOT NULL AND worker IS NULL;
CREATE INDEX begun ON research.conversations (key, due_at)
  WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING');
CREATE INDEX lost ON research.conversations (remote_begun_at)
  WHERE status = 'STOPPED' AND remote_id IS NULL AND remote IS NOT NULL AND NOT remote ? 'lost';
CREATE INDEX claims ON research.conversations (worker) WHERE worker IS NOT NULL;
CREATE INDEX ended ON research.conversations (completed_at) WHERE completed_at IS NOT NULL;
CREATE INDEX newest ON research.conversations (created_at DESC);
CREATE INDEX creates ON research.conversations (key, created_at);
CREATE INDEX costs ON research.conversations (key, completed_at) WHERE cost_dollars IS NOT NULL;
-- What counts of conversations that were deleted.
CREATE TABLE research.spent (
  key text NOT NULL,
  created_at timestamptz(3) NOT NULL,
  completed_at timestamptz(3) NOT NULL,
  status text NOT NULL,
  model text,
  cost_dollars double precision,
  input_tokens double precision,
  output_tokens double precision
);
CREATE INDEX spent_creates ON research.spent (key, created_at);
CREATE INDEX spent_ends ON research.spent (key, completed_at);
CREATE VIEW research.bills AS
  SELECT key, created_at, completed_at, status, model, cost_dollars, input_tokens, output_tokens
  FROM research.conversations
  UNION ALL SELECT * FROM research.spent;
CREATE VIEW research.unfinished AS
  SELECT * FROM research.conversations WHERE job IS NOT NULL AND worker IS NULL
  UNION ALL SELECT * FROM research.conversations WHERE worker IS NOT NULL;
-- Of those, what has begun: few, however many wait.
CREATE VIEW research.running AS
  SELECT * FROM research.conversations
  WHERE job IS NOT NULL AND worker IS NULL AND (remote IS NOT NULL OR status = 'PROCESSING')
  UNION ALL SELECT * FROM research.conversations WHERE worker IS NOT NULL;
-- The highest cost that a conversation of each model had; '' where the model is not known.
CREATE TABLE research.models (model text PRIMARY KEY, dollars double precision NOT NULL);
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

-- The highest cost of a model; of any if the model is not known.
CREATE FUNCTION research.price(of_model text) RETURNS numeric LANGUAGE sql STABLE AS $$
  SELECT coalesce(max(dollars), 0)::numeric FROM research.models WHERE model = of_model OR of_model IS NULL
$$;

-- The model that a conversation is going to have: that of the workers.
CREATE FUNCTION research.model() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT max(model) FROM research.processes WHERE role <> 'api' AND expires_at > now()
$$;

-- Dollars that count in the budget of a key: what was said in its time, and the price of each unfinished conversation, or
-- only of those that have begun. Its statements see what others have committed until now.
CREATE FUNCTION research.counted_dollars(of_key text, begun_only boolean, OUT said numeric, OUT reserved numeric)
LANGUAGE plpgsql AS $$
BEGIN
  SELECT coalesce(sum(cost_dollars::numeric), 0) INTO said FROM research.bills
  WHERE key = of_key AND cost_dollars IS NOT NULL
    AND completed_at > now() - (SELECT dollars_ms FROM research.keys WHERE id = of_key) * interval '1 ms';
  SELECT coalesce(sum(count * research.price(model)), 0) INTO reserved FROM (
    SELECT model, count(*) FROM research.running WHERE key = of_key AND begun_only GROUP BY model
    UNION ALL SELECT model, count(*) FROM research.unfinished WHERE key = of_key AND NOT begun_only GROUP BY model
  ) AS counted;
END $$;

-- How many of the wanted creates the budgets of a key allow. The caller holds a lock that lets one count at a time.
CREATE FUNCTION research.room(of_key text, wanted int) RETURNS int LANGUAGE plpgsql AS $$
DECLARE
  own research.keys;
  room numeric := wanted;
  left_over numeric;
  price numeric;
BEGIN
  SELECT * INTO own FROM research.keys WHERE id = of_key;
  IF own.budget IS NOT NULL THEN
    SELECT least(room, own.budget::numeric - count(*)) INTO room FROM (
      SELECT FROM research.bills WHERE key = of_key AND created_at > now() - own.budget_ms * interval '1 ms'
      LIMIT own.budget
    ) AS counted;
  END IF;
  IF own.dollars IS NOT NULL THEN
    SELECT own.dollars::numeric - said - reserved INTO left_over FROM research.counted_dollars(of_key, false);
    price := research.price(research.model());
    room := least(room, CASE WHEN left_over <= 0 OR NOT research.says_dollars() THEN 0
      WHEN price = 0 THEN room ELSE ceil(left_over / price) END);
  END IF;
  RETURN greatest(0, room);
END $$;

-- Whether what the workers do is known to cost something or nothing.
CREATE FUNCTION research.says_dollars() RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (
    SELECT FROM research.processes WHERE role <> 'api' AND expires_at > now() AND NOT says_dollars
  )
$$;

-- Whether a conversation of a key may begin. Until the end of the transaction it is false for every other one that asks:
-- they would count what they cannot see yet.
CREATE FUNCTION research.may_begin(of_key text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  own research.keys;
BEGIN
  SELECT * INTO own FROM research.keys WHERE id = of_key FOR NO KEY UPDATE SKIP LOCKED;
  IF NOT FOUND THEN
    RETURN false;
  END IF;
  IF own.at_once <= (
    SELECT count(*) FROM research.running WHERE key = of_key
  ) THEN
    RETURN false;
  END IF;
  RETURN own.dollars IS NULL OR (
    SELECT said + reserved < own.dollars::numeric FROM research.counted_dollars(of_key, true)
  );
END $$;

-- Counts as many of the wanted requests as the hour and, for creates, the budgets allow. The row of the counter is locked first: what is
-- read after that is what the others have left. Another size lays the ring anew.
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
  WHILE granted < wanted LOOP
    INSERT INTO research.slots AS slot VALUES (of_key, of_operation, own.taken % new_size, moment)
    ON CONFLICT (key, operation, number) DO UPDATE SET at = moment WHERE slot.at <= moment - interval '1 hour';
    EXIT WHEN NOT FOUND;
    own.taken := own.taken + 1;
    granted := granted + 1;
  END LOOP;
  IF granted > 0 OR own.size <> new_size THEN
    UPDATE research.counters SET taken = own.taken, size = new_size
    WHERE key = of_key AND operation = of_operation;
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
