#!/usr/bin/env node
// Sixteen connections, each with the next request as soon as the last one is answered. Prints answers a second.
// Arguments: method, URL, seconds, body.
import { Pool } from "undici";

const [method = "GET", target = "", seconds = "5", body] = process.argv.slice(2);
const url = new URL(target);
const pool = new Pool(url.origin, { connections: 16 });
const headers = {
  authorization: `Bearer ${process.env.RESEARCH_API_KEY}`,
  "content-type": "application/json",
};
const end = performance.now() + Number(seconds) * 1_000;
let answers = 0;
await Promise.all(
  Array.from({ length: 16 }, async () => {
    while (performance.now() < end) {
      const answer = await pool.request({
        method: /** @type {"GET"} */ (method),
        path: url.pathname,
        headers,
        body: body ?? null,
      });
      if (answer.statusCode !== 200) throw new Error(`HTTP ${answer.statusCode}`);
      await answer.body.dump();
      answers++;
    }
  }),
);
await pool.close();
process.stdout.write(`${answers / Number(seconds)}\n`);
