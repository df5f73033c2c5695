import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { CERTIFICATE } from "../support/certificate.js";
import { faultServer, refusedUrl } from "../support/fault-server.js";
import { KEY } from "../support/happy-service.js";
import { foldersIn, listed } from "../support/machine.js";
import { proxy } from "../support/proxy.js";
import { research, temporaryFolder } from "../support/run.js";
import { jsonErrors } from "../support/world.js";
import { goodAnswer, ID } from "./plays.js";

const good = (tls = false) =>
  faultServer((operation) => does.answer(goodAnswer(operation === "other" ? "status" : operation)), { tls });

function machine(env: Record<string, string>) {
  const home = temporaryFolder();
  return { home, env: { ...foldersIn(home), RESEARCH_API_KEY: KEY, ...env } };
}

const HTTP = { RESEARCH_BASE_URL: "http://research.example", RESEARCH_INSECURE_HTTP: "1" };

test.each(["HTTP_PROXY", "http_proxy"])(
  "%s: plain http goes through a tunnel, and the proxy gets no key of its own",
  async (name) => {
    const server = await good();
    const through = await proxy(server.port);
    const { home, env } = machine({ ...HTTP, [name]: through.url });
    expect(await research(["create", "x"], { home, env })).toMatchObject({ code: 0, stdout: `${ID}\n` });
    expect(await research(["status", ID], { home, env })).toMatchObject({ code: 0 });
    expect(server.requests.map(({ operation }) => operation)).toEqual(["create", "status"]);
    expect(through.requests.map(({ method, url }) => `${method} ${url}`)).toEqual(
      Array(2).fill("CONNECT research.example:80"),
    );
    expect(through.requests.filter(({ headers }) => JSON.stringify(headers).includes(KEY))).toEqual([]);
  },
);

test.each(["HTTPS_PROXY", "https_proxy"])(
  "%s: https stays whole, with a certificate of one's own",
  async (name) => {
    const server = await good(true);
    const through = await proxy(server.port);
    const { home, env } = machine({ RESEARCH_BASE_URL: "https://research.example", [name]: through.url });
    const authority = join(home, "authority.pem");
    writeFileSync(authority, CERTIFICATE);
    const trusting = { ...env, NODE_EXTRA_CA_CERTS: authority };
    expect(await research(["create", "x"], { home, env: trusting })).toMatchObject({
      code: 0,
      stdout: `${ID}\n`,
    });
    expect(await research(["status", ID], { home, env: trusting })).toMatchObject({ code: 0 });
    expect(Buffer.concat(through.sent).includes(KEY)).toBe(false);
    // Nobody else's certificate is taken for it, and then nothing has been sent.
    const wary = await research(["create", "x", "--json"], { home, env });
    expect(wary).toMatchObject({ code: 9, stdout: "" });
    expect(server.count()).toBe(2);
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
  const { home, env } = machine({ ...HTTP, HTTP_PROXY: await refusedUrl() });
  const run = await research(["create", "x", "--json", "--verbose"], { home, env });
  expect(run).toMatchObject({ code: 9, stdout: "" });
  expect(jsonErrors(run.stderr)).toMatchObject([{ code: "UNREACHABLE" }]);
  expect(run.stderr.match(/"EXCHANGE"/g)).toHaveLength(4);
  expect(await listed(home)).toEqual([]);
});

test("a proxy whose address is none is bad input, and its password is not shown", async () => {
  const { home, env } = machine({ ...HTTP, HTTP_PROXY: "http://user:hunter2@[" });
  const run = await research(["create", "x"], { home, env });
  expect(run).toMatchObject({ code: 2, stdout: "" });
  expect(run.stderr).not.toContain("hunter2");
  expect(await listed(home)).toEqual([]);
});

test("the connection breaks in the tunnel: the create may have arrived", async () => {
  const server = await faultServer(() => does.reset());
  const through = await proxy(server.port);
  const { home, env } = machine({ ...HTTP, HTTP_PROXY: through.url });
  expect(await research(["create", "x"], { home, env })).toMatchObject({ code: 11 });
  expect(server.count("create")).toBe(1);
  expect(await listed(home)).toMatchObject([{ status: "UNKNOWN" }]);
});
