import { Argument, Command, InvalidArgumentError, Option } from "commander";
import type { Context } from "../command-context.js";

export type Perform = (action: (ctx: Context) => Promise<number>) => void;

export type Define = (program: DocumentedCommand, perform: Perform) => void;

export interface Documentation {
  output?: string;
  /** The exit codes of this command, each with its cause. `EXIT_CODE_MEANINGS` has the whole table. */
  exits?: Readonly<Record<number, string>>;
  examples?: readonly string[];
}

/** Short meanings of exit codes that suit most commands. */
const USUAL: Readonly<Record<number, string>> = {
  0: "done",
  2: "bad input",
  3: "the research FAILED",
  4: "no key, or the service refuses it",
  5: "not found",
  6: "the service refused the request",
  7: "a limit was reached",
  8: "not finished yet",
  9: "the service could not be reached, or its answer could not be read",
  10: "the research was STOPPED",
  11: "outcome unknown: the request may or may not exist (research help exit-codes)",
  12: "a file could not be read or written",
  13: "the result does not fit its schema (--strict)",
  14: "a source is gone, or does not say what the result says (--check)",
};

/** Returns the usual meanings of exit codes. */
export function listUsualExitCodes(...codes: readonly number[]): Record<number, string> {
  return Object.fromEntries(codes.map((code) => [code, USUAL[code] ?? ""]));
}

/** A command with its documentation as data, from which help pages and `help --json` are built. */
export class DocumentedCommand extends Command {
  documentation: Documentation = {};

  override createCommand(name?: string): DocumentedCommand {
    return new DocumentedCommand(name);
  }

  /** Stores the documentation, and prints it below the flags in the help. */
  setDocumentation(documentation: Documentation): this {
    this.documentation = documentation;
    return this.addHelpText("after", formatDocumentation(documentation));
  }

  /** Adds the flags, or groups of flags with their headings. */
  addFlags(flags: Flags | FlagGroups): this {
    for (const [spec, flag] of Object.entries<string | FlagValue | Flags>(flags)) {
      if (spec.endsWith(":")) {
        this.optionsGroup(spec).addFlags(flag as Flags);
        continue;
      }
      const { description, choices, parse, before } =
        typeof flag === "string" ? ({ description: flag } as FlagValue) : (flag as FlagValue);
      const option = new Option(spec, description).default(before);
      const read = (text: string, previous: unknown) => {
        if (text === "") throw new InvalidArgumentError("It is empty.");
        return parse ? parse(text, previous) : text;
      };
      this.addOption(choices ? option.choices(choices) : option.argParser(read));
    }
    return this;
  }
}

export interface FlagValue<T = unknown> {
  description: string;
  choices?: readonly string[];
  /** Parses the text of a flag. Throws InvalidArgumentError for an invalid text. */
  parse?(text: string, before: T): T;
  before?: T;
}

/** The flags of a command, by forms such as `-o, --output <path>`. A plain string is the description of a switch or of a flag with a text. */
export type Flags = Readonly<Record<`${string}--${string}`, string | FlagValue>>;
/** The flags of a command in groups, by the headings of the groups in its help. */
export type FlagGroups = Readonly<Record<`${string}:`, Flags>>;

/** The intersection of the members of a union. */
export type IntersectionOf<U> = (U extends unknown ? (one: U) => void : never) extends (
  all: infer All,
) => void
  ? All
  : never;
type FlattenGroups<F> = keyof F extends `${string}:` ? IntersectionOf<F[keyof F]> : F;

type CamelCase<S extends string> = S extends `${infer A}-${infer B}` ? `${A}${Capitalize<CamelCase<B>>}` : S;
type FlagWords<Form> = Form extends `${string}--${infer Long}` ? Long : never;
type OptionNameOf<Form> = CamelCase<
  FlagWords<Form> extends `${infer Name} ${string}` ? Name : FlagWords<Form>
>;
type FlagValueOf<Form, Flag> =
  Flag extends FlagValue<infer T> ? T : FlagWords<Form> extends `${string} ${string}` ? string : boolean;
type IsGiven<Flag> = Flag extends { before: NonNullable<unknown> } ? true : false;

export type OptionsOf<F> = OptionsOfFlags<FlattenGroups<F>>;
type OptionsOfFlags<F> = {
  [Form in keyof F as IsGiven<F[Form]> extends true ? OptionNameOf<Form> : never]: FlagValueOf<Form, F[Form]>;
} & {
  [Form in keyof F as IsGiven<F[Form]> extends true ? never : OptionNameOf<Form>]?: FlagValueOf<
    Form,
    F[Form]
  >;
};

/** The form of an argument (`<id...>`, `[prompt]`), its description, and the allowed words. */
type ArgumentForm = readonly [form: string, description: string, choices?: readonly string[]];
type ArgumentOf<A> = A extends readonly [`${string}...${string}`, ...unknown[]]
  ? string[]
  : A extends readonly [string, string, readonly (infer Choice)[]]
    ? Choice | (A[0] extends `[${string}` ? undefined : never)
    : A extends readonly [`[${string}`, ...unknown[]]
      ? string | undefined
      : string;
