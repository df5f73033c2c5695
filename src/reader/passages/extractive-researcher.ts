import { untilAborted } from "../../core/clock.js";
import { type Researcher, ResearchFailure } from "../../core/researcher.js";
import { errorText } from "../../core/text/phrases.js";
import { type FolderIndexOptions, folderIndex } from "../finding/folder-index.js";
import { bestPassages, SEARCHED } from "./passages.js";
import { asData, report } from "./report.js";

/** Finds the passages in the files of a folder that fit a question best. Throws if the folder cannot be read. */
export function extractiveResearcher(options: FolderIndexOptions): Researcher {
  const folder = folderIndex(options);
  return {
    async research({ request_id, prompt, structured_output, output_schema }, signal, tell = () => {}) {
      if (output_schema !== undefined)
        throw new ResearchFailure(
          "A result that fits a schema needs a model (--model NAME --model-url URL), or prepared answers (--answers FILE). Without one the passages themselves are the only structured result.",
        );
      const source = folder.for(request_id, signal);
      const work = Promise.all([source.search(prompt, SEARCHED), source.describe()]).catch(
        (error: unknown) => {
          throw new ResearchFailure(`The sources could not be read: ${errorText(error)}`);
        },
      );
      const [hits, description] = await untilAborted(work, signal);
      const passages = bestPassages(hits);
      tell({ sources: [...new Set(passages.map(({ id }) => id))].map((id) => ({ title: id, file: id })) });
      return structured_output ? asData(passages) : report(prompt, passages, description);
    },
    close: () => folder.close(),
  };
}
