import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Service } from "../../src/server/service.js";
import { conformanceResearcher } from "../support/conformance-researcher.js";
import { KEY, serviceFor, type TestServiceOptions } from "../support/service.js";
import { VirtualClock } from "../support/virtual-clock.js";
import type { Target } from "./http.js";
import { INTERFACE } from "./interface.js";
import { LIMITED, rollingWindow } from "./limits.js";
import { LOCAL } from "./local.js";

const researcher = conformanceResearcher();
const options = (service: Service): Target => ({
  baseUrl: service.baseUrl,
  key: KEY,
  statusMethod: "GET",
  patienceMs: 10_000,
  failing: "fail",
  lasting: "last",
});

async function against(more: TestServiceOptions, run: (target: Target) => Promise<void>): Promise<void> {
  const service = await serviceFor({ researcher, ...more });
  await run(options(service));
}

describe("the local service", () => {
  let service: Service;
  beforeAll(async () => {
    service = await serviceFor({ researcher });
  });
  afterAll(() => service.close());

  it.each(Object.entries({ ...INTERFACE, ...LOCAL }))("%s", async (_name, run) => {
    await run(options(service));
  });
});

describe.each(["free", "pro"] as const)("its %s tier", (tier) => {
  it.each(Object.entries(LIMITED))("%s", async (_name, run) => {
    await against({ tier }, (target) => run({ ...target, tier }));
  });

  it("§8 the window rolls; Retry-After is the second at which the next create is taken", async () => {
    const clock = new VirtualClock();
    await against({ tier, clock }, (target) => rollingWindow({ ...target, tier }, (ms) => clock.sleep(ms)));
  });
});

it("runs alone against any base URL, with the key from the environment only", async () => {
  await against({ tier: "pro" }, async ({ baseUrl }) => {
    const program = join(import.meta.dirname, "run.js");
    const run = (args: string[], key: string) =>
      promisify(execFile)(process.execPath, [program, ...args], { env: { RESEARCH_API_KEY: key } });
    const all = [
      "--base-url",
      baseUrl,
      "--local",
      "--lasting",
      "last",
      "--failing",
      "fail",
      "--patience",
      "10",
    ];
    const { stdout } = await run(all, KEY);
    expect(stdout).not.toContain("not ok");
    expect(stdout).toMatch(/(\d+) of \1 hold\n$/);
    await expect(run(["--base-url", baseUrl], "wrong")).rejects.toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: `${baseUrl} does not accept the key in RESEARCH_API_KEY: it answers 401.\n`,
    });
    await expect(run(["--base-url", "http://127.0.0.1:1"], KEY)).rejects.toMatchObject({
      ...{ code: 2, stdout: "" },
      stderr: expect.stringMatching(/^http:\/\/127\.0\.0\.1:1 cannot be reached: .*ECONNREFUSED.*\n$/),
    });
    await expect(run(["--base-url", "example"], KEY)).rejects.toMatchObject({
      ...{ code: 2, stderr: "example is not an http or https URL without user, query and fragment.\n" },
    });
    for (const words of [["--nope"], ["--patience", "long"]]) {
      const args = ["--base-url", baseUrl, ...words];
      await expect(run(args, KEY)).rejects.toMatchObject({
        ...{ code: 2, stdout: "", stderr: expect.stringMatching(/^Usage: /) },
      });
    }
    await expect(run(["--base-url", baseUrl], "k\u00e9")).rejects.toMatchObject({
      ...{ code: 2, stderr: "The key in RESEARCH_API_KEY has a character that no key may have.\n" },
    });
    await expect(run(["--base-url", baseUrl], "")).rejects.toMatchObject({ code: 2 });
  });
});

it.each<[string, RequestListener, RegExp]>([
  [
    "refuses the key with 403",
    (_, response) => void response.writeHead(403).end("{}"),
    /accept the key.* 403/,
  ],
  ["is a web page", (_, response) => void response.end("<html>"), /not the base URL.* 200 without JSON/],
  ["never answers", () => {}, /cannot be reached: no answer to GET \S+ within 1 s/],
])("a server that %s is one sentence", async (_, listener, sentence) => {
  const server = createServer(listener);
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = promisify(execFile)(
      process.execPath,
      [join(import.meta.dirname, "run.js"), "--patience", "1"],
      {
        env: { RESEARCH_API_KEY: KEY, RESEARCH_BASE_URL: baseUrl },
      },
    );
    const { code, stdout, stderr } = await run.catch((error) => error);
    expect([code, stdout, stderr]).toEqual([2, "", expect.stringMatching(sentence)]);
    expect(stderr.match(/\n/g)).toHaveLength(1);
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

it("names what deviates, what was expected and what came; one deviation everywhere hides no other", async () => {
  let count = 0;
  const server = createServer((request, response) => {
    const data = request.url?.endsWith("/status")
      ? { state: "PENDING" }
      : { request_id: `r-${++count}`, status: "QUEUED", created_at: "now" };
    response.setHeader("Content-Type", "application/json");
    response.end(JSON.stringify({ status: true, version: "1", data }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  try {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const run = promisify(execFile)(process.execPath, [join(import.meta.dirname, "run.js")], {
      env: { RESEARCH_API_KEY: KEY, RESEARCH_BASE_URL: baseUrl },
    });
    const { stdout } = await run.catch((error) => error);
    expect(stdout).not.toContain("undefined");
    expect(stdout).toContain('data.status of create must be "PENDING", and is "QUEUED"');
    expect(stdout).toContain("the HTTP status of POST /api/v1/conversations must be 400, and is 200");
    expect(stdout.match(/version in the envelope must be three numbers with dots, and is "1"/g)).toHaveLength(
      1,
    );
    expect(stdout).toMatch(/\n0 of 11 hold\n$/);
  } finally {
    server.close();
  }
});
