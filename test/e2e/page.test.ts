import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { browserPath, looksOf, OWN_LOOKS, openInRealBrowser } from "../support/browser.js";
import { folderWith } from "../support/folder.js";
import { HappyService } from "../support/happy-service.js";
import { REPORT } from "../support/hostile-report.js";
import { research } from "../support/in-process.js";

const executable = browserPath();
const STARTING_MS = 60_000;

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

test.skipIf(!executable)(
  "a page asks for nothing, complains of nothing, and shows what is hostile as text (needs chromium)",
  async () => {
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
    // The policy lets its own style in, and on a narrow screen nothing runs out of it.
    expect(await looksOf(page)).toEqual(OWN_LOOKS);
    await context.close();
  },
  STARTING_MS,
);

test.skipIf(!executable)(
  "the contents lead to their headings (needs chromium)",
  async () => {
    const url = await pageOf("# One\n\n## Two\n\n## Three\n\n## Four <b>\n");
    const { context, page, complaints } = await openInRealBrowser(executable ?? "", url);
    expect(await page.locator("nav a").allInnerTexts()).toEqual(["One", "Two", "Three", "Four <b>"]);
    await page.locator("nav a").last().click();
    expect(await page.locator(":target").innerText()).toBe("Four <b>");
    expect(complaints).toEqual([]);
    await context.close();
  },
  STARTING_MS,
);

test.skipIf(!executable)(
  "the index of a batch draws its timeline and leads to its pages (needs chromium)",
  async () => {
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
    expect(await page.locator("svg rect").count()).toBe(3);
    expect(
      await page.locator("svg rect.bad").evaluate((bar) => bar.getBoundingClientRect().height),
    ).toBeGreaterThan(5);
    await page.locator("tbody a").first().click();
    expect(await page.locator("h1").innerText()).toBe("Answer to <script>one</script>");
    await page.goBack();
    await page.locator("svg a").nth(1).click();
    expect(await page.locator("h1").innerText()).toBe("Answer to two");
    expect(complaints).toEqual([]);
    await context.close();
  },
  STARTING_MS,
);
