#!/usr/bin/env node
// A create handler with nothing behind it, on the framework that the local service uses. Prints its URL.
import { randomUUID } from "node:crypto";
import { serve } from "@hono/node-server";
import { Hono } from "hono";

const app = new Hono().post("/api/v1/conversations", async (c) => {
  const { prompt } = await c.req.json();
  if (typeof prompt !== "string")
    return c.json({ status: false, version: "1.0.0", error: { message: "", code: "VALIDATION_ERROR" } }, 400);
  const created_at = new Date().toISOString();
  return c.json({
    status: true,
    version: "1.0.0",
    data: { request_id: randomUUID(), status: "PENDING", created_at },
  });
});
serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) =>
  process.stdout.write(`http://127.0.0.1:${port}\n`),
);
