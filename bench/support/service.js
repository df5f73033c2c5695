#!/usr/bin/env node
// The least service that a client can talk to: every answer is the same, so what is measured is the client. A
// process of its own, so that it takes no time of what is measured. Prints its URL.
import { createServer } from "node:http";

const created_at = "2030-01-01T00:00:00.000+00:00";
let count = 0;
let polls = 0;

const server = createServer((request, response) => {
  const path = request.url ?? "";
  if (path === "/polls") return void response.end(String(polls));
  polls++;
  const id = path.split("/")[4] ?? `bench-${process.pid}-${count++}`;
  const status = path.endsWith("/status") ? (id.startsWith("done") ? "COMPLETED" : "PROCESSING") : "PENDING";
  const isCrawl = path.includes("/crawl/");
  const data = isCrawl ? [] : { request_id: id, status, created_at };
  const body = {
    status: isCrawl ? "completed" : true,
    success: true,
    version: "1.0.0",
    total: 0,
    completed: 0,
    data,
  };
  // The same as OpenAI says it.
  const run = { id: "resp_bench", status: "queued", created_at: 1_893_456_000, output: [] };
  request.resume().on("end", () => {
    response
      .writeHead(200, { "content-type": "application/json" })
      .end(JSON.stringify(path.startsWith("/v1/") ? run : body));
  });
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address && typeof address === "object") process.stdout.write(`http://127.0.0.1:${address.port}\n`);
});
