// Reads an Arrow stream from a URL with the JavaScript library of Apache Arrow, as a web page would.
import { createRequire } from "node:module";

const [modules, url, broken] = process.argv.slice(2);
const { tableFromIPC } = createRequire(modules + "/")("apache-arrow");
const t = await tableFromIPC(fetch(url));
let sum = 0;
for (const row of t) sum += Number(row.i);
let failed = 0;
await tableFromIPC(fetch(broken)).catch(() => failed++);
console.log(JSON.stringify([t.numRows, sum, failed]));
