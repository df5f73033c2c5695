import { expect, test } from "vitest";
import * as does from "../support/behaviours.js";
import { worldOf } from "../support/world.js";

/** Blanks before a JSON text are JSON, too: an answer that never ends, and is never wrong. */
const DRIP = does.drip({ body: " ".repeat(100_000) }, 50, "body");
const COMPLETED = does.ok({ request_id: "good", status: "COMPLETED", output: "the result" });

async function machine(behaviour: (path: string) => does.Behaviour) {
  const { server, start } = await worldOf((_operation, _nth, { path }) => behaviour(path));
  return { server, run: (...argv: string[]) => start(argv).done };
}

test("a status that drips is no answer: watch --timeout ends, with 8", async () => {
  const { run } = await machine(() => DRIP);
  const seen = await run("watch", "good", "--timeout", "1s", "--interval", "200ms");
  expect(seen, seen.stderr).toMatchObject({ code: 8 });
});

test("a result that drips does not outlast run --timeout: 8, with the command that goes on", async () => {
  const { run } = await machine((path) =>
    path.endsWith("/conversations")
      ? does.ok({ request_id: "good", status: "PENDING", created_at: "2030-01-01T00:00:00Z" })
      : path.endsWith("/output")
        ? DRIP
        : COMPLETED,
  );
  const seen = await run("run", "why", "--timeout", "2s");
  expect(seen, seen.stderr).toMatchObject({ code: 8, stdout: "" });
  expect(seen.stderr).toContain("research output -w good");
});

test("seventeen ids whose states drip do not keep another one from its end", async () => {
  const { run, server } = await machine((path) => (path.includes("/good/") ? COMPLETED : DRIP));
  const drips = Array.from({ length: 17 }, (_, n) => `drip-${n}`);
  const seen = await run("watch", ...drips, "good", "--timeout", "8s", "--json");
  expect(seen.code).toBe(8);
  const ended = seen.stdout.split("\n").filter((line) => line.includes('"good"'));
  expect(ended).toHaveLength(1);
  expect(JSON.parse(ended[0] ?? "")).toMatchObject({ status: "COMPLETED", final: true });
  expect(server.requests.filter(({ path }) => path.includes("/good/"))).toHaveLength(1);
});
