import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the build is made of. */
const SOURCES = ["src", "build", "skills", "openapi.yaml", "package.json"];

/** Why the build in a checkout shows nothing of its sources; undefined if it is newer than each of them. */
export function staleBuild(root: string): string | undefined {
  const built = statSync(join(root, "dist/main.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newer = SOURCES.flatMap((name) => filesIn(root, name)).find(
    (file) => statSync(join(root, file)).mtimeMs > built,
  );
  return newer && `the build is older than ${newer}: run \`npm run build\``;
}

function filesIn(root: string, name: string): string[] {
  if (statSync(join(root, name), { throwIfNoEntry: false })?.isDirectory() !== true) return [name];
  const entries = readdirSync(join(root, name), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
}

/** Throws if the build was older than its sources when this run began. Tests call it before they start or read the build. */
export function requireBuild(): void {
  if (process.env.TEST_STALE_BUILD) throw new Error(process.env.TEST_STALE_BUILD);
}

/** Looks once, for the workers, which are started later. */
export default function setup(): void {
  const stale = staleBuild(join(import.meta.dirname, "../.."));
  if (stale) process.env.TEST_STALE_BUILD = stale;
  else delete process.env.TEST_STALE_BUILD;
}
