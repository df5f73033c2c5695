import { expect, it } from "vitest";
import { type Researcher, ResearchFailure, type ResearchUpdate } from "../../../src/core/researcher.js";
import type { Service } from "../../../src/server/service.js";
import { folderWith } from "../../support/folder.js";
import { InProcess } from "../../support/in-process.js";
import { screen } from "../../support/screen.js";
import { create, KEY, reaches, serviceFor, type TestServiceOptions, until } from "../../support/service.js";
import { ask } from "../../support/wire.js";
import { jsonLines } from "../../support/world.js";

const progress = (done: number) =>
  ({ step: "read", done, of: 9, pages: done, calls: 2, tokens: 3000 }) as const;

let service: Service;

/** A research whose news and end a test decides. */
class Told implements Researcher {
  tell: (news: ResearchUpdate) => void = () => {};
  resolve: (output: string) => void = () => {};
  reject: (error: Error) => void = () => {};
  research: Researcher["research"] = (_job, signal, tell) => {
    if (tell) this.tell = tell;
    return new Promise((resolve, reject) => {
      Object.assign(this, { resolve, reject });
      signal.addEventListener("abort", () => reject(signal.reason));
    });
  };
  close = async () => {};
}

const read = async (path: string) => {
  const { json } = await ask(service.baseUrl, { path: `/api/v1/conversation/${path}`, key: KEY });
  return json.data as { progress?: object };
};
const statusOf = (id: string) => read(`${id}/status`);

/** A conversation that is researched just now. */
async function told(options: TestServiceOptions = {}) {
  const researcher = new Told();
  service = await serviceFor({ researcher, ...options });
  const id = await create(service);
  await reaches(service, id, "PROCESSING");
  return { researcher, id };
}

it("shows the newest progress while it works, and usage and sources beside the output", async () => {
  const dataDir = folderWith();
  const { researcher, id } = await told({ dataDir });
  expect(await statusOf(id)).not.toHaveProperty("progress");
  for (const done of [1, 2, 3]) researcher.tell({ progress: progress(done) });
  const shown = async (done: number) =>
    until(async () => {
      const { progress: now } = await statusOf(id);
      return JSON.stringify(now) === JSON.stringify(progress(done)) ? now : undefined;
    });
  await shown(3);
  researcher.tell({ progress: progress(4), usage: { calls: 1, input_tokens: 1, output_tokens: 1 } });
  researcher.tell({
    usage: { calls: 2, input_tokens: 20, output_tokens: 5 },
    sources: [{ title: "A", file: "a.md" }],
  });
  await shown(4);
  researcher.resolve("done");
  await reaches(service, id, "COMPLETED");
  expect(await statusOf(id)).not.toHaveProperty("progress");
  const output = {
    request_id: id,
    status: "COMPLETED",
    output: "done",
    usage: { calls: 2, input_tokens: 20, output_tokens: 5 },
    sources: [{ title: "A", file: "a.md" }],
  };
  expect(await read(`${id}/output`)).toMatchObject(output);
  await service.close();
  service = await serviceFor({ researcher, dataDir });
  expect(await read(`${id}/output`)).toMatchObject(output);
});

it("never lets news stand in for what the service itself says", async () => {
  const { researcher, id } = await told();
  researcher.tell({ status: "STOPPED", request_id: "other", output: "theirs", model: "m" });
  researcher.resolve("ours");
  await reaches(service, id, "COMPLETED");
  expect(await read(`${id}/output`)).toMatchObject({
    request_id: id,
    status: "COMPLETED",
    output: "ours",
    model: "m",
  });
});

it("stands in the lines that `watch --json` writes anyway, and on the live line of a terminal", async () => {
  const { researcher, id } = await told();
  researcher.tell({ progress: progress(7) });
  await until(async () => (await statusOf(id)).progress);
  const env = {
    RESEARCH_BASE_URL: service.baseUrl,
    RESEARCH_API_KEY: KEY,
    RESEARCH_STATE_DIR: folderWith(),
    RESEARCH_CONFIG_DIR: folderWith(),
  };
  const terminal = screen(["watch", id, "--interval", "50ms"], { env });
  await terminal.waitFor(/PROCESSING {2}reading 7 of 9, 3,000 tokens {2}/);
  researcher.tell({ progress: progress(8) });
  await terminal.waitFor(/reading 8 of 9/);
  const watch = new InProcess(["watch", id, "--json", "--interval", "50ms"], { env });
  await until(async () => (watch.stdout.includes("PROCESSING") ? true : undefined));
  researcher.resolve("done");
  const lines = jsonLines((await watch.done).stdout);
  expect(lines).toEqual([
    expect.objectContaining({ status: "PROCESSING", final: false, progress: progress(8) }),
    expect.not.objectContaining({ progress: expect.anything() }),
  ]);
  expect(lines[1]).toMatchObject({ status: "COMPLETED", final: true });
  await terminal.done;
});

it("tells nothing after the end", async () => {
  const { researcher, id } = await told();
  researcher.reject(new ResearchFailure("no luck"));
  await reaches(service, id, "FAILED");
  researcher.tell({ progress: progress(9) });
  expect(await statusOf(id)).not.toHaveProperty("progress");
});
