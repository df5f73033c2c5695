// The public library: this list, with all of library/types.ts, is all of it. What is not here (the transport, the retry
// table, the history and settings of the command line, the local service) may change at any time.

export type { ClientEvent, ClientOptions } from "./client/calls/client-options.js";
export {
  type ErrorFacts,
  NoOutputError,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "./client/calls/errors.js";
export {
  type CallOptions,
  type Created,
  type CreateOptions,
  type FetchOutputOptions,
  ResearchClient,
  type StatusData,
  type StatusOptions,
} from "./client/calls/research-client.js";
export type {
  EventTime as Moment,
  GiveUpReason as Ending,
  PollInterval,
  StateChange as StateSeen,
  WatchEvent,
  WatchOptions,
  WatchSource,
  WatchTarget,
} from "./client/calls/watch/watch-types.js";
export type { Dialect, DialectRequest, ServiceError } from "./client/dialects/dialect.js";
export { findProvider as providerNamed, type Provider } from "./client/dialects/providers.js";
export type { Clock } from "./core/clock.js";
export { BaseUrlError, type ProxyEnvironment } from "./core/http/base-url-and-proxy.js";
export { parseExact, stringifyExact as exactJson } from "./core/json/exact-json.js";
export type {
  Checked,
  CheckedCitation,
  CheckedPage,
  CheckOutcome,
  Support,
  Verdict,
} from "./core/protocol/check-outcome.js";
export {
  type ContextFile,
  type CreateBody,
  type Data,
  type Gaps,
  isFinal,
  type JsonSchema,
  type KnownStatus,
  type Operation,
  STATUSES,
  type Status,
} from "./core/protocol/conversation.js";
export { checkReport } from "./library/check-report.js";
export { AbortedError, type SchemaIssue, SchemaMismatchError } from "./library/errors.js";
export { openResearch } from "./library/open-research.js";
export type * from "./library/types.js";
