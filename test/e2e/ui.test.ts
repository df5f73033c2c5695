import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { research, start } from "../support/run.js";
import { until } from "../support/service.js";

const READY = { timeoutMs: 60_000 };
const LINK = /http\S+\/ui\?t=[\w-]+(?=\n)/;

// page.test.ts has the page in a browser.
test("serve --ui prints the link on stderr, before the address on stdout", async () => {
  const service = start(["serve", "--port", "0", "--ui", "--sources", folderWith()]);
  const [, base = ""] = await service.waitFor(/^(http\S+)\n/, READY);
  expect(service.stderr).toContain(`${base}/ui?t=`);
  const [link] = await service.waitFor(LINK, { on: "stderr" });
  const first = await fetch(link, { redirect: "manual" });
  expect([first.status, first.headers.get("location")]).toEqual([303, "/ui"]);
  expect((await fetch(link, { redirect: "manual" })).status).toBe(401);
  expect(service.stdout).toBe(`${base}\n`);
  service.signal("SIGTERM");
  expect((await service.done).code).toBe(0);
});

test("SIGUSR2 prints a new link, and ends no service that has no page", async () => {
  for (const flags of [["--ui"], []]) {
    const service = start(["serve", "--port", "0", ...flags, "--sources", folderWith()]);
    const [, base = ""] = await service.waitFor(/^(http\S+)\n/, READY);
    const before = service.stderr;
    service.signal("SIGUSR2");
    const said = () => service.stderr.slice(before.length);
    await until(async () => said().includes("\n") || undefined);
    if (flags.length > 0) {
      expect((await fetch(LINK.exec(before)?.[0] ?? "", { redirect: "manual" })).status).toBe(401);
      expect((await fetch(LINK.exec(said())?.[0] ?? "", { redirect: "manual" })).status).toBe(303);
    } else expect(said()).toContain("the page is off; start the service with --ui");
    expect((await fetch(`${base}/health`)).status).toBe(200);
    service.signal("SIGTERM");
    expect((await service.done).code).toBe(0);
  }
});

test("serve --ui --json: a notice UI_LINK; with --exec stdout is the command's", async () => {
  const args = ["serve", "--ui", "--json", "--sources", folderWith(), "--exec", "echo out"];
  const { code, stdout, stderr } = await research(args);
  expect([code, stdout]).toEqual([0, "out\n"]);
  const { notice } = JSON.parse(stderr);
  expect(notice.code).toBe("UI_LINK");
  expect(notice.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\?t=[\w-]{32}$/);
});
