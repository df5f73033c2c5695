import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { DocumentTask } from "../../src/reader/reading/documents/document.js";

const SCRIPT = `
const { Worker } = require("node:worker_threads");
const { bytes, ...task } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
const worker = new Worker(process.argv[1], { env: {} });
worker.once("message", () => {
  const begun = process.cpuUsage();
  worker.once("message", async ({ answer }) => {
    const { user, system } = process.cpuUsage(begun);
    const { blocks, ...about } = answer;
    const cost = { cpuMs: (user + system) / 1000, rssMib: process.resourceUsage().maxRSS / 1024, about };
    console.log(JSON.stringify(cost));
    await worker.terminate();
  });
  worker.postMessage({ ...task, bytes: Buffer.from(bytes, "base64") });
});`;

/** What reading a document costs a process of its own: its processor time, and the most memory that it had. */
export function documentCost({ bytes, ...task }: DocumentTask): {
  cpuMs: number;
  rssMib: number;
  about: { rules?: string[]; reason?: string };
} {
  const bundle = join(import.meta.dirname, "../../dist/document-worker.js");
  const input = JSON.stringify({ ...task, bytes: Buffer.from(bytes).toString("base64") });
  return JSON.parse(
    execFileSync(process.execPath, ["-e", SCRIPT, bundle], {
      input,
      encoding: "utf8",
      timeout: 300_000,
    }),
  );
}
