import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/clock.js";
import { parseExact, stringifyExact } from "../../../src/core/json/exact-json.js";
import { DAY_MS } from "../../../src/core/protocol/rate-limits.js";
import type { ResearchJob } from "../../../src/core/researcher.js";
import type {
  Caller,
  Claim,
  ConversationStore,
} from "../../../src/server/conversations/conversation-store.js";
import { hashKey, type ServiceKey, shortenHash } from "../../../src/server/keys/key-store.js";
import { until } from "../../support/service.js";

/** How a test gets a store: a new one, empty. */
export interface StoreUnderTest {
  open(options: { pendingMs: number }): Promise<ConversationStore>;
  /** Of the store's hourly window; a virtual one where the store takes it. */
  clock: Clock;
  /** Whether keys can be added to it. */
  hasKeys: boolean;
  /** Whether it outlives its process. */
  keepsExchanges: boolean;
}

const UNLIMITED = { create: Number.POSITIVE_INFINITY, stop: Number.POSITIVE_INFINITY };
const caller = (name: string, more: Partial<Caller> = {}): Caller => ({
  keyId: shortenHash(hashKey(name)),
  limits: UNLIMITED,
  ownOnly: true,
  ...more,
});
const alice = caller("alice");
const job = (prompt = "why?"): ResearchJob => ({
  request_id: randomUUID(),
  prompt,
  structured_output: false,
});
const never = new AbortController().signal;
const place = { at: "https://there.example", provider: "there", canStop: true };

