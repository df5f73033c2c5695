import { defineConfig } from "vitest/config";
import { yamlAsData } from "../../build/imports.js";

/** The official clients of the providers at our doubles: `node test/sdk/run.js` installs them and runs this. */
export default defineConfig({
  plugins: [yamlAsData()],
  test: { include: ["test/sdk/*.sdk.ts"], setupFiles: ["test/support/setup.ts"], testTimeout: 60_000 },
});
