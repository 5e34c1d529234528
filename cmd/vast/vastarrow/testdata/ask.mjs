// Runs a statement of DuckDB in a folder, and prints the rows as JSON.
import { createRequire } from "node:module";

const [modules, folder, statement] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(modules + "/")("@duckdb/node-api");
process.chdir(folder);
const db = await (await DuckDBInstance.create(":memory:")).connect();
const result = await db.runAndReadAll(statement);
console.log(JSON.stringify(result.getRows().map((row) => row.map(String))));
