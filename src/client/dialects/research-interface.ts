import { attachJsonText, findMemberText, stringifyExact } from "../../core/json/exact-json.js";
import {
  buildHttpEndpoint,
  CREATE,
  type CreateBody,
  type Data,
  DEFAULT_GAPS,
  type Gaps,
  isRequestId,
  type Operation,
} from "../../core/protocol/conversation.js";
import { type Dialect, InputError, type RefusalKind } from "./dialect.js";
import { readObject, salvageId } from "./read-response.js";

/** The field that `data` of a successful answer must have, for each operation. Other fields are passed on unchanged. */
const REQUIRED: Readonly<Record<Operation, readonly [name: string, isValid: (value: unknown) => boolean]>> = {
  /** §4.1: an answer without `status` or `created_at` still has the id of a request. */
  create: ["request_id", isRequestId],
  /** §4.3 documents only `data.status` of a status answer. */
  status: ["status", isString],
  /** §4.2: only `status` is meant for programs; the other fields are for people. */
  stop: ["status", isString],
  /** §4.4 does not document the payload, so any `data` is valid. */
  output: ["output", () => true],
};

function isString(value: unknown): boolean {
  return typeof value === "string";
}

/** The error codes of §7 and their meanings; any other code means only that the request was refused. */
const KINDS: ReadonlyMap<string, RefusalKind> = new Map([
  ["VALIDATION_ERROR", "invalid-input"],
  ["INVALID_API_KEY", "unauthenticated"],
  ["RATE_LIMIT_EXCEEDED", "rate-limited"],
  ["REQUEST_NOT_FOUND", "not-found"],
]);

/** Creates the dialect of the interface itself; `gaps` overrides our assumptions about what the interface does not document. */
export function createInterfaceDialect(gaps: Partial<Gaps> = {}): Dialect {
  const allGaps: Gaps = { ...DEFAULT_GAPS, ...gaps };
  return {
    name: "research",
    keyHeader: ["authorization", "Bearer "],
    statusIsResult: false,
    mayLag: false,
    betweenPollsMs: 20,
    create: (body) => ({ ...CREATE, body: stringifyExact(refuseProviderFields(body)) }),
    request: (operation, requestId) => buildHttpEndpoint(operation, requestId, allGaps),
    probeId: "00000000-0000-0000-0000-000000000000",
    fault(_operation, _httpStatus, answer) {
      const { status, error } = readObject(answer);
      const { code, message = "", reason } = readObject(error);
      if (status !== false || typeof code !== "string" || typeof message !== "string") return undefined;
      const kind = code.startsWith("CONVERSATION_ALREADY_") ? "refused" : KINDS.get(code);
      // The local service also has budgets per key (contract §4), which may stay used up for days, unlike the hourly limit.
      return { code: kind === "rate-limited" && reason === "budget" ? "BUDGET" : code, message, kind };
    },
    data(operation, answer) {
      // §2 requires `version`, too, but a paid answer without it must not become an unknown outcome.
      const envelope = readObject(answer);
      const { status, data } = envelope;
      if (status !== true || typeof data !== "object" || data === null)
        return "the answer does not have this service's format";
      const [name, isValid] = REQUIRED[operation];
      if (!isValid(Reflect.get(data, name))) return `the answer has no valid data.${name}`;
      return attachJsonText(data as Data, findMemberText(envelope, "data")?.text ?? "{}");
    },
    salvage: (torn) => salvageId(torn, "request_id", /^/),
  };
}

/** Throws InputError for a field that only providers support. */
function refuseProviderFields(body: CreateBody): CreateBody {
  const name = (["model", "options", "after"] as const).find((field) => body[field] !== undefined);
  if (name === undefined) return body;
  const word = { model: "model", options: "options", after: "follow-up" }[name];
  throw new InputError(
    `the research interface takes no ${word}`,
    "--model, --set and --after are for the providers that `research help providers` names.",
  );
}
