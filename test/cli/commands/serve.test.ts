import { expect, test } from "vitest";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import { screen } from "../../support/screen.js";

test("with --verbose each request is a line on stderr: its method, path and status", async () => {
  const asked = "fetch(process.env.RESEARCH_BASE_URL + '/api/v1/conversation/abcdef/status')";
  const cwd = folderWith();
  const serve = ["serve", "--port", "0", "--exec", `node -e "${asked}"`];
  const request = /GET \/api\/v1\/conversation\/abcdef\/status 401/;
  expect((await research([...serve, "--verbose"], { cwd })).stderr).toMatch(request);
  const { stderr } = await research(serve, { cwd });
  expect(stderr).not.toMatch(request);
  // The two lines to paste are for a terminal.
  expect(stderr).not.toContain("export ");
});

test("on a terminal it prints the two lines that another terminal needs, ready to paste", async () => {
  const shown = screen(["serve", "--port", "0"], { cwd: folderWith() });
  await shown.waitFor(/^ *export RESEARCH_BASE_URL=http:\/\/127\.0\.0\.1:\d+$/m);
  await shown.waitFor(/^ *export RESEARCH_API_KEY=research-\S+$/m);
  shown.type("\x03");
  expect(await shown.done).toEqual({ code: 0, signal: 0 });
});
