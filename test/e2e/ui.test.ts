import { expect, test } from "vitest";
import { folderWith } from "../support/folder.js";
import { research, start } from "../support/run.js";
import { until } from "../support/service.js";

const READY = { timeoutMs: 60_000 };
const LINK = /http\S+\/ui\?t=[\w-]+(?=\n)/;

// page.test.ts has the page in a browser.
test("serve --ui prints the link on stderr, and the address alone on stdout; SIGUSR2 prints a new one", async () => {
  const service = start(["serve", "--port", "0", "--ui", "--sources", folderWith()]);
  const [, base = ""] = await service.waitFor(/^(http\S+)\n/, READY);
  const open = (link: string) => fetch(link, { redirect: "manual" });
  const [first] = await service.waitFor(LINK, { on: "stderr" });
  expect(first).toContain(`${base}/ui?t=`);
  const opened = await open(first);
  expect([opened.status, opened.headers.get("location")]).toEqual([303, "/ui"]);
  expect((await open(first)).status).toBe(401);
  const renewed = () => {
    const before = service.stderr.length;
    service.signal("SIGUSR2");
    return until(async () => LINK.exec(service.stderr.slice(before))?.[0]);
  };
  const [unused, last] = [await renewed(), await renewed()];
  expect((await open(unused)).status).toBe(401);
  expect((await open(last)).status).toBe(303);
  expect(service.stdout).toBe(`${base}\n`);
  service.signal("SIGTERM");
  expect((await service.done).code).toBe(0);
});

test("SIGUSR2 ends no service that has no page", async () => {
  const service = start(["serve", "--port", "0", "--sources", folderWith()]);
  const [, base = ""] = await service.waitFor(/^(http\S+)\n/, READY);
  service.signal("SIGUSR2");
  await service.waitFor(/the page is off; start the service with --ui/, { on: "stderr" });
  expect((await fetch(`${base}/health`)).status).toBe(200);
  service.signal("SIGTERM");
  expect((await service.done).code).toBe(0);
});

test("serve --ui --json: a notice UI_LINK; with --exec stdout is the command's", async () => {
  const args = ["serve", "--ui", "--json", "--sources", folderWith(), "--exec", "echo out"];
  const { code, stdout, stderr } = await research(args);
  expect([code, stdout]).toEqual([0, "out\n"]);
  const { notice } = JSON.parse(stderr);
  expect(notice.code).toBe("UI_LINK");
  expect(notice.message).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/ui\?t=[\w-]{32}$/);
});
