/**
 * What stands in the database of a team's service. Of `keys` added keys the first `limited` have --at-once and
 * --dollars, of which much is left; 16 % of what has ended is of the first key. One in 50 has FAILED, one in 50 was STOPPED.
 * @typedef {{ keys: number, limited: number, ended: number, waiting: number }} Team
 */

const DAY_MS = 86_400_000;

/** The id of the key of that number, from 1 on. */
export const keyOf = (/** @type {number} */ number) => `k${String(number).padStart(4, "0")}`;

const KEY = (/** @type {string} */ number) => `'k' || lpad((${number})::text, 4, '0')`;
const JOB = `'{"request_id":"' || id || '","prompt":"why?","structured_output":false}'`;

/**
 * Adds these rows to a database: what has ended is spread over 60 days, what waits over the last
 * hour. Returns how long the rows, their indexes, and `research.recount` took, in ms of `now`.
 * @param {import("pg").Client} client
 * @param {Team} team
 * @param {() => number} [now]
 */
export async function fillTeam(client, { keys, limited, ended, waiting }, now = () => performance.now()) {
  const begun = now();
  const budget = (/** @type {string} */ value) => `CASE WHEN n <= ${limited} THEN ${value} END`;
  await client.query(
    `INSERT INTO research.keys (id, name, hash, tier, creates_per_hour, stops_per_hour, created_at,
      at_once, dollars, dollars_ms)
    SELECT ${KEY("n")}, 'name ' || n, 'hash ' || n, 'enterprise', 1e6, 1e6, now(),
      ${budget("1e6")}, ${budget("1e9")}, ${budget(`${30 * DAY_MS}`)}
    FROM generate_series(1, ${keys}) AS n ON CONFLICT DO NOTHING`,
  );
  await client.query("INSERT INTO research.models VALUES ('m', 0.1, 0) ON CONFLICT DO NOTHING");
  // Indexes of what is there already are made faster than they grow, above all that of ids, which are random.
  const { rows: indexes } = await client.query(
    `SELECT indexrelid::regclass::text AS name, pg_get_indexdef(indexrelid) AS text FROM pg_index
    WHERE indrelid = 'research.conversations'::regclass AND NOT indisprimary`,
  );
  const { rows: constraints } = await client.query(
    `SELECT conrelid::regclass::text AS "table", conname AS name, pg_get_constraintdef(oid) AS text FROM pg_constraint
    WHERE (contype = 'p' AND conrelid = 'research.conversations'::regclass)
      OR (contype = 'f' AND confrelid = 'research.conversations'::regclass) ORDER BY contype DESC`,
  );
  for (const { name } of indexes) await client.query(`DROP INDEX ${name}`);
  for (const { table, name } of [...constraints].reverse())
    await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  await client.query(
    `INSERT INTO research.conversations (request_id, key, status, created_at, due_at, started_at, completed_at, ended_job,
      output, model, cost_dollars, input_tokens, output_tokens, is_counted)
    SELECT id, ${KEY(`CASE WHEN n % 100 < 16 THEN 1 ELSE n % ${keys} + 1 END`)},
      coalesce((ARRAY['FAILED', 'STOPPED'])[n % 50 + 1], 'COMPLETED'), at, at, at + interval '1 s', at + interval '5 min', ${JOB},
      '"an answer"', 'm', CASE WHEN n % 50 > 1 THEN 0.1 END, 1000, 100, true
    FROM (SELECT n, gen_random_uuid() AS id, now() - interval '60 days' + n * ((interval '60 days' - interval '10 min') / ${ended}) AS at
      FROM generate_series(1, ${ended}) AS n) AS rows`,
  );
  await client.query(
    `INSERT INTO research.conversations (request_id, key, created_at, due_at, job, model, is_counted)
    SELECT id, ${KEY(`n % ${keys} + 1`)}, at, at, ${JOB}, 'm', true
    FROM (SELECT n, gen_random_uuid() AS id, now() - interval '1 hour' + n * (interval '59 minutes' / ${waiting}) AS at
      FROM generate_series(1, ${waiting}) AS n) AS rows`,
  );
  const filled = now();
  await client.query("SET maintenance_work_mem = '512MB'");
  for (const { table, name, text } of constraints)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${text}`);
  for (const { text } of indexes) await client.query(text);
  const indexed = now();
  await client.query("SELECT research.recount()");
  const recounted = now();
  await client.query("VACUUM ANALYZE");
  return { rows: filled - begun, indexes: indexed - filled, recount: recounted - indexed };
}
