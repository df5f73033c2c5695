// Makes docs/demo-light.svg and docs/demo-dark.svg from a session of the built program: `npm run demo`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pictures } from "./picture.js";

for (const [theme, svg] of Object.entries(await pictures()))
  writeFileSync(join(import.meta.dirname, "..", `demo-${theme}.svg`), svg);
