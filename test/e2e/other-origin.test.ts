import { expect, test } from "vitest";
import { listed, plant } from "../support/home.js";
import { inProcess } from "../support/in-process.js";
import { connectMcp } from "../support/mcp.js";
import { account } from "../support/providers/account.js";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const ID = "5f0c9a3e-7b1d-4c52-9d86-2f1e0a4b6c8d";
const MADE_AT = "https://made.example";

/** A history with a request of another origin than the one in force. */
async function elsewhere() {
  const { service, home, env } = await world();
  plant(home, { requestId: ID, origin: MADE_AT, createdAt: Date.now() - 3_600_000 });
  return { service, home, env, run: (...argv: string[]) => inProcess([...argv, "--json"], { env }) };
}

test.each([["status"], ["watch"], ["output"], ["stop", "-y"]])(
  "a 404 to %s about an id of another origin names that origin and the flag",
  async (...argv) => {
    const { run, service, home } = await elsewhere();
    const [verb = "", ...flags] = argv;
    const { code, stderr } = await run(verb, ID, ...flags);
    expect(code).toBe(5);
    expect(jsonErrors(stderr)).toMatchObject([
      { code: "REQUEST_NOT_FOUND", message: expect.stringContaining(`created at ${MADE_AT}`) },
    ]);
    expect(stderr).toContain(`--base-url ${MADE_AT}`);
    expect(service.server.requests.length).toBeGreaterThan(0);
    expect(await listed(home)).toMatchObject([{ status: "PENDING", origin: MADE_AT }]);
  },
);

test.each(["status", "watch", "output"])(
  "%s: a provider gets no minute to know an id of another origin",
  async (verb) => {
    const { home, clock, run } = await account("perplexity");
    plant(home, { requestId: "resp_elsewhere1", origin: MADE_AT, createdAt: clock.now() });
    const { code, stderr } = await run(verb, "resp_elsewhere1");
    expect(code, stderr).toBe(5);
    expect(stderr).toContain(`--base-url ${MADE_AT}`);
  },
);

test("what another origin answers is shown and not recorded", async () => {
  const { service, home, run } = await elsewhere();
  const other = service.add("elsewhere => FAILED");
  plant(home, { requestId: other, origin: MADE_AT, createdAt: Date.now() - 3_600_000 });
  const { code, stdout } = await run("watch", other);
  expect(code).toBe(3);
  expect(jsonLines(stdout).at(-1)).toMatchObject({ status: "FAILED", final: true });
  expect((await run("stop", other)).code).toBe(6);
  expect((await listed(home)).find(({ request_id }) => request_id === other)?.status).toBe("PENDING");
});

test("list --refresh says how many requests of other origins it does not ask for", async () => {
  const { run, service } = await elsewhere();
  const { code, stderr } = await run("list", "--refresh");
  expect(code).toBe(0);
  expect(jsonLines(stderr)).toEqual([
    { notice: { code: "NOT_REFRESHED", message: expect.stringContaining("1 request of other origins") } },
  ]);
  expect(service.server.requests).toEqual([]);
});

test("a tool of the MCP server names the origin", async () => {
  const { home, env } = await elsewhere();
  const client = await connectMcp({ home, env });
  for (const [tool, args] of [
    ["research_status", { ids: [ID] }],
    ["research_output", { id: ID }],
  ] as const) {
    const { isError, text } = await client.call(tool, args);
    expect(isError).toBe(true);
    expect(text).toContain(MADE_AT);
  }
});
