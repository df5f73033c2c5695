import { execFileSync } from "node:child_process";
import { statfsSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folderWith } from "./folder.js";
import { leftovers } from "./leftovers.js";

/** A file system of its own that is soon full. */
export interface SmallDisk {
  path: string;
  /** Takes all the room that is left. */
  fill(): void;
  /** Gives it back. */
  free(): void;
}

/** Mounts a file system with these options of tmpfs. Returns undefined if this user may mount none. */
export function smallDisk(options = "size=256k"): SmallDisk | undefined {
  const path = folderWith();
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { stdio: "ignore" });
  } catch {
    return undefined;
  }
  leftovers.add(() => execFileSync("umount", ["-l", path], { stdio: "ignore" }));
  const filling = join(path, "filling");
  return {
    path,
    fill() {
      const { bavail, bsize } = statfsSync(path);
      try {
        writeFileSync(filling, Buffer.alloc(bavail * bsize));
      } catch (error) {
        // A server may have taken some of the room meanwhile.
        if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
      }
    },
    free: () => unlinkSync(filling),
  };
}
