import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync } from "node:zlib";
import { describe, expect, it, vi } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import { documentReader } from "../../../../src/reader/reading/documents/document.js";
import { documentCost } from "../../../support/document-cost.js";
import { folderWith } from "../../../support/folder.js";

// What is measured is processor time and memory; by the clock a busy machine may take much longer.
vi.setConfig({ testTimeout: 600_000 });

const MIB = 1_048_576;
const never = new AbortController().signal;
const html = { type: "text/html", charset: undefined };

/** A PDF of a few kB whose one page unpacks to 1 GiB. */
function bomb(): Uint8Array {
  const stream = deflateSync(deflateSync(Buffer.alloc(1_024 * MIB, " "), { level: 1 }), { level: 9 });
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << >> >>",
    `<< /Length ${stream.length} /Filter [/FlateDecode /FlateDecode] >>\nstream\n${stream.toString("latin1")}\nendstream`,
  ];
  let file = "%PDF-1.4\n";
  const entries = objects.map((object, i) => {
    const at = file.length;
    file += `${i + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(at).padStart(10, "0")} 00000 n \n`;
  });
  const end = `xref\n0 5\n0000000000 65535 f \n${entries.join("")}trailer\n<< /Size 5 /Root 1 0 R >>\n`;
  return Buffer.from(`${file}${end}startxref\n${file.length}\n%%EOF\n`, "latin1");
}

const BOMB = bomb();

/** The parent of each process, and its memory in MiB (proc(5): the fields after the name). */
function processes(): { pid: number; parent: number; mib: number }[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const stat = readFileSync(`/proc/${Number(name)}/stat`, "utf8");
      const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return [{ pid: Number(name), parent: Number(fields[1]), mib: (Number(fields[21]) * 4_096) / MIB }];
    } catch {
      return [];
    }
  });
}

/** The most memory that a process had together with its children, MiB. */
async function peakOf(child: ChildProcess): Promise<number> {
  let most = 0;
  const timer = setInterval(() => {
    const all = processes().filter(({ pid, parent }) => pid === child.pid || parent === child.pid);
    most = Math.max(
      most,
      all.reduce((sum, { mib }) => sum + mib, 0),
    );
  }, 20);
  await once(child, "close");
  clearInterval(timer);
  return most;
}

it("files that take too much memory are named as not read, and `try` stays below 1 GiB with its process", async () => {
  const folder = folderWith({
    "bomb.pdf": BOMB,
    "cells.csv": ",".repeat(8 * MIB - 10),
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
  expect(report).toMatch(/Not read:.*cells\.csv.*\bmore than /);
});

const childrenOf = (pid: number) => processes().filter(({ parent }) => parent === pid);

it("a process that a large document has filled is not used for the next one, and a stop ends one at once", async () => {
  const before = new Set(childrenOf(process.pid).map(({ pid }) => pid));
  const started = () => childrenOf(process.pid).filter(({ pid }) => !before.has(pid));
  const read = documentReader(systemClock, 1);
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
  const read = documentReader({ sleep }, 1);
  const tags = { name: "/", bytes: Buffer.from(`<html>${'<a "'.repeat(8 * MIB)}`), page: html };
  expect(await read(tags, never)).toEqual({ reason: "reading it took more than 5 s" });
});

describe("a page without a line break takes time in proportion to its length:", () => {
  it.each<[string, (i: number) => string]>([
    ["text in one paragraph", () => "One of 1,600 words and a few more. "],
    ["paragraphs", (i) => `<p>Sentence ${i} of many.</p>`],
    ["elements within a line", (i) => `<b>${i}</b> `],
    ["rows of a table", (i) => `<tr><td>a${i}<td>b</tr>`],
    ["headings", (i) => `<h2>${i}</h2><p>a</p>`],
    ["tags that do not end", () => '<a "'],
  ])("%s", (_name, piece) => {
    const costOf = (mib: number) => {
      const count = Math.ceil((mib * MIB) / piece(100_000).length);
      const text = `<html><body>${Array.from({ length: count }, (_, i) => piece(i)).join("")}`;
      return documentCost({ name: "/", bytes: Buffer.from(text), page: html }).cpuMs;
    };
    // A short run has some ms besides, such as those of the compiler.
    expect(costOf(4)).toBeLessThan(6 * costOf(1) + 300);
  });
});

it("a robots.txt takes time and memory in proportion to its size, not to its agents times its rules", () => {
  const robots = (agents: number) => {
    const names = Array.from({ length: agents }, (_, i) => `User-agent: robot-${i}`);
    const rules = Array.from({ length: agents }, (_, i) => `Disallow: /${i}`);
    const lines = [...names, ...rules, "User-agent: *", "Disallow: /private"];
    return documentCost({ name: "/robots.txt", bytes: Buffer.from(lines.join("\n")), isRobots: true });
  };
  const [few, many] = [robots(2_000), robots(12_000)];
  expect(many.about.rules).toEqual(["-/private"]);
  expect(many.cpuMs).toBeLessThan(6 * few.cpuMs + 150);
  expect(many.rssMib).toBeLessThan(few.rssMib + 50);
});
