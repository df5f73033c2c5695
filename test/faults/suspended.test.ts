import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { listed, plant } from "../support/home.js";
import { type Running, start } from "../support/run.js";
import { until } from "../support/service.js";
import { worldOf } from "../support/world.js";
import { goodAnswer, ID } from "./plays.js";

/** The limit of an exchange. A busy machine has to reach the point of a test within it. */
const LIMIT_MS = 5_000;

/** Stops the process as Ctrl-Z does, calls `meanwhile`, and lets it go on when its limit is over. */
async function suspend(run: Running, meanwhile: () => void): Promise<void> {
  run.signal("SIGSTOP");
  meanwhile();
  await sleep(1.2 * LIMIT_MS);
  run.signal("SIGCONT");
}

test.each([
  { name: "whole", pieces: 1 },
  { name: "in many pieces", pieces: 20 },
])("a create whose answer came $name while it was suspended has it", async ({ pieces }) => {
  let socket: Socket | undefined;
  const { home, env } = await worldOf(() => ({
    act: (own) => {
      socket = own;
    },
  }));
  const run = start(["create", "x", "--request-timeout", `${LIMIT_MS}ms`], { home, env });
  await until(async () => socket);
  const answer = does.answerBytes({ ...goodAnswer("create"), headers: { "x-filler": "y".repeat(100_000) } });
  await suspend(run, () => {
    const size = Math.ceil(answer.length / pieces);
    for (let at = 0; at < answer.length; at += size) socket?.write(answer.subarray(at, at + size));
  });
  expect(await run.done).toMatchObject({ code: 0, stdout: `${ID}\n` });
  expect(await listed(home)).toMatchObject([{ request_id: ID, status: "PENDING" }]);
});

test("a create that got no answer meanwhile is unknown all the same", async () => {
  const { server, home, env } = await worldOf(() => does.hang());
  const run = start(["create", "x", "--request-timeout", `${LIMIT_MS}ms`], { home, env });
  await until(async () => (server.count() === 1 ? true : undefined));
  await suspend(run, () => {});
  expect(await run.done).toMatchObject({ code: 11 });
});

test("a watch that was suspended beyond its patience with a poll under way polls before it gives up", async () => {
  const state = (status: string) => does.ok({ request_id: ID, status });
  const { server, home, env } = await worldOf((_operation, nth) =>
    nth === 1 ? state("PROCESSING") : nth === 2 ? does.hang() : state("COMPLETED"),
  );
  plant(home, { requestId: ID, origin: server.url, createdAt: Date.now() - 60_000 });
  const limits = ["--interval", "100ms", "--patience", `${LIMIT_MS}ms`, "--request-timeout", `${LIMIT_MS}ms`];
  const run = start(["watch", ID, ...limits], { home, env });
  await until(async () => (server.count() === 2 ? true : undefined));
  await suspend(run, () => {});
  expect(await run.done).toMatchObject({ code: 0, stdout: `${ID}\tCOMPLETED\n` });
});
