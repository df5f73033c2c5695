import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { jsonLines, world } from "../support/world.js";

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

test("a script under set -e: the id is exactly the id, and each step has the code of the contract", async () => {
  const here = await world();
  const run = await here.bash(`
    set -euo pipefail
    id=$(research create "a question => PENDING PROCESSING COMPLETED")
    printf '[%s]\\n' "$id"
    research status -q "$id"
    research output "$id" || echo "output $?"
    research watch "$id" --interval 20ms
    research output "$id" && echo
    research stop "$id" || echo "stop $?"
  `);
  const id = run.stdout.match(/^\[(.*)\]$/m)?.[1] ?? "";
  expect(id).toMatch(UUID);
  expect(run).toMatchObject({ code: 0 });
  expect(run.stdout).toBe(
    `[${id}]\nPENDING\noutput 8\n${id}\tCOMPLETED\n` +
      "An answer to: a question => PENDING PROCESSING COMPLETED\nstop 6\n",
  );
});

test("the same in JSON: the words of the service, one line each", async () => {
  const here = await world();
  const run = await here.bash(`
    export RESEARCH_OUTPUT=json
    set -euo pipefail
    research create "a question => PENDING COMPLETED" | tee created
    id=$(sed -E 's/.*"request_id":"([^"]+)".*/\\1/' created)
    research status "$id"
    research watch "$id" --interval 20ms
    research output "$id"
    research stop "$id" || echo "{\\"stop\\":$?}"
  `);
  expect(run).toMatchObject({ code: 0 });
  const lines = jsonLines(run.stdout);
  const request_id = lines[0]?.request_id;
  expect(request_id).toMatch(UUID);
  expect(lines[0]).toEqual({ request_id, status: "PENDING", created_at: expect.stringContaining("+00:00") });
  expect(lines[1]).toMatchObject({ request_id, status: "PENDING" });
  expect(lines.slice(2, -2)).toMatchObject([{ request_id, status: "COMPLETED", final: true }]);
  expect(lines.at(-2)).toMatchObject({ request_id, status: "COMPLETED", output: expect.any(String) });
  expect(lines.at(-1)).toEqual({ stop: 6 });
});

test("several ids: a line or an array, in the order given", async () => {
  const here = await world();
  const ids = ["PENDING", "FAILED", "COMPLETED"].map((state) => here.service.add(`x => ${state}`));
  const [a, b, c] = ids;
  expect(await here.research(["status", ...ids])).toMatchObject({
    code: 0,
    stdout: `${a}\tPENDING\n${b}\tFAILED\n${c}\tCOMPLETED\n`,
  });
  const json = await here.research(["status", ...ids, "--json"]);
  expect(JSON.parse(json.stdout)).toMatchObject(ids.map((request_id) => ({ request_id })));
  expect(await here.research(["status", "--exit-status", ...ids])).toMatchObject({ code: 3 });
});

const hasCurl = spawnSync("curl", ["--version"]).error === undefined;
test.skipIf(!hasCurl)(
  "--dry-run sends nothing, and its curl command creates the request (needs curl)",
  async () => {
    const here = await world();
    const prompt = `it's "quoted" $HOME \\ and\nhas two lines`;
    const dry = await here.research(["create", "--dry-run", prompt]);
    expect(dry).toMatchObject({ code: 0 });
    expect(here.service.server.count()).toBe(0);
    expect(dry.stdout).toContain("$RESEARCH_API_KEY");
    expect(dry.stdout + dry.stderr).not.toContain(here.env.RESEARCH_API_KEY);
    expect(await here.bash(`PATH="$PATH"; ${dry.stdout}`)).toMatchObject({ code: 0 });
    expect(JSON.parse(here.service.server.of("create")[0]?.body.toString() ?? "{}")).toEqual({ prompt });
  },
);

test("a closed pipe ends quietly", async () => {
  const here = await world();
  for (const prompt of ["one", "two", "three"]) await here.research(["create", prompt]);
  const run = await here.bash(`
    research list | head -1 > first; echo "\${PIPESTATUS[0]}"; wc -l < first
    research status @last | true; echo "\${PIPESTATUS[0]}"
  `);
  expect(run).toMatchObject({ stdout: "0\n1\n0\n", stderr: "" });
});
