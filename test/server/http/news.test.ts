import { afterEach, expect, it } from "vitest";
import {
  type Researcher,
  ResearchFailure,
  type ResearchNews,
} from "../../../src/server/researchers/researcher.js";
import type { Service } from "../../../src/server/service.js";
import { folderWith } from "../../support/folder.js";
import { KEY, serviceFor, until } from "../../support/service.js";

const progress = (done: number) =>
  ({ step: "read", done, of: 9, pages: done, calls: 2, tokens: 3000 }) as const;
const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };

let service: Service | undefined;
afterEach(() => service?.close());

/** A research whose news and end a test decides. */
class Told implements Researcher {
  tell: (news: ResearchNews) => void = () => {};
  resolve: (output: string) => void = () => {};
  reject: (error: Error) => void = () => {};
  research: Researcher["research"] = (_job, _signal, tell) => {
    if (tell) this.tell = tell;
    return new Promise((resolve, reject) => Object.assign(this, { resolve, reject }));
  };
  close = async () => {};
}

async function ask(path: string, body?: object) {
  const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  return (
    (await (await fetch(`${service?.baseUrl}/api/v1/${path}`, init)).json()) as {
      data: Record<string, unknown>;
    }
  ).data;
}
const statusOf = (id: string) =>
  ask(`conversation/${id}/status`) as Promise<{ status?: string; progress?: object }>;
const created = async () => (await ask("conversations", { prompt: "x" })).request_id as string;

it("shows the newest progress while it works, and usage and sources beside the output", async () => {
  const researcher = new Told();
  const dataDir = folderWith();
  service = await serviceFor({ researcher, dataDir });
  const id = await created();
  await until(async () => ((await statusOf(id)).status === "PROCESSING" ? true : undefined));
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
  await until(async () => ((await statusOf(id)).status === "COMPLETED" ? true : undefined));
  expect(await statusOf(id)).not.toHaveProperty("progress");
  const output = {
    request_id: id,
    status: "COMPLETED",
    output: "done",
    usage: { calls: 2, input_tokens: 20, output_tokens: 5 },
    sources: [{ title: "A", file: "a.md" }],
  };
  expect(await ask(`conversation/${id}/output`)).toMatchObject(output);
  await service.close();
  service = await serviceFor({ researcher, dataDir });
  expect(await ask(`conversation/${id}/output`)).toMatchObject(output);
});

it("never lets news stand in for what the service itself says", async () => {
  const researcher = new Told();
  service = await serviceFor({ researcher });
  const id = await created();
  await until(async () => ((await statusOf(id)).status === "PROCESSING" ? true : undefined));
  researcher.tell({ status: "STOPPED", request_id: "other", output: "theirs", model: "m" });
  researcher.resolve("ours");
  await until(async () => ((await statusOf(id)).status === "COMPLETED" ? true : undefined));
  expect(await ask(`conversation/${id}/output`)).toMatchObject({
    request_id: id,
    status: "COMPLETED",
    output: "ours",
    model: "m",
  });
});

it("tells nothing after the end", async () => {
  const researcher = new Told();
  service = await serviceFor({ researcher });
  const id = await created();
  await until(async () => ((await statusOf(id)).status === "PROCESSING" ? true : undefined));
  researcher.reject(new ResearchFailure("no luck"));
  await until(async () => ((await statusOf(id)).status === "FAILED" ? true : undefined));
  researcher.tell({ progress: progress(9) });
  expect(await statusOf(id)).not.toHaveProperty("progress");
});
