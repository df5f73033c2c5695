import { formatResult } from "../../app/format-result.js";
import { writeOutputFile } from "../../app/output-file.js";
import { addProviderOptions, buildCheckedBody } from "../../app/provider-options.js";
import type { Account } from "../../client/workflows/account.js";
import { fetchResult } from "../../client/workflows/fetch-results.js";
import { findTarget } from "../../client/workflows/find-and-query-requests.js";
import { followRequests } from "../../client/workflows/follow-requests.js";
import { defineTool, field, shape } from "../define-tool.js";
import { chooseSavePath } from "../save-path.js";
import type { ToolSession } from "../tool-session.js";

const DESCRIPTION =
  `Submit a deep research request. Each new request costs money or counts towards a limit. Returns at once with its id;
the research takes minutes to hours: call research_wait next. The call may be repeated after an error or a time-out: the
same prompt and schema within 24 hours give back the request that exists ("reused": true). If the outcome of an earlier one
is unknown (OUTCOME_UNKNOWN), it is not sent again: tell the person.`.replaceAll("\n", " ");

export const create = defineTool({
  name: "research_create",
  title: "Submit a research request",
  description: DESCRIPTION,
  fields: {
    prompt: field.required(
      field.text("The research question, with everything that the researcher needs to know."),
    ),
    schema: field.object("A JSON Schema; the result is then JSON that fits it."),
    model: field.text(
      "At a provider: the model, preset, processor or effort. A call with another model creates another request.",
    ),
    again: field.flag(
      "Create another request even if the same one exists. It costs as much again. Default: false.",
    ),
    save_to: field.path(
      "A path under the folder that the server may write to: the result is written to a new file there when the research has ended, if this server is still running.",
    ),
  },
  outputSchema: shape.object({
    ...{
      request_id: shape.text,
      status: shape.text,
      created_at: shape.textOrNull,
      reused: shape.flag,
      next: shape.text,
    },
    ...{ left: shape.count, limit: shape.count, not_saved: shape.text, saves_to: shape.text },
  }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: true },
  changes: true,
  async call(session, { prompt, schema, model, again, save_to }, { signal }) {
    const account = session.requireConnected();
    const path = save_to === undefined ? undefined : chooseSavePath(session.allowedFolder, save_to);
    const body = addProviderOptions(account, await buildCheckedBody(prompt, schema, signal), { model });
    const limit = session.limit();
    const done = await session.creates.create([{ account, body, limit }], {
      repeat: again,
      signal,
      // Only the end of the server aborts the create request, because its answer is paid for.
      submit: { signal: session.ending },
    });
    const made = done.kind === "reused" ? done.entry : done.submitted.data;
    const requestId = String(made.request_id);
    const isSaved = path !== undefined && saveResultWhenEnded(session, account, requestId, path);
    const notSaved = done.kind === "created" ? done.submitted.notSaved : undefined;
    return {
      content: {
        request_id: requestId,
        status: typeof made.status === "string" ? made.status : "PENDING",
        created_at: typeof made.created_at === "string" ? made.created_at : null,
        reused: done.kind === "reused",
        ...countRemainingCreates(session),
        ...(isSaved && { saves_to: path }),
        ...(notSaved && { not_saved: notSaved.message }),
        next:
          made.cut_short === true
            ? "it ended with a part of a result and is not sent again; pass again: true to create a new request"
            : `research_wait with ids ["${requestId}"], until it has ended; then research_output`,
      },
    };
  },
});

/** Returns what is left of the hourly limit; undefined without a limit, or if the history cannot be read. */
function countRemainingCreates(session: ToolSession) {
  try {
    const { left, limit } = session.readQuota();
    return limit === null ? undefined : { left, limit };
  } catch {
    return undefined;
  }
}

/** Writes the result when the request has ended, if the server still runs. Returns false if another request will write the file. */
function saveResultWhenEnded(
  session: ToolSession,
  account: Account,
  requestId: string,
  path: string,
): boolean {
  const { awaited, ending: signal } = session;
  const earlier = awaited.get(path);
  if (earlier !== undefined) return earlier === requestId;
  awaited.set(path, requestId);
  const save = async () => {
    const target = findTarget(account, requestId);
    for await (const event of followRequests([target], { signal }))
      if (event.kind === "state" && event.status === "COMPLETED")
        writeOutputFile(path, formatResult(await fetchResult(target, { signal })), false);
  };
  save()
    .catch(() => {})
    .finally(() => awaited.delete(path));
  return true;
}
