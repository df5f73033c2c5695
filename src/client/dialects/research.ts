import { attachSource, findMemberText, stringifyExact } from "../../core/json/exact-json.js";
import {
  buildEndpoint,
  CREATE,
  type CreateBody,
  type Data,
  DEFAULT_GAPS,
  type Gaps,
  isRequestId,
  type Operation,
} from "../../core/protocol/conversation.js";
import { type Dialect, InputError, type RefusalKind } from "./dialect.js";
import { readFields, salvageId } from "./reading.js";

/** What `data` of a success must hold to count, by its name; what else stands in it is shown or passed on as it is. */
const REQUIRED: Readonly<Record<Operation, readonly [name: string, isValid: (value: unknown) => boolean]>> = {
  /** §4.1: without `status` or `created_at` it is still a request with an id. */
  create: ["request_id", isRequestId],
  /** §4.3: `data.status` is all that is shown of a status answer. */
  status: ["status", isString],
  /** §4.2: every field of a stop answer but `status` is for people. */
  stop: ["status", isString],
  /** §4.4: the payload is not shown; whatever `data` holds is the output. */
  output: ["output", () => true],
};

function isString(value: unknown): boolean {
  return typeof value === "string";
}

/** §7, the codes that are shown; any other code says no more than that it was refused. */
const KINDS: ReadonlyMap<string, RefusalKind> = new Map([
  ["VALIDATION_ERROR", "invalid-input"],
  ["INVALID_API_KEY", "unauthenticated"],
  ["RATE_LIMIT_EXCEEDED", "rate-limited"],
  ["REQUEST_NOT_FOUND", "not-found"],
]);

/** The interface itself; `gaps` says what it does not show. */
export function createResearch(gaps: Partial<Gaps> = {}): Dialect {
  const filled: Gaps = { ...DEFAULT_GAPS, ...gaps };
  return {
    name: "research",
    keyHeader: ["authorization", "Bearer "],
    statusIsResult: false,
    mayLag: false,
    betweenPollsMs: 20,
    create: (body) => ({ ...CREATE, body: stringifyExact(checkBody(body)) }),
    request: (operation, requestId) => buildEndpoint(operation, requestId, filled),
    probeId: "00000000-0000-0000-0000-000000000000",
    fault(_operation, _httpStatus, answer) {
      const { status, error } = readFields(answer);
      const { code, message = "", reason } = readFields(error);
      if (status !== false || typeof code !== "string" || typeof message !== "string") return undefined;
      const kind = code.startsWith("CONVERSATION_ALREADY_") ? "refused" : KINDS.get(code);
      // The local service has budgets of a key beside the hour (contract §4), which may last for days.
      return { code: kind === "rate-limited" && reason === "budget" ? "BUDGET" : code, message, kind };
    },
    data(operation, answer) {
      // §2. `version` is not asked for: a paid answer without it must not become an unknown outcome.
      const envelope = readFields(answer);
      const { status, data } = envelope;
      if (status !== true || typeof data !== "object" || data === null)
        return "the answer is not one of this service's";
      const [name, isValid] = REQUIRED[operation];
      if (!isValid(Reflect.get(data, name))) return `the answer has no valid data.${name}`;
      return attachSource(data as Data, findMemberText(envelope, "data")?.text ?? "{}");
    },
    salvage: (torn) => salvageId(torn, "request_id", /^/),
  };
}

/** Throws InputError for what only a provider takes. */
function checkBody(body: CreateBody): CreateBody {
  const name = (["model", "options", "after"] as const).find((field) => body[field] !== undefined);
  if (name === undefined) return body;
  const word = { model: "model", options: "options", after: "follow-up" }[name];
  throw new InputError(
    `the research interface takes no ${word}`,
    "--model, --set and --after are for the providers that `research help providers` names.",
  );
}
