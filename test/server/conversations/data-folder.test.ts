import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { Service } from "../../../src/server/service.js";
import { ServiceStartError } from "../../../src/server/start-error.js";
import { folderWith } from "../../support/folder.js";
import { research } from "../../support/in-process.js";
import {
  create,
  during,
  endlessResearcher,
  instantResearcher,
  KEY,
  outputOf,
  reaches,
  serviceFor,
  stateOf,
} from "../../support/service.js";
import { VirtualClock } from "../../support/virtual-clock.js";
import { post } from "../../support/wire.js";

let dataDir: string;
beforeEach(() => {
  dataDir = folderWith();
});

describe("after a restart", () => {
  it("final conversations are as they were, unfinished ones begin again as PENDING", async () => {
    const [done, stopped, unfinished] = await during(
      { dataDir, researcher: instantResearcher() },
      async (service) => {
        const first = await create(service, { prompt: "first" });
        await reaches(service, first, "COMPLETED");
        return [first, ...(await stuck(dataDir, service))];
      },
    );
    await during({ dataDir, pendingMs: 60_000 }, async (service) => {
      expect(await stateOf(service, done ?? "")).toBe("COMPLETED");
      expect((await outputOf(service, done ?? "")).data?.output).toBe("about: first");
      expect(await stateOf(service, stopped ?? "")).toBe("STOPPED");
      expect(await stateOf(service, unfinished ?? "")).toBe("PENDING");
    });
    await during({ dataDir }, (service) => reaches(service, unfinished ?? "", "COMPLETED"));
  });

  // The first service is closed by the caller; a second one on the folder has work that does not end.
  async function stuck(dataDir: string, first: Service): Promise<string[]> {
    await first.close();
    return during({ dataDir, researcher: endlessResearcher() }, async (service) => {
      const stopped = await create(service);
      await post(service.baseUrl, `/api/v1/conversation/${stopped}/stop`, KEY);
      const unfinished = await create(service);
      await reaches(service, unfinished, "PROCESSING");
      return [stopped, unfinished];
    });
  }

  it("the hourly windows stay", async () => {
    const clock = new VirtualClock();
    await during({ dataDir, tier: "free", clock }, async (service) => {
      for (let i = 0; i < 10; i++) await create(service);
      for (let i = 0; i < 20; i++) await post(service.baseUrl, "/api/v1/conversation/x/stop", KEY);
    });
    await clock.sleep(600_000);
    await during({ dataDir, tier: "free", clock }, async (service) => {
      const refused = await post(service.baseUrl, "/api/v1/conversations", KEY, { prompt: "x" });
      expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "3000"]);
      const stop = await post(service.baseUrl, "/api/v1/conversation/x/stop", KEY);
      expect([stop.status, stop.headers["retry-after"]]).toEqual([429, "3000"]);
    });
  });

  it("a line torn by a crash costs that line only, and the next one is whole", async () => {
    const first = await during({ dataDir }, (service) => create(service));
    appendFileSync(join(dataDir, "journal.ndjson"), '{"kind":"created","job":{"requ');
    const lines: string[] = [];
    const second = await during({ dataDir, log: (line) => lines.push(line) }, (service) => create(service));
    expect(lines).toContain("1 unreadable lines of the journal were skipped");
    await during({ dataDir }, async (service) => {
      await reaches(service, first, "COMPLETED");
      await reaches(service, second, "COMPLETED");
    });
  });

  it("keeps its files to the user", async () => {
    const dataDir = join(folderWith(), "deep", "data");
    await during({ dataDir }, (service) => create(service));
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(dataDir, "journal.ndjson")).mode & 0o777).toBe(0o600);
    expect(readFileSync(join(dataDir, "journal.ndjson"), "utf8")).not.toContain(KEY);
    const lines: string[] = [];
    await during({ dataDir, log: (line) => lines.push(line) }, async () => {});
    expect(lines).toEqual([]);
  });
});

describe("one service a folder", () => {
  const held = (pid: number) =>
    expect.objectContaining({
      message: expect.stringMatching(`^The data folder .* is held by .*process ${pid}`),
    });

  it("the second one says who holds it", async () => {
    await during({ dataDir }, async () => {
      await expect(serviceFor({ dataDir })).rejects.toEqual(held(process.pid));
    });
    expect(existsSync(join(dataDir, "lock"))).toBe(false);
    await during({ dataDir }, (service) => create(service));
  });

  it("gives the folder back when it cannot listen", async () => {
    await during({}, async ({ baseUrl }) => {
      const port = Number(new URL(baseUrl).port);
      const refused = await serviceFor({ dataDir, port }).catch((error) => error);
      expect(refused).toBeInstanceOf(ServiceStartError);
      expect(refused.message).toBe(`Port ${port} of 127.0.0.1 is in use by another program.`);
    });
    expect(existsSync(join(dataDir, "lock"))).toBe(false);
  });

  it.each([
    ["before the first release", { "journal.ndjson": "" }],
    ["of data format 2", { "journal.ndjson": "", format: "2\n" }],
  ])(
    "of a program %s is refused by the service and for its keys, exit 12, and left as it is",
    async (which, files) => {
      const dataDir = folderWith(files);
      for (const args of [
        ["serve", "--port", "0"],
        ["serve", "keys", "list"],
        ["serve", "keys", "add", "alice"],
      ]) {
        const { code, stderr, stdout } = await research([...args, "--data", dataDir]);
        expect(stderr).toContain(
          `${dataDir} was written by a program ${which}, which this one does not read`,
        );
        expect([code, stdout]).toEqual([12, ""]);
      }
      expect(readdirSync(dataDir).sort()).toEqual(Object.keys(files).sort());
    },
  );

  it("says why a folder cannot be used", async () => {
    const file = join(folderWith({ file: "" }), "file");
    await expect(serviceFor({ dataDir: file })).rejects.toThrow(/^The data folder .* cannot be used: /);
  });
});
