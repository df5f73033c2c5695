import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, vi } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { ThreadPool } from "../../../../src/core/thread-pool.js";
import {
  type CutDocument,
  createDocumentReader,
  type DocumentTask,
} from "../../../../src/reader/parsing/documents/document-reader.js";
import { splitDocument } from "../../../../src/reader/parsing/documents/split-document.js";
import { parseRobotsRules } from "../../../../src/reader/parsing/robots-txt.js";
import { folderWith } from "../../../support/folder.js";
import { isLinear } from "../../../support/growth.js";

// What is measured is processor time and memory; by the clock a busy machine may take much longer.
vi.setConfig({ testTimeout: 600_000 });

const MIB = 1_048_576;
const never = new AbortController().signal;
const html = { type: "text/html", charset: undefined };

/** 1 GiB of blanks, deflated three times: to make it takes seconds. */
const BLANKS = Buffer.from(
  [
    "eNqruPX2jqLfnECJtouZEpcaMhwFWNhOM3lkzRK5/MChQc2DRe64D0cTa4mgDkPjkY3MUSLcDooBuRo+N5hP/p+zeF",
    "3d0+mznz/59zHNqso08v/X/OSvRYUsDAwMPHeenL95Z/n2479O3z1/t5aBgSHhBd/+OsnzfUz1/Ne2nWFkYGBoLv/3",
    "9/alN+0HLr/8eEOGgYHBoEL7PL992vaG29NXP7WtZmBgOPDgrxgPAwNDg8hBIMmQIQjmiIE5HcicUZlRmVGZUZlRmV",
    "EZQjLTFn9POPDjU+Hzquq6LxvN9JfNF//HzKS0WRMAXaVIJA==",
  ].join(""),
  "base64",
);

/** A PDF of some hundred bytes whose one page unpacks to 1 GiB. */
const BOMB = (() => {
  const filters = "/Filter [/FlateDecode /FlateDecode /FlateDecode]";
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>",
    `<< /Length ${BLANKS.length} ${filters} >>\nstream\n${BLANKS.toString("latin1")}\nendstream`,
  ];
  let file = "%PDF-1.4\n";
  const entries = objects.map((object, i) => {
    const at = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const end = `xref\n0 5\n0000000000 65535 f \n${entries.join("")}trailer\n<< /Size 5 /Root 1 0 R >>\n`;
  return Buffer.from(`${file}${end}startxref\n${file.length}\n%%EOF\n`, "latin1");
})();

/** The children of a process; none of one that has ended. */
function childrenOf(pid: number): number[] {
  const path = `/proc/${pid}/task/${pid}/children`;
  return existsSync(path) ? readFileSync(path, "utf8").split(" ").filter(Boolean).map(Number) : [];
}

/** The resident memory of a process in MiB (proc(5): the second field); 0 if it has ended. */
function memoryOf(pid: number): number {
  try {
    return (Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * 4_096) / MIB;
  } catch {
    return 0;
  }
}

/** The most memory that a process had together with its children, MiB. */
async function peakOf(child: ChildProcess): Promise<number> {
  const { pid = 0 } = child;
  let most = 0;
  const timer = setInterval(() => {
    const sum = [pid, ...childrenOf(pid)].reduce((mib, each) => mib + memoryOf(each), 0);
    most = Math.max(most, sum);
  }, 20);
  await once(child, "close");
  clearInterval(timer);
  return most;
}

it("a file that takes too much memory is named as not read, and `try` stays below 1 GiB with its process", async () => {
  const folder = folderWith({
    "bomb.pdf": BOMB,
    "good.md": "The harbour opens at dawn.",
  });
  const program = join(import.meta.dirname, "../../../../bin/research.js");
  const child = spawn(
    process.execPath,
    [program, "try", "--sources", folder, "When does the harbour open?"],
    {
      stdio: ["ignore", "pipe", "ignore"],
    },
  );
  let report = "";
  child.stdout.setEncoding("utf8").on("data", (text) => {
    report += text;
  });
  expect(await peakOf(child)).toBeLessThan(1_024);
  expect(report).toContain("The harbour opens at dawn.");
  // On a busy machine the time may be over first.
  expect(report).toMatch(/1 file was read\. Not read:.*bomb\.pdf.*\bmore than /);
});

it("a process that a large document has filled is not used for the next one, and a stop ends one at once", async () => {
  const before = childrenOf(process.pid);
  const started = () => childrenOf(process.pid).filter((pid) => !before.includes(pid));
  const read = createDocumentReader(systemClock, 1);
  // A third of the memory in a fifth of the time.
  const lines = { name: "a.txt", bytes: Buffer.from("One of 1,600 words and a few more.\n".repeat(450_000)) };
  expect(await read(lines, never)).toMatchObject({ blocks: expect.anything() });
  expect(started()).toEqual([]);
  const stop = new AbortController();
  const reading = read({ name: "a.pdf", bytes: BOMB }, stop.signal);
  await new Promise((resolve) => setImmediate(resolve));
  stop.abort(new Error("stopped"));
  await expect(reading).rejects.toThrow("stopped");
  expect(started()).toEqual([]);
});

it("a document may take so much processor time, however long a busy machine needs for it", async () => {
  // No time of this process is ever over: its own process says that it took too long.
  const sleep = (_ms: number, signal?: AbortSignal) =>
    new Promise<void>((_resolve, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
  const limits = { name: "document-worker", most: 1, limitMs: 300, heapMib: 512, processMib: 640 };
  const threads = new ThreadPool<DocumentTask, CutDocument>({ ...limits, clock: { sleep } });
  const tags = { name: "/", bytes: Buffer.from(`<html>${'<a "'.repeat(4 * MIB)}`), page: html };
  await expect(threads.ask(tags, never)).rejects.toThrow("took more than 0.3 s");
});

it.each<[string, (i: number) => string]>([
  ["text in one paragraph", () => "One of 1,600 words and a few more. "],
  ["paragraphs", (i) => `<p>Sentence ${i} of many.</p>`],
  ["elements within a line", (i) => `<b>${i}</b> `],
  ["rows of a table", (i) => `<tr><td>a${i}<td>b</tr>`],
  ["headings", (i) => `<h2>${i}</h2><p>a</p>`],
  ["tags that do not end", () => '<a "'],
])("a page without a line break takes time in proportion to its length: %s", (_name, piece) => {
  const read = (length: number) => {
    const text = `<html><body>${Array.from({ length: length / 16 }, (_, i) => piece(i)).join("")}`;
    void splitDocument({ name: "/", bytes: Buffer.from(text), page: html });
  };
  expect(isLinear(read, 8_192)).toBe(true);
});

it("a robots.txt takes time in proportion to its size, not to its agents times its rules", () => {
  const rules = (agents: number) => {
    const names = Array.from({ length: agents }, (_, i) => `User-agent: robot-${i}`);
    const rules = Array.from({ length: agents }, (_, i) => `Disallow: /${i}`);
    return parseRobotsRules([...names, ...rules, "User-agent: *", "Disallow: /private"].join("\n"));
  };
  expect(rules(100)).toEqual(["-/private"]);
  expect(isLinear(rules, 1_000)).toBe(true);
});
