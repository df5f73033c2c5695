import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { answer } from "../support/behaviours.js";
import { CERTIFICATE } from "../support/certificate.js";
import { citedWeb } from "../support/cited-web.js";
import { folderWith } from "../support/folder.js";
import type { ProviderName } from "../support/providers/bodies.js";
import { type DoubleOptions, KEY, ProviderDouble } from "../support/providers/double.js";
import { proxy } from "../support/proxy.js";
import { bashScreen } from "../support/screen.js";

const ROOT = join(import.meta.dirname, "../..");

/** The blocks for a shell of a page, but those that install or test this checkout. */
function blocksOf(page: string): string[] {
  const text = readFileSync(join(ROOT, page), "utf8");
  const all = Array.from(text.matchAll(/^```(?:sh|bash)\n([\s\S]*?)^```/gm), ([, block = ""]) => block);
  return all.filter((block) => !/^npm /m.test(block));
}

/** The providers at their own addresses, a resource of Azure's, and the pages that are cited; all through one proxy. */
async function world() {
  const web = await citedWeb({ "/limit": "<p>The limit is 429 requests a day.</p>" });
  const options: DoubleOptions = {
    ...{ tls: true, words: ["completed"], sources: [{ url: "http://1.1.1.1/limit", title: "Limit" }] },
    result: (prompt) =>
      `An answer to: ${prompt}\n\nThe limit is 429 requests a day ([limit](http://1.1.1.1/limit)).`,
  };
  const ports = new Map<string, number>();
  const doubles = {} as Record<ProviderName, ProviderDouble>;
  const hosts: [host: string, name: ProviderName][] = [
    ["api.openai.com", "openai"],
    ["api.exa.ai", "exa"],
    ["api.perplexity.ai", "perplexity"],
  ];
  for (const [host, name] of hosts) {
    doubles[name] = await ProviderDouble.start(name, options);
    ports.set(host, doubles[name].server.port);
  }
  const missing = answer({ status: 404, body: '{"error":{"code":"404","message":"Resource not found"}}' });
  const azure = await ProviderDouble.start("openai", {
    ...options,
    fault: (_operation, _nth, { path }) => (path.startsWith("/openai/v1/") ? undefined : missing),
    refuses: (_prompt, { model }) => (model === "my-deployment" ? undefined : missing),
  });
  ports.set("my-resource.openai.azure.com", azure.server.port);
  const { url } = await proxy((host) => ports.get(host) ?? web.port);
  const home = folderWith({ "authority.pem": CERTIFICATE });
  const env = { HTTPS_PROXY: url, HTTP_PROXY: url, NODE_EXTRA_CA_CERTS: join(home, "authority.pem") };
  return { doubles, azure, home: folderWith(), env };
}

/** Types a block at a terminal, and the key where it is asked for; it has to end with 0, each command of it too. */
async function type(block: string, home: string, env: Record<string, string>): Promise<string> {
  const shown = bashScreen(`set -eu\n${block}`, { home, env, cols: 80, rows: 40 });
  const logins = block.match(/^research login/gm)?.length ?? 0;
  for (let typed = 1; typed <= logins; typed++) {
    await Promise.race([shown.waitFor(new RegExp(`(?:hidden\\):[^]*){${typed}}`)), shown.done]);
    shown.type(`${KEY}\r`);
  }
  const { code } = await shown.done;
  expect(code, `${block}\n${shown.text()}`).toBe(0);
  return shown.text();
}

test("README.md: each block, typed in order in an empty home, ends as it says", {
  timeout: 400_000,
}, async () => {
  const { doubles, home, env } = await world();
  const screens: string[] = [];
  for (const block of blocksOf("README.md")) screens.push(await type(block, home, env));
  const all = screens.join("\n");
  expect(all).toContain("logged in to https://api.openai.com (profile openai)");
  expect(all).toContain("switched from profile openai to exa");
  expect(all).toMatch(/^openai +│ COMPLETED/m);
  expect(existsSync(join(home, "tides.md"))).toBe(true);
  // run and compare; compare, two rows, and the question of the script.
  expect([doubles.openai, doubles.exa].map(({ runs }) => runs.size)).toEqual([2, 4]);
  for (const { problems } of Object.values(doubles)) expect(problems).toEqual([]);
});

test("docs/accounts.md: each block, typed in order in an empty home, ends as it says", {
  timeout: 400_000,
}, async () => {
  const { doubles, azure, home, env } = await world();
  const screens: string[] = [];
  for (const block of blocksOf("docs/accounts.md")) screens.push(await type(block, home, env));
  expect(screens.join("\n")).toMatch(/^account +https:\/\/api\.exa\.ai +exa, in use$/m);
  for (const file of ["tides.md", "bristol.md", "bristol-openai.md", "week.md", "mills.md", "azure.md"])
    expect(existsSync(join(home, file)), file).toBe(true);
  expect(azure.runs.size).toBe(1);
  const [first] = doubles.openai.runs.values();
  expect(first?.body).toMatchObject({ model: "gpt-6.2-sol", reasoning: { effort: "high" } });
  expect(
    [...doubles.openai.runs.values()].map(({ body }) => body.background_options).filter(Boolean),
  ).toEqual([{ completion_window: "2h" }]);
  for (const { problems } of [...Object.values(doubles), azure]) expect(problems).toEqual([]);
});

test("from npm ci to two accounts and a comparison it takes four commands, which the README has in this order", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const lines = ["npm ci", "research login openai", "research login exa", "research compare"];
  const places = lines.map((line) => readme.search(new RegExp(`^${line}`, "m")));
  expect(places.every((place) => place > 0)).toBe(true);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});
