import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { AppendLog } from "../../../../src/client/store/history/append-log.js";
import { CreateRecorder } from "../../../../src/client/store/history/create-recorder.js";
import { buildIntent, hashApiKey } from "../../../../src/client/store/history/history-records.js";
import { OpenIntents } from "../../../../src/client/store/history/open-intents.js";
import { LocalError } from "../../../../src/core/files/local-error.js";
import { folderWith } from "../../../support/folder.js";

const ORIGIN = "https://a.example";
const AT = "2030-01-01T00:00:05.000Z";

/** A create whose intent is on the disk; `logWorks`: whether its log can be written. */
function begun({ logWorks = true } = {}) {
  const folder = folderWith({ file: "" });
  const open = new OpenIntents(join(folder, "open"));
  // Below a file there is no room for another.
  const log = new AppendLog(join(folder, logWorks ? "state" : "file", "history.jsonl"));
  const attempt = { origin: ORIGIN, profile: "p", apiKey: "k", body: { prompt: "x" } };
  const intent = buildIntent(attempt, "2030-01-01T00:00:00.000Z");
  open.add(intent);
  const path = join(folder, "open", `${intent.local_id}.json`);
  return {
    ...{
      intent,
      path,
      create: new CreateRecorder(
        intent,
        open,
        log,
        () => {},
        () => AT,
      ),
    },
    lines: () => [...log.readLines()],
    isLogged: () => existsSync(join(folder, "state")),
    sender: () => open.read().open[0]?.sender?.pid,
    opened: () => open.read().open.map(({ outcome }) => outcome),
    names: () => readdirSync(join(folder, "open")),
    /** From now on the intent can neither be removed nor be written to. */
    block() {
      rmSync(path);
      mkdirSync(path);
      writeFileSync(join(path, "x"), "");
    },
  };
}

test("it has the name of its intent", () => {
  const { create, intent } = begun();
  expect(create.localId).toBe(intent.local_id);
});

describe("a request that exists", () => {
  test.each<[Record<string, unknown>, string, string | null, object?]>([
    [{}, "PENDING", null],
    [{ status: "PROCESSING", created_at: "then" }, "PROCESSING", "then"],
    [{ status: 7, created_at: 7, interaction_id: 7 }, "PENDING", null],
    [{ interaction_id: "i-1" }, "PENDING", null, { interaction_id: "i-1" }],
  ])("with the answer %j is a line of the log, and no longer open", (data, status, created_at, more = {}) => {
    const { create, intent, lines, names } = begun();
    create.recordCreated("id-1", data);
    const line = { ...intent, kind: "created", request_id: "id-1", status, created_at, ...more, at: AT };
    expect(lines()).toEqual([line]);
    expect(names()).toEqual([]);
  });

  test("is kept beside its intent if the log cannot be written", () => {
    const { create, opened } = begun({ logWorks: false });
    create.recordCreated("id-1", { status: "PROCESSING" });
    expect(opened()).toEqual([
      { request_id: "id-1", confirmed: true, status: "PROCESSING", created_at: null, at: AT },
    ]);
  });

  test("is an error that names the id if neither can be written", () => {
    const { create, block } = begun({ logWorks: false });
    block();
    expect(() => create.recordCreated("id-1", {})).toThrow(LocalError);
    expect(() => create.recordCreated("id-1", {})).toThrow(
      expect.objectContaining({
        message: expect.stringMatching(/^the request id id-1 could not be recorded: ./),
        cause: expect.any(Error),
      }),
    );
  });
});

describe("an id from a broken answer", () => {
  test("stays beside the intent, which stays open", () => {
    const { create, opened, lines } = begun();
    create.recordSalvaged("id-1");
    expect(opened()).toEqual([
      { request_id: "id-1", confirmed: false, status: "UNKNOWN", created_at: null, at: AT },
    ]);
    expect(lines()).toEqual([]);
  });

  test("is an error if it cannot be kept", () => {
    const { create, block } = begun();
    block();
    expect(() => create.recordSalvaged("id-1")).toThrow(/id-1 could not be recorded/);
  });
});

describe("a create that its user settles as never made", () => {
  test("keeps the whole intent in the log", () => {
    const { create, intent, lines, names } = begun();
    create.recordNotCreated();
    expect(lines()).toEqual([{ ...intent, kind: "not-created", at: AT }]);
    expect(names()).toEqual([]);
  });

  test("stays open if that cannot be written", () => {
    const { create, intent, names } = begun({ logWorks: false });
    expect(() => create.recordNotCreated()).toThrow(LocalError);
    expect(() => create.recordNotCreated()).toThrow(
      expect.objectContaining({
        message: expect.stringContaining(`recorded that ${intent.local_id} was not created: `),
        cause: expect.any(Error),
      }),
    );
    expect(names()).toHaveLength(1);
  });
});

describe("a create that was not made", () => {
  const dismissed = (local_id: string, code: string) => ({
    ...{ kind: "dismissed", local_id, origin: ORIGIN, key_id: hashApiKey("k"), at: AT, code },
  });

  test("is a line of the log if the service refused it, since it may have counted it", () => {
    const { create, intent, lines, names } = begun();
    create.recordDismissed("VALIDATION_ERROR");
    expect(lines()).toEqual([dismissed(intent.local_id, "VALIDATION_ERROR")]);
    expect(names()).toEqual([]);
  });

  test("leaves nothing if it was not sent", () => {
    const { create, isLogged, names } = begun();
    create.recordDismissed();
    expect([isLogged(), names()]).toEqual([false, []]);
  });

  test("is settled in the log if its intent cannot be removed, once", () => {
    const { create, intent, lines, block } = begun();
    block();
    create.recordDismissed();
    expect(lines()).toEqual([dismissed(intent.local_id, "RESOLVED")]);
    create.recordDismissed("X");
    expect(lines()).toEqual([dismissed(intent.local_id, "X"), dismissed(intent.local_id, "RESOLVED")]);
  });

  test("is no error if the log cannot be written", () => {
    const { create, names } = begun({ logWorks: false });
    create.recordDismissed("X");
    expect(names()).toEqual([]);
  });
});

describe("a create that this process gives up", () => {
  test("stays open without a sender", () => {
    const { create, sender, names } = begun();
    expect(sender()).toBe(process.pid);
    create.recordGivenUp();
    expect([sender(), names().length]).toEqual([undefined, 1]);
  });

  test("is no error if that cannot be written", () => {
    const { create, block } = begun();
    block();
    expect(() => create.recordGivenUp()).not.toThrow();
  });
});
