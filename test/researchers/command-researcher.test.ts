import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { stringifyExact } from "../../src/core/json/exact-json.js";
import { ResearchFailure } from "../../src/core/researcher.js";
import { createCommandResearcher } from "../../src/researchers/command-researcher.js";
import { ConversationStopped, ServiceClosing } from "../../src/server/conversations/conversation-store.js";
import { alive } from "../support/processes.js";
import { until } from "../support/service.js";

const folder = mkdtempSync(join(tmpdir(), "research-command-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const job = { request_id: "r-1", prompt: "why?", structured_output: false };

function research(
  command: string,
  more = {},
  env: NodeJS.ProcessEnv = process.env,
  stop = new AbortController(),
) {
  return createCommandResearcher({ command, env }).research({ ...job, ...more }, stop.signal);
}

it("gets the question as one JSON object on stdin; stdout is the output", async () => {
  const schema = { type: "object" };
  const output = await research("cat", { structured_output: true, output_schema: schema });
  expect(JSON.parse(stringifyExact(output))).toEqual({
    ...job,
    structured_output: true,
    output_schema: schema,
  });
  expect(await research("printf 'a\\nb'")).toBe("a\nb");
});

it("need not read its stdin", async () => {
  expect(await research("printf done", { prompt: "x".repeat(900_000) })).toBe("done");
});

it("does not see keys, databases and models of the service", async () => {
  const env = {
    PATH: process.env.PATH,
    RESEARCH_API_KEY: "k1",
    RESEARCH_API_KEY_FILE: "k2",
    RESEARCH_SERVE_API_KEY: "k3",
    RESEARCH_SERVE_DATABASE: "k4",
    RESEARCH_MODEL_API_KEY: "k5",
    PGPASSWORD: "k6",
    RESEARCH_SEARCH_API_KEY: "k7",
    RESEARCH_UPSTREAM_KEY: "k8",
  };
  const output = String(await research("env", {}, { ...env, OTHER: "kept" }));
  expect(output).toContain("OTHER=kept");
  expect(output).not.toMatch(/k[1-8]|RESEARCH_|^PG/m);
});

it.each([
  ["echo one >&2; echo two >&2; exit 3", "two"],
  ["exit 4", "The researcher ended with exit code 4 and printed no error."],
  ["kill -9 $$", "The researcher was ended by SIGKILL and printed no error."],
])("fails with the last line of stderr: %s", async (command, reason) => {
  await expect(research(command)).rejects.toThrow(new ResearchFailure(reason));
});

it("fails when structured output is not JSON", async () => {
  await expect(research("echo no", { structured_output: true })).rejects.toThrow(/is not JSON/);
});

it("fails at more than 64 MiB, and ends the program", async () => {
  await expect(
    research("echo $$ > big.pid; exec yes".replace("big.pid", `${folder}/big.pid`)),
  ).rejects.toThrow(/64 MiB/);
  expect(alive(Number(readFileSync(`${folder}/big.pid`, "utf8")))).toBe(false);
});

it("leaves nothing running when it ends by itself", async () => {
  expect(await research(`sleep 300 & echo $! > ${folder}/left.pid; printf ok`)).toBe("ok");
  expect(alive(Number(readFileSync(`${folder}/left.pid`, "utf8")))).toBe(false);
});

it("stop ends the whole tree, also what does not listen to SIGTERM", async () => {
  const stop = new AbortController();
  const tree = `trap '' TERM; sleep 300 & (trap '' TERM; sleep 300) & echo $$ $! > ${folder}/tree; wait; sleep 300`;
  const work = research(`bash -c "${tree.replaceAll("$", "\\$")}"`, {}, process.env, stop);
  work.catch(() => {});
  const pids = await until(async () => {
    const text = await Promise.resolve()
      .then(() => readFileSync(`${folder}/tree`, "utf8"))
      .catch(() => "");
    return text.trim() === "" ? undefined : text.trim().split(" ").map(Number);
  });
  expect(pids.map(alive)).toEqual([true, true]);
  const reason = new ConversationStopped("stopped");
  stop.abort(reason);
  await expect(work).rejects.toBe(reason);
  expect(pids.map(alive)).toEqual([false, false]);
});

it.each([
  [new ConversationStopped("stopped"), "TERM"],
  [new ServiceClosing("closing"), "HUP"],
  [new Error("lost"), "HUP"],
])("a command can tell a stop from what goes on later: %s", async (reason, told) => {
  const file = join(mkdtempSync(join(folder, "told-")), "signal");
  const [stop, begun] = [new AbortController(), `${file}.begun`];
  const note = (name: string) => `trap 'echo ${name} >> ${file}; exit 1' ${name}`;
  const work = research(
    `${note("TERM")}; ${note("HUP")}; : > ${begun}; sleep 300 & wait`,
    {},
    process.env,
    stop,
  );
  work.catch(() => {});
  await until(async () => existsSync(begun) || undefined);
  stop.abort(reason);
  await expect(work).rejects.toBe(reason);
  expect(readFileSync(file, "utf8")).toBe(`${told}\n`);
});
