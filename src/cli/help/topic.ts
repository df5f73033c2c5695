/** A page of help that belongs to no command: `research help NAME`. */
export interface Topic {
  name: string;
  /** In a few words, for the list of topics. */
  summary: string;
  /** Plain text in lines of at most 80 columns, a line break at its end. */
  text: string;
}
