import { connect } from "node:net";
import { gunzipSync } from "node:zlib";
import { expect, test } from "vitest";
import type { Behaviour } from "./behaviours.js";
import * as does from "./behaviours.js";
import { faultServer, REFUSED_URL } from "./fault-server.js";
import { quiet } from "./quiet.js";

const GOOD = { body: does.envelope({ status: "PENDING" }) };
const CREATE = 'POST /x/api/v1/conversations HTTP/1.1\r\nHost: h\r\nContent-Length: 14\r\n\r\n{"prompt":"?"}';
const STATUS = "GET /api/v1/conversation/abc/status HTTP/1.1\r\nHost: h\r\n\r\n";

interface Heard {
  bytes: Buffer;
  /** `ECONNRESET` and the like; `end`; or `open` where nothing more came for a while. */
  end: string;
  elapsedMs: number;
}

/** Speaks to a port byte by byte, and listens until the connection ends or stays silent for 150 ms. */
function say(port: number, text: string, quietMs = 150): Promise<Heard> {
  return new Promise((resolve) => {
    const pieces: Buffer[] = [];
    const start = performance.now();
    const socket = connect(port, "127.0.0.1", () => socket.write(text)).setTimeout(quietMs);
    const finish = (end: string) => {
      socket.destroy();
      resolve({ bytes: Buffer.concat(pieces), end, elapsedMs: performance.now() - start });
    };
    socket
      .on("data", (piece) => pieces.push(piece))
      .on("timeout", async () => {
        // A timer that is late fires before what has come is read.
        const before = pieces.length;
        await quiet();
        if (pieces.length === before) finish("open");
      })
      .on("error", (error: NodeJS.ErrnoException) => finish(error.code ?? "?"))
      .on("end", () => finish("end"));
  });
}

async function heard(behaviour: Behaviour, text = STATUS): Promise<Heard> {
  const server = await faultServer(() => behaviour);
  const result = await say(server.port, text);
  expect(server.errors).toEqual([]);
  await server.close();
  return result;
}

test("requests are logged byte for byte, with their operation and number", async () => {
  const server = await faultServer((operation, nth) => does.ok({ status: `${operation} ${nth}` }));
  const { bytes, end } = await say(server.port, CREATE + STATUS + CREATE);
  expect(end).toBe("open");
  expect(
    bytes
      .toString()
      .match(/"status":"[^"]+/g)
      ?.map((text) => text.slice(10)),
  ).toEqual(["create 1", "status 1", "create 2"]);
  const [first] = server.requests;
  expect(`${first?.head}${first?.body}`).toBe(CREATE);
  expect(first).toMatchObject({
    method: "POST",
    path: "/x/api/v1/conversations",
    whole: true,
    connection: 1,
  });
  expect(first?.headers).toEqual({ host: "h", "content-length": "14" });
  expect([server.count("create"), server.count("status"), server.count("stop"), server.count()]).toEqual([
    2, 1, 0, 3,
  ]);
});

test("refused, and listening again on the same port", async () => {
  const server = await faultServer(() => does.ok({}));
  await server.close();
  expect((await say(server.port, STATUS)).end).toBe("ECONNREFUSED");
  await server.open();
  expect((await say(server.port, STATUS)).bytes.toString()).toContain("200");
  expect((await say(Number(new URL(REFUSED_URL).port), STATUS)).end).toBe("ECONNREFUSED");
});

test("faults of a connection", async () => {
  const fates = ["reset", "hang", "speak-no-http", "serve"] as const;
  const server = await faultServer(() => does.ok({}), { onConnection: (nth) => fates[nth - 1] ?? "serve" });
  expect((await say(server.port, STATUS)).end).toBe("ECONNRESET");
  expect(await say(server.port, STATUS)).toMatchObject({ end: "open", bytes: Buffer.alloc(0) });
  expect((await say(server.port, STATUS)).bytes.toString()).toBe("220 smtp.example ESMTP ready\r\n");
  expect((await say(server.port, STATUS)).bytes.toString()).toContain("200");
  expect(server.count()).toBe(1);
});

test("a reset after the headers does not wait for the body, one after the body does", async () => {
  const half = CREATE.slice(0, -4);
  expect((await heard(does.reset("head"), half)).end).toBe("ECONNRESET");
  expect((await heard(does.reset("body"), half)).end).toBe("open");
  expect((await heard(does.reset("body"), CREATE)).end).toBe("ECONNRESET");
});

test("silence, and an end without an answer", async () => {
  expect(await heard(does.hang())).toMatchObject({ end: "open", bytes: Buffer.alloc(0) });
  expect(await heard(does.close())).toMatchObject({ end: "end", bytes: Buffer.alloc(0) });
});

test("a drip of the whole answer, and one of its body", async () => {
  const size = does.answerBytes(GOOD).length;
  const whole = await heard(does.drip(GOOD, 2));
  expect(whole.bytes.length).toBe(size);
  expect(whole.elapsedMs).toBeGreaterThan(2 * size);
  const body = await heard(does.drip(GOOD, 2, "body"));
  expect(body.bytes.length).toBe(size);
  expect(body.elapsedMs).toBeGreaterThan(2 * GOOD.body.length);
});

test("a body cut short, with and without a length", async () => {
  const cut = await heard(does.truncate(GOOD, 10));
  expect(cut.bytes.toString()).toContain(
    `content-length: ${GOOD.body.length}\r\n\r\n${GOOD.body.slice(0, 10)}`,
  );
  expect(cut.end).toBe("end");
  const open = await heard(does.truncate({ ...GOOD, length: "none" }, 10));
  expect(open.bytes.toString()).not.toContain("content-length");
  expect(open.bytes.toString().endsWith(`\r\n\r\n${GOOD.body.slice(0, 10)}`)).toBe(true);
  const broken = await heard(does.truncate(GOOD, 10, "reset"));
  expect(broken).toMatchObject({ end: "ECONNRESET", bytes: cut.bytes });
});

test("raw bytes, redirects, pages, refusals", async () => {
  expect((await heard(does.raw("HTTP/9.9 banana\r\n\r\n"))).bytes.toString()).toBe("HTTP/9.9 banana\r\n\r\n");
  expect((await heard(does.redirect(307, "http://elsewhere/"))).bytes.toString()).toContain(
    "location: http://elsewhere/\r\n",
  );
  expect((await heard(does.html(502))).bytes.toString()).toMatch(/^HTTP\/1.1 502 [\s\S]*<h1>/);
  const refusal = (
    await heard(does.refuse(429, "RATE_LIMIT_EXCEEDED", { "retry-after": 7 }))
  ).bytes.toString();
  expect(refusal).toMatch(/^HTTP\/1.1 429 [\s\S]*retry-after: 7\r\n[\s\S]*"code":"RATE_LIMIT_EXCEEDED"/);
});

test("a gzip bomb is small on the wire, a huge body is not, a nested one is JSON", async () => {
  const size = 8 * 1024 * 1024;
  const bomb = (await heard(does.gzipBomb(size))).bytes;
  expect(bomb.length).toBeLessThan(size / 500);
  expect(gunzipSync(bomb.subarray(bomb.indexOf("\r\n\r\n") + 4)).length).toBe(size);
  expect((await heard(does.huge(size))).bytes.length).toBeGreaterThan(size);
  const deep = (await heard(does.nested(1_000))).bytes.toString();
  expect(deep).toContain("[".repeat(1_000) + "]".repeat(1_000));
});
