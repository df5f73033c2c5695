/** The operations of §4. */
export type Operation = "create" | "stop" | "status" | "output";

/** What §4.3 and §4.4 do not show. Each is a setting of the same name in kebab case (`status-method`). */
export interface Gaps {
  /** §4.3, HTTP method: not shown. */
  statusMethod: string;
  /** §4.4, HTTP method: not shown. */
  outputMethod: string;
  /** §4.4, path: not shown. `{request_id}` is replaced. */
  outputPath: string;
  /** §4.4, payload: not shown. The field of `data` that holds the result, if it is there. */
  outputField: string;
}

/** What stands for each gap unless a setting says otherwise. */
export const DEFAULT_GAPS: Gaps = {
  statusMethod: "GET",
  outputMethod: "GET",
  outputPath: "/api/v1/conversation/{request_id}/output",
  outputField: "output",
};

export interface HttpEndpoint {
  method: string;
  /** Path below the base URL, beginning with a slash. */
  path: string;
  /** §4.1, §4.2: `Content-Type: application/json` is required, with a body or without. */
  json: boolean;
}

/** §4.1. The only path with the plural. */
export const CREATE: HttpEndpoint = { method: "POST", path: "/api/v1/conversations", json: true };

/** §4.2 to §4.4 for one request. `requestId` must be well-formed (`isRequestId`): it stands in the path. */
export function endpoint(
  operation: Exclude<Operation, "create">,
  requestId: string,
  gaps: Gaps = DEFAULT_GAPS,
): HttpEndpoint {
  const id = encodeURIComponent(requestId);
  switch (operation) {
    case "stop":
      return { method: "POST", path: `/api/v1/conversation/${id}/stop`, json: true };
    case "status":
      return { method: gaps.statusMethod, path: `/api/v1/conversation/${id}/status`, json: false };
    case "output":
      return { method: gaps.outputMethod, path: gaps.outputPath.replaceAll("{request_id}", id), json: false };
  }
}
