import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { CERTIFICATE } from "../support/certificate.js";
import { faultServer, REFUSED_URL } from "../support/fault-server.js";
import { folderWith } from "../support/folder.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn, listed } from "../support/home.js";
import { research } from "../support/in-process.js";
import { proxy } from "../support/proxy.js";
import { start } from "../support/run.js";
import { jsonErrors } from "../support/world.js";
import { goodAnswer, ID } from "./plays.js";

const good = (tls = false) =>
  faultServer((operation) => does.answer(goodAnswer(operation === "other" ? "status" : operation)), { tls });

function machine(env: Record<string, string>) {
  const home = folderWith();
  return { home, env: { ...foldersIn(home), RESEARCH_API_KEY: KEY, ...env } };
}

const HTTP = { RESEARCH_BASE_URL: "http://research.example", RESEARCH_INSECURE_HTTP: "1" };

test.each(["HTTP_PROXY", "http_proxy"])("%s: plain http goes to the proxy in absolute form", async (name) => {
  const server = await good();
  const through = await proxy(server.port, { refusesConnect: true });
  const { home, env } = machine({ ...HTTP, [name]: through.url });
  expect(await research(["create", "x"], { home, env })).toMatchObject({ code: 0, stdout: `${ID}\n` });
  expect(await research(["status", ID], { home, env })).toMatchObject({ code: 0 });
  expect(server.requests.map(({ operation }) => operation)).toEqual(["create", "status"]);
  expect(through.requests.map(({ method, url, headers }) => [method, url, headers.host])).toEqual([
    ["POST", "http://research.example/api/v1/conversations", "research.example"],
    ["GET", `http://research.example/api/v1/conversation/${ID}/status`, "research.example"],
  ]);
});

describe("a proxy that wants a login", () => {
  const NAMES = { http: "HTTP_PROXY", https: "HTTPS_PROXY" };

  test.each(["http", "https"] as const)("gets it from its address, for %s", async (scheme) => {
    const server = await good(scheme === "https");
    const through = await proxy(server.port, { login: "us/er:p@ss" });
    const { home, env } = machine({
      ...HTTP,
      RESEARCH_BASE_URL: `${scheme}://research.example`,
      [NAMES[scheme]]: through.url.replace("//", "//us%2Fer:p%40ss@"),
    });
    const authority = join(home, "authority.pem");
    writeFileSync(authority, CERTIFICATE);
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: authority };
    expect(await start(["create", "x"], { home, env: trusting }).done).toMatchObject({ code: 0 });
    expect(JSON.stringify(server.requests.map(({ headers }) => headers))).not.toContain("cDpzcw");
  });

  test.each(["http", "https"] as const)("and gets none: the error says so, for %s", async (scheme) => {
    const server = await good();
    const through = await proxy(server.port, { login: "user:right" });
    const { home, env } = machine({
      ...HTTP,
      RESEARCH_BASE_URL: `${scheme}://research.example`,
      [NAMES[scheme]]: through.url.replace("//", "//user:wrong@"),
    });
    for (const command of [
      ["create", "x"],
      ["status", ID],
    ]) {
      const run = await research([...command, "--json"], { home, env });
      expect(run).toMatchObject({ code: 9, stdout: "" });
      expect(jsonErrors(run.stderr)).toMatchObject([
        { code: "UNREACHABLE", message: expect.stringMatching(/the proxy requires a login \(HTTP 407\)/) },
      ]);
      expect(run.stderr).not.toContain("wrong");
    }
    expect(await listed(home)).toEqual([]);
    expect(server.count()).toBe(0);
  });
});

test.each(["HTTPS_PROXY", "https_proxy"])(
  "%s: https stays whole, with a certificate of one's own",
  async (name) => {
    const server = await good(true);
    const through = await proxy(server.port);
    const { home, env } = machine({ RESEARCH_BASE_URL: "https://research.example", [name]: through.url });
    const authority = join(home, "authority.pem");
    writeFileSync(authority, CERTIFICATE);
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: authority };
    expect(await start(["run", "x"], { home, env: trusting }).done).toMatchObject({ code: 0 });
    expect(server.requests.map(({ operation }) => operation)).toEqual(["create", "status", "output"]);
    expect(Buffer.concat(through.sent).includes(KEY)).toBe(false);
    // Nobody else's certificate is taken for it, and then nothing has been sent.
    const wary = await research(["create", "x", "--json"], { home, env });
    expect(wary).toMatchObject({ code: 9, stdout: "" });
    expect(server.count()).toBe(3);
  },
);

test("loopback is never proxied, nor what NO_PROXY names", async () => {
  const server = await good();
  const through = await proxy(server.port);
  const local = machine({ RESEARCH_BASE_URL: server.url, HTTP_PROXY: through.url, HTTPS_PROXY: through.url });
  expect(await research(["status", ID], local)).toMatchObject({ code: 0 });
  const named = machine({ ...HTTP, HTTP_PROXY: through.url, NO_PROXY: "other.example,.example" });
  expect((await research(["status", ID], named)).code).not.toBe(0);
  expect(through.requests).toEqual([]);
});

test("a proxy that is not there: nothing was sent, so it is tried again, and nothing is left", async () => {
  const { home, env } = machine({ ...HTTP, HTTP_PROXY: REFUSED_URL });
  const run = await research(["create", "x", "--json", "--verbose"], { home, env });
  expect(run).toMatchObject({ code: 9, stdout: "" });
  expect(jsonErrors(run.stderr)).toMatchObject([{ code: "UNREACHABLE" }]);
  expect(run.stderr.match(/"EXCHANGE"/g)).toHaveLength(4);
  expect(await listed(home)).toEqual([]);
});

test.each(["ftp://x", "http://user:hunter2@["])(
  "a proxy at %s is bad input: one sentence, nothing sent, nothing left, no password shown",
  async (HTTP_PROXY) => {
    const server = await good();
    const { home, env } = machine({ ...HTTP, HTTP_PROXY });
    for (const command of [
      ["create", "x"],
      ["status", ID],
    ]) {
      const run = await research([...command, "--json"], { home, env });
      expect(run).toMatchObject({ code: 2, stdout: "" });
      const lines = run.stderr.trimEnd().split("\n");
      expect(lines.map((line) => JSON.parse(line))).toMatchObject([
        {
          error: {
            code: "USAGE",
            exit_code: 2,
            message: expect.stringMatching(/^the proxy in HTTP_PROXY is invalid/),
          },
        },
      ]);
      expect(run.stderr).not.toContain("hunter");
    }
    expect(await listed(home)).toEqual([]);
    expect(server.count()).toBe(0);
  },
);

test("the connection breaks behind the proxy: the create may have arrived", async () => {
  const server = await faultServer(() => does.reset());
  const through = await proxy(server.port);
  const { home, env } = machine({ ...HTTP, HTTP_PROXY: through.url });
  expect(await research(["create", "x"], { home, env })).toMatchObject({ code: 11 });
  expect(server.count("create")).toBe(1);
  expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
});
