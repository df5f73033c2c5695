import { type Researcher, ResearchFailure } from "../../src/core/researcher.js";
import { endlessResearcher } from "./service.js";

/** Fails at "fail", works on "last" until it is stopped, and answers all else at once. */
export function conformanceResearcher(): Researcher {
  const endless = endlessResearcher();
  return {
    async research(job, signal) {
      if (job.prompt === "fail") throw new ResearchFailure("as it was asked to");
      if (job.prompt === "last") return endless.research(job, signal);
      return job.structured_output ? { list: [], part: {} } : "A report.";
    },
    close: async () => {},
  };
}
