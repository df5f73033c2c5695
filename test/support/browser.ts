import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { contrast, LEAST_CONTRAST } from "./contrast.js";
import { leftovers } from "./leftovers.js";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/** A browser of this machine: that of RESEARCH_TEST_BROWSER, else the first of the common ones; undefined if none. */
export function browserPath(): string | undefined {
  const folders = (process.env.PATH ?? "").split(delimiter);
  const browser = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) =>
    existsSync(path),
  );
  return process.env.RESEARCH_TEST_BROWSER || browser;
}

let running: Promise<Browser> | undefined;

/** One browser for the tests of a file. */
function started(executablePath: string): Promise<Browser> {
  if (running) return running;
  // The sandbox needs rights that a container does not have.
  const launched = chromium.launch({ executablePath, args: ["--no-sandbox"] });
  leftovers.add(() => {
    running = undefined;
    void launched.then((browser) => browser.close());
  });
  running = launched;
  return launched;
}

/**
 * A page in a real browser, in a context of its own, and all that it asked for and complained about. `loaded`: a page
 * that follows events is never idle.
 */
export async function openInRealBrowser(
  executablePath: string,
  url: string,
  loaded: "networkidle" | "load" = "networkidle",
) {
  const context = await (await started(executablePath)).newContext();
  const page = await context.newPage();
  const requests: string[] = [];
  const complaints: string[] = [];
  page.on("request", (request) => requests.push(request.url()));
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url, { waitUntil: loaded });
  return { context, page, requests, complaints };
}

/** How a page adapts: its background in a light and in a dark browser, and its width on a screen of 360 pixels. */
export async function looksOf(page: Page) {
  const background = () => page.evaluate<string>("getComputedStyle(document.body).backgroundColor");
  const light = await background();
  await page.emulateMedia({ colorScheme: "dark" });
  const dark = await background();
  await page.setViewportSize({ width: 360, height: 640 });
  return { light, dark, width: await page.evaluate<number>("document.documentElement.scrollWidth") };
}

/** The program's own colours, and nothing that runs out of the screen. */
export const OWN_LOOKS = { light: "rgb(253, 252, 250)", dark: "rgb(22, 24, 28)", width: 360 };

/** Each shown text of a page with its colour and that of what is behind it, as a browser computes them. */
const TEXTS = `[...document.querySelectorAll("body *")].flatMap((element) => {
  const textNodes = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim() !== "");
  const text = textNodes.map((node) => node.data.trim()).join(" ") || element.placeholder;
  if (!text || !element.checkVisibility() || element.matches("style, script, title")) return [];
  const look = getComputedStyle(element, textNodes.length === 0 ? "::placeholder" : undefined);
  let behind = element;
  while (behind !== document.body && /, 0\\)$/.test(getComputedStyle(behind).backgroundColor)) behind = behind.parentElement;
  const numbers = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const colour = element.closest("svg") ? look.fill : look.color;
  return [{ text, colour: numbers(colour), background: numbers(getComputedStyle(behind).backgroundColor) }];
})`;

/** The texts of a page, in a light and in a dark browser, whose contrast is too low, and how many were measured. */
export async function lowContrasts(page: Page): Promise<{ measured: number; low: string[] }> {
  const low: string[] = [];
  let measured = 0;
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    const texts = await page.evaluate<{ text: string; colour: number[]; background: number[] }[]>(TEXTS);
    measured += texts.length;
    for (const { text, colour, background } of texts) {
      const ratio = contrast(colour.slice(0, 3), background.slice(0, 3));
      const isOpaque = (colour[3] ?? 1) === 1;
      if (ratio < LEAST_CONTRAST || !isOpaque)
        low.push(`${colorScheme}: ${text.slice(0, 40)}: ${ratio.toFixed(2)}`);
    }
  }
  return { measured, low };
}
