import type { QueryResultRow } from "pg";
import { isRequestId } from "../../protocol/conversation.js";
import type { Conversation } from "../conversations/conversation.js";

/** An id of this store is a UUID; PostgreSQL refuses any other text. */
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether a text may be an id of this store. */
export function isOwnId(requestId: string): boolean {
  return isRequestId(requestId) && UUID.test(requestId);
}

/** A row of research.conversations without its texts. */
export function conversationOf(requestId: string, row: QueryResultRow): Conversation {
  return {
    requestId: requestId.toLowerCase(),
    createdAt: row.created_at.getTime(),
    status: row.status,
    ...(row.completed_at !== null && { endedAt: row.completed_at.getTime() }),
    ...(row.reason !== null && { reason: JSON.parse(row.reason) }),
  };
}