/** The promises of a ConversationStore, whichever it is. */
export function storeContract(name: string, underTest: StoreUnderTest): void {
  describe(`${name}:`, () => {
    let store: ConversationStore;
    afterEach(() => store.close());
    const open = async (pendingMs = 0) => {
      store = await underTest.open({ pendingMs });
    };
    beforeEach(() => open());
    const created = async (who = alice, prompt?: string) => {
      const research = job(prompt);
      expect(await store.create(who, research)).toMatchObject({ kind: "created" });
      return research;
    };
    const stateOf = async (one: ResearchJob, who = alice) => (await store.get(who, one.request_id))?.status;

    describe("exchanges", () => {
      it("are kept in their order until the conversation is deleted", async () => {
        const research = await created();
        const { request_id } = research;
        expect(await store.exchanges.read(request_id)).toEqual([]);
        await store.exchanges.append(request_id, { n: 1, text: "\u0000 \ud800 é" });
        await store.exchanges.append(request_id, { n: 2 });
        const kept = underTest.keepsExchanges ? [{ n: 1, text: "\u0000 \ud800 é" }, { n: 2 }] : [];
        expect(await store.exchanges.read(request_id)).toEqual(kept);
        await store.end(await store.claim(never), { status: "COMPLETED", output: "1" });
        expect(await store.exchanges.read(request_id)).toEqual(kept);
        await underTest.clock.sleep(20);
        expect(await store.deleteEnded(1)).toBe(1);
        expect(await store.exchanges.read(request_id)).toEqual([]);
      });

      it("of a stopped conversation are deleted", async () => {
        const research = await created();
        await store.exchanges.append(research.request_id, { n: 1 });
        expect(await store.stop(alice, research.request_id)).toEqual({ kind: "stopped" });
        expect(await store.exchanges.read(research.request_id)).toEqual([]);
      });
    });

    describe("a conversation", () => {
      it("goes from PENDING through PROCESSING to COMPLETED, with its output byte for byte", async () => {
        const output = '{"n":12345678901234567890,"big":1e400,"zero":-0,"a":1,"a":2,"t":"\\u0000\\ud800é"}';
        const research = await created(alice, "a\u0000b \ud800 é");
        expect(await stateOf(research)).toBe("PENDING");
        const claim = await store.claim(never);
        expect(claim.job).toEqual(research);
        expect(claim.starts).toBe(1);
        expect(await stateOf(research)).toBe("PROCESSING");
        expect((await store.output(alice, research.request_id))?.output).toBeUndefined();
        expect(await store.end(claim, { status: "COMPLETED", output })).toBe(true);
        const record = await store.output(alice, research.request_id);
        expect(record?.output).toBe(output);
        expect(record?.conversation).toMatchObject({ status: "COMPLETED", endedAt: expect.any(Number) });
      });

      it("keeps its creation time to the millisecond", async () => {
        const research = job();
        const result = await store.create(alice, research);
        if (result.kind !== "created") throw new Error(result.kind);
        expect((await store.get(alice, research.request_id))?.createdAt).toBe(result.createdAt);
        expect(Number.isInteger(result.createdAt)).toBe(true);
      });

      it("says how far the work is while its claim is valid, and what its outcome says beside the output", async () => {
        const [done, failed, stopped] = [await created(), await created(), await created()];
        const progressText = JSON.stringify({ step: "read", done: 1, of: 2 });
        const data = '{"usage":{"calls":10000000000000000001}}';
        for (const research of [done, failed, stopped]) {
          const claim = await store.claim(never);
          expect(claim.job.request_id).toBe(research.request_id);
          expect((await store.get(alice, research.request_id))?.progress).toBeUndefined();
          await store.tell(claim, progressText);
          expect((await store.get(alice, research.request_id))?.progress).toBe(progressText);
          if (research === done) await store.end(claim, { status: "COMPLETED", output: "1", data });
          else if (research === failed) await store.end(claim, { status: "FAILED", reason: "no", data });
          else await store.stop(alice, research.request_id);
          await store.tell(claim, "{}").catch(() => {});
          expect((await store.output(alice, research.request_id))?.data).toBe(
            research === stopped ? undefined : data,
          );
          const { status, progress } = (await store.get(alice, research.request_id)) ?? {};
          expect(status === "STOPPED" ? undefined : progress).toBeUndefined();
        }
      });

      it("keeps the reason of a failure, and no output", async () => {
        const reason = "no \u0000 luck \ud800";
        const research = await created();
        expect(await store.end(await store.claim(never), { status: "FAILED", reason })).toBe(true);
        const record = await store.output(alice, research.request_id);
        expect(record?.conversation).toMatchObject({ status: "FAILED", reason });
        expect(record?.output).toBeUndefined();
      });

      it.each(["", "x".repeat(5_000), "a\u0000b", "..", "\ud800", randomUUID()])(
        "is not found by another id (%#)",
        async (id) => {
          await created();
          expect(await store.get(alice, id)).toBeUndefined();
          expect(await store.output(alice, id)).toBeUndefined();
          expect(await store.stop(alice, id)).toEqual({ kind: "not-found" });
        },
      );
    });

    describe("keys:", () => {
      it("another key finds nothing, for each operation; one that sees all does", async () => {
        const research = await created();
        const bob = caller("bob");
        expect(await store.get(bob, research.request_id)).toBeUndefined();
        expect(await store.output(bob, research.request_id)).toBeUndefined();
        expect(await store.stop(bob, research.request_id)).toEqual({ kind: "not-found" });
        const single = caller("single", { ownOnly: false });
        expect(await stateOf(research, single)).toBe("PENDING");
        expect(await store.stop(single, research.request_id)).toEqual({ kind: "stopped" });
      });

      if (underTest.hasKeys)
        it("are added once by a name, found by their hash, and revoked", async () => {
          expect(await store.keys.isInUse()).toBe(false);
          expect(await store.keys.add(keyOf("alice", "k1"))).toBe(true);
          expect(await store.keys.add(keyOf("alice", "k2"))).toBe(false);
          await until(async () => ((await store.keys.isInUse()) ? true : undefined));
          await until(() => store.keys.find(hashKey("k1")));
          expect(await store.keys.find(hashKey("k1"))).toEqual(keyOf("alice", "k1"));
          expect(await store.keys.find(hashKey("k2"))).toBeUndefined();
          const bob = { ...keyOf("bob", "k3"), createdAt: 2_000 };
          const next = { ...keyOf("alice", "k2"), createdAt: 3_000 };
          expect(await store.keys.add(bob)).toBe(true);
          expect(await store.keys.revoke("alice", 2_000)).toBe(true);
          expect(await store.keys.revoke("alice", 2_000)).toBe(false);
          expect(await store.keys.add(next)).toBe(true);
          expect(await store.keys.list()).toEqual([{ ...keyOf("alice", "k1"), revokedAt: 2_000 }, bob, next]);
          await until(async () => (await store.keys.find(hashKey("k1")))?.revokedAt);
        });
    });

    describe("hourly counts:", () => {
      const limited = caller("limited", { limits: { create: 3, stop: 2 } });

      it("many creates at once: exactly as many as the limit, each key for itself", async () => {
        const results = await Promise.all(Array.from({ length: 12 }, () => store.create(limited, job())));
        expect(results.filter(({ kind }) => kind === "created")).toHaveLength(3);
        for (const result of results) {
          if (result.kind !== "rate-limited") continue;
          expect(result.retryAfterMs).toBeGreaterThan(3_590_000);
          expect(result.retryAfterMs).toBeLessThanOrEqual(3_600_000);
        }
        const other = caller("other", { limits: limited.limits });
        expect(await store.create(other, job())).toMatchObject({ kind: "created" });
      });

      it("a stop counts whatever it finds, but not one that was refused for its number", async () => {
        const research = await created();
        expect(await store.stop(limited, "nothing")).toEqual({ kind: "not-found" });
        expect(await store.stop(limited, research.request_id)).toEqual({ kind: "not-found" });
        expect(await store.stop(limited, research.request_id)).toMatchObject({ kind: "rate-limited" });
        expect(await stateOf(research)).toBe("PENDING");
      });
    });

    describe("claims:", () => {
      it("wait for work, and the first one created comes first", async () => {
        const claiming = store.claim(never);
        const first = await created();
        const second = await created();
        expect((await claiming).job).toEqual(first);
        expect((await store.claim(never)).job).toEqual(second);
      });

      it("wait until a conversation is due", async () => {
        await store.close();
        await open(500);
        const begun = underTest.clock.monotonic();
        await created();
        await store.claim(never);
        expect(underTest.clock.monotonic() - begun).toBeGreaterThanOrEqual(490);
      });

      it("end by their signal, and then nothing is claimed", async () => {
        const stop = new AbortController();
        const claiming = store.claim(stop.signal);
        stop.abort(new Error("enough"));
        await expect(claiming).rejects.toThrow("enough");
        const research = await created();
        expect((await store.claim(never)).job).toEqual(research);
      });

      it("give back: due again before what came later, not counted as a start, and still PROCESSING", async () => {
        const research = await created();
        const claim = await store.claim(never);
        await created();
        await store.returnClaim(claim);
        expect(await stateOf(research)).toBe("PROCESSING");
        const again = await store.claim(never);
        expect([again.job, again.starts]).toEqual([research, 1]);
        expect(await store.end(claim, { status: "COMPLETED", output: '"old"' })).toBe(false);
        await store.returnClaim(claim);
        expect(await store.end(again, { status: "COMPLETED", output: '"new"' })).toBe(true);
        expect((await store.output(alice, research.request_id))?.output).toBe('"new"');
      });

      it("end once", async () => {
        const research = await created();
        const claim = await store.claim(never);
        expect(await store.end(claim, { status: "FAILED", reason: "first" })).toBe(true);
        expect(await store.end(claim, { status: "COMPLETED", output: '"x"' })).toBe(false);
        expect((await store.get(alice, research.request_id))?.reason).toBe("first");
        expect(await store.stop(alice, research.request_id)).toEqual({
          kind: "already-ended",
          status: "FAILED",
        });
      });
    });

    describe("stop", () => {
      it("keeps a PENDING conversation from being claimed", async () => {
        const stopped = await created();
        expect(await store.stop(alice, stopped.request_id)).toEqual({ kind: "stopped" });
        expect(await store.stop(alice, stopped.request_id)).toEqual({
          kind: "already-ended",
          status: "STOPPED",
        });
        const next = await created();
        expect((await store.claim(never)).job).toEqual(next);
        expect(await stateOf(stopped)).toBe("STOPPED");
      });

      it("aborts the work at once, and refuses its end and its output", async () => {
        const research = await created();
        const claim = await store.claim(never);
        expect(await store.stop(alice, research.request_id)).toEqual({ kind: "stopped" });
        await aborted(claim);
        expect(await store.end(claim, { status: "COMPLETED", output: '"late"' })).toBe(false);
        const record = await store.output(alice, research.request_id);
        expect([record?.conversation.status, record?.output]).toEqual(["STOPPED", undefined]);
      });

      it("and end at the same time: one of them wins, and both say so", async () => {
        for (let round = 0; round < 20; round++) {
          const research = await created();
          const claim = await store.claim(never);
          const [ended, stopped] = await Promise.all([
            store.end(claim, { status: "COMPLETED", output: '"x"' }),
            store.stop(alice, research.request_id),
          ]);
          expect(stopped.kind).toBe(ended ? "already-ended" : "stopped");
          expect(await stateOf(research)).toBe(ended ? "COMPLETED" : "STOPPED");
        }
      });
    });

    describe("the overview", () => {
      it("lists the newest conversations of all keys first, with the time of each state", async () => {
        const begun = underTest.clock.now();
        const first = await created();
        await underTest.clock.sleep(5);
        const second = await created(caller("bob"));
        await underTest.clock.sleep(5);
        const third = await created();
        await store.end(await store.claim(never), { status: "COMPLETED", output: "1" });
        const claim = await store.claim(never);
        const { at, conversations } = await store.overview.listNewest(10);
        expect(conversations.map(({ requestId, status, keyId }) => [requestId, status, keyId])).toEqual([
          [third.request_id, "PENDING", alice.keyId],
          [second.request_id, "PROCESSING", caller("bob").keyId],
          [first.request_id, "COMPLETED", alice.keyId],
        ]);
        const [waiting, working, done] = conversations;
        expect([waiting?.startedAt, waiting?.endedAt, working?.endedAt]).toEqual(Array(3).fill(undefined));
        const times = [begun - 1_000, done?.createdAt, done?.startedAt, done?.endedAt, at, begun + 60_000];
        expect(times).toEqual(times.toSorted((a, b) => Number(a) - Number(b)));
        expect(working?.startedAt).toBeGreaterThanOrEqual(working?.createdAt ?? Number.NaN);
        expect((await store.overview.listNewest(2)).conversations.map(({ requestId }) => requestId)).toEqual([
          third.request_id,
          second.request_id,
        ]);
        expect((await store.overview.listNewest(2, "COMPLETED")).conversations).toEqual([done]);
        expect((await store.overview.listNewest(2, "STOPPED")).conversations).toEqual([]);
        // Work that is begun a second time has been PROCESSING since the first.
        await store.returnClaim(claim);
        await underTest.clock.sleep(5);
        await store.claim(never);
        const record = await store.overview.find(second.request_id);
        expect(record?.conversation).toEqual(working);
      });

      it("finds one conversation, and nothing of another id", async () => {
        const research = await created();
        await store.end(await store.claim(never), { status: "FAILED", reason: "no luck" });
        const { conversation } = (await store.overview.find(research.request_id)) ?? {};
        expect(conversation).toMatchObject({
          requestId: research.request_id,
          status: "FAILED",
          reason: "no luck",
        });
        for (const id of [randomUUID(), "nothing", "../x", ""]) {
          expect(await store.overview.find(id)).toBeUndefined();
          expect(await store.overview.findJob(id)).toBeUndefined();
        }
      });

      it("keeps the schema of a job as it was read", async () => {
        const text = '{"n":12345678901234567890,"big":1e400,"zero":-0,"one":1.0,"a":1,"a":2,"t":"\\u00e9"}';
        const schema = parseExact(text) as Record<string, unknown>;
        const research: ResearchJob = { ...job(), structured_output: true, output_schema: schema };
        await store.create(alice, research);
        const kept = async () =>
          stringifyExact((await store.overview.findJob(research.request_id))?.output_schema);
        expect(await kept()).toBe(text);
        const claim = await store.claim(never);
        expect(stringifyExact(claim.job.output_schema)).toBe(text);
        await store.end(claim, { status: "COMPLETED", output: "1" });
        expect(await kept()).toBe(text);
      });

      it("keeps the job of a conversation after its end, until it is deleted", async () => {
        const completed = await created(alice, "a\u0000b \ud800 é");
        expect(await store.overview.findJob(completed.request_id)).toEqual(completed);
        const claim = await store.claim(never);
        const stopped = await created(alice, "stopped");
        await store.stop(alice, stopped.request_id);
        await store.end(claim, { status: "COMPLETED", output: "1" });
        expect(await store.overview.findJob(completed.request_id)).toEqual(completed);
        expect(await store.overview.findJob(stopped.request_id)).toEqual(stopped);
        await underTest.clock.sleep(20);
        expect(await store.deleteEnded(1)).toBe(2);
        expect(await store.overview.findJob(completed.request_id)).toBeUndefined();
        expect((await store.overview.listNewest(10)).conversations).toEqual([]);
      });

      it("shows what counts in the hour of a key, and when its next request is allowed", async () => {
        const limits = { create: 2, stop: 5 };
        const research = await created(caller("bob", { limits }));
        await created(caller("bob", { limits }));
        await created();
        await store.stop(caller("carol", { limits }), research.request_id);
        const keys = [caller("bob"), caller("carol"), alice].map(({ keyId: id }) => ({ id, limits }));
        const { at, uses } = await store.overview.use(keys);
        const free = { used: 0, nextAt: undefined };
        expect(uses.map(({ create, stop }) => [create, stop])).toEqual([
          [{ used: 2, nextAt: expect.any(Number) }, free],
          [free, { used: 1, nextAt: undefined }],
          [free, free],
        ]);
        const [{ nextAt } = { nextAt: 0 }] = uses;
        expect(nextAt).toBe(uses[0]?.create.nextAt);
        expect(nextAt).toBeGreaterThan(at + 3_500_000);
        expect(nextAt).toBeLessThanOrEqual(at + 3_600_000);
      });
    });

    describe("requests at another service", () => {
      const claimed = async () => {
        await created();
        return store.claim(never);
      };

      it("are begun once, by a claim that is valid", async () => {
        const claim = await claimed();
        const { request_id } = claim.job;
        expect(await store.remote.read(request_id)).toBeUndefined();
        const begun = await Promise.all([1, 2, 3].map(() => store.remote.begin(claim, place)));
        expect(begun.filter((yes) => yes)).toHaveLength(1);
        expect(await store.remote.read(request_id)).toEqual({ ...place, mayComeMs: expect.any(Number) });
        expect(await store.remote.keep(claim, "r-1")).toBe("kept");
        expect(await store.remote.read(request_id)).toMatchObject({ ...place, remoteId: "r-1" });
        await store.returnClaim(claim);
        expect(await store.remote.begin(claim, place)).toBe(false);
        const next = await store.claim(never);
        expect(await store.remote.begin(next, place)).toBe(false);
        expect(await store.remote.read(request_id)).toMatchObject({ remoteId: "r-1" });
      });

      it("are not begun by a claim that was lost before, and keep their id all the same", async () => {
        const first = await claimed();
        await created();
        const second = await store.claim(never);
        await store.returnClaim(first);
        expect(await store.remote.begin(first, place)).toBe(false);
        expect(await store.remote.begin(second, place)).toBe(true);
        await store.returnClaim(second);
        expect(await store.remote.keep(second, "r-2")).toBe("kept");
        expect(await store.remote.read(second.job.request_id)).toMatchObject({ remoteId: "r-2" });
      });

      it("are to be stopped there as soon as their conversation is stopped, until that is done", async () => {
        const claim = await claimed();
        const { request_id: requestId } = claim.job;
        await store.remote.begin(claim, place);
        await store.remote.keep(claim, "r-1");
        const remote = { ...place, remoteId: "r-1" };
        expect(await store.stop(alice, requestId)).toEqual({ kind: "stopped", remote });
        expect((await store.readCounts()).cancellations).toBe(1);
        expect(await store.remote.takeCancellation("https://elsewhere.example", 0)).toBeUndefined();
        const due = { requestId, remoteId: "r-1", provider: "there" };
        expect(await store.remote.takeCancellation(place.at, 60)).toMatchObject(due);
        expect(await store.remote.takeCancellation(place.at, 60)).toBeUndefined();
        await underTest.clock.sleep(100);
        expect(await store.remote.takeCancellation(place.at, 0)).toMatchObject(due);
        expect(await store.deleteEnded(1)).toBeLessThanOrEqual(1);
        expect(await store.remote.takeCancellation(place.at, 0)).toMatchObject(due);
        await store.remote.noteCancelled(requestId);
        expect(await store.remote.takeCancellation(place.at, 0)).toBeUndefined();
        expect((await store.readCounts()).cancellations).toBe(0);
      });

      it("whose id comes after the stop are to be stopped too, and those that had ended keep nothing", async () => {
        const claim = await claimed();
        const { request_id: requestId } = claim.job;
        await store.remote.begin(claim, place);
        expect(await store.stop(alice, requestId)).toEqual({ kind: "stopped", remote: place });
        expect(await store.remote.takeCancellation(place.at, 0)).toBeUndefined();
        // The answer to a keep may be lost, and it is tried again.
        for (const _ of ["", ""]) expect(await store.remote.keep(claim, "r-1")).toBe("stopped");
        expect(await store.remote.takeCancellation(place.at, 0)).toMatchObject({
          requestId,
          remoteId: "r-1",
        });
        await created();
        const failed = await store.claim(never);
        await store.remote.begin(failed, place);
        await store.end(failed, { status: "FAILED", reason: "unknown" });
        expect(await store.remote.keep(failed, "r-2")).toBe("ended");
        expect((await store.remote.read(failed.job.request_id))?.remoteId).toBeUndefined();
      });
    });

    it("the creates of an account in 24 hours are never one too many; what created nothing does not count", async () => {
      const day = { account: "https://there.example k", most: 2 };
      const begin = async (of = day) => {
        await created();
        const claim = await store.remote.claim("new", never);
        return { claim, begun: await store.remote.begin(claim, place, of) };
      };
      const tries = await Promise.all([1, 2, 3, 4, 5].map(() => begin()));
      const begun = tries.filter(({ begun }) => begun === true);
      expect(begun.length).toBe(2);
      const fullMs = tries.flatMap(({ begun }) => (typeof begun === "object" ? [begun.fullMs] : []));
      expect(fullMs.length).toBe(3);
      for (const ms of fullMs) expect(Math.abs(ms - DAY_MS)).toBeLessThan(60_000);
      expect((await begin({ account: "another", most: 1 })).begun).toBe(true);
      const [released, refused] = begun.map(({ claim }) => claim);
      await store.remote.release(released as Claim);
      expect((await begin()).begun).toBe(true);
      await store.remote.noteAnswered(refused as Claim, { kind: "open", isRefused: true });
      const last = await begin();
      expect(last.begun).toBe(true);
      // What was deleted counts on.
      await store.end(last.claim, { status: "FAILED", reason: "unknown" });
      await underTest.clock.sleep(20);
      expect(await store.deleteEnded(1)).toBe(1);
      expect((await begin()).begun).not.toBe(true);
    });

    describe("while another service refuses creates", () => {
      const limit = { kind: "limit", reason: "there: later", atOnce: 2 } as const;
      const account = { kind: "account", reason: "there: no money", atOnce: 2 } as const;
      const unknown = { kind: "unknown", reason: "there: 503", atOnce: 2 } as const;
      const claimNew = (signal = never) => store.remote.claim("new", signal);
      const isClaimed = async (ms: number) => {
        const end = new AbortController();
        const claiming = claimNew(end.signal).catch(() => undefined);
        await underTest.clock.sleep(ms);
        end.abort(new Error("enough"));
        return (await claiming) !== undefined;
      };

      it("what it has not taken stays PENDING, with the reason, is no start, and comes first again", async () => {
        const research = await created();
        await created();
        const claim = await claimNew();
        expect([await stateOf(research), claim.starts]).toEqual(["PENDING", expect.any(Number)]);
        await store.remote.begin(claim, place);
        await store.remote.release(claim, "there: later");
        expect(await store.get(alice, research.request_id)).toMatchObject({
          status: "PENDING",
          reason: "there: later",
        });
        expect(await store.remote.read(research.request_id)).toBeUndefined();
        expect(await store.end(claim, { status: "FAILED", reason: "late" })).toBe(false);
        const again = await claimNew();
        expect(again.job).toEqual(research);
        expect(again.starts).toBeLessThanOrEqual(1);
        expect(await store.remote.begin(again, place)).toBe(true);
        await store.remote.keep(again, "r-1");
        expect(await store.get(alice, research.request_id)).toMatchObject({
          status: "PROCESSING",
          reason: undefined,
        });
        await store.returnClaim(again);
        expect((await store.remote.claim("begun", never)).job).toEqual(research);
      });

      it("a stop while its create is under way is no longer unknown once that has created nothing", async () => {
        const research = await created();
        const claim = await claimNew();
        await store.remote.begin(claim, place);
        await store.stop(alice, research.request_id);
        await store.remote.release(claim, "there: later");
        expect(await store.remote.read(research.request_id)).toBeUndefined();
        expect(await stateOf(research)).toBe("STOPPED");
      });

      it("one is tried when the time has come, and the others wait for its answer", async () => {
        for (let n = 0; n < 3; n++) await created();
        const first = await claimNew();
        await store.remote.noteAnswered(first, { ...limit, retryAfterMs: 1_500 });
        await store.remote.release(first, limit.reason);
        expect((await store.readCounts()).isRefused).toBe(true);
        expect(await isClaimed(1_000)).toBe(false);
        const probe = await claimNew();
        expect(await isClaimed(1_000)).toBe(false);
        await store.remote.noteAnswered(probe, { kind: "open" });
        expect((await store.readCounts()).isRefused).toBe(false);
        expect((await claimNew()).job).not.toEqual(probe.job);
      });

      it("an answer to a create that was sent before the refusal does not end it", async () => {
        await created();
        await created();
        const [early, refused] = [await claimNew(), await claimNew()];
        await store.remote.noteAnswered(refused, account);
        await store.remote.noteAnswered(early, { kind: "open" });
        expect((await store.readCounts()).isRefused).toBe(true);
      });

      it("at a limit a key may have so many that wait; without money none is taken", async () => {
        await created();
        const claim = await claimNew();
        await store.remote.noteAnswered(claim, { ...limit, retryAfterMs: 30_000 });
        await store.remote.release(claim, limit.reason);
        expect(await store.remote.findRefusal(alice.keyId)).toBeUndefined();
        await created();
        const refused = await store.remote.findRefusal(alice.keyId);
        expect(refused).toMatchObject({ reason: "there: later" });
        expect(refused?.retryAfterMs).toBeGreaterThan(25_000);
        expect(refused?.retryAfterMs).toBeLessThanOrEqual(30_000);
        expect(await store.remote.findRefusal(caller("bob").keyId)).toBeUndefined();
        await store.remote.noteAnswered(claim, account);
        expect(await store.remote.findRefusal(caller("bob").keyId)).toMatchObject({
          reason: "there: no money",
        });
      });

      it("after three outcomes in a row that are not known, none is taken for a minute", async () => {
        await created();
        const claim = await claimNew();
        for (const answer of [unknown, unknown, { kind: "open" } as const, unknown, unknown])
          await store.remote.noteAnswered(claim, answer);
        expect(await store.remote.findRefusal(alice.keyId)).toBeUndefined();
        await store.remote.noteAnswered(claim, unknown);
        const refused = await store.remote.findRefusal(alice.keyId);
        expect(refused?.retryAfterMs).toBeGreaterThan(55_000);
        expect(refused?.retryAfterMs).toBeLessThanOrEqual(60_000);
      });
    });

    it("keys take turns, whatever waits before them, and one key's come in their order", async () => {
      const [a1, a2, a3] = [await created(), await created(), await created()];
      const b1 = await created(caller("bob"));
      const c1 = await created(caller("carol"));
      const b2 = await created(caller("bob"));
      const claimed: unknown[] = [];
      for (let n = 0; n < 6; n++) claimed.push((await store.claim(never)).job);
      const ids = new Set([a1, b1, c1].map(({ request_id }) => request_id));
      expect(claimed.slice(0, 3).every((one) => ids.has((one as ResearchJob).request_id))).toBe(true);
      expect(claimed.slice(3, 5)).toEqual(expect.arrayContaining([a2, b2]));
      expect(claimed[5]).toEqual(a3);
    });

    describe("what conversations add up to", () => {
      const HOUR = 3_600_000;
      const ended = async (data?: string, status: "COMPLETED" | "FAILED" = "COMPLETED") => {
        const reported = data === undefined ? {} : { data };
        const claim = await store.claim(never);
        const outcome = status === "COMPLETED" ? { status, output: "1" } : { status, reason: "no" };
        expect(await store.end(claim, { ...outcome, ...reported })).toBe(true);
      };

      it("sums what was said by key, day and model, and still does when the conversations are deleted", async () => {
        const bob = caller("bob");
        for (const [who, data, status] of [
          [alice, '{"cost_dollars":0.1,"model":"m1","sources":[{"title":"\\u0000","url":"x"}]}'],
          [alice, '{"usage":{"cost_dollars":0.2,"input_tokens":5,"output_tokens":7},"model":"m2"}'],
          [alice, '{"usage":{"calls":1}}', "FAILED"],
          [alice, '{"cost_dollars":1}', "FAILED"],
          [bob, '{"usage":{"input_tokens":3}}'],
        ] as const) {
          await created(who);
          await ended(data, status);
        }
        await store.stop(bob, (await created(bob)).request_id);
        const zero = {
          ...{ failed: 0, stopped: 0, dollars: 0, withDollars: 0 },
          ...{ inputTokens: 0, outputTokens: 0, unreported: 0 },
        };
        const ofAlice = {
          ...{ name: alice.keyId, completed: 2, failed: 2, stopped: 0, dollars: 1.3, withDollars: 3 },
          ...{ inputTokens: 5, outputTokens: 7, unreported: 1 },
        };
        const ofBob = { ...zero, name: bob.keyId, completed: 1, stopped: 1, inputTokens: 3, unreported: 1 };
        const byKey = [ofAlice, ofBob].sort((a, b) => (a.name < b.name ? -1 : 1));
        const byModel = [
          {
            ...{ ...zero, name: "", completed: 1, failed: 2, stopped: 1 },
            ...{ dollars: 1, withDollars: 1, inputTokens: 3, unreported: 2 },
          },
          { ...zero, name: "m1", completed: 1, dollars: 0.1, withDollars: 1 },
          {
            ...zero,
            name: "m2",
            completed: 1,
            dollars: 0.2,
            withDollars: 1,
            inputTokens: 5,
            outputTokens: 7,
          },
        ];
        const check = async () => {
          expect(await store.overview.listSpent("key", HOUR)).toEqual(byKey);
          expect(await store.overview.listSpent("model")).toEqual(byModel);
          const days = await store.overview.listSpent("day");
          expect(days.reduce((sum, { dollars }) => sum + dollars, 0)).toBeCloseTo(1.3, 9);
          for (const { name } of days) expect(name).toMatch(/^\d{4}-\d\d-\d\d$/);
        };
        await check();
        await underTest.clock.sleep(30);
        expect(await store.deleteEnded(5)).toBe(6);
        await check();
      });
    });

    it("says where a conversation stands among those of its key that wait", async () => {
      const [first, second] = [await created(), await created()];
      const third = await created();
      const ofBob = await created(caller("bob"));
      const placeOf = async (one: ResearchJob, who = alice) =>
        JSON.parse((await store.get(who, one.request_id))?.progress ?? "null");
      expect(await placeOf(first)).toEqual({ step: "queue", done: 0, of: 3 });
      expect(await placeOf(second)).toEqual({ step: "queue", done: 1, of: 3 });
      expect(await placeOf(third)).toEqual({ step: "queue", done: 2, of: 3 });
      expect(await placeOf(ofBob, caller("bob"))).toEqual({ step: "queue", done: 0, of: 1 });
      await store.claim(never);
      await store.claim(never);
      await underTest.clock.sleep(501);
      const waiting = (await stateOf(second)) === "PENDING" ? second : first;
      expect(await placeOf(waiting)).toEqual({ step: "queue", done: 0, of: 2 });
      expect(await placeOf(third)).toEqual({ step: "queue", done: 1, of: 2 });
    });

    it("deletes what ended long enough ago, and nothing else", async () => {
      const old = await created();
      await store.end(await store.claim(never), { status: "COMPLETED", output: '"x"' });
      const waiting = await created();
      expect(await store.deleteEnded(60_000)).toBe(0);
      await underTest.clock.sleep(50);
      expect(await store.deleteEnded(10)).toBe(1);
      expect(await stateOf(old)).toBeUndefined();
      expect(await store.output(alice, old.request_id)).toBeUndefined();
      expect(await stateOf(waiting)).toBe("PENDING");
    });

    it("counts what waits, given-back work too, and how long the head of the queue has been due", async () => {
      expect(await store.readCounts()).toMatchObject({
        ...{ waiting: 0, working: 0, workers: 1, oldestDueMs: 0, isRefused: false },
      });
      for (let i = 0; i < 3; i++) await created();
      await store.end(await store.claim(never), { status: "COMPLETED", output: "1" });
      const claim = await store.claim(never);
      await underTest.clock.sleep(50);
      const { oldestDueMs, ...counts } = await store.readCounts();
      expect(counts).toMatchObject({ waiting: 1, working: 1, workers: 1 });
      expect(oldestDueMs).toBeGreaterThanOrEqual(40);
      await store.returnClaim(claim);
      expect(await store.readCounts()).toMatchObject({ waiting: 2, working: 0 });
      const states = { PENDING: 1, PROCESSING: 1, COMPLETED: 1, FAILED: 0, STOPPED: 0 };
      expect(await store.overview.countStates()).toEqual(states);
    });

    it("is ready", async () => {
      await store.checkReady();
    });
  });
}

function keyOf(name: string, apiKey: string): ServiceKey {
  const hash = hashKey(apiKey);
  const limits = { create: 10, stop: 20 };
  return { id: shortenHash(hash), name, hash, tier: "free", limits, createdAt: 1_000, expiresAt: 9_000 };
}

function aborted({ signal }: Claim): Promise<true> {
  return until(async () => (signal.aborted ? true : undefined));
}
