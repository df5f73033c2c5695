import { words } from "../sources/words.js";

/** What a question asks for. A text that says such a thing is more likely to be its answer. */
export interface AnswerKind {
  asks: RegExp;
  /** What the text of an answer has. */
  says: RegExp;
}

const UNIT =
  "(?:%|percent|ms|milli\\w+|seconds?|minutes?|hours?|days?|weeks?|months?|years?|times?|bytes?|[kmgt]i?b|kilo\\w+|mega\\w+|giga\\w+|bits?|characters?|digits?|lines?|per\\b)";
const NUMBER_WORD =
  "(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|hundred|thousand|million|billion|once|twice|unlimited)";
/** A number that is not part of a name, a section, or a mark of a list. */
const NUMBER = `(?<![\\w§#.,/-])\\d[\\d,_.]*(?![\\w])`;

const KINDS: Readonly<Record<string, AnswerKind>> = {
  measure: {
    asks: /\bhow (?:long|often|large|big|old|far|fast|deep|high|wide|much|soon|late)\b|\b(?:maximum|minimum|default) (?:size|length|age|time\w*|duration)\b|\btimeout\b/i,
    says: new RegExp(`(?:${NUMBER}|\\d|\\b${NUMBER_WORD})[\\s\`*)-]*${UNIT}|\\bdefault\\W{1,6}\\d`, "i"),
  },
  number: {
    asks: /\bhow many\b|\b(?:number|count|maximum|minimum|limit|port|percentage|version)\b|\bwh(?:at|ich) (?:\w+ )?(?:code|number|value|year)\b/i,
    says: new RegExp(`${NUMBER}|\\b${NUMBER_WORD}\\b`, "i"),
  },
  default: {
    asks: /\bdefault|\bunless\b|\botherwise\b|\bwhen (?:none|nothing|no \w+) is\b|\bif (?:none|nothing|no \w+) is\b/i,
    says: /\bdefaults?\b|\bunless\b|\botherwise\b|\bif (?:not|no|none|omitted|un\w+)\b|\bomitted\b/i,
  },
  person: {
    asks: /^\W*(?:who|whom|whose)\b|\bwhich (?:person|people|company|organi[sz]ation|user|role)\b/i,
    says: /(?:^|[\s("'])(?:\p{Lu}\p{Ll}+[\s]+){1,4}\p{Lu}\p{Ll}+|\b(?:owner|author|user|superuser|admin\w*|maintainer|anyone|everyone|only)s?\b/u,
  },
  reason: {
    asks: /^\W*why\b|\breasons?\b|\bwhat causes?\b/i,
    says: /\b(?:because|since|so that|due to|in order|therefore|thus|hence|otherwise|avoids?|prevents?|ensures?|causes?|introduces?|leads?|reason|as)\b/i,
  },
  consequence: {
    asks: /\bwhat happens\b|\bwhat (?:does|will|would) \w+ (?:do|return|happen)\b/i,
    says: /\b(?:throws?n?|emit\w*|fails?|errors?|terminat\w+|exit\w*|rais\w+|return\w*|ignored|reject\w*|abort\w*|results?|becomes?|removed|deleted)\b/i,
  },
  place: {
    asks: /^\W*where\b|\bwhich (?:file|folder|directory|path)\b/i,
    says: /(?:^|[\s`"'(])[~.%$]?[\w.-]*[/\\][\w./\\-]+|(?:^|[\s`"'(])\.\w+|\b(?:files?|director(?:y|ies)|folder|environment variable|located|stored?|found in)\b/i,
  },
  time: {
    asks: /^\W*when\b|\bwhat (?:date|day|time)\b/i,
    says: /\b(?:when|whenever|after|before|once|until|if|on|during|at the (?:end|start))\b|\d{4}/i,
  },
  contrast: {
    asks: /\bdifferen(?:ce|t|ces)\b|\bdiffers?\b|\bcompared?\b|\bversus\b|\bvs\b/i,
    says: /\b(?:whereas|while|unlike|differen\w+|instead|but|rather|than|in contrast|however)\b/i,
  },
  permission: {
    asks: /^\W*(?:is|are|does|do|can|could|may|must|should|will|am)\b/i,
    says: /\b(?:may|must|can|cannot|not|no|allow\w*|requir\w+|permit\w*|always|never|only)\b/i,
  },
  way: {
    asks: /^\W*how (?:do|does|can|could|should|to|is|are|may|would)\b|\bway to\b|\bwhich (?:command|option|function|method|flag|setting)\b/i,
    says: /`[^`]+`|(?:^|\s)--?[a-z]\w+|\w\(\)|\b(?:us(?:e|es|ed|ing)|sett?(?:ing)?|call\w*|runs?|by \w+ing|pass\w*|specif\w+|creates?|enables?|allows?|possible|available)\b/i,
  },
};

/** Words of a question that say what kind of answer it wants, and nothing about its subject. */
const ASKING =
  /\bhow (?:many|much|long|often|large|big|old|far|fast|deep|high|wide|soon|late|do i|can i|to)\b|\bwhat (?:is|are|happens)\b|\bwhich (?:one|of)\b|\b(?:in which|within how many|i want to|i need to|possible to|to get|(?:do|can) i get|tell whether|number of)\b/gi;

export interface Question {
  /** The words that are about its subject, for a search. */
  subject: string;
  /** What its subject is about, each word once. */
  terms: string[];
  /** The kinds of answer it may want. */
  kinds: AnswerKind[];
  /** Whether a whole section answers it, as in "Which states are there?" or "How does stop work?". */
  wantsSection: boolean;
  /** The question as it was asked, in small letters: where it stands somebody asks it. Undefined for a list of words. */
  literal: string | undefined;
}

/** What asks for all that a section lists. */
const ALL_OF = /^\W*(?:what|which)\b.*\bare\b|^\W*how (?:do|does)\b.*\bworks?\b/is;

/** More words do not make an answer better, only slower. */
const MAX_TERMS = 64;

/** What is asked, and about what. */
export function readQuestion(prompt: string): Question {
  const beginning = prompt.slice(0, 2_000);
  const wantsSection = ALL_OF.test(beginning);
  const asked = wantsSection ? prompt.replace(/\bworks?\b/gi, " ") : prompt;
  const rest = asked.replace(ASKING, " ");
  const subject = words(rest).length > 0 ? rest : prompt;
  const terms = [...new Set(words(subject))].slice(0, MAX_TERMS);
  const literal = prompt.includes("?") ? prompt.trim().toLowerCase() : undefined;
  const kinds = Object.values(KINDS).filter(({ asks }) => asks.test(beginning));
  return { subject, terms, kinds, wantsSection, literal };
}
