import { mergeConfig } from "vitest/config";
import usual from "../../vitest.config.js";

/** What takes minutes: `npm run test:soak`. */
const config = mergeConfig(usual, {});
config.test = { ...config.test, include: ["test/soak/*.soak.ts"] };
export default config;
