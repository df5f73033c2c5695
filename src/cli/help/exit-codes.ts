export interface ExitCodeMeaning {
  /** One code; for deaths by a signal those that a shell shows. */
  codes: readonly number[];
  meaning: string;
}

/** Every exit code of the program (contract §1.5), in the words of help, man page and README. */
export const EXIT_CODE_MEANINGS: readonly ExitCodeMeaning[] = [
  { codes: [0], meaning: "done; for `watch` and `run`: COMPLETED" },
  { codes: [1], meaning: "a defect of this program, or something unforeseen" },
  {
    codes: [2],
    meaning:
      "bad input: usage, a blank prompt, an invalid schema, no base URL configured, `VALIDATION_ERROR`; if this program found it, nothing was sent",
  },
  { codes: [3], meaning: "the research ended FAILED" },
  { codes: [4], meaning: "not authenticated: no key, `INVALID_API_KEY`, any other 401 or 403" },
  {
    codes: [5],
    meaning: "not found: `REQUEST_NOT_FOUND`, any other 404; `@last` with an empty history",
  },
  {
    codes: [6],
    meaning: "refused: not allowed in this state, or any other refusal by the service; nothing was created",
  },
  { codes: [7], meaning: "rate limited" },
  { codes: [8], meaning: "not finished yet: `watch --timeout` reached, `output` asked too early" },
  {
    codes: [9],
    meaning: "the service could not be reached, or its answer could not be read; nothing was created",
  },
  { codes: [10], meaning: "the research ended STOPPED" },
  { codes: [11], meaning: "`create`: outcome unknown; it was sent, and no readable answer came back" },
  { codes: [12], meaning: "this machine: a file could not be read or written, or exists already" },
  { codes: [13], meaning: "`--strict`: the result does not fit its schema" },
  {
    codes: [130, 143, 129],
    meaning: "it died of SIGINT, SIGTERM, SIGHUP, after saying how to go on",
  },
];
