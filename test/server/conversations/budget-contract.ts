import { randomUUID } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../../../src/core/clock.js";
import { DAY_MS } from "../../../src/core/protocol/rate-limits.js";
import type { ResearchJob } from "../../../src/core/researcher.js";
import { RESERVED_MS } from "../../../src/server/conversations/budget-rules.js";
import type {
  Caller,
  Claim,
  ConversationStore,
  RateLimited,
} from "../../../src/server/conversations/conversation-store.js";
import {
  hashKey,
  type KeyBudgets,
  type ServiceKey,
  shortenHash,
} from "../../../src/server/keys/key-store.js";

/** How a test gets a store that takes keys: a new one, empty. */
export interface BudgetsUnderTest {
  open(): Promise<ConversationStore>;
  clock: Clock;
  /** Lets so many hours pass for what is in the store. */
  pass(hours: number): Promise<void>;
}

const HOUR = 3_600_000;
const never = new AbortController().signal;
const place = { at: "https://there.example", provider: "there", canStop: true };
const job = (): ResearchJob => ({ request_id: randomUUID(), prompt: "why?", structured_output: false });

/** The promises of a ConversationStore about the budgets of keys, whichever it is. */
export function budgetContract(name: string, underTest: BudgetsUnderTest): void {
  describe(`budgets of keys ${name}:`, () => {
    let store: ConversationStore;
    beforeEach(async () => {
      store = await underTest.open();
    });
    afterEach(() => store.close());
    const limits = { create: 1_000, stop: 1_000 };
    const keyOf = (name: string): ServiceKey => {
      const hash = hashKey(`key-of-${name}`);
      return { id: shortenHash(hash), name, hash, tier: "enterprise", limits, createdAt: 1_000 };
    };
    const caller = (name: string): Caller => ({ keyId: keyOf(name).id, limits, ownOnly: true });
    /** A caller whose key is in the store. */
    const keyed = async (name: string, budgets: KeyBudgets): Promise<Caller> => {
      expect(await store.keys.add({ ...keyOf(name), budgets })).toBe(true);
      return { ...caller(name), budgets };
    };
    const attempt = (who: Caller, one = job()) => store.create(who, one);
    const attempts = (who: Caller, count: number) =>
      Promise.all(Array.from({ length: count }, () => attempt(who)));
    const created = async (who: Caller) => {
      const research = job();
      expect(await attempt(who, research)).toMatchObject({ kind: "created" });
      return research;
    };
    const stateOf = async (one: ResearchJob, who: Caller) => (await store.get(who, one.request_id))?.status;
    const endOf = (claim: Claim, dollars?: number) => {
      const reported = dollars === undefined ? {} : { data: JSON.stringify({ cost_dollars: dollars }) };
      return store.end(claim, { status: "COMPLETED", output: "1", ...reported });
    };
    const ended = async (data?: string) => {
      const reported = data === undefined ? {} : { data };
      expect(
        await store.end(await store.claim(never), { status: "COMPLETED", output: "1", ...reported }),
      ).toBe(true);
    };
    /** Claims so many, and sees that no other one begins. */
    const claimsOf = async (count: number) => {
      const claims: Claim[] = [];
      for (let n = 0; n < count; n++) claims.push(await store.claim(never));
      const end = new AbortController();
      const another = store.claim(end.signal).then(
        () => true,
        () => false,
      );
      await underTest.clock.sleep(700);
      end.abort(new Error("enough"));
      expect(await another).toBe(false);
      return claims;
    };
    const progressOf = async (one: ResearchJob, who: Caller) =>
      JSON.parse((await store.get(who, one.request_id))?.progress ?? "null");
    const useOf = async (who: Caller) => {
      const { keyId: id, budgets } = who;
      const { at, uses } = await store.overview.use([{ id, limits, ...(budgets && { budgets }) }]);
      return { at, ...uses[0] };
    };

    it("take as many creates as the budget says, one too many is none, also of deleted ones", async () => {
      const who = await keyed("alice", { budget: { most: 3, ms: HOUR } });
      await created(who);
      await ended();
      await underTest.clock.sleep(30);
      expect(await store.deleteEnded(5)).toBe(1);
      const answers = await Promise.all(Array.from({ length: 8 }, () => attempt(who)));
      expect(answers.filter(({ kind }) => kind === "created")).toHaveLength(2);
      const refused = answers.find(({ kind }) => kind === "rate-limited");
      expect(refused).toMatchObject({ over: { what: "budget", most: 3, ms: HOUR } });
      expect((refused as RateLimited).retryAfterMs).toBeGreaterThan(HOUR - 60_000);
      expect((refused as RateLimited).retryAfterMs).toBeLessThanOrEqual(HOUR);
      await created(caller("bob"));
    });

    it("roll: a create that is older than the time of the budget does not count", async () => {
      const who = await keyed("alice", {});
      const ofLast = async (ms: number): Promise<Caller> => {
        const budgets = { budget: { most: 1, ms } };
        await store.keys.set("alice", budgets);
        return { ...who, budgets };
      };
      await created(await ofLast(HOUR));
      expect(await attempt(await ofLast(HOUR))).toMatchObject({ kind: "rate-limited" });
      await underTest.clock.sleep(51);
      await created(await ofLast(50));
      expect(await attempt(await ofLast(HOUR))).toMatchObject({ kind: "rate-limited" });
    });

    it("of dollars count what was said, and what runs with the highest cost of its model", async () => {
      await store.declareResearch({ model: "m" });
      const who = await keyed("alice", { dollars: { most: 1, ms: HOUR } });
      const other = caller("bob");
      await created(other);
      await ended('{"cost_dollars":0.3}');
      await created(who);
      await ended('{"cost_dollars":0.1}');
      // 0.1 was said; the unfinished ones count 0.3 each, until 1 is reached.
      const answers = await Promise.all(Array.from({ length: 8 }, () => attempt(who)));
      expect(answers.filter(({ kind }) => kind === "created")).toHaveLength(3);
      expect(answers.find(({ kind }) => kind !== "created")).toMatchObject({
        ...{ kind: "rate-limited", retryAfterMs: RESERVED_MS },
        over: { what: "dollars", most: 1, spent: 0.1, reserved: 0.9 },
      });
      await created(other);
    });

    it("of dollars that were said are over when they have left the time; fractions reach their sum", async () => {
      const who = await keyed("alice", { dollars: { most: 0.3, ms: HOUR } });
      for (let n = 0; n < 3; n++) {
        await created(who);
        await ended('{"cost_dollars":0.1}');
      }
      const refused = (await attempt(who)) as RateLimited;
      expect(refused).toMatchObject({ over: { spent: 0.3, reserved: 0 } });
      expect(refused.retryAfterMs).toBeGreaterThan(HOUR - 60_000);
    });

    it("let only so many run at once; the next one begins when one has ended", async () => {
      const who = await keyed("alice", { atOnce: 2 });
      for (let n = 0; n < 4; n++) await created(who);
      const claims = [await store.claim(never), await store.claim(never)];
      await created(caller("bob"));
      const next = await store.claim(never);
      expect(await store.overview.find(next.job.request_id)).toMatchObject({
        conversation: { keyId: caller("bob").keyId },
      });
      const giveUp = new AbortController();
      const waiting = store.claim(giveUp.signal);
      waiting.catch(() => {});
      await underTest.clock.sleep(700);
      expect((await store.readCounts()).working).toBe(3);
      const [first] = claims;
      if (first) await store.end(first, { status: "COMPLETED", output: "1" });
      expect((await store.overview.find((await waiting).job.request_id))?.conversation.keyId).toBe(who.keyId);
      expect((await store.readCounts()).working).toBe(3);
    });

    it("of dollars hold back what waits once they are spent", async () => {
      const who = await keyed("alice", { atOnce: 1, dollars: { most: 1, ms: HOUR } });
      const [, second] = [await created(who), await created(who)];
      await ended('{"cost_dollars":1}');
      const giveUp = new AbortController();
      const waiting = store.claim(giveUp.signal);
      waiting.catch(() => {});
      await underTest.clock.sleep(700);
      expect(await stateOf(second, who)).toBe("PENDING");
      await store.keys.set("alice", { dollars: undefined });
      expect((await waiting).job).toEqual(second);
    });

    it("of dollars take nothing where what does the research says none; other keys are served", async () => {
      await store.declareResearch({ saysDollars: false });
      const who = await keyed("alice", { dollars: { most: 1, ms: HOUR } });
      expect(await attempt(who)).toEqual({ kind: "not-measured" });
      await created(caller("bob"));
    });

    it("are changed one by one, and of a key in use only", async () => {
      const budget = { most: 5, ms: HOUR };
      await keyed("alice", { budget, atOnce: 2 });
      expect(await store.keys.set("alice", { atOnce: 3, dollars: budget })).toBe(true);
      expect(await store.keys.set("alice", { budget: undefined })).toBe(true);
      const [key] = await store.keys.list();
      expect(JSON.parse(JSON.stringify(key?.budgets))).toEqual({ atOnce: 3, dollars: budget });
      expect(await store.keys.set("bob", { atOnce: 3 })).toBe(false);
      await store.keys.revoke("alice", 2_000);
      expect(await store.keys.set("alice", { atOnce: 3 })).toBe(false);
    });

    it("of a day and more move by whole hours, and count what was deleted", async () => {
      const who = await keyed("alice", { budget: { most: 2, ms: DAY_MS } });
      for (let n = 0; n < 2; n++) {
        await created(who);
        await ended();
      }
      const before = underTest.clock.now();
      const { retryAfterMs } = (await attempt(who)) as RateLimited;
      const latest = underTest.clock.now() + retryAfterMs + 2;
      expect(retryAfterMs).toBeGreaterThan(DAY_MS - 60_000);
      const lastHour = latest - (latest % HOUR);
      expect(lastHour).toBeGreaterThanOrEqual(before + retryAfterMs - 2);
      await underTest.clock.sleep(20);
      expect(await store.deleteEnded(1)).toBe(2);
      await underTest.pass(23);
      expect(await attempt(who)).toMatchObject({ kind: "rate-limited", over: { what: "budget" } });
      await underTest.pass(2);
      await created(who);
    });

    it("of dollars say how long enough of what was said counts", async () => {
      const who = await keyed("alice", { dollars: { most: 1, ms: DAY_MS } });
      await created(who);
      await ended('{"cost_dollars":0.6}');
      await underTest.pass(5);
      await created(who);
      await ended('{"cost_dollars":0.6}');
      const refused = (await attempt(who)) as RateLimited;
      expect(refused).toMatchObject({ over: { what: "dollars", spent: 1.2, reserved: 0 } });
      // When the first one has left, 0.6 are left of the dollar.
      expect(refused.retryAfterMs).toBeGreaterThan(DAY_MS - 5 * HOUR - 60_000);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(DAY_MS - 4 * HOUR);
      await underTest.pass(20);
      await created(who);
    });

    it("of two that are used up the longer wait is told", async () => {
      const who = await keyed("alice", {
        budget: { most: 1, ms: 2 * HOUR },
        dollars: { most: 1, ms: 5 * HOUR },
      });
      await created(who);
      await ended('{"cost_dollars":1}');
      const refused = (await attempt(who)) as RateLimited;
      expect(refused.over?.what).toBe("dollars");
      expect(refused.retryAfterMs).toBeGreaterThan(5 * HOUR - 60_000);
      await store.keys.set("alice", { dollars: { most: 1, ms: HOUR } });
      const other = (await attempt({
        ...who,
        budgets: { ...who.budgets, dollars: { most: 1, ms: HOUR } },
      })) as RateLimited;
      expect(other.over?.what).toBe("budget");
      expect(other.retryAfterMs).toBeGreaterThan(2 * HOUR - 60_000);
    });

    it("of dollars reserve what runs, when the next one may begin", async () => {
      const other = caller("bob");
      await created(other);
      await ended('{"cost_dollars":0.5}');
      const who = await keyed("alice", {});
      for (let n = 0; n < 4; n++) await created(who);
      await store.keys.set("alice", { dollars: { most: 1, ms: DAY_MS } });
      await underTest.clock.sleep(600);
      const [first] = await claimsOf(2);
      // 0.1 was said and 0.5 are reserved: one more may begin, and then none.
      if (first) await endOf(first, 0.1);
      await claimsOf(1);
    });

    it("of dollars, while no cost is known: one runs, ten wait, and at most the budget and the cost of one are spent", async () => {
      const who = await keyed("alice", { dollars: { most: 1, ms: DAY_MS } });
      const first = await attempts(who, 30);
      expect(first.filter(({ kind }) => kind === "created")).toHaveLength(10);
      expect(first.find(({ kind }) => kind !== "created")).toMatchObject({
        ...{ kind: "rate-limited", retryAfterMs: RESERVED_MS, over: { what: "dollars", price: undefined } },
      });
      const [only] = await claimsOf(1);
      const again = await attempts(who, 5);
      expect(again.filter(({ kind }) => kind === "created")).toHaveLength(1);
      // 0.4 were said, of which two fit: 0.8 and 1.2.
      await endOf(only as Claim, 0.4);
      expect(await attempt(who)).toMatchObject({ kind: "rate-limited" });
      for (const claim of await claimsOf(2)) await endOf(claim, 0.4);
      expect(await attempt(who)).toMatchObject({ kind: "rate-limited" });
      await claimsOf(0);
      expect(await useOf(who)).toMatchObject({ spent: 1.2, running: 0 });
    });

    it("of dollars create and begin nothing after three that did not say their cost; a stop says none", async () => {
      const who = await keyed("alice", { dollars: { most: 1, ms: DAY_MS } });
      const [stopped] = [await created(who)];
      await store.claim(never);
      await store.stop(who, stopped?.request_id ?? "");
      // What was never sent to another service has cost nothing.
      await created(who);
      const unsent = await store.claim(never);
      await store.remote.begin(unsent, place);
      await store.end(unsent, { status: "FAILED", reason: "refused" });
      for (let n = 0; n < 3; n++) await created(who);
      await ended();
      await store.end(await store.claim(never), { status: "FAILED", reason: "no luck" });
      const last = await created(who);
      await ended();
      expect(await attempt(who)).toEqual({ kind: "not-measured" });
      await claimsOf(0);
      expect(await progressOf(last, who)).toMatchObject({ step: "queue", reason: "not-measured" });
      // Another key's conversation says its cost: from then on it is known.
      await created(caller("bob"));
      await ended('{"cost_dollars":0}');
      await created(who);
    });

    it("a conversation that waits says why, and until when as far as it is known", async () => {
      await keyed("bob", {});
      const who = await keyed("alice", { atOnce: 1, dollars: { most: 1, ms: DAY_MS } });
      const [, second] = [await created(who), await created(who)];
      const claim = await store.claim(never);
      expect(await progressOf(second, who)).toEqual({ step: "queue", done: 0, of: 1, reason: "at-once" });
      await endOf(claim, 1);
      await underTest.clock.sleep(600);
      const { until, ...why } = await progressOf(second, who);
      expect(why).toEqual({ step: "queue", done: 0, of: 1, reason: "budget" });
      expect(Date.parse(until)).toBeGreaterThan(underTest.clock.now() + DAY_MS - 60_000);
      expect(Date.parse(until) % HOUR).toBe(0);
    });

    it("says what is used of each limit, and when the next place is free", async () => {
      const who = await keyed("alice", {
        budget: { most: 3, ms: HOUR },
        dollars: { most: 5, ms: DAY_MS },
      });
      await created(who);
      await ended('{"cost_dollars":0.5}');
      await created(who);
      await store.claim(never);
      expect(await useOf(who)).toMatchObject({
        ...{ created: 2, spent: 0.5, reserved: 0.5, running: 1, nextAt: undefined },
        create: { used: 2, nextAt: undefined },
      });
      await created(who);
      const { at, nextAt, ...use } = await useOf(who);
      expect(use).toMatchObject({ created: 3, reserved: 1, running: 1 });
      expect(nextAt).toBeGreaterThan(at + HOUR - 60_000);
      expect(nextAt).toBeLessThanOrEqual(at + HOUR + 500);
      expect(Number(nextAt) % 1_000).toBe(0);
    });
  });
}
