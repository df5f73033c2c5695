import { waitUnlessAborted } from "../../core/clock.js";
import { type Researcher, ResearchFailure } from "../../core/researcher.js";
import { describeError } from "../../core/text/format-text.js";
import { createFolderIndex, type FolderIndexOptions } from "../searching/folder-index.js";
import { buildPassageData, formatPassageReport } from "./passage-report.js";
import { pickBestPassages, SEARCHED } from "./pick-passages.js";

/** Creates a researcher that answers with the best passages of a folder's files. Throws if the folder cannot be read. */
export function createExtractiveResearcher(options: FolderIndexOptions): Researcher {
  const folder = createFolderIndex(options);
  return {
    async research({ request_id, prompt, structured_output, output_schema }, signal, tell = () => {}) {
      if (output_schema !== undefined)
        throw new ResearchFailure(
          "A result that fits a schema needs a model (--model NAME --model-url URL), or prepared answers (--answers FILE). To get the passages as JSON, ask for structured output without a schema.",
        );
      const source = folder.for(request_id, signal);
      const work = Promise.all([source.search(prompt, SEARCHED), source.describe()]).catch(
        (error: unknown) => {
          throw new ResearchFailure(`The sources could not be read: ${describeError(error)}`);
        },
      );
      const [hits, description] = await waitUnlessAborted(work, signal);
      const passages = pickBestPassages(hits);
      tell({ sources: [...new Set(passages.map(({ id }) => id))].map((id) => ({ title: id, file: id })) });
      return structured_output
        ? buildPassageData(passages)
        : formatPassageReport(prompt, passages, description);
    },
    close: () => folder.close(),
  };
}
