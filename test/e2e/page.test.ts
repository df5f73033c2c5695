import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { browserPath, looksOf, lowContrasts, OWN_LOOKS, openInRealBrowser } from "../support/browser.js";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { REPORT } from "../support/hostile-report.js";
import { research } from "../support/in-process.js";
import * as processes from "../support/run.js";
import { until } from "../support/service.js";

const executable = browserPath();
const STARTING_MS = 60_000;
const HOSTILE = '<script>alert("owned")</script><img src=http://elsewhere.example/x onerror=alert(1)>';

function inChromium(name: string, run: () => Promise<void>): void {
  test.skipIf(!executable)(`${name} (needs chromium)`, run, 2 * STARTING_MS);
}

/** The page of a result, in a file. */
async function pageOf(output: unknown): Promise<string> {
  const service = await HappyService.start({ output: () => output });
  const { code, stdout } = await research(["output", service.add("x => COMPLETED"), "--html"], {
    env: service.env,
  });
  expect(code).toBe(0);
  const path = join(folderWith(), "page.html");
  writeFileSync(path, stdout);
  return pathToFileURL(path).href;
}

inChromium("a page asks for nothing, complains of nothing, and shows what is hostile as text", async () => {
  const url = await pageOf(REPORT);
  const { context, page, requests, complaints } = await openInRealBrowser(executable ?? "", url);
  expect(requests).toEqual([url]);
  expect(complaints).toEqual([]);
  const text = await page.locator("main").innerText();
  for (const shown of [
    '<script>alert("owned")</script>',
    "<img src=x onerror=alert(1)>",
    "\\u{1b}[2J",
    "\\u{202e}evil",
  ])
    expect(text).toContain(shown);
  const made = page.locator("script, img, iframe, form, input, main style, object, embed, link, base");
  expect(await made.count()).toBe(0);
  const addresses = await page
    .locator("a")
    .evaluateAll((links) => links.map((link) => link.getAttribute("href")));
  for (const address of addresses) expect(address).toMatch(/^(?:https?:|mailto:|#s\d+$)/);
  const { measured, low } = await lowContrasts(page);
  expect(low).toEqual([]);
  expect(measured).toBeGreaterThan(20);
  await page.emulateMedia({ colorScheme: "light" });
  // The policy lets its own style in, and on a narrow screen nothing runs out of it.
  expect(await looksOf(page)).toEqual(OWN_LOOKS);
  await context.close();
});

inChromium("the contents lead to their headings", async () => {
  const url = await pageOf("# One\n\n## Two\n\n## Three\n\n## Four <b>\n");
  const { context, page, complaints } = await openInRealBrowser(executable ?? "", url);
  expect(await page.locator("nav a").allInnerTexts()).toEqual(["Two", "Three", "Four <b>"]);
  await page.locator("nav a").last().click();
  expect(await page.locator(":target").innerText()).toBe("Four <b>");
  expect(complaints).toEqual([]);
  await context.close();
});

inChromium("no line ends inside an amount, however narrow the screen is", async () => {
  const amounts = ["€ 9,800", "14 000 €", "3.5 kW", "12 %", "USD 9,800", "$ 1.5 million", "20 °C", "450 g"];
  const url = await pageOf(`${amounts.map((amount) => `About ${amount} or`).join(" ")} so.\n`);
  const { context, page } = await openInRealBrowser(executable ?? "", url);
  // The text stays as it came: what is copied or searched has plain spaces.
  expect(await page.locator("main").innerText()).toContain("About € 9,800 or About 14 000 € or");
  for (let width = 120; width < 400; width += 7) {
    await page.setViewportSize({ width, height: 600 });
    const broken = await page.evaluate<string[]>(
      `${JSON.stringify(amounts)}.filter((amount) => {
        const walker = document.createTreeWalker(document.querySelector("main"), 4);
        while (walker.nextNode()) {
          const at = walker.currentNode.data.indexOf(amount);
          if (at === -1) continue;
          const range = document.createRange();
          range.setStart(walker.currentNode, at);
          range.setEnd(walker.currentNode, at + amount.length);
          return range.getClientRects().length !== 1;
        }
        return true;
      })`,
    );
    expect(broken, `${width} pixels`).toEqual([]);
  }
  await context.close();
});

inChromium("the index of a batch leads to its pages", async () => {
  const service = await HappyService.start({ output: (prompt) => `# Answer to ${prompt}` });
  const folder = folderWith();
  writeFileSync(join(folder, "q.txt"), "<script>one</script>\ntwo\nthree => FAILED\n");
  const { code } = await research(["batch", "q.txt", "--out", "out", "--html", "--interval", "50ms"], {
    env: service.env,
    cwd: folder,
  });
  expect(code).toBe(3);
  const url = pathToFileURL(join(folder, "out", "index.html")).href;
  const { context, page, requests, complaints } = await openInRealBrowser(executable ?? "", url);
  expect(requests).toEqual([url]);
  expect(await page.locator("tbody .state").allInnerTexts()).toEqual(["COMPLETED", "COMPLETED", "FAILED"]);
  expect((await lowContrasts(page)).low).toEqual([]);
  // A row is a link where it has no letters, too.
  await page.locator("tbody td:last-child").first().click({ force: true });
  expect(await page.locator("h1").innerText()).toBe("Answer to <script>one</script>");
  await page.goBack();
  await page.setViewportSize({ width: 380, height: 640 });
  for (const cell of await page.locator("tbody td").all()) {
    const { x = -1, width = 0 } = (await cell.boundingBox()) ?? {};
    expect([x >= 0, width > 0, x + width <= 380]).toEqual([true, true, true]);
  }
  // The question has the line to itself.
  expect((await page.locator("tbody td:has(a)").last().boundingBox())?.width).toBeGreaterThan(250);
  await page.locator("tbody a").nth(1).click();
  expect(await page.locator("h1").innerText()).toBe("Answer to two");
  expect(complaints).toEqual([]);
  await context.close();
});

inChromium(
  "the page of the local service: opened once, live, hostile text as text, nothing from elsewhere",
  async () => {
    const folder = folderWith();
    const service = processes.start([
      ...["serve", "--port", "0", "--ui", "--data", folder, "--pending", "1500ms", "--processing", "1500ms"],
      ...["--researcher", `printf '%s' '# Done\n\n${HOSTILE}'`],
    ]);
    const [, base = ""] = await service.waitFor(/^(http\S+)\n/, { timeoutMs: STARTING_MS });
    const [, key = ""] = await service.waitFor(/API key \(shown once\): (\S+)/, { on: "stderr" });
    const [link] = await service.waitFor(/http\S+\/ui\?t=[\w-]+(?=\n)/, { on: "stderr" });
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

    expect((await lowContrasts(page)).low).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    await page.getByPlaceholder("Words of a question").fill("zebra");
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByText("No conversation matches.").waitFor();
    await page.getByRole("link", { name: "Show all" }).click();
    await state.click({ force: true });
    await page.getByRole("heading", { name: "Done" }).waitFor();
    expect(await page.locator("#result").innerText()).toContain(HOSTILE);
    expect(await page.locator("h1").first().innerText()).toBe(`Why? ${HOSTILE}`);
    expect((await lowContrasts(page)).low).toEqual([]);
    await page.emulateMedia({ colorScheme: "light" });
    expect(await page.locator("#curl").innerText()).toContain(`${base}/api/v1/conversation/`);
    expect(await page.locator("#facts").innerText()).toMatch(/State\s+COMPLETED[\s\S]*In PROCESSING\s+\d/);
    expect(await page.locator("img, iframe, form, input, object, embed, base").count()).toBe(0);
    expect(await page.content()).not.toContain(key);
    await page.getByRole("link", { name: "All conversations" }).click();
    await page.getByRole("heading", { name: "Research service" }).waitFor();

    // Its own style is let in, light and dark, and nothing runs out of a narrow screen.
    expect(await looksOf(page)).toEqual(OWN_LOOKS);
    expect(complaints).toEqual([]);
    expect([...new Set(requests.map((url) => new URL(url).origin))]).toEqual([base]);

    expect((await page.goto(`${base}/ui/conversations/none`))?.status()).toBe(404);
    expect((await lowContrasts(page)).low).toEqual([]);
    await page.getByRole("link", { name: "All conversations" }).click();
    await page.getByRole("heading", { name: "Research service" }).waitFor();

    const used = await page.goto(link);
    expect(used?.status()).toBe(401);
    expect(await page.locator("h1").innerText()).toBe("Open the link from the terminal");
    await context.close();
    service.signal("SIGTERM");
    expect((await service.done).code).toBe(0);
  },
);
