import type { Clock } from "../../clock.js";
import { StoreOutcomeUnknownError, StoreUnavailableError } from "../conversations/conversation-store.js";
import { type Database, StatementRefused } from "./database.js";
import { CREATE, GET } from "./statements.js";

/** How long a create whose answer was lost is looked for, ms; a server restarts within that time. */
const LOOK_LIMIT_MS = 10_000;
const LOOK_MS = 200;
const ALREADY_THERE = "23505";

/**
 * Creates a conversation exactly once, also if the connection is lost in the middle: then it is looked up by its
 * own id, and created under that id if it is not there; a first try that is still under way makes the second one
 * wait and fail. Resolves with created_at, or undefined if the hour is used up. Rejects with a
 * StoreUnavailableError if nothing was done, else with a StoreOutcomeUnknownError.
 */
export async function createOnce(
  database: Database,
  clock: Clock,
  values: readonly unknown[],
): Promise<Date | undefined> {
  const lookup = async (): Promise<Date | undefined> =>
    (await database.read(GET, [values[0], null]))[0]?.created_at;
  let lost: StoreOutcomeUnknownError | undefined;
  for (const end = clock.monotonic() + LOOK_LIMIT_MS; ; ) {
    try {
      const found = lost && (await lookup());
      if (found !== undefined) return found;
      const [row] = await database.run(CREATE, values);
      // The hour may be used up by the try whose answer was lost.
      return row?.created_at ?? (lost && (await lookup()));
    } catch (error) {
      if (error instanceof StoreOutcomeUnknownError) lost ??= error;
      else if (!(error instanceof StatementRefused && error.code === ALREADY_THERE && lost)) {
        if (lost === undefined || !(error instanceof StoreUnavailableError)) throw error;
      }
    }
    if (clock.monotonic() > end) throw lost;
    await clock.sleep(LOOK_MS);
  }
}
