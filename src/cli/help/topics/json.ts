import type { Topic } from "../topic.js";

export const json: Topic = {
  name: "json",
  summary: "the shape of every JSON line",
  text: `With --json, or RESEARCH_OUTPUT=json, each line of stdout is JSON in the
service's own words, unknown fields kept. Each line of stderr is an error or a
notice. Exit codes stay the same.

stderr
  error     {"error":{"code","message","exit_code"}} and, where known,
            http_status, request_id, local_id, retry_after (seconds), hint
  notice    {"notice":{"code","message"}}

  \`code\` of an error is the service's own, or one of USAGE, NOT_CONFIGURED,
  NOT_AUTHENTICATED, NOT_FOUND, NOT_ALLOWED, RATE_LIMITED, NOT_FINISHED,
  UNREACHABLE, BAD_RESPONSE, OUTCOME_UNKNOWN, TIMEOUT, INTERRUPTED,
  RESEARCH_FAILED, RESEARCH_STOPPED, NO_CREDIT, SCHEMA_MISMATCH, LOCAL_IO,
  INTERNAL.

stdout
  create, rerun   the service's data: {"request_id","status","created_at",…};
                  with -w the lines of watch follow
  create --dry-run
                  {"method","url","headers","body"}
  status, stop    the service's data with request_id; an array for several ids
  watch           an object for each change, and one with "final":true for
                  each id that ends:
                  {"request_id","status","previous_status","at","elapsed_ms",
                  "final"}, with "progress" where the service says how far it
                  is; an id that is given up ends with "final":false and its
                  "error"
  output          all of the data: {"request_id","status","output",…}
  run, try        the same, once it is COMPLETED
  list            [{"local_id","request_id","status","created_at","sent_at",
                  "origin","profile","key_id","prompt","structured_output",
                  "output_schema"}]; an unknown outcome is UNKNOWN, with
                  request_id null
  show            one object of the same shape
  resolve         the entry as it is now
  history forget  {"forgotten":[{"request_id","local_id"}],"skipped"}
  batch           an object for each change of a row: {"key","line",
                  "request_id","status","previous_status","at","elapsed_ms",
                  "final","file","error"}; at the end {"summary":{"rows",
                  "done","running","waiting","failed","refused","stopped",
                  "unknown","exit_code"}}
  quota           {"used","left","next_slot_at","limit","origin","profile",
                  "counted_from"}
  config get      {SETTING:{"value","source"}}
  config list     an object of such settings, null for one that is not set
  config path     {"path"}
  serve           {"base_url","pid"}, and "api_key" if it was made now
  serve keys add  {"name","tier","api_key",…}
  doctor          {"ok","checks":[{"id","status","message","fix",
                  "exit_code"}]}; status is ok, warn, fail or skipped
  help            {"schema_version","version","commands","exit_codes",
                  "environment","topics"}, with the flag only
`,
};
