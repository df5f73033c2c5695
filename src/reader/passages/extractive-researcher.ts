import { untilAborted } from "../../ground/clock.js";
import { type Researcher, ResearchFailure } from "../../ground/researcher.js";
import { errorText } from "../../ground/text/phrases.js";
import { FolderIndex, type FolderIndexOptions } from "../finding/folder-index.js";
import { bestPassages } from "./passages.js";
import { asData, report } from "./report.js";

/** Finds the passages in the files of a folder that fit a question best. Throws if the folder cannot be read. */
export function extractiveResearcher(options: FolderIndexOptions): Researcher {
  const folder = new FolderIndex(options);
  return {
    async research({ prompt, structured_output, output_schema }, signal, tell = () => {}) {
      if (output_schema !== undefined)
        throw new ResearchFailure(
          "A result that fits a schema needs a model (--model NAME --model-url URL), or prepared answers (--answers FILE). Without one the passages themselves are the only structured result.",
        );
      const search = folder.for();
      const work = Promise.all([bestPassages(search, prompt), search.describe()]).catch((error: unknown) => {
        throw new ResearchFailure(`The sources could not be read: ${errorText(error)}`);
      });
      const [passages, description] = await untilAborted(work, signal);
      tell({ sources: [...new Set(passages.map(({ id }) => id))].map((id) => ({ title: id, file: id })) });
      return structured_output ? asData(passages) : report(prompt, passages, description);
    },
    close: () => folder.close(),
  };
}
