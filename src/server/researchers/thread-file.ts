import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The bundle of a thread. It lies in dist/ both for the bundled program and for the sources beside it. */
export function threadFile(name: string): string {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    for (const file of [join(folder, `${name}.js`), join(folder, "dist", `${name}.js`)]) {
      if (existsSync(file)) return file;
    }
    if (folder === dirname(folder)) throw new Error(`dist/${name}.js is missing: run the build`);
  }
}
