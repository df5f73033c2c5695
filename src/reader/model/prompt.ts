import type { JsonSchema } from "../../ground/protocol/conversation.js";

/** What a reply is read as, or what is wrong with it as a phrase for the model. */
export type ReplyReading<T> = { value: T } | { wrong: string };

/** What a model is told in one step, and what its reply has to be. */
export interface Prompt {
  name: string;
  instructions: string;
  schema: JsonSchema;
  /** How often it is asked for at most; 2 if left out. */
  tries?: number;
}
