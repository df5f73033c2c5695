// The five lines one would write instead of a tool: ask one state and print it. Needs `undici` beside it.
import { request } from "undici";

const url = `${process.env.RESEARCH_BASE_URL}/api/v1/conversation/${process.argv[2]}/status`;
const { body } = await request(url, { headers: { authorization: `Bearer ${process.env.RESEARCH_API_KEY}` } });
const { data } = /** @type {{ data: { status: string } }} */ (await body.json());
process.stdout.write(`${data.status}\n`);
