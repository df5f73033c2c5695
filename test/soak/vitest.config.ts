import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.js";

/**
 * `npm run test:soak`: what takes minutes, and the tests that are skipped with the name of a tool that the machine
 * lacks. To run all of them: unshare (package util-linux), strace, mandoc, chromium, zsh, fish, python3, and the right to
 * mount.
 */
const NEED_A_TOOL = [
  "test/cli/commands/doctor/doctor.test.ts",
  "test/cli/completion/shells.test.ts",
  "test/e2e/{page,ui}.test.ts",
  "test/faults/{disk,failing-calls}.test.ts",
  "test/core/files/file-lock/*.test.ts",
  "test/app/output-file.test.ts",
  "test/package/man.test.ts",
  "test/researchers/examples.test.ts",
  "test/core/files/synced.test.ts",
];

/** What the suite has a sample of, and the soak all (see EVERY_CELL there). */
const SAMPLED = [
  "test/action/install.test.ts",
  "test/providers/faults.test.ts",
  "test/reader/writing/interrupted.test.ts",
];

const config = mergeConfig(usual, {});
config.test = {
  ...config.test,
  include: ["test/soak/*.soak.ts", ...NEED_A_TOOL, ...SAMPLED],
  env: { EVERY_CELL: "1" },
};
export default config;
