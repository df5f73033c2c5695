import type { StatusData } from "../../client/client.js";
import { withMember } from "../../json/exact-json.js";
import type { StateAnswer } from "../../workflows/states.js";
import { ClosedPipe } from "../errors.js";
import type { Reporter } from "../terminal/reporter.js";
import type { Style } from "../terminal/style.js";
import { sayNotObserved, showFailure } from "./failures.js";
import { statusLine, statusWord } from "./status-text.js";

export interface AnswersOptions {
  /** The bare state. */
  quiet?: boolean | undefined;
  /** The exit code of an answer; default 0. */
  exitCode?: (status: string) => number;
}

/** Shows what was answered about one request or several: a line each, or for a program all together. */
export class AnswersView {
  readonly #reporter: Reporter;
  readonly #style: Style;
  readonly #isSingle: boolean;
  readonly #options: AnswersOptions;
  readonly #found: StatusData[] = [];
  #isClosed = false;

  /** `count`: how many requests were named. */
  static async of(reporter: Reporter, count: number, options: AnswersOptions = {}): Promise<AnswersView> {
    return new AnswersView(reporter, await reporter.style(), count === 1, options);
  }

  private constructor(reporter: Reporter, style: Style, isSingle: boolean, options: AnswersOptions) {
    this.#reporter = reporter;
    this.#style = style;
    this.#isSingle = isSingle;
    this.#options = options;
  }

  /** Returns the exit code of the answer. A pipe that was closed takes no more, and ends nothing. */
  async show(answer: StateAnswer): Promise<number> {
    const { requestId } = answer.target;
    if (answer.kind === "failed") return showFailure(this.#reporter, answer.error, requestId);
    const data = withMember(answer.data, "request_id", requestId);
    await sayNotObserved(this.#reporter, answer.notObserved);
    this.#found.push(data);
    const { quiet, exitCode = () => 0 } = this.#options;
    const line = quiet
      ? statusWord(data.status, this.#style)
      : statusLine(requestId, data.status, this.#style);
    if (!this.#reporter.json) await this.#write(() => this.#reporter.result(`${line}\n`));
    return exitCode(data.status);
  }

  /** Writes what a program gets at the end. */
  async end(): Promise<void> {
    const found = this.#isSingle ? this.#found[0] : this.#found;
    if (this.#reporter.json && found) await this.#write(() => this.#reporter.resultJson(found));
  }

  async #write(write: () => Promise<void>): Promise<void> {
    try {
      if (!this.#isClosed) await write();
    } catch (error) {
      if (!(error instanceof ClosedPipe)) throw error;
      this.#isClosed = true;
    }
  }
}
