import type { Operation } from "../protocol/endpoints.js";

/** A misbehaviour on demand, for testing clients. */
export interface Fault {
  operation: Operation | "any";
  kind: string;
}
