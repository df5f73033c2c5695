import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { connectMcp } from "../support/mcp.js";
import { world } from "../support/world.js";
import { REVISIONS, roundTrip } from "./round-trip.js";

// With the official client of each revision.

test.each(REVISIONS)("%s: a request from its create to its result", (revision) => roundTrip(revision, false));

/** Arguments that do not fit; what is said of them: tool.test.ts. */
const REFUSED: [string, Record<string, unknown>][] = [
  ["research_create", {}],
  ["research_create", { prompt: " \n" }],
  ["research_create", { prompt: "q", agian: true }],
  ["research_create", { prompt: "q", schema: "{}", again: 1 }],
  ["research_wait", { ids: [], seconds: 1 }],
  ["research_wait", { ids: Array(101).fill("a") }],
  ["research_wait", { ids: ["a", 1] }],
  ["research_wait", { ids: ["a"], seconds: 240.5 }],
  ["research_wait", { ids: ["a"], seconds: 241 }],
  ["research_wait", { ids: ["a"], seconds: -1 }],
  ["research_output", { id: " " }],
  ["research_output", { id: "a", offset: -1 }],
  ["research_output", { id: "a", offset: 1.5 }],
  ["research_output", { id: "a", save_to: 1 }],
  ["research_list", { limit: 0 }],
  ["research_list", { limit: 501 }],
  ["research_list", { limit: 1.5 }],
  ["research_list", { status: "" }],
  ["research_quota", { constructor: 1 }],
];

interface ListedTool {
  name: string;
  inputSchema: { properties: Record<string, { description: string }> };
  outputSchema: { properties: object };
}

test.each(REVISIONS)(
  "%s: the schemas that are shown say what is taken, and what is given",
  async (revision) => {
    const { service, home, env } = await world();
    const client = await connectMcp({ home, env, args: ["--tier", "free", "--allow-dir", home] }, revision);
    const tools = new Map(((await client.tools()) as ListedTool[]).map((tool) => [tool.name, tool]));
    const ajv = new Ajv2020();
    const fits = (name: string, args: object) => ajv.validate(tools.get(name)?.inputSchema ?? {}, args);
    const id = service.add("q => COMPLETED");
    const taken: [string, Record<string, unknown>][] = [
      ["research_create", { prompt: "q", schema: {}, again: true, save_to: "a.md" }],
      ["research_wait", { ids: [id], seconds: 0.5 }],
      ["research_status", { ids: Array(100).fill(id) }],
      ["research_stop", { ids: [service.add("q => PROCESSING")] }],
      ["research_output", { id, offset: 0 }],
      ["research_output", { id, save_to: "b.md" }],
      ["research_list", { limit: 500, status: "COMPLETED" }],
      ["research_list", { limit: 1 }],
      ["research_quota", {}],
    ];
    for (const [name, args] of taken) {
      expect(fits(name, args), `${name} ${JSON.stringify(args)}`).toBe(true);
      const { isError, content } = await client.call(name, args);
      expect(isError, name).toBe(false);
      const { profile: _, ...named } = content;
      const properties = Object.keys(tools.get(name)?.outputSchema.properties ?? {});
      expect(properties, name).toEqual(expect.arrayContaining(Object.keys(named)));
    }
    const refused = [
      ...REFUSED,
      ...["schema", "again", "model", "save_to"].map(
        (name) => ["research_create", { prompt: "q", [name]: 1 }] as const,
      ),
    ];
    for (const [name, args] of refused) {
      expect(fits(name, args), `${name} ${JSON.stringify(args)}`).toBe(false);
      expect(await client.call(name, args), name).toMatchObject({
        isError: true,
        content: {
          error: { code: "USAGE", exit_code: 2, message: expect.stringMatching(/^invalid arguments: /) },
        },
      });
    }
    for (const { inputSchema } of tools.values())
      for (const { description } of Object.values(inputSchema.properties)) expect(description).toMatch(/\w/);
  },
);

test("a wait that is cancelled stops nothing", async () => {
  const { service, home, env } = await world();
  const client = await connectMcp({ home, env });
  const id = service.add("q => PROCESSING");
  const cancel = new AbortController();
  const call = client.call(
    "research_wait",
    { ids: [id] },
    {
      signal: cancel.signal,
      onprogress: () => cancel.abort(new Error("cancelled by the test")),
    },
  );
  await expect(call).rejects.toThrow("cancelled by the test");
  expect((await client.call("research_status", { ids: [id] })).content).toMatchObject({
    requests: [{ status: "PROCESSING" }],
  });
  expect(service.server.count("stop")).toBe(0);
});
