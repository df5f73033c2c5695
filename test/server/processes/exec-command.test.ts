import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { execCommand } from "../../../src/server/processes/exec-command.js";
import { folderWith } from "../../support/folder.js";
import { until } from "../../support/service.js";

const run = (command: string, more: { env?: NodeJS.ProcessEnv; signal?: AbortSignal } = {}) =>
  execCommand({
    command,
    baseUrl: "http://127.0.0.1:1",
    apiKey: "k",
    env: { ...process.env, ...more.env },
    signal: more.signal ?? new AbortController().signal,
  });

it.each([
  ["exit 0", 0],
  ["exit 7", 7],
  ["kill -TERM $$", 143],
])("gives back how the command ended: %s", async (command, code) => {
  expect(await run(command)).toBe(code);
});

it("tells the command where the service is, and nothing that leads elsewhere", async () => {
  const folder = folderWith();
  const env = {
    RESEARCH_API_KEY_FILE: "x",
    RESEARCH_PROFILE: "x",
    RESEARCH_SERVE_API_KEY: "x",
    RESEARCH_API_KEY: "x",
  };
  await run(`env | grep ^RESEARCH_ | sort > ${folder}/env`, { env });
  expect(readFileSync(join(folder, "env"), "utf8")).toBe(
    "RESEARCH_API_KEY=k\nRESEARCH_BASE_URL=http://127.0.0.1:1\nRESEARCH_PROVIDER=research\n",
  );
});

it("leaves nothing of it behind, neither when it ends nor when it is ended", async () => {
  const folder = folderWith();
  const gone = (pid: number) => {
    const stat = existsSync(`/proc/${pid}/stat`) ? readFileSync(`/proc/${pid}/stat`, "utf8") : "";
    return stat === "" || stat.includes(") Z ");
  };
  const pid = () => Number(readFileSync(join(folder, "pid"), "utf8"));
  await run(`sleep 300 & echo $! > ${folder}/pid`);
  expect(gone(pid())).toBe(true);
  const stop = new AbortController();
  const running = run(`sleep 300 & echo $! > ${folder}/pid; touch ${folder}/up; wait`, {
    signal: stop.signal,
  });
  await until(async () => (existsSync(join(folder, "up")) ? true : undefined));
  expect(gone(pid())).toBe(false);
  stop.abort();
  expect(await running).toBe(143);
  expect(gone(pid())).toBe(true);
});
