/** Whether a text can be a key in a header: visible ASCII without spaces. */
export function isKeyText(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** A regular expression that finds `key` (visible ASCII) as it is and in the encodings that answers quote it in. */
export function keyPattern(key: string): RegExp {
  const hex = [...Buffer.from(key).toString("hex")].map(eitherCase).join("");
  return new RegExp([encoded(key), hex, ...base64Forms(key)].join("|"), "g");
}

/** Every count is bounded, so that a long run of backslashes or zeros costs linear time. */
const ESCAPES = "\\\\{0,8}";

/** Names that HTML has for visible ASCII characters (WHATWG HTML §13.5), for those that pages do escape. */
const ENTITIES: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
  "/": "sol",
  "+": "plus",
  "=": "equals",
};

/** Each character as it is, or behind backslashes, as `\u0073`, `\x73`, `%73`, `%2573`, `&#115;`, `&#x73;`, `&sol;`. */
function encoded(text: string): string {
  return [...text].map(encodedChar).join("");
}

function encodedChar(char: string): string {
  const code = char.charCodeAt(0);
  const hex = [...code.toString(16).padStart(2, "0")].map(eitherCase).join("");
  const entity = ENTITIES[char];
  const ampersand = "&(?:amp;){0,3}";
  const forms = [
    `${ESCAPES}${char.replace(/[^\w]/, "\\$&")}`,
    `\\\\{1,8}(?:u00|x)${hex}`,
    `%(?:25){0,3}${hex}`,
    `${ampersand}#(?:0{0,6}${code}|[xX]0{0,6}${hex});?`,
    ...(entity ? [`${ampersand}${entity};`] : []),
  ];
  // The longest first: where "&amp;" stands for a character, "&" alone must not match.
  return `(?:${forms.reverse().join("|")})`;
}

function eitherCase(digit: string): string {
  return /[a-f]/.test(digit) ? `[${digit}${digit.toUpperCase()}]` : digit;
}

/** The key in base64 or base64url: for each place in a group of three bytes, the digits of the key alone. */
function base64Forms(key: string): string[] {
  return [0, 1, 2].map((before) => {
    const digits = Buffer.concat([Buffer.alloc(before), Buffer.from(key)])
      .toString("base64")
      .replace(/=+$/, "");
    const isShared = (before + key.length) % 3 !== 0;
    const own = digits.slice([0, 2, 3][before], isShared ? -1 : undefined);
    return [...own].map(base64Digit).join("");
  });
}

/** `+` and `/` are `-` and `_` in base64url, and stand for themselves in no URL. */
function base64Digit(digit: string): string {
  if (digit === "+") return `(?:${encodedChar("+")}|-)`;
  if (digit === "/") return `(?:${encodedChar("/")}|_)`;
  return digit;
}
