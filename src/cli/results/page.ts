import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resultText, textWithSources } from "../../machine/result-text.js";
import { resultPage } from "../../markdown/html/result-page.js";
import { inWords, LocalError } from "../../store/errors.js";
import type { Result } from "../../workflows/results.js";
import { openInBrowser } from "../terminal/browser.js";
import type { Terminal } from "../terminal/terminal.js";

/** Where a result comes from; what is not known is undefined. */
export interface ResultSource {
  requestId: string;
  /** Scheme, host and port of the service. */
  origin: string;
  question: string | undefined;
  /** As the service gave it. */
  createdAt: unknown;
}

/** A result as one page of HTML. */
export function pageOf(result: Result, { createdAt, ...source }: ResultSource): string {
  const { completed_at } = result.data;
  return resultPage(
    {
      kind: typeof result.value === "string" ? "markdown" : "json",
      text: textWithSources(result),
      digestOf: resultText(result),
    },
    {
      ...source,
      createdAt: textOf(createdAt),
      completedAt: textOf(completed_at),
    },
  );
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** Writes the page to a file that only its owner can read, and opens it. Without a browser, stdout gets the path. */
export async function openPage(terminal: Terminal, result: Result, source: ResultSource): Promise<void> {
  const { host, reporter, signal } = terminal;
  const path = writePrivate(
    `${source.requestId.replaceAll(":", "_").slice(0, 100)}.html`,
    pageOf(result, source),
  );
  if (await openInBrowser(host, path, signal)) return reporter.say(`opened ${path}`);
  await reporter.notice("NOT_OPENED", "no browser could be started: open the file yourself");
  await reporter.result(`${path}\n`);
}

/** Throws LocalError. */
function writePrivate(name: string, text: string): string {
  try {
    const path = join(mkdtempSync(join(tmpdir(), "research-")), name);
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return path;
  } catch (error) {
    throw new LocalError(`the page could not be written: ${inWords(error)}`, { cause: error });
  }
}
