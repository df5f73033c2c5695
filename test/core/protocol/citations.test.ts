import { expect, test } from "vitest";
import { isGroundingRedirect } from "../../../src/core/protocol/citations.js";

const HOST = "vertexaisearch.cloud.google.com";

test.each([
  [`https://${HOST}/grounding-api-redirect/AbC`, true],
  [`HTTP://${HOST.toUpperCase()}/grounding-api-redirect/AbC?x=1`, true],
  [`https://${HOST}/other/AbC`, false],
  [`https://a.example/?u=https://${HOST}/grounding-api-redirect/AbC`, false],
  [`https://not-${HOST}/grounding-api-redirect/AbC`, false],
])("%s is a redirect of Google's grounding: %j", (url, expected) => {
  expect(isGroundingRedirect(url)).toBe(expected);
});
