import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { NAMED } from "../faults/plays.js";
import { FAULTS, limitOf, NAMES, NEVER_SENT } from "../providers/rows.js";
import { only } from "../support/behaviours.js";
import { folderWith } from "../support/folder.js";
import { filesWith, foldersIn, listed } from "../support/home.js";
import { KEY, ProviderDouble } from "../support/providers/double.js";
import { research } from "../support/run.js";

vi.setConfig({ maxConcurrency: 4, testTimeout: 120_000 });

const argvOf = {
  create: () => ["create", "why"],
  run: () => ["run", "why"],
  batch: (home: string) => ["batch", join(home, "rows.txt"), "--out", join(home, "out"), "--timeout", "5s"],
};

/** Makes every look-up of a name end so, before the program is loaded. */
function preload(code: string): string {
  const fail = `callback(Object.assign(new Error("getaddrinfo ${code}"), { code: "${code}" }))`;
  const script = `import dns from "node:dns";
    dns.lookup = (_name, _options, callback) => process.nextTick(() => ${fail});`;
  return `--import=data:text/javascript,${encodeURIComponent(script)}`;
}

describe.each(NAMES)("the built program at %s", (name) => {
  for (const verb of ["create", "run", "batch"] as const) {
    for (const [what, behaviour, exit, lasts] of FAULTS)
      test.concurrent(`${what} · ${verb}: ${exit}`, async () => {
        const double = await ProviderDouble.start(name, {
          fault: only("create", behaviour),
        });
        const home = folderWith({ "rows.txt": "why" });
        const env = { ...foldersIn(home), ...double.env };
        const argv = [...argvOf[verb](home), "--json", "--request-timeout", `${limitOf(lasts)}ms`];
        const seen = await research(argv, { home, env, timeoutMs: 60_000 });
        expect(seen.code, seen.stderr).toBe(verb === "batch" && exit === 7 ? 8 : exit);
        expect(double.server.count("create")).toBe(1);
        expect((await listed(home)).map(({ status }) => status)).toEqual(exit === 11 ? ["UNKNOWN"] : []);
        expect(filesWith(home, KEY)).toEqual([]);
      });
  }
  for (const verb of ["create", "run"] as const)
    for (const [what, baseUrl, server] of NEVER_SENT)
      test.concurrent(`${what} · ${verb}: 9, and nothing sent`, async () => {
        const double = await ProviderDouble.start(name, server);
        const home = folderWith({ "rows.txt": "why" });
        const env = { ...foldersIn(home), ...double.env, RESEARCH_BASE_URL: baseUrl(double.server.port) };
        const seen = await research([...argvOf[verb](), "--json"], { home, env, timeoutMs: 60_000 });
        expect(seen.code, seen.stderr).toBe(9);
        expect(double.server.count()).toBe(0);
      });
  for (const code of ["ENOTFOUND", "EAI_AGAIN"])
    test.concurrent(`DNS ${code} · create: 9, and nothing recorded`, async () => {
      const home = folderWith();
      const env = {
        ...foldersIn(home),
        ...{ RESEARCH_PROVIDER: name, RESEARCH_API_KEY: KEY },
        ...{ ...NAMED, NODE_OPTIONS: preload(code) },
      };
      const seen = await research(["create", "why", "--json"], { home, env });
      expect(seen.code, seen.stderr).toBe(9);
      expect(await listed(home)).toEqual([]);
    });
});
