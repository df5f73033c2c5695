import { spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/core/clock.js";
import type { Caller, ConversationStore } from "../../../../src/server/conversations/conversation-store.js";
import {
  StoreOutcomeUnknownError,
  StoreUnavailableError,
} from "../../../../src/server/conversations/conversation-store.js";
import { FolderContentStore, KINDS } from "../../../../src/server/conversations/local/content-store.js";
import { LocalState } from "../../../../src/server/conversations/local/local-state.js";
import { openLocalStore } from "../../../../src/server/conversations/local/open-local-store.js";
import { folderWith } from "../../../support/folder.js";
import { until } from "../../../support/service.js";
import { smallDisk } from "../../../support/small-disk.js";
import { VirtualClock } from "../../../support/virtual-clock.js";

const caller: Caller = { keyId: "k", limits: { create: 1_000, stop: 1_000 }, ownOnly: true };
const never = new AbortController().signal;
const id = (n: number) => `conversation-${n}`;
const job = (n: number, prompt = "why?") => ({ request_id: id(n), prompt, structured_output: false });
const LARGE = "x".repeat(20_000);

let dataDir: string;
beforeEach(() => {
  dataDir = folderWith();
});

async function withStore<T>(
  use: (store: ConversationStore) => Promise<T>,
  more: { dataDir?: string; clock?: VirtualClock; log?: (line: string) => void } = {},
): Promise<T> {
  const store = await openLocalStore({ dataDir, pendingMs: 0, clock: systemClock, log: () => {}, ...more });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}

const journalOf = () => join(dataDir, "journal.ndjson");
const linesOf = () => readFileSync(journalOf(), "utf8").trimEnd().split("\n");
const kindsOf = () => linesOf().map((line) => JSON.parse(line).kind as string);
const stateOf = async (store: ConversationStore, n: number) => (await store.get(caller, id(n)))?.status;

describe("compaction", () => {
  it("more than half dead: what is left is a line for each conversation, while it is written to", async () => {
    await withStore(async (store) => {
      for (let n = 0; n < 40; n++) {
        await store.create(caller, job(n, LARGE));
        const claim = await store.claim(never);
        if (n % 2 === 0) await store.end(claim, { status: "COMPLETED", output: `"${n}"` });
        else await store.stop(caller, id(n));
      }
      await store.create(caller, job(99, LARGE));
    });
    // 41 prompts of 20 kB came; no more than the last few stand in the journal.
    expect(statSync(journalOf()).size).toBeLessThan(200_000);
    expect(existsSync(`${journalOf()}.new`)).toBe(false);
    await withStore(async (store) => {
      for (let n = 0; n < 40; n++) {
        const record = await store.output(caller, id(n));
        expect([record?.conversation.status, record?.output]).toEqual(
          n % 2 === 0 ? ["COMPLETED", `"${n}"`] : ["STOPPED", undefined],
        );
      }
      expect(await stateOf(store, 99)).toBe("PENDING");
      expect((await store.claim(never)).job).toEqual(job(99, LARGE));
    });
  });

  it("is made at the start too, and keeps every count of the hour once and no older one", async () => {
    const clock = new VirtualClock();
    const five = { ...caller, limits: { create: 5, stop: 5 } };
    await withStore(
      async (store) => {
        await store.create(five, job(1));
        await clock.sleep(3_000_000);
        for (const n of [2, 3]) await store.create(five, job(n));
        await store.stop(five, id(2));
        await store.stop(five, "nothing");
      },
      { clock },
    );
    // Dead lines, as many of them as it takes.
    const dead = JSON.stringify({ kind: "ended", request_id: "gone", status: "FAILED", reason: LARGE });
    appendFileSync(journalOf(), `${dead}\n`.repeat(10));
    await clock.sleep(1_000_000);
    for (let round = 0; round < 3; round++) {
      await withStore(async () => {}, { clock });
      expect(kindsOf().sort()).toEqual(["counted", "counted", "created", "created", "finished"].sort());
      appendFileSync(journalOf(), `${dead}\n`.repeat(10));
    }
    await withStore(
      async (store) => {
        const creates = await Promise.all([4, 5, 6, 7].map((n) => store.create(five, job(n))));
        expect(creates.filter(({ kind }) => kind === "created")).toHaveLength(3);
        const stops = await Promise.all([4, 5, 6, 7].map((n) => store.stop(five, id(n))));
        expect(stops.filter(({ kind }) => kind === "rate-limited")).toHaveLength(1);
      },
      { clock },
    );
  });

  it("that a crash left half done is begun anew", async () => {
    await withStore((store) => store.create(caller, job(1)));
    writeFileSync(`${journalOf()}.new`, '{"kind":"finished","request_id":"conversation-1"');
    await withStore(async (store) => expect(await stateOf(store, 1)).toBe("PENDING"));
    expect(existsSync(`${journalOf()}.new`)).toBe(false);
  });

  it("that cannot be written leaves the journal as it is", async () => {
    const log: string[] = [];
    await withStore(
      async (store) => {
        mkdirSync(`${journalOf()}.new`);
        for (let n = 0; n < 10; n++) {
          await store.create(caller, job(n, LARGE));
          await store.stop(caller, id(n));
        }
        for (let n = 0; n < 10; n++) expect(await stateOf(store, n)).toBe("STOPPED");
        rmSync(`${journalOf()}.new`, { recursive: true });
      },
      { log: (line) => void log.push(line) },
    );
    expect(log).toContainEqual(expect.stringContaining("the journal could not be compacted"));
    await withStore(async (store) => expect(await stateOf(store, 9)).toBe("STOPPED"));
  });
});

it("is read back as it was, whatever stands in its lines and however long it is", async () => {
  const jobs = Array.from({ length: 12 }, (_, n) => job(n, `\u2028\r\u{1f600}${n}`.repeat(40_000)));
  await withStore(async (store) => {
    for (const research of jobs) await store.create(caller, research);
  });
  expect(statSync(journalOf()).size).toBeGreaterThan(4 * 1_048_576);
  await withStore(async (store) => {
    for (const research of jobs) expect((await store.claim(never)).job).toEqual(research);
  });
});

it("a line that is longer than any that it writes is skipped, and not read with a piece cut out of it", async () => {
  await withStore((store) => store.create(caller, job(1)));
  const entry = { kind: "created", job: job(2, "x".repeat(18 * 1_048_576)), key: "k", at: 1 };
  appendFileSync(journalOf(), `${JSON.stringify(entry)}\n`);
  await withStore(async (store) => {
    expect([await stateOf(store, 1), await stateOf(store, 2)]).toEqual(["PENDING", undefined]);
  });
});

it("an ended conversation whose job is lost is there without it", async () => {
  await withStore(async (store) => {
    await store.create(caller, job(1));
    await store.stop(caller, id(1));
    expect(await store.overview.findJob(id(1))).toEqual(job(1));
    rmSync(join(dataDir, "ended-jobs"), { recursive: true });
    expect(await store.overview.findJob(id(1))).toBeUndefined();
    expect(await stateOf(store, 1)).toBe("STOPPED");
  });
});

it.each([
  '{"kind":"created"}',
  '{"kind":"created","job":{"request_id":"..","prompt":"x","structured_output":false},"key":"k","at":1}',
  '{"kind":"created","job":{"request_id":"a","prompt":1,"structured_output":false},"key":"k","at":1}',
  '{"kind":"ended","request_id":"conversation-1"}',
  '{"kind":"ended","request_id":"conversation-1","status":"PENDING"}',
  '{"kind":"finished","request_id":"conversation-1","key":"k","at":null,"status":"FAILED","ended_at":1}',
  '{"kind":"counted","operation":"output","key":"k","at":1}',
  '{"kind":"constructor"}',
  '{"__proto__":{"kind":"deleted"}}',
  "null",
  "[]",
  "{",
  "\ufeff{}",
])("the invalid line %s is skipped, and said", async (line) => {
  await withStore((store) => store.create(caller, job(1)));
  appendFileSync(journalOf(), `${line}\n`);
  const log: string[] = [];
  await withStore(async (store) => expect(await stateOf(store, 1)).toBe("PENDING"), {
    log: (one) => void log.push(one),
  });
  expect(log).toContain("1 unreadable lines of the journal were skipped");
});

it("a count whose line is still to be written is in no compacted journal, and one that is written is", () => {
  const state = new LocalState();
  const count = { operation: "stop", key: "k", at: 5 } as const;
  state.take(count, 2);
  expect([...state.listKept(10)]).toEqual([]);
  state.unwritten.delete(count);
  expect([...state.listKept(10)]).toEqual([{ kind: "counted", ...count }]);
});

describe("a folder", () => {
  it("that was removed acknowledges nothing, and says so", async () => {
    await withStore(async (store) => {
      await store.create(caller, job(1));
      const claim = await store.claim(never);
      rmSync(dataDir, { recursive: true });
      const refused = [
        () => store.create(caller, job(2)),
        () => store.stop(caller, id(1)),
        () => store.end(claim, { status: "COMPLETED", output: '""' }),
        () => store.checkReady(),
      ];
      for (const attempt of refused) {
        const error = await attempt().then(String, (reason) => reason);
        expect(error).toBeInstanceOf(StoreUnavailableError);
        // What operators read says why.
        expect(error.message).toContain("ENOENT");
      }
      expect(await stateOf(store, 2)).toBeUndefined();
      expect(await stateOf(store, 1)).toBe("PROCESSING");
    });
  });

  const disk = smallDisk();
  const canSeal = disk && spawnSync("chattr", ["+A", disk.path]).status === 0;
  it.skipIf(!disk || !canSeal)(
    "to which a write is torn that cannot be undone: the next create stands on a line of its own (needs root, chattr)",
    async () => {
      dataDir = disk?.path ?? "";
      const seal = (how: string) => expect(spawnSync("chattr", [how, journalOf()]).status).toBe(0);
      await withStore(async (store) => {
        await store.create(caller, job(1));
        disk?.fill();
        // Nothing can be cut off from a file that may only grow.
        seal("+a");
        const torn = store.create(caller, job(2, LARGE));
        await expect(torn).rejects.toBeInstanceOf(StoreOutcomeUnknownError);
        expect(readFileSync(journalOf(), "utf8").endsWith("x")).toBe(true);
        disk?.free();
        await store.create(caller, job(3));
        seal("-a");
      });
      await withStore(async (store) => {
        const states = await Promise.all([1, 2, 3].map((n) => stateOf(store, n)));
        expect(states).toEqual(["PENDING", undefined, "PENDING"]);
      });
    },
  );

  it("that was replaced likewise, and what was refused stands in neither journal", async () => {
    const old = join(dataDir, "old");
    await withStore(async (store) => {
      await store.create(caller, job(1));
      renameSync(journalOf(), old);
      writeFileSync(journalOf(), "");
      await expect(store.create(caller, job(2))).rejects.toBeInstanceOf(StoreUnavailableError);
      expect(readFileSync(journalOf(), "utf8")).toBe("");
      renameSync(old, journalOf());
      await store.create(caller, job(3));
    });
    await withStore(async (store) => {
      expect(await Promise.all([1, 2, 3].map((n) => stateOf(store, n)))).toEqual([
        ...["PENDING", undefined, "PENDING"],
      ]);
    });
  });

  it("in which a file cannot be made at all is said to be unusable, and ends nothing", async () => {
    await expect(withStore(async () => {}, { dataDir: "/proc/research-test" })).rejects.toThrow(
      /^The data folder .* cannot be used: /,
    );
  });

  it("whose journal is no regular file is unusable", async () => {
    dataDir = folderWith({ format: "1\n" });
    expect(spawnSync("mkfifo", [journalOf()]).status).toBe(0);
    await expect(withStore(async () => {})).rejects.toThrow(
      /^The data folder .* cannot be used: .* is not a regular file/,
    );
  });

  it("keeps no output of what was stopped while its end was written", async () => {
    await withStore(async (store) => {
      let completed = 0;
      for (let n = 0; n < 20; n++) {
        await store.create(caller, job(n));
        const claim = await store.claim(never);
        const ending = store.end(claim, { status: "COMPLETED", output: '"x"' });
        await Promise.all([ending, store.stop(caller, id(n))]);
        if (await ending) completed += 1;
      }
      expect(completed).toBeLessThan(20);
      expect(outputsIn()).toHaveLength(completed);
    });
  });

  it("holds no outputs but those of its conversations", async () => {
    await withStore(async (store) => {
      await store.create(caller, job(1));
      await store.end(await store.claim(never), { status: "COMPLETED", output: '"kept"' });
    });
    const [kept = ""] = outputsIn();
    writeFileSync(join(dataDir, "outputs", kept.slice(0, 2), "left-by-a-crash"), '"x"');
    await withStore(async (store) => {
      await until(async () => (outputsIn().length === 1 ? true : undefined));
      expect((await store.output(caller, id(1)))?.output).toBe('"kept"');
      await systemClock.sleep(5);
      expect(await store.deleteEnded(1)).toBe(1);
    });
    expect(outputsIn()).toEqual([]);
    await withStore(async (store) => expect(await stateOf(store, 1)).toBeUndefined());
  });
});

it("the start deletes what no state lets be asked for, and nothing else", async () => {
  await withStore(async (store) => {
    for (const n of [1, 2, 3, 4]) await store.create(caller, job(n));
    await store.end(await store.claim(never), { status: "COMPLETED", output: "1" });
    await store.end(await store.claim(never), { status: "FAILED", reason: "no" });
    await store.stop(caller, id(3));
  });
  const contents = new FolderContentStore(dataDir);
  for (const n of [1, 2, 3, 4, 5]) {
    for (const kind of KINDS) await contents.write(kind, id(n), "{}");
    await contents.exchanges.append(id(n), { n });
  }
  const left = async (kind: (typeof KINDS)[number]) => {
    const numbers = [1, 2, 3, 4, 5].map((n) =>
      contents.read(kind, id(n)).then(
        () => n,
        () => 0,
      ),
    );
    return (await Promise.all(numbers)).filter((n) => n > 0);
  };
  const exchanges = () => readdirSync(join(dataDir, "exchanges")).map((name) => Number(name.at(-8)));
  await withStore(async () => {
    await until(async () => exchanges().length === 3 || undefined);
    expect(exchanges().sort()).toEqual([1, 2, 4]);
    expect(await Promise.all(KINDS.map(left))).toEqual([
      [1, 4],
      [1, 2, 4],
      [1, 2, 3, 4],
    ]);
  });
});

function outputsIn(): string[] {
  if (!existsSync(join(dataDir, "outputs"))) return [];
  return (readdirSync(join(dataDir, "outputs"), { recursive: true }) as string[]).filter((name) =>
    name.includes("/"),
  );
}
