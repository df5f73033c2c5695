import * as v from "valibot";
import { exactJson, memberText, withSource } from "../json/exact-json.js";
import {
  CREATE,
  type CreateBody,
  createdData,
  DEFAULT_GAPS,
  endpoint,
  type Gaps,
  isRequestId,
  outputData,
  readEnvelope,
  statusData,
  stopData,
} from "../protocol/conversation.js";
import { type Dialect, InputError, type RefusalKind } from "./dialect.js";

const SHAPES = { create: createdData, status: statusData, stop: stopData, output: outputData };

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
      const envelope = readEnvelope(answer);
      if (!envelope || envelope.ok) return undefined;
      const { code, message } = envelope.error;
      return { code, message, kind: kindOfCode(code) };
    },
    data(operation, answer) {
      const envelope = readEnvelope(answer);
      if (!envelope?.ok) return "the answer is not one of this service's";
      const data = v.safeParse(SHAPES[operation], envelope.data);
      if (!data.success) return `the answer lacks what it must hold (${v.summarize(data.issues)})`;
      // The validation has copied the data without its text.
      return withSource(data.output, memberText(Object(answer), "data")?.text ?? "{}");
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

/** §7, the codes that are shown; any other code says no more than that it was refused. */
function kindOfCode(code: string): RefusalKind | undefined {
  switch (code) {
    case "VALIDATION_ERROR":
      return "invalid-input";
    case "INVALID_API_KEY":
      return "unauthenticated";
    case "RATE_LIMIT_EXCEEDED":
      return "rate-limited";
    case "REQUEST_NOT_FOUND":
      return "not-found";
    default:
      return code.startsWith("CONVERSATION_ALREADY_") ? "refused" : undefined;
  }
}
