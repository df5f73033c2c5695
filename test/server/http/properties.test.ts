import { request as httpRequest, type IncomingMessage, METHODS } from "node:http";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Service } from "../../../src/server/service.js";
import { anyText } from "../../support/any-text.js";
import { KEY, serviceFor } from "../../support/service.js";
import { raw } from "../../support/wire.js";

let service: Service;
const defects: string[] = [];
beforeAll(async () => {
  service = await serviceFor({
    log: (line) => {
      if (line.includes("defect")) defects.push(line);
    },
  });
});
afterAll(() => service.close());

/** Bounded in runs and in time: the machine has others to serve. */
const LIMITS = { numRuns: 300, interruptAfterTimeLimit: 8_000, markInterruptAsFailure: false };

const id = fc.oneof(
  fc.uuid(),
  fc.constantFrom("..", ".", "%", "%00", "%2e%2e", "%2F", "a b", "é", "x".repeat(5_000)),
  fc.string(),
);
const path = fc.oneof(
  fc.constantFrom(
    "/",
    "/openapi.json",
    "/api/v1/conversations",
    "/api/v1/conversations/",
    "*",
    "http://localhost/x",
    "//x//",
  ),
  fc
    .tuple(id, fc.constantFrom("stop", "status", "output", "", "x"))
    .map(([one, verb]) => `/api/v1/conversation/${one}/${verb}`),
  fc.array(anyText.map(encodeURIComponent)).map((segments) => `/${segments.join("/")}`),
  fc.string().map((one) => `/${one}?${one}#${one}`),
);
const header = fc.tuple(
  fc.oneof(
    fc.constantFrom(
      "Content-Type",
      "Content-Encoding",
      "Accept",
      "Origin",
      "Host",
      "Authorization",
      "Upgrade",
      "Connection",
    ),
    fc.constantFrom(
      "X-Forwarded-Host",
      "If-Match",
      "Range",
      "Cookie",
      "__proto__",
      "Expect",
      "Transfer-Encoding",
    ),
    fc.stringMatching(/^[A-Za-z][A-Za-z0-9-]{0,20}$/),
  ),
  fc.oneof(
    fc.constantFrom(
      "application/json",
      "application/json;charset=x",
      "text/html",
      "localhost",
      "a b",
      "close",
      "websocket",
    ),
    fc.stringMatching(/^[\x20-\x7e\x80-\xff]{0,60}$/),
  ),
);
const body = fc.oneof(
  fc.json(),
  fc.json().map((one) => `{"prompt":${one}}`),
  fc
    .tuple(fc.json(), fc.json())
    .map(([a, b]) => `{"prompt":"x","structured_output":${a},"output_schema":${b}}`),
  fc
    .json()
    .map((one) => `{"prompt":"x","structured_output":true,"output_schema":{"properties":{"a":${one}}}}`),
  anyText,
  fc.constantFrom("", "[".repeat(100_000), '{"__proto__":{"prompt":"x"}}', '{"prompt":"\\ud800"}'),
  fc.uint8Array({ maxLength: 200 }),
);

it("whatever Node's parser accepts gets an envelope, and never a 5xx", async () => {
  const methods = METHODS.filter((method) => method !== "CONNECT");
  const requests = fc.record({
    method: fc.constantFrom(...methods),
    path,
    headers: fc.array(header, { maxLength: 5 }),
    body,
  });
  await fc.assert(
    fc.asyncProperty(requests, async (request) => {
      const answer = await send(request);
      // Node's own client would not send it: nothing was asked.
      if (answer === undefined) return;
      expect(answer.status).toBeGreaterThanOrEqual(200);
      expect(answer.status).toBeLessThan(500);
      if (request.method === "HEAD") return;
      const described = answer.status === 200 && "openapi" in JSON.parse(answer.text);
      if (!described)
        expect(JSON.parse(answer.text)).toMatchObject({ status: answer.status === 200, version: "1.0.0" });
    }),
    LIMITS,
  );
  expect(defects).toEqual([]);
});

it("whatever bytes arrive, what is answered is an envelope, and the service goes on", async () => {
  const line = fc.constantFrom(
    "GET / HTTP/1.1\r\n",
    "POST /api/v1/conversations HTTP/1.1\r\nHost: localhost\r\n",
    "",
  );
  const rest = fc.oneof(
    fc.string({ unit: "binary-ascii", maxLength: 300 }),
    fc.constantFrom("Host: \r\n\r\n", ": x\r\n\r\n"),
  );
  await fc.assert(
    fc.asyncProperty(line, rest, async (first, second) => {
      fc.pre(!/^CONNECT/.test(second));
      const text = await raw(service.baseUrl, `${first}${second}\r\nConnection: close\r\n\r\n\x00\r\n\r\n`);
      const bodies = text.split(/HTTP\/1\.1 \d{3} [^\r]*\r\n/).slice(1);
      expect(text).toMatch(/^HTTP\/1\.1 [234]\d\d /);
      for (const answerText of bodies)
        expect(JSON.parse(answerText.slice(answerText.indexOf("\r\n\r\n")))).toHaveProperty("version");
    }),
    LIMITS,
  );
  expect(defects).toEqual([]);
});

interface Random {
  method: string;
  path: string;
  headers: [string, string][];
  body: string | Uint8Array;
}

/** Sends it with the key unless it brings its own; undefined where Node's client refuses to. */
function send({
  method,
  path,
  headers,
  body,
}: Random): Promise<{ status: number; text: string } | undefined> {
  return new Promise((resolve, reject) => {
    let request: ReturnType<typeof httpRequest>;
    const otherHeaders = Object.fromEntries(
      headers.filter(([name]) => !/^(?:Transfer-Encoding|Expect)$/i.test(name)),
    );
    const { hostname, port } = new URL(service.baseUrl);
    try {
      request = httpRequest({
        hostname,
        port,
        method,
        path,
        agent: false,
        headers: { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json", ...otherHeaders },
      });
    } catch {
      resolve(undefined);
      return;
    }
    request.on("response", (response: IncomingMessage) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        text += chunk;
      });
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text }));
      response.on("error", reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
