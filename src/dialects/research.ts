import * as v from "valibot";
import { exactJson, memberText, withSource } from "../json/exact-json.js";
import {
  CREATE,
  type CreateBody,
  DEFAULT_GAPS,
  endpoint,
  type Gaps,
  isRequestId,
} from "../protocol/conversation.js";
import { type Dialect, InputError, type RefusalKind } from "./dialect.js";

/** §2. `version` is not asked for: a paid answer without it must not become an unknown outcome. */
const success = v.looseObject({ status: v.literal(true), data: v.looseObject({}) });
const failure = v.looseObject({
  status: v.literal(false),
  error: v.looseObject({ message: v.optional(v.string()), code: v.string() }),
});

const SHAPES = {
  /** §4.1: what create must carry to count; without `status` or `created_at` it is still a request with an id. */
  create: v.looseObject({
    request_id: v.pipe(
      v.string(),
      v.check((id: string) => isRequestId(id)),
    ),
  }),
  /** §4.3: `data.status` is all that is shown of a status answer, so it is all that is required. */
  status: v.looseObject({ status: v.string() }),
  /** §4.2: every field of a stop answer but `status` is for people. */
  stop: v.looseObject({ status: v.string() }),
  /** §4.4: the payload is not shown; whatever `data` holds is the output. */
  output: v.looseObject({}),
};

/** §7, the codes that are shown; any other code says no more than that it was refused. */
const KINDS: ReadonlyMap<string, RefusalKind> = new Map([
  ["VALIDATION_ERROR", "invalid-input"],
  ["INVALID_API_KEY", "unauthenticated"],
  ["RATE_LIMIT_EXCEEDED", "rate-limited"],
  ["REQUEST_NOT_FOUND", "not-found"],
]);

/** The interface itself; `gaps` says what it does not show. */
export function research(gaps: Partial<Gaps> = {}): Dialect {
  const filled: Gaps = { ...DEFAULT_GAPS, ...gaps };
  return {
    name: "research",
    keyHeader: ["authorization", "Bearer "],
    statusIsResult: false,
    mayLag: false,
    betweenPollsMs: 20,
    create: (body) => ({ ...CREATE, body: exactJson(checked(body)) }),
    request: (operation, requestId) => endpoint(operation, requestId, filled),
    probeId: "00000000-0000-0000-0000-000000000000",
    fault(_operation, _httpStatus, answer) {
      if (!v.is(failure, answer)) return undefined;
      const { code, message = "" } = answer.error;
      const kind = code.startsWith("CONVERSATION_ALREADY_") ? "refused" : KINDS.get(code);
      return { code, message, kind };
    },
    data(operation, answer) {
      if (!v.is(success, answer)) return "the answer is not one of this service's";
      const { issues } = v.safeParse(SHAPES[operation], answer.data);
      if (issues) return `the answer lacks what it must hold (${v.summarize(issues)})`;
      return withSource(answer.data, memberText(answer, "data")?.text ?? "{}");
    },
    salvage(text) {
      const id = /"request_id"\s*:\s*"([^"\\]{1,512})"/.exec(text)?.[1];
      return isRequestId(id) ? id : undefined;
    },
  };
}

/** Throws InputError for what only a provider takes. */
function checked(body: CreateBody): CreateBody {
  const name = (["model", "options", "after"] as const).find((one) => body[one] !== undefined);
  if (name === undefined) return body;
  const word = { model: "model", options: "options", after: "follow-up" }[name];
  throw new InputError(
    `the research interface takes no ${word}`,
    "--model, --set and --after are for the providers that `research help providers` names.",
  );
}
