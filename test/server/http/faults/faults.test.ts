import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createSeededRandom, FaultPlan, parseFault } from "../../../../src/server/http/faults/fault.js";
import { KEY, serviceFor } from "../../../support/service.js";
import { type Answer, ask, post } from "../../../support/wire.js";

describe("a fault is read", () => {
  it.each([
    ["status:503:first=2", { operation: "status", kind: { status: 503 }, how: { first: 2 } }],
    [
      "any:503+retry-after=2",
      { operation: "any", kind: { status: 503, retryAfter: "2" }, how: { each: true } },
    ],
    ["create:reset-after-body:nth=3", { operation: "create", kind: "reset-after-body", how: { nth: 3 } }],
    ["output:drip:p=0.1", { operation: "output", kind: "drip", how: { p: 0.1 } }],
    ["stop:hang:p=1", { operation: "stop", kind: "hang", how: { p: 1 } }],
  ])("%s", (text, fault) => {
    expect(parseFault(text)).toStrictEqual({ text, ...fault });
  });

  it("without the digit before the point, too", () => {
    expect(parseFault("status:hang:p=.25").how).toEqual({ p: 0.25 });
  });

  it.each([
    ["", "begins with none of create, status, stop, output, any"],
    ["status", "has no kind that is known"],
    ["watch:503", "begins with none of"],
    ["status:600", "has no kind"],
    ["status:99", "has no kind"],
    ["status:explode", "has no kind"],
    ["status:503:nth=0", "does not say when"],
    ["status:503:first=x", "does not say when"],
    ["status:503:p=2", "does not say when"],
    ["status:503:p=0", "does not say when"],
    ["status:503:", "does not say when"],
    ["status:503:nth=1:p=1", "has more than three parts"],
  ])("or refused in a sentence: %j", (text, why) => {
    expect(() => parseFault(text)).toThrow(why);
  });
});

describe("when", () => {
  const plan = (...texts: string[]) => new FaultPlan(texts.map(parseFault), createSeededRandom(7));
  const outcomes = (from: FaultPlan, count: number) =>
    Array.from({ length: count }, () => from.takeNext("status"));

  it("nth, first, each, and the first fault that is due", () => {
    expect(outcomes(plan("status:hang:nth=2"), 3)).toEqual([undefined, "hang", undefined]);
    expect(outcomes(plan("any:hang:first=2"), 3)).toEqual(["hang", "hang", undefined]);
    expect(outcomes(plan("create:hang"), 2)).toEqual([undefined, undefined]);
    expect(outcomes(plan("status:drip:nth=1", "status:hang"), 2)).toEqual(["drip", "hang"]);
  });

  it("those that may still befall a request are in force, with what they have counted", () => {
    const faults = plan("status:hang:nth=2", "any:drip:first=1", "create:html", "status:reset:p=0.5");
    const left = () => faults.listInForce().map(({ fault, seen }) => [fault.text, seen]);
    faults.takeNext("status");
    expect(left()).toEqual([
      ["status:hang:nth=2", 1],
      ["create:html", 0],
      ["status:reset:p=0.5", 1],
    ]);
    faults.takeNext("status");
    expect(left()).toEqual([
      ["create:html", 0],
      ["status:reset:p=0.5", 2],
    ]);
  });

  it("p follows the seed", () => {
    const first = outcomes(plan("status:hang:p=0.3"), 200);
    expect(outcomes(plan("status:hang:p=0.3"), 200)).toEqual(first);
    const share = first.filter((kind) => kind === "hang").length / 200;
    expect(share).toBeGreaterThan(0.2);
    expect(share).toBeLessThan(0.4);
  });
});

/** What comes back for a GET of a status, byte for byte, within `ms`; `error` where the connection broke. */
function bytesFrom(baseUrl: string, ms: number): Promise<{ text: string; error?: string; ended: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(Number(new URL(baseUrl).port), "127.0.0.1");
    const seen: { text: string; error?: string; ended: boolean } = { text: "", ended: false };
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(seen);
    };
    const timer = setTimeout(done, ms);
    socket.on("data", (chunk) => {
      seen.text += chunk.toString("latin1");
    });
    socket.on("end", () => {
      seen.ended = true;
      done();
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      seen.error = String(error.code);
      done();
    });
    socket.write(
      `GET /api/v1/conversation/x/status HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n\r\n`,
    );
  });
}

