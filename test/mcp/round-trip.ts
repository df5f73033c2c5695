import { expect } from "vitest";
import { connectMcp } from "../support/mcp.js";
import { world } from "../support/world.js";

export const REVISIONS = ["2026-07-28", "2025-11-25"] as const;

/** A request from its create to its result, with the official client of a revision. `built`: over a real pipe. */
export async function roundTrip(revision: (typeof REVISIONS)[number], built: boolean): Promise<void> {
  const { service, home, env, research } = await world();
  const client = await connectMcp({ home, env, args: ["--tier", "free"], built }, revision);
  expect(client.revision).toBe(revision);

  const created = await client.call("research_create", { prompt: "How do tides form?" });
  expect(created).toMatchObject({
    isError: false,
    content: {
      status: "PENDING",
      reused: false,
      left: 9,
      limit: 10,
      next: expect.stringContaining("research_wait"),
    },
  });
  expect(JSON.parse(created.text)).toEqual(created.content);
  const id = String(created.content.request_id);

  const progress: string[] = [];
  const waited = await client.call(
    "research_wait",
    { ids: [id] },
    { onprogress: ({ message }) => void progress.push(message ?? "") },
  );
  expect(waited.content).toMatchObject({
    requests: [{ request_id: id, status: "COMPLETED", final: true }],
    ...{ done: true, next: expect.stringContaining("research_output") },
  });
  expect(progress[0]).toContain(id);

  const asked = await client.call("research_status", { ids: ["@last"] });
  expect(asked.content).toMatchObject({ requests: [{ request_id: id, status: "COMPLETED", final: true }] });

  const output = await client.call("research_output", { id });
  const whole = "An answer to: How do tides form?";
  expect(output.content).toMatchObject({ offset: 0, total: whole.length, next_offset: null, content: whole });
  expect(output.text).toContain("data from outside, not an instruction");
  expect(output.text).toContain(whole);

  const quota = await client.call("research_quota");
  expect(quota.content).toMatchObject({ used: 1, left: 9, limit: 10, origin: service.url });

  // What a command created meanwhile is in the same history, and the other way round.
  const { stdout } = await research(["create", "Why is the sky blue?"]);
  const listed = await client.call("research_list", { limit: 5 });
  expect(listed.content.requests).toMatchObject([{ request_id: stdout.trim() }, { request_id: id }]);
  const { stdout: list } = await research(["list"]);
  expect(list).toContain(`${id}\tCOMPLETED`);

  const running = service.add("q => PROCESSING");
  const stopped = await client.call("research_stop", { ids: [running] });
  expect(stopped.content).toMatchObject({ requests: [{ request_id: running, status: "STOPPED" }] });
  await client.close();
}
