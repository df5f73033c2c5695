// Makes docs/page.png from the page of a running service: `npm run build && node docs/demo/service-page.js`. It needs a
// Chromium, that of RESEARCH_TEST_BROWSER or Debian's.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";
import { indexedPng } from "./indexed-png.js";
import { fillServiceFolder } from "./service-folder.js";

const PICTURE = join(import.meta.dirname, "../page.png");
const PROGRAM = join(import.meta.dirname, "../../bin/research.js");
const SIZE = { width: 820, height: 985 };
const COLOURS = 96;
/** The documentation is read over slow lines too, bytes. */
const MAX_BYTES = 60_000;

const folder = mkdtempSync(join(tmpdir(), "research-page-"));
try {
  const keys = { alice: addKey("alice", "free"), team: addKey("team", "pro") };
  fillServiceFolder(folder, keys, Date.now());
  await withService(async (link) => {
    const picture = await pictureOf(link);
    if (picture.length > MAX_BYTES) throw new Error(`${picture.length} bytes are more than ${MAX_BYTES}`);
    writeFileSync(PICTURE, picture);
  });
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** @type {(name: string, tier: string) => string} */
function addKey(name, tier) {
  const args = [PROGRAM, "serve", "keys", "add", name, "--tier", tier, "--data", folder];
  return execFileSync(process.execPath, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
  }).trim();
}

/** @type {(use: (link: string) => Promise<void>) => Promise<void>} */
async function withService(use) {
  const flags = ["--ui", "--port", "0", "--data", folder, "--workers", "1"];
  const args = [PROGRAM, "serve", ...flags, "--researcher", "sleep 600"];
  const service = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
  const closed = once(service, "close");
  try {
    for await (const line of createInterface({ input: service.stderr })) {
      const [link] = /http\S+\/ui\?t=\S+/.exec(line) ?? [];
      if (link !== undefined) return await use(link);
    }
    throw new Error("the service ended before it was ready");
  } finally {
    service.kill("SIGTERM");
    await closed;
  }
}

/** @type {(link: string) => Promise<Buffer>} */
async function pictureOf(link) {
  const executablePath = process.env.RESEARCH_TEST_BROWSER || "/usr/bin/chromium";
  // The sandbox needs rights that a container does not have.
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const page = await browser.newPage({ viewport: SIZE, colorScheme: "light", reducedMotion: "reduce" });
    await page.goto(link);
    await page.locator("tbody .state", { hasText: "PROCESSING" }).waitFor();
    const left = await page.screenshot();
    await page.emulateMedia({ colorScheme: "dark" });
    await page.getByText("hourly limit of a key").click();
    await page.locator("#curl").waitFor();
    const right = await page.screenshot();
    // Side by side on a canvas, which gives the pixels back.
    await page.goto("about:blank");
    const pixels = await page.evaluate(
      `(async () => {
        const canvas = new OffscreenCanvas(${SIZE.width * 2}, ${SIZE.height});
        const context = canvas.getContext("2d");
        for (const [index, data] of ${JSON.stringify([left, right].map((image) => image.toString("base64")))}.entries()) {
          const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
          context.drawImage(await createImageBitmap(new Blob([bytes])), index * ${SIZE.width}, 0);
        }
        const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
        let text = "";
        for (let at = 0; at < data.length; at += 32768) text += String.fromCharCode(...data.subarray(at, at + 32768));
        return btoa(text);
      })()`,
    );
    return indexedPng(Buffer.from(String(pixels), "base64"), SIZE.width * 2, COLOURS);
  } finally {
    await browser.close();
  }
}
