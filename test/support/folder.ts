import { linkSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { leftovers } from "./leftovers.js";

/** A temporary folder with these files in it; gone when the test file is done. */
export function folderWith(files: Record<string, string | Uint8Array> = {}): string {
  const folder = mkdtempSync(join(tmpdir(), "research-test-"));
  leftovers.add(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** A temporary folder with so many names of one file, f0.md, f1.md and so on: a link costs a tenth of a file. */
export function folderWithLinks(content: string, names: number): string {
  const folder = folderWith({ "f0.md": content });
  for (let i = 1; i < names; i++) linkSync(join(folder, "f0.md"), join(folder, `f${i}.md`));
  return folder;
}
