import { expect, it } from "vitest";
import { isAllowedByRobots, parseRobotsRules } from "../../../src/reader/parsing/robots-txt.js";

/** A robots.txt, a path, and whether it may be asked for (RFC 9309). */
it.each<[string, string, string, boolean]>([
  ["no rules", "", "/a", true],
  ["a rule for everybody", "User-agent: *\nDisallow: /a", "/a/b", false],
  ["a rule of another path", "User-agent: *\nDisallow: /a", "/b", true],
  ["an empty rule", "User-agent: *\nDisallow:", "/a", true],
  ["the longer rule forbids", "User-agent: *\nAllow: /\nDisallow: /a", "/a", false],
  ["the longer rule allows", "User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b", true],
  ["two as long", "User-agent: *\nDisallow: /a\nAllow: /a", "/a", true],
  ["our own group alone", "User-agent: *\nDisallow: /\nUser-agent: Research-CLI\nDisallow: /b", "/a", true],
  [
    "our group, in two parts",
    "User-agent: research-cli\nAllow: /a\nUser-agent: research-cli\nDisallow: /b",
    "/b",
    false,
  ],
  ["a group of two agents", "User-agent: x\nUser-agent: research-cli\nDisallow: /a", "/a", false],
  ["a group of two agents, ours first", "User-agent: research-cli\nUser-agent: x\nDisallow: /a", "/a", false],
  ["the group of another", "User-agent: x\nDisallow: /", "/a", true],
  ["any text between", "User-agent: *\nDisallow: /*/private", "/a/private/b", false],
  ["any text between, which is not there", "User-agent: *\nDisallow: /*/private", "/private", true],
  ["an end", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf", false],
  ["another end", "User-agent: *\nDisallow: /*.pdf$", "/a.pdf?x", true],
  ["a whole path", "User-agent: *\nDisallow: /a$", "/a/b", true],
  ["a query", "User-agent: *\nDisallow: /a?x", "/a?x=1", false],
  ["letters that an address encodes", "User-agent: *\nDisallow: /ä", "/%C3%A4", false],
  ["encoded letters", "User-agent: *\nDisallow: /%C3%A4", "/ä", false],
  ["comments and blanks", "# all\n User-agent : * # us\r\n\r\n Disallow : /a # no", "/a", false],
])("%s", (_name, text, path, isAllowed) => {
  expect(isAllowedByRobots(parseRobotsRules(text), new URL(path, "http://a.test"))).toBe(isAllowed);
});
