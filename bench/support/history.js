import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A history of `count` requests as the program itself writes them, the newest one last.
 * @param {string} folder the history folder, made here
 * @param {number} count
 */
export function writeHistory(folder, count) {
  mkdirSync(folder, { recursive: true });
  const begin = Date.UTC(2029, 0, 1);
  const lines = Array.from({ length: count }, (_, i) => {
    const at = new Date(begin + i * 60_000).toISOString();
    return JSON.stringify({
      kind: "created",
      local_id: `local-${i.toString(16).padStart(12, "0")}`,
      sent_at: at,
      origin: "https://research.example.com",
      profile: null,
      key_id: "000000000000",
      prompt: `What is known about item number ${i}, and where does it come from?`.repeat(3),
      structured_output: false,
      output_schema: null,
      request_id: `bench-${i.toString().padStart(8, "0")}-0000-4000-8000-000000000000`,
      status: "COMPLETED",
      created_at: at,
      at,
    });
  });
  writeFileSync(join(folder, "history.jsonl"), `${lines.join("\n")}\n`);
}
