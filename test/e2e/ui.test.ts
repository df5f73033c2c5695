import { expect, test } from "vitest";
import { browserPath, looksOf, OWN_LOOKS, openInRealBrowser } from "../support/browser.js";
import { folderWith } from "../support/folder.js";
import { research, start } from "../support/run.js";
import { until } from "../support/service.js";

const executable = browserPath();
const STARTING_MS = 60_000;
const READY = { timeoutMs: STARTING_MS };
const LINK = /http\S+\/ui\?t=[\w-]+(?=\n)/;
const HOSTILE = '<script>alert("owned")</script><img src=http://elsewhere.example/x onerror=alert(1)>';

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

test.skipIf(!executable)(
  "the page in a browser: opened once, live, hostile text as text, nothing from elsewhere (needs chromium)",
  async () => {
    const folder = folderWith();
    const service = start([
      ...["serve", "--port", "0", "--ui", "--data", folder, "--pending", "1500ms", "--processing", "1500ms"],
      ...["--researcher", `printf '%s' '# Done\n\n${HOSTILE}'`],
    ]);
    const [, base = ""] = await service.waitFor(/^(http\S+)\n/, READY);
    const [, key = ""] = await service.waitFor(/API key \(shown once\): (\S+)/, { on: "stderr" });
    const [link] = await service.waitFor(LINK, { on: "stderr" });
    const opened = await openInRealBrowser(executable ?? "", link, "load");
    const { context, page, requests, complaints } = opened;
    expect(page.url()).toBe(`${base}/ui`);
    await page.evaluate("window.notReloaded = true");

    const env = { RESEARCH_BASE_URL: base, RESEARCH_API_KEY: key };
    const created = await research(["create", `Why? ${HOSTILE}`], { env });
    expect(created.code).toBe(0);
    const states: string[] = [];
    const state = page.locator("#conversations tbody .state");
    await until(async () => {
      const shown = await state.textContent({ timeout: STARTING_MS });
      if (shown && shown !== states.at(-1)) states.push(shown);
      return shown === "COMPLETED" || undefined;
    }, STARTING_MS);
    expect(states.at(0)).toBe("PENDING");
    expect(states.at(-1)).toBe("COMPLETED");
    expect(await page.evaluate("window.notReloaded")).toBe(true);
    expect(await page.locator("#conversations a").innerText()).toContain(`Why? ${HOSTILE}`);

    await page.locator("#conversations a").click();
    await page.getByRole("heading", { name: "Done" }).waitFor();
    expect(await page.locator("#result").innerText()).toContain(HOSTILE);
    expect(await page.locator("#question").innerText()).toContain(`Why? ${HOSTILE}`);
    expect(await page.locator("#curl").innerText()).toContain(`${base}/api/v1/conversation/`);
    expect(await page.locator("#states svg").isVisible()).toBe(true);
    const [size, labels] = [page.viewportSize(), page.locator("#states text")];
    await page.setViewportSize({ width: 360, height: 640 });
    const [all, shown] = [await labels.count(), await labels.filter({ visible: true }).count()];
    // An axis of a few ticks keeps each label on a narrow screen; one of more keeps every other.
    expect(shown).toBe(all < 5 ? all : Math.ceil(all / 2));
    if (size) await page.setViewportSize(size);
    expect(await page.locator("img, iframe, form, input, object, embed, base").count()).toBe(0);
    expect(await page.content()).not.toContain(key);
    await page.getByRole("link", { name: "All conversations" }).click();
    await page.getByRole("heading", { name: "Research service" }).waitFor();

    // Its own style is let in, light and dark, and nothing runs out of a narrow screen.
    expect(await looksOf(page)).toEqual(OWN_LOOKS);
    expect(complaints).toEqual([]);
    expect([...new Set(requests.map((url) => new URL(url).origin))]).toEqual([base]);

    const used = await page.goto(link);
    expect(used?.status()).toBe(401);
    expect(await page.locator("h1").innerText()).toBe("Open the link from the terminal");
    await context.close();
    service.signal("SIGTERM");
    expect((await service.done).code).toBe(0);
  },
  STARTING_MS * 2,
);
