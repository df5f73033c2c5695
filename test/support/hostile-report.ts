/** A report with all that Markdown has, and all that should act on nothing. `hostile` stands for what must be shown. */
export const REPORT = `# Heat pumps in the cold

Heat pumps are **widely** adopted, see [the survey](https://survey.example/heat-pumps?year=2026) and
<https://example.com/a/very/long/address/that/goes/on/and/on/for/longer/than/a/narrow/terminal/is/wide>.

## Costs

| Country | Cost in EUR | Remark |
|:--|--:|--|
| Germany | 12,000 | A rather long remark about subsidies that has to wrap on a narrow terminal |
| 日本 | 9,500 | 日本語の長い文章はどこでも改行できますが、句読点の前では改行しません。 |

### Steps

1. Measure the building
   - *insulation*
   - windows
2. Ask for \`three offers\`

> Nobody regrets insulation.

\`\`\`sh
curl --silent https://example.com/a/rather/long/address/in/a/code/block --output file.json
\`\`\`

---

Hostile: \u001b[2J \u001b]0;owned\u0007 \u009b31m \u202eevil\u202c &#27;[31m <script>alert("owned")</script>
<img src=x onerror=alert(1)> [click](javascript:alert(1)) ![pixel](https://tracker.example/pixel.png)
[data](data:text/html,owned) <style>body{display:none}</style> <iframe src="https://frame.example/"></iframe>

<form action="https://form.example/"><input autofocus onfocus="alert(1)"></form>
`;
