import { expect, test } from "vitest";
import { html, ok, only, refuse } from "../support/behaviours.js";
import { screen } from "../support/screen.js";
import { jsonErrors, world } from "../support/world.js";

test("a closed stdout does not end the stops", async () => {
  const { bash, service } = await world();
  const ids = ["a", "b", "c"].map((name) => service.add(`${name} => PROCESSING`));
  const stopped = await bash(`set -o pipefail; research stop ${ids.join(" ")} | true`);
  expect(stopped.code).toBe(0);
  expect(service.server.count("stop")).toBe(3);
});

test("an id that is given twice is stopped once", async () => {
  const { research, service } = await world();
  const id = service.add("a => PROCESSING");
  const { code, stdout } = await research(["stop", "-y", id, id]);
  expect([code, stdout.split("\n").length]).toEqual([0, 2]);
  expect(service.server.count("stop")).toBe(1);
});

test("an error is the exit code also if stdout is closed", async () => {
  const { bash, service } = await world();
  const ids = ["a => PROCESSING", "b => COMPLETED", "c => PROCESSING"].map((prompt) => service.add(prompt));
  const stopped = await bash(`set -o pipefail; research stop ${ids.join(" ")} | true`);
  expect(stopped.code).toBe(6);
  expect(service.server.count("stop")).toBe(3);
});

test("after a stop refused for one that has ended, the history has the state that the service named", async () => {
  const { research } = await world();
  const id = (await research(["create", "a => COMPLETED"])).stdout.trim();
  expect(JSON.parse((await research(["show", id, "--json"])).stdout).status).toBe("PENDING");
  expect((await research(["stop", id])).code).toBe(6);
  expect(JSON.parse((await research(["show", id, "--json"])).stdout).status).toBe("COMPLETED");
});

test("a watch given up for its method has a hint of whole sentences", async () => {
  const { research, service } = await world({
    fault: only("status", html(405)),
  });
  const { stderr } = await research(["watch", service.add("a => PROCESSING")]);
  expect(stderr).toMatch(/^hint: If .* set it with .*\. Then go on with: research watch /m);
});

test("a stop that is answered with PROCESSING does not end with 0", async () => {
  const { research, service } = await world({
    fault: only("stop", ok({ status: "PROCESSING" })),
  });
  const id = service.add("a => PROCESSING");
  const { code, stdout, stderr } = await research(["stop", id, "--json"]);
  expect(code).toBe(9);
  expect(stdout).toBe("");
  expect(jsonErrors(stderr)).toMatchObject([{ code: "BAD_RESPONSE", request_id: id, exit_code: 9 }]);
});

test("people see the service's code, and the id of a watch that failed", async () => {
  const { research, service } = await world({
    fault: only("status", refuse(400, "TEAPOT")),
  });
  const ids = ["a", "b"].map((name) => service.add(`${name} => PROCESSING`));
  const { code, stderr } = await research(["watch", ...ids]);
  expect(code).toBe(6);
  for (const id of ids) expect(stderr).toMatch(new RegExp(`^error: ${id}: .*\\(TEAPOT\\)$`, "m"));
});

test("on a terminal it names id, prompt, state and age before it stops", async () => {
  const rig = await world();
  await rig.research(["create", "Why is the sky blue? => PROCESSING"]);
  const id = [...rig.service.conversations.keys()][0] ?? "";
  const other = rig.service.add("made elsewhere => PROCESSING");
  await rig.research(["status", id]);
  const program = screen(["stop", "@last", other], { home: rig.home, env: rig.env });
  await program.waitFor(/Stop these 2 requests\?.*\[y\/N\]/s);
  const lines = program.text().split("\n");
  expect(lines.find((line) => line.startsWith(id))).toMatch(/PROCESSING +\d+m?s {2}Why is the sky blue\?/);
  expect(lines.find((line) => line.startsWith(other))).toMatch(/PROCESSING +\d+m?s {2}\(not in the history/);
  expect(rig.service.server.count("stop")).toBe(0);
  program.type("n\r");
  expect((await program.done).code).toBe(2);
  expect(rig.service.server.count("stop")).toBe(0);
});

test("Ctrl-C at the question stops nothing, and what is said of it stands on a line of its own", async () => {
  const rig = await world();
  const id = rig.service.add("a => PROCESSING");
  const program = screen(["stop", id], { home: rig.home, env: rig.env });
  await program.waitFor(/\[y\/N\]/);
  program.type("\u0003");
  expect(await program.done).toMatchObject({ signal: 2 });
  expect(program.text()).toMatch(/^error: interrupted by SIGINT *$/m);
  expect(rig.service.server.count("stop")).toBe(0);
});
