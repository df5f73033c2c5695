import { describe, expect, test } from "vitest";
import { accountService } from "../support/accounts.js";
import { answer } from "../support/behaviours.js";
import type { FaultServer } from "../support/fault-server.js";
import { homeWith } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { type DoubleOptions, KEY, ProviderDouble } from "../support/providers/double.js";
import { VirtualClock } from "../support/virtual-clock.js";
import { jsonErrors } from "../support/world.js";

type Service = ProviderName | "research";

async function serviceOf(
  name: Service,
  options?: DoubleOptions,
): Promise<{ server: FaultServer; key: string }> {
  if (name === "research") return { server: (await accountService("x")).server, key: "key-of-x" };
  return { server: (await ProviderDouble.start(name, options)).server, key: KEY };
}

/** Every command that speaks to a service whose base URL ends with `path`: the requests that came, and the one of a dry run. */
async function askEverything(name: Service, path: string) {
  const { server, key } = await serviceOf(name);
  const { env, run } = homeWith({}, { clock: new VirtualClock() });
  const login = ["login", name, "--base-url", server.url + path, "--with-key"];
  expect(await inProcess(login, { env, input: key, clock: new VirtualClock() })).toMatchObject({ code: 0 });
  const id = (await run("create", "why => PENDING")).stdout.trim();
  const codes: (number | null)[] = [];
  for (const argv of [
    ["status", id],
    ["watch", id, "--timeout", "2s"],
    ["stop", id, "-y"],
    ["run", "why"],
    ["output", "@last"],
    ["output", id],
    ["rerun", id],
    ["quota"],
    ["doctor"],
    ["create", "why", "--base-url", server.url + path],
  ])
    codes.push((await run(...argv)).code);
  const { requests } = server;
  const dry = JSON.parse((await run("create", "why", "--dry-run", "--json")).stdout);
  const kept = JSON.parse((await run("list", "--json")).stdout);
  return {
    codes,
    requests: requests.map(({ method, path: asked }) => `${method} ${asked}`),
    dryRun: dry.url.slice(server.url.length),
    revisions: new Set(requests.map(({ headers }) => headers["api-revision"])),
    paths: new Set(kept.map((entry: { base_path?: string }) => entry.base_path)),
  };
}

describe.each<[Service, string]>([
  ["openai", "/v1"],
  ["perplexity", "/v1"],
  ["parallel", "/v1"],
  ["research", "/api/v1"],
])("at %s a base URL with or without %s is one address:", (name, version) => {
  test.each(["", "/openai", "/a/b"])("below %j", async (prefix) => {
    const expected = await askEverything(name, prefix);
    expect(expected.dryRun.startsWith(`${prefix}${version}/`)).toBe(true);
    expect(expected.requests.every((line) => line.includes(` ${prefix}${version}/`))).toBe(true);
    for (const path of [`${prefix}/`, `${prefix}${version}`, `${prefix}${version}/`])
      expect(await askEverything(name, path), path).toEqual(expected);
  });
});

test("at Gemini a version of the base URL is taken, without the revision of the default", async () => {
  const revision = "2026-05-20";
  for (const prefix of ["", "/gw"]) {
    const expected = await askEverything("gemini", prefix);
    expect(expected.dryRun).toBe(`${prefix}/v1beta/interactions`);
    expect(expected.revisions).toContain(revision);
    for (const path of [`${prefix}/`, `${prefix}/v1beta`, `${prefix}/v1beta/`])
      expect(await askEverything("gemini", path), path).toEqual(expected);
    const other = await askEverything("gemini", `${prefix}/v1/`);
    expect(other.dryRun).toBe(`${prefix}/v1/interactions`);
    expect(other.requests).toEqual(expected.requests.map((line) => line.replace("/v1beta/", "/v1/")));
    expect(other.revisions).toEqual(new Set([undefined]));
    expect([other.codes, other.paths]).toEqual([expected.codes, expected.paths]);
  }
});

test.each<[ProviderName, string]>([
  ["exa", "/agent/runs"],
  ["tavily", "/research"],
])("at %s nothing of a base URL is left out", async (name, path) => {
  for (const prefix of ["", "/v1", "/research/v1"])
    expect((await askEverything(name, prefix)).dryRun).toBe(prefix + path);
});

describe("a service in the form of Azure OpenAI", () => {
  const notFound = (code: string, message: string) =>
    answer({ status: 404, body: JSON.stringify({ error: { code, message } }) });
  /** All is below /openai/v1, and a model is a deployment. */
  const options: DoubleOptions = {
    fault: (_operation, _nth, { path }) =>
      path.startsWith("/openai/v1/") ? undefined : notFound("404", "Resource not found"),
    refuses: (_prompt, { model }) => {
      const words =
        "The API deployment for this resource does not exist. If you created the deployment within";
      const all = `${words} the last 5 minutes, please wait a moment and try again.`;
      return model === "research-1" ? undefined : notFound("DeploymentNotFound", all);
    },
  };

  test.each(["/openai/v1", "/openai", "/openai/v1/"])(
    "is spoken to at %s with a Bearer key",
    async (path) => {
      const { server, key } = await serviceOf("openai", options);
      const { env, succeed, run } = homeWith({}, { clock: new VirtualClock() });
      const login = ["login", "openai", "--base-url", server.url + path, "--with-key", "-p", "azure"];
      expect(await inProcess(login, { env, input: key })).toMatchObject({ code: 0 });
      await succeed("config", "set", "model", "research-1");
      const seen = await succeed("run", "why");
      expect(seen.stdout).toContain("An answer to: why");
      const [created] = server.requests.filter(({ operation }) => operation === "create");
      expect(created).toMatchObject({
        path: "/openai/v1/responses",
        headers: { authorization: `Bearer ${key}` },
      });
      const { reasoning, tools } = JSON.parse(created?.body.toString() ?? "");
      expect([reasoning, tools]).toEqual([undefined, [{ type: "web_search" }]]);
      const [failure] = jsonErrors((await run("create", "why", "--model", "none", "--json")).stderr);
      expect(failure).toMatchObject({ code: "DeploymentNotFound", exit_code: 2 });
      expect(failure?.hint).toBe("Pass --model with the name of a deployment of that resource.");
      expect(failure?.message).toContain(
        `(requested POST ${server.url}/openai/v1/responses; check the base URL)`,
      );
      await run("config", "unset", "model");
      expect((await run("create", "why")).stderr).toContain("name another with --model");
    },
  );

  test("at a wrong path a create names the address that was asked", async () => {
    const { server, key } = await serviceOf("openai", options);
    const env = { RESEARCH_PROVIDER: "openai", RESEARCH_BASE_URL: `${server.url}/v1`, RESEARCH_API_KEY: key };
    const { run } = homeWith(env, { clock: new VirtualClock() });
    const seen = await run("create", "why");
    expect(seen.code).toBe(2);
    expect(seen.stderr).toContain(`(requested POST ${server.url}/v1/responses; check the base URL)`);
  });
});
