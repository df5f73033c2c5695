/** A sentence of a report, the page of the set that it cites, and what stands in a check of it at the end. */
interface AskedByHand {
  text: string;
  pages: readonly string[];
  support: "supported" | "contradicted" | "not_stated" | null;
}

const ROWS: readonly [page: string, support: AskedByHand["support"], text: string][] = [
  ["ferry", "supported", "The Berta joined the fleet in 2022 and runs on batteries alone."],
  ["ferry", "contradicted", "The line from Hamn to Brask carried 540,000 passengers in 2024."],
  ["ferry", "contradicted", "The loss of 5.3 million crowns was paid by the state."],
  ["ferry", "supported", "Together the lines from Hamn carried 878,000 people in 2024."],
  ["deich", "supported", "The northern section of the dike is 4.1 km long and cost 58 million euros."],
  ["deich", "supported", "The building of the dike cost 45 million euros more than planned."],
  // The quote is right, but it shares no word with a sentence in another language.
  ["deich", null, "Cattle graze on the dike beside 2,300 sheep."],
  ["drug", "contradicted", "In the 20 mg group, Velotrin reduced exacerbations significantly (P=0.21)."],
  ["drug", "not_stated", "Velotrin costs 4,200 dollars a year."],
  // The reply leaves the number of sites out of the quote.
  ["drug", null, "The trial assigned 1,247 adults at 61 sites."],
];
export const REPORT: readonly AskedByHand[] = ROWS.map(([page, support, text]) => ({
  ...{ text, support, pages: [page] },
}));

/**
 * What a person replied who had the passages of each request in view and nothing else, for every sentence of the requests, the
 * hidden ones too. They are hidden in the same places for the same seed; if the requests change, the run prints what is asked
 * and has no reply here.
 */
export const REPLIES: Readonly<Record<string, readonly [verdict: string, quote: string]>> = {
  "The Berta joined the fleet in 2022 and runs on batteries alone.": [
    "supported",
    "the Ada, the Berta and the Carin, run on batteries alone […] The Berta followed in 2022",
  ],
  "The older ships burn diesel, and the oldest of them, the Vega of 2006, will be retired in 2026.": [
    "contradicted",
    "The older ships burn diesel, and the oldest of them, the Vega of 1968, will be retired in 2026.",
  ],
  "The line from Hamn to Brask carried 540,000 passengers in 2024.": [
    "contradicted",
    "Hamn–Brask | 318,000 | 338,000 | 92.5",
  ],
  "The loss of 5.3 million crowns was paid by the state.": [
    "contradicted",
    "The municipalities covered the loss of 5.3 million.",
  ],
  "Together the lines from Hamn carried 878,000 people in 2024.": [
    "supported",
    "Hamn–Lillö | 511,000 | 540,000 | 89.9 […] Hamn–Brask | 318,000 | 338,000 | 92.5",
  ],
  "The northern section of the dike is 4.1 km long and cost 58 million euros.": [
    "supported",
    "Nord | 4,1 | 58 | 2018",
  ],
  "The building of the dike cost 45 million euros more than planned.": [
    "supported",
    "Der Bau hat 187 Millionen Euro gekostet. Geplant waren 142 Millionen.",
  ],
  "Cattle graze on the dike beside 2,300 sheep.": ["contradicted", "Rinder sind nicht erlaubt."],
  "In the 20 mg group, Velotrin reduced exacerbations significantly (P=0.21).": [
    "contradicted",
    "that between 20 mg and placebo was not (P=0.21)",
  ],
  "The company has not raised its fares since 2020, and the board rejected a proposal to do so in November.":
    [
      "supported",
      "The company has not raised its fares since 2020, and the board rejected a proposal to do so in November.",
    ],
  "Velotrin costs 4,200 dollars a year.": ["not_stated", ""],
  "Adverse events that led to a stop of the treatment occurred in 7.4 % of the patients with 33 mg, 4.1 % with 20 mg and 3.9 % with placebo.":
    ["contradicted", "occurred in 7.4 % of the patients with 40 mg, 4.1 % with 20 mg and 3.9 % with placebo"],
  "Antibodies against the drug were found in 19 patients, and had no visible effect on its action.": [
    "supported",
    "Antibodies against the drug were found in 19 patients, and had no visible effect on its action.",
  ],
  "The trial assigned 1,247 adults at 61 sites.": ["supported", "we randomly assigned 1,247 adults"],
};
