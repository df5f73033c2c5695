import { linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { leftovers } from "./leftovers.js";

const MEMORY = "/dev/shm";
/** Ten times what all tests together keep at once; the 64 MiB of a container are far less. */
const ENOUGH_BYTES = 4 * 2 ** 30;

/** Whether Linux keeps files in memory, has room for those of the tests, and starts programs from there. */
function hasMemoryFolder(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    const [, options] = / \/dev\/shm tmpfs (\S+)/.exec(readFileSync("/proc/mounts", "utf8")) ?? [];
    return bavail * bsize >= ENOUGH_BYTES && /^rw(?!.*noexec)/.test(options ?? "");
  } catch {
    return false;
  }
}

/** In memory a test's files, their syncs and their removal take a third less of the system's time. */
const ROOT = process.env.TMPDIR === undefined && hasMemoryFolder() ? MEMORY : tmpdir();

/** A temporary folder with these files in it; gone when the test file is done. */
export function folderWith(files: Record<string, string | Uint8Array> = {}, root = ROOT): string {
  const folder = mkdtempSync(join(root, "research-test-"));
  leftovers.add(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

/** The same on the disk, for what writes to no path below /dev. */
export const folderOnDisk = (files: Record<string, string> = {}): string => folderWith(files, tmpdir());

/** A temporary folder with so many names of one file, f0.md, f1.md and so on: a link costs a tenth of a file. */
export function folderWithLinks(content: string, names: number): string {
  const folder = folderWith({ "f0.md": content });
  for (let i = 1; i < names; i++) linkSync(join(folder, "f0.md"), join(folder, `f${i}.md`));
  return folder;
}
