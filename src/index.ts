// The public library: this list, with all of library/types.ts, is all of it. What is not here (the transport, the retry
// table, the history and settings of the command line, the local service) may change at any time.

export {
  type CallOptions,
  type Created,
  type CreateOptions,
  type FetchOutputOptions,
  ResearchClient,
  type StatusData,
  type StatusOptions,
} from "./client/client.js";
export {
  type ErrorFacts,
  NoOutputError,
  OutcomeUnknownError,
  type RefusalKind,
  RefusedError,
  ResearchError,
  UnreachableError,
} from "./client/errors.js";
export { BaseUrlError, type ProxyEnvironment } from "./client/http/address.js";
export type { ClientEvent, ClientOptions } from "./client/options.js";
export type {
  Ending,
  Moment,
  PollInterval,
  StateSeen,
  WatchEvent,
  WatchOptions,
  WatchSource,
  WatchTarget,
} from "./client/watch/types.js";
export type { Clock } from "./clock.js";
export type { Dialect, DialectRequest, ServiceError } from "./dialects/dialect.js";
export { type Provider, providerNamed } from "./dialects/providers.js";
export { exactJson, parseExact } from "./json/exact-json.js";
export { AbortedError, type SchemaIssue, SchemaMismatchError } from "./library/errors.js";
export { openResearch } from "./library/open-research.js";
export type * from "./library/types.js";
export {
  type CreateBody,
  type Data,
  type Gaps,
  isFinal,
  type JsonSchema,
  type KnownStatus,
  type Operation,
  STATUSES,
  type Status,
} from "./protocol/conversation.js";
