// Reads an Arrow stream with the JavaScript library of Apache Arrow and writes it again.
import { createRequire } from "node:module";
import { readFileSync, writeFileSync } from "node:fs";

const [modules, file, out] = process.argv.slice(2);
const { tableFromIPC, tableToIPC } = createRequire(modules + "/")("apache-arrow");
const t = tableFromIPC(readFileSync(file));
writeFileSync(out + ".arrows", tableToIPC(t, "stream"));
writeFileSync(out + ".arrow", tableToIPC(t, "file"));
const column = (name) => t.getChild(name);
let sum = 0, present = 0, colors = 0, sick = 0;
for (let i = 0; i < t.numRows; i++) {
  sum += column("position.x").get(i);
  present += column("health").get(i) !== null;
  colors += column("body.color").get(i).get(1);
  sick += column("sick").get(i);
}
console.log(JSON.stringify([t.numRows, sum, present, colors, sick]));
