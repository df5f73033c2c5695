import { join } from "node:path";
import { expect, test } from "vitest";
import { folderWith } from "./folder.js";
import { bash } from "./run.js";
import { shellCommand } from "./shell-command.js";
import { world } from "./world.js";

test("the command of a shell gets its arguments, environment and folder, and gives its output and code", async () => {
  const { service, env } = await world();
  const PATH = `${await shellCommand()}:${process.env.PATH}`;
  const prompt = "$(touch X) 'ünd\nlines\n => COMPLETED";
  const home = folderWith({ "q.txt": prompt });
  const script = `unset -f research; mkdir a; cd a; research run --prompt-file ../q.txt -o "$NAME" --force
    research run "$PROMPT" ""; echo $?; research output @last`;
  const run = await bash(script, { home, env: { ...env, PATH, PROMPT: prompt, NAME: "r.md" } });
  expect(service.server.of("create").map(({ body }) => JSON.parse(body.toString()))).toEqual([{ prompt }]);
  expect(run).toMatchObject({ code: 0, stdout: `2\nAn answer to: ${prompt}` });
  expect(run.stderr).toContain(join("r.md"));
});
