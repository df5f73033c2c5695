// The package.json of the package has no scripts: `prepare` builds from sources that are not in it. npm packs the
// file that is on the disk, so `strip` (prepack) changes it and `restore` (postpack) puts it back.
import { copyFileSync, existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const manifest = join(import.meta.dirname, "../package.json");
const kept = join(import.meta.dirname, "../package.json.kept");

if (process.argv[2] === "restore") {
  if (existsSync(kept)) renameSync(kept, manifest);
} else {
  if (!existsSync(join(import.meta.dirname, "../dist/main.js")))
    throw new Error("dist is missing: run `npm run build`");
  copyFileSync(manifest, kept);
  const { scripts: _, devDependencies: __, ...packed } = JSON.parse(readFileSync(manifest, "utf8"));
  writeFileSync(manifest, `${JSON.stringify(packed, null, 2)}\n`);
}
