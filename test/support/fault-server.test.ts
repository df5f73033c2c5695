import { connect } from "node:net";
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