type ArgumentsOf<A extends readonly ArgumentForm[]> = { -readonly [Index in keyof A]: ArgumentOf<A[Index]> };

/** Runs a command. Returns its exit code, or nothing for 0. */
type Action<A extends readonly ArgumentForm[], F> = (
  ctx: Context,
  ...given: [...ArgumentsOf<A>, OptionsOf<F>]
) => Promise<number> | Promise<void>;

type TakenBy<A extends readonly ArgumentForm[], R> = R extends (
  ctx: Context,
  ...given: [...ArgumentsOf<A>, infer Taken]
) => unknown
  ? Taken
  : unknown;

/** Makes the compiler reject a flag that the action does not take, and an option that no flag provides. */
type SameNames<F, Taken> = unknown extends Taken
  ? unknown
  : {
      [Name in
        | Exclude<keyof OptionsOf<F>, keyof Taken>
        | Exclude<keyof Taken, keyof OptionsOf<F>> as `${Name & string} is a flag or an option alone`]: never;
    };

interface Definition<A extends readonly ArgumentForm[], F extends Flags | FlagGroups, R>
  extends Documentation {
  name: string;
  /** The summary in lists of commands; absent if the description is short enough. */
  summary?: string;
  description: string;
  arguments?: A;
  flags?: F;
  run?: () => Promise<R>;
  /** The subcommands. A flag that a command shares with its subcommand may also precede the subcommand's name. */
  commands?: readonly Define[];
}

/** Defines a command; the compiler checks its flags against the options that its action takes. */
export function defineCommand<
  const A extends readonly ArgumentForm[] = [],
  const F extends Flags | FlagGroups = Record<never, never>,
  R extends Action<A, F> = Action<A, F>,
>(definition: Definition<A, F, R> & SameNames<F, TakenBy<A, R>>): Define {
  const { name, summary, description, flags, run, commands = [] } = definition;
  return (program, perform) => {
    const verb = program.command(name);
    verb.description(description);
    if (summary !== undefined) verb.summary(summary);
    const forms: readonly ArgumentForm[] = definition.arguments ?? [];
    for (const [form, about, choices] of forms) {
      const argument = new Argument(form, about);
      verb.addArgument(choices ? argument.choices(choices) : argument);
    }
    verb.addFlags(flags ?? {});
    // Any command can get an invalid argument, or need a file that it cannot use.
    verb.setDocumentation(
      run ? { ...definition, exits: { ...listUsualExitCodes(0, 2, 12), ...definition.exits } } : definition,
    );
    // Otherwise the command would take the flags of a subcommand that have the same name as one of its own.
    if (flags && commands.length > 0) verb.enablePositionalOptions();
    for (const below of commands) below(verb, perform);
    if (!run) return;
    verb.action((...given: unknown[]) => {
      refuseFlagsOfParents(verb);
      const options = { ...collectGivenFlags(program), ...verb.opts() };
      const words = given.slice(0, forms.length);
      perform(async (ctx) => {
        const code = await (await run())(ctx, ...([...words, options] as [...ArgumentsOf<A>, OptionsOf<F>]));
        return code ?? 0;
      });
    });
  };
}

/** Rejects flags that commander accepted for a parent command although `verb` does not have them. */
function refuseFlagsOfParents(verb: Command): void {
  const ownNames = new Set(verb.options.map((option) => option.attributeName()));
  for (let above = verb.parent; above?.parent; above = above.parent)
    for (const option of above.options) {
      const name = option.attributeName();
      if (!ownNames.has(name) && above.getOptionValueSource(name) === "cli")
        verb.error(`error: unknown option '${option.long}'`, { code: "commander.unknownOption" });
    }
}

/** Collects the flags on the command line, of a command and of its parents below the program; leaves out default values. */
function collectGivenFlags(verb: Command | null): Record<string, unknown> {
  // The program's own flags are the same for all commands.
  if (!verb?.parent) return {};
  const given = Object.entries(verb.opts()).filter(([name]) => verb.getOptionValueSource(name) === "cli");
  return { ...collectGivenFlags(verb.parent), ...Object.fromEntries(given) };
}

function formatDocumentation({ output, exits, examples = [] }: Documentation): string {
  const codes = Object.entries(exits ?? {}).map(([code, meaning]) => `  ${code.padStart(2)}  ${meaning}`);
  return [
    "",
    ...(output ? ["Output:", `  ${output}`] : []),
    ...(codes.length > 0 ? ["Exit codes:", ...codes] : []),
    ...(examples.length > 0 ? ["Examples:", ...examples.map((example) => `  $ ${example}`)] : []),
  ].join("\n");
}
