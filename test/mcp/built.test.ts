import { spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { world } from "../support/world.js";
import { roundTrip } from "./round-trip.js";

// With the built program.

test("a request from its create to its result, over a real pipe", () => roundTrip("2026-07-28", true));

test("--print-config needs no settings, shows no key, and starts from anywhere", async () => {
  const { home, start } = await world();
  const words = ["mcp", "--print-config", "--tier", "free", "--allow-dir", "out"];
  const { code, stdout } = await start(words).done;
  expect(code).toBe(0);
  expect(stdout).not.toContain("sk-test");
  const json = JSON.parse(stdout.match(/^\{\n.*?^\}/ms)?.[0] ?? "");
  const { command, args } = json.mcpServers.research;
  expect(args.slice(1)).toEqual([
    "mcp",
    "--tier",
    "free",
    "--allow-dir",
    expect.stringMatching(/^\/.*\/out$/),
  ]);
  expect(stdout).toContain(`claude mcp add research -- ${command} ${args.join(" ")}\n`);
  // As a client with windows starts it: without the PATH of a shell.
  const child = spawnSync(command, args, { cwd: home, env: { HOME: home }, input: "{\n", encoding: "utf8" });
  expect(child.stdout).toContain("-32700");
});
