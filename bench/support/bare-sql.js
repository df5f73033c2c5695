#!/usr/bin/env node
// What PostgreSQL itself does with the same rows: as many connections as two processes have, each with the next
// statement as soon as the last one is answered. Prints statements a second, and its processor seconds.
// Arguments: the URL of the database, "insert", "select" or "output", seconds, request_id.
import { randomUUID } from "node:crypto";
import pg from "pg";

const CONNECTIONS = 20;
const [url = "", what = "", seconds = "5", requestId = ""] = process.argv.slice(2);
const STATEMENTS = {
  insert: "INSERT INTO research.conversations (request_id, key, job, due_at) VALUES ($1, $2, $3, now())",
  select: "SELECT status, created_at, completed_at, reason FROM research.conversations WHERE request_id = $1",
  output:
    "SELECT status, created_at, completed_at, output, data FROM research.conversations WHERE request_id = $1",
};
const job = { prompt: "why?", structured_output: false };
const values = () => {
  if (what !== "insert") return [requestId];
  const request_id = randomUUID();
  return [request_id, "bare", JSON.stringify({ request_id, ...job })];
};
const text = STATEMENTS[/** @type {"insert" | "select" | "output"} */ (what)];
const clients = await Promise.all(
  Array.from({ length: CONNECTIONS }, async () => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  }),
);
const end = performance.now() + Number(seconds) * 1_000;
let count = 0;
await Promise.all(
  clients.map(async (client) => {
    while (performance.now() < end) {
      await client.query({ name: what, text, values: values() });
      count++;
    }
    await client.end();
  }),
);
const { user, system } = process.cpuUsage();
process.stdout.write(`${count / Number(seconds)} ${(user + system) / 1e6}\n`);