/** The address of a service with this fault. */
async function under(fault: string): Promise<string> {
  return (await serviceFor({ faults: [parseFault(fault)] })).baseUrl;
}

describe("each kind on the wire:", () => {
  const status = async (fault: string): Promise<Answer> =>
    ask(await under(fault), { path: "/api/v1/conversation/x/status", key: KEY });

  it("a status of a gateway is bare, one of the service an envelope", async () => {
    const gateway = await status("status:503+retry-after=2");
    expect([gateway.status, gateway.headers["retry-after"], gateway.json]).toEqual([503, "2", {}]);
    const answer = await status("status:429+retry-after=9");
    expect([answer.status, answer.headers["retry-after"]]).toEqual([429, "9"]);
    expect(answer.json.error?.code).toBe("RATE_LIMIT_EXCEEDED");
    for (const [code, text] of [
      [204, ""],
      [205, ""],
      [304, ""],
      [500, "500 by a fault on demand\n"],
    ] as const) {
      const bare = await status(`status:${code}`);
      expect(bare).toMatchObject({ status: code, text });
      expect(Number(bare.headers["content-length"] ?? 0)).toBe(text.length);
    }
  });

  it("reset breaks the connection before the service sees anything", async () => {
    const seen = await bytesFrom(await under("status:reset"), 5_000);
    expect(seen).toEqual({ text: "", error: "ECONNRESET", ended: false });
  });

  it("reset-after-body has created, and tells nobody", async () => {
    const free = await serviceFor({ tier: "free", faults: [parseFault("create:reset-after-body:first=10")] });
    const create = () => post(free.baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
    for (let i = 0; i < 10; i++) await expect(create()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect((await create()).status).toBe(429);
  });

  it("hang says nothing, and does not keep the service from closing", async () => {
    const service = await serviceFor({ faults: [parseFault("status:hang")] });
    expect(await bytesFrom(service.baseUrl, 300)).toEqual({ text: "", ended: false });
    void ask(service.baseUrl, { path: "/api/v1/conversation/x/status", key: KEY }).catch(() => {});
    await service.close();
  });

  it("drip sends the head, then a byte a second", async () => {
    const { text, ended } = await bytesFrom(await under("status:drip"), 1_500);
    expect(text).toMatch(/^HTTP\/1\.1 404 [\s\S]*\r\n\r\n\{"?$/);
    expect(ended).toBe(false);
  });

  it("truncate promises more than it sends", async () => {
    const { text } = await bytesFrom(await under("status:truncate"), 5_000);
    const [head = "", body = ""] = text.split("\r\n\r\n");
    const promised = Number(/content-length: (\d+)/i.exec(head)?.[1]);
    expect(body.length).toBe(Math.ceil(promised / 2));
  });

  it("html, bad-envelope and redirect are answers that are none", async () => {
    const html = await status("status:html");
    expect([html.status, html.headers["content-type"]]).toEqual([200, "text/html; charset=utf-8"]);
    const headers = { "content-type": "application/json; charset=utf-8" };
    expect(await status("status:bad-envelope")).toMatchObject({ status: 200, text: `{"ok":true}`, headers });
    const redirect = await status("status:redirect");
    expect([redirect.status, redirect.headers.location]).toEqual([
      307,
      "http://redirect.invalid/api/v1/conversation/x/status",
    ]);
  });

  it("huge is more than 64 MiB of valid JSON", async () => {
    const answer = await post(await under("create:huge"), "/api/v1/conversations", KEY, { prompt: "x" });
    expect(answer.text.length).toBeGreaterThan(64 * 1_048_576);
    expect(answer.json.data?.status).toBe("PENDING");
  });
});
