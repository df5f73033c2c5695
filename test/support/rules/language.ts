import { parseAst } from "rolldown/parseAst";

/** Verbs in the infinitive that functions of the house begin with. A new one is added here. */
const VERBS = new Set(
  `abort accept access acquire add advance agree align allow analyse announce answer append apply are ask
  assemble assert attach await back batch begin bind blank block bound break bring build cache calculate
  call cancel cap capitalize carry catch change charge check choose cite claim classify clean clear close collapse
  collect combine compact compare complete compose compute confirm connect contain contains convert copy
  cost count create cut decide declare decode define delay delete deliver describe destroy detach detect
  diff dim disable discard dismiss dispatch dispose do drain draw drip drop edit emit encode end enter escape
  estimate exchange exclude exec execute exit expand expire explain export extend extract fail fetch fill
  filter find finish fit fix flag floor flush fold follow forget format gather generate get give grant ground
  group handle has hash help hide hint hold ignore import indent index inject insert inspect install
  interleave interrupt is issue iterate join judge keep kill lacks launch lay learn leave let lex limit list
  listen live load locate lock log look lose lower lstat make map mark mask match measure memoize merge
  migrate mount move multiply name nest normalize note notify number observe offer open overwrite own pack
  pad paint parse pass pause perform pick place plan poll pop prefix prepare price print probe proceed process
  prompt prove publish pull push put query quit quote raise rank read rebuild reconcile record recount
  redact redate redraw reduce refit refresh refuse register reject relate relay release remove rename render
  renew reopen repair repeat replace report request require requote rerun reschedule reserve reset resolve
  respond restart restore restrict resume retain rethrow retry return reuse revoke rewrite round route run salvage
  sample save say scan schedule score scroll search select send separate serialize serve set settle share
  shift shorten show sign signal skip sleep sort source spawn spend split start stat stem stop stream
  stringify strip style submit subscribe succeed suggest sum support sweep switch sync take tally tell test
  throttle throw title toggle tokenize trace track transform trim truncate try turn unescape unpack unwrap
  update use validate verify visit wait wake warn watch weigh withdraw wrap write yield`.split(/\s+/),
);

/** First words that are none and say as much: a predicate, a handler, a conversion, a copy with a change, the entry. */
const OTHER_BEGINNINGS = new Set(["can", "has", "is", "on", "to", "from", "with", "main"]);

/** Names of methods that other code gives: those of the interface, of the dialects, of a researcher and of a library. */
const GIVEN_NAMES = new Set(
  `constructor data fault request research output status of blockquote def html inlineTokens link on_record reflink
  table tag text url next return throw toString`.split(/\s+/),
);

interface Node {
  type: string;
  [key: string]: unknown;
}

/** Returns the names of functions and methods in a file of TypeScript that do not begin with a verb. */
export function findNouns(text: string): string[] {
  const names: string[] = [];
  visitFunctions(parseAst(text, { lang: "ts" }), names);
  return names.filter((name) => {
    const first = /^[a-z]+/.exec(name)?.[0] ?? "";
    return !GIVEN_NAMES.has(name) && !OTHER_BEGINNINGS.has(first) && !VERBS.has(first);
  });
}

function visitFunctions(value: unknown, names: string[]): void {
  if (Array.isArray(value)) for (const item of value) visitFunctions(item, names);
  if (!isNode(value)) return;
  const { type, id, key, init } = value;
  if (type === "FunctionDeclaration" && isNode(id)) names.push(String(id.name));
  if (type === "MethodDefinition" && value.kind === "method" && isNode(key) && "name" in key)
    names.push(String(key.name));
  if (type === "VariableDeclarator" && isFunction(init) && isNode(id)) names.push(String(id.name));
  for (const part of Object.values(value)) visitFunctions(part, names);
}

function isFunction(value: unknown): boolean {
  return isNode(value) && /^(?:ArrowFunctionExpression|FunctionExpression)$/.test(value.type);
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

/** Turns of phrase that readers had to decode, with what to write in their place (CONTRIBUTING.md, *Style*). */
const RIDDLES = [
  /\bis spoken to\b/,
  /\bsaid no\b(?! \w)/,
  /\bcame to nothing\b/,
  /\bof whoever\b/,
  /(?:^|[*/] |, )(?:[Ww]ho waits|[Nn]obody)\b/,
  /\bwhat (?:was|had been) (?:begun|asked|said|kept|sent)\b/,
];

/** Returns the lines of a file with a turn of phrase that a reader has to decode. */
export function findRiddles(text: string): string[] {
  return text.split("\n").filter((line) => RIDDLES.some((riddle) => riddle.test(line)));
}
