import { expect, test } from "vitest";
import { only, refuse } from "../support/behaviours.js";
import { plant } from "../support/home.js";
import { screenHere } from "../support/screen-here.js";
import { jsonErrors, jsonLines, world } from "../support/world.js";

const SCHEMA = { type: "object", properties: { height: { type: "number" } } };

/** A create whose answer was lost, and every later one that works. */
async function withUnknown() {
  const given = await world({
    fault: only("create", refuse(502, "LOST"), 1),
  });
  const args = ["create", "How high are tides?", "--schema", JSON.stringify(SCHEMA), "--json"];
  const { stderr } = await given.research(args);
  return { ...given, local: String(jsonErrors(stderr)[0]?.local_id) };
}

test("rerun sends the prompt and the schema of an old request", async () => {
  const { research, service } = await world();
  const schema = JSON.stringify(SCHEMA);
  const first = (await research(["create", "How high are tides?", "--schema", schema])).stdout.trim();
  const again = await research(["rerun", first.slice(0, 8)]);
  expect(again.code).toBe(0);
  expect(again.stdout.trim()).not.toBe(first);
  const bodies = service.server.of("create").map(({ body }) => JSON.parse(body.toString("utf8")));
  const body = { prompt: "How high are tides?", structured_output: true, output_schema: SCHEMA };
  expect(bodies).toEqual([body, body]);
  expect(jsonLines((await research(["show", "@last", "--json"])).stdout)).toMatchObject([
    { request_id: again.stdout.trim(), output_schema: SCHEMA },
  ]);
});

test("show says why a request failed, when it ended and how long it took, once the service has said it", async () => {
  const message = "no source was found";
  const { research } = await world({
    fault: only("output", refuse(400, "OUTPUT_NOT_AVAILABLE", {}, message)),
  });
  expect(await research(["run", "x => FAILED"])).toMatchObject({ code: 3 });
  const { stdout } = await research(["show", "@last"]);
  expect(stdout).toMatch(/^why +no source was found$/m);
  expect(stdout).toMatch(/^ended +\d{4}-.*\ntook +\d+s$/m);
  expect(stdout).not.toMatch(/^(?:profile|structured) /m);
  expect(await research(["show", "nothing-of-that-name"])).toMatchObject({ code: 5 });
});

test("rerun @last of a create whose outcome is unknown sends nothing and names it", async () => {
  const { research, service, local } = await withUnknown();
  for (const name of ["@last", local]) {
    const { code, stdout, stderr } = await research(["rerun", name, "--json"]);
    expect({ code, stdout }).toEqual({ code: 11, stdout: "" });
    expect(jsonErrors(stderr)).toMatchObject([{ code: "OUTCOME_UNKNOWN", local_id: local }]);
  }
  expect(service.server.count("create")).toBe(1);
});

test("a create that is settled as never made is still shown and sent again", async () => {
  const { research, service, local } = await withUnknown();
  expect(await research(["resolve", local, "--not-created"])).toMatchObject({ code: 0 });
  expect(await research(["list"])).toMatchObject({ code: 0, stdout: "" });
  const shown = await research(["show", local, "--json"]);
  expect(jsonLines(shown.stdout)).toMatchObject([
    {
      local_id: local,
      request_id: null,
      status: "NOT_CREATED",
      prompt: "How high are tides?",
      output_schema: SCHEMA,
    },
  ]);
  expect(await research(["status", local])).toMatchObject({ code: 5 });
  expect(await research(["resolve", local, "--not-created"])).toMatchObject({ code: 6 });
  expect(await research(["quota", "--tier", "free", "--json"])).toMatchObject({
    stdout: expect.stringContaining('"used":0'),
  });
  expect(await research(["rerun", local])).toMatchObject({ code: 0 });
  const [, body] = service.server.of("create").map((request) => JSON.parse(request.body.toString("utf8")));
  expect(body).toMatchObject({ prompt: "How high are tides?", output_schema: SCHEMA });
});

test("a prefix of four characters names a request, a shorter one does not", async () => {
  const { research, service, home } = await world();
  const id = service.add("x => COMPLETED");
  plant(home, { requestId: id, origin: service.url, createdAt: Date.now() });
  expect(await research(["status", id.slice(0, 4)])).toMatchObject({ stdout: `${id}\tCOMPLETED\n` });
  expect(await research(["status", id.slice(0, 3)])).toMatchObject({ code: 5, stdout: "" });
});

test("list --refresh asks for what still runs, and survives a poll that fails", async () => {
  let broken = "";
  const { research, service } = await world({
    fault: (operation, _nth, { path }) =>
      operation === "status" && broken !== "" && path.includes(broken) ? refuse(403, "NO") : undefined,
  });
  const ids: string[] = [];
  for (const name of ["a", "b", "c"])
    ids.push((await research(["create", `${name} => COMPLETED`])).stdout.trim());
  [, broken = ""] = ids;
  const listed = await research(["list", "--refresh", "--json"]);
  expect(listed.code).toBe(4);
  expect(jsonErrors(listed.stderr)).toMatchObject([{ request_id: broken }]);
  const states = Object.fromEntries(
    (JSON.parse(listed.stdout) as { request_id: string; status: string }[]).map((e) => [
      e.request_id,
      e.status,
    ]),
  );
  expect(states).toEqual({ [ids[0] ?? ""]: "COMPLETED", [broken]: "PENDING", [ids[2] ?? ""]: "COMPLETED" });
  broken = "";
  const polls = service.server.count("status");
  expect(await research(["list", "--refresh"])).toMatchObject({ code: 0 });
  expect(service.server.count("status")).toBe(polls + 1);
  expect((await research(["list"])).stdout.match(/\tCOMPLETED\t/g)).toHaveLength(3);
});

test("list --refresh --status finds what has ended, however many newer ones there are", async () => {
  const { research } = await world();
  const ended = (await research(["create", "a => COMPLETED"])).stdout.trim();
  await research(["create", "b => PROCESSING"]);
  const { stdout } = await research(["list", "--refresh", "--status", "completed", "--limit", "1"]);
  expect(stdout).toMatch(new RegExp(`^${ended}\tCOMPLETED\t.*\n$`));
});

test("on a terminal the list is a table with ages", async () => {
  const { home, env, service } = await world();
  plant(home, {
    requestId: service.add("x"),
    origin: service.url,
    createdAt: Date.now() - 7_500_000,
    prompt: "How do tides form?",
  });
  const shown = screenHere(["list"], { home, env });
  expect(await shown.done).toMatchObject({ code: 0 });
  expect(shown.text()).toMatch(/^ID\s+STATUS\s+AGE\s+PROMPT$/m);
  expect(shown.text()).toMatch(/PENDING\s+2h 0\dm\s+How do tides form\?/);
});
