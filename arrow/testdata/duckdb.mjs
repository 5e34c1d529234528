// Reads a Parquet file with DuckDB and writes it again as Parquet, CSV and JSON lines.
import { createRequire } from "node:module";

const [modules, file, out] = process.argv.slice(2);
const { DuckDBInstance } = createRequire(modules + "/")("@duckdb/node-api");
const db = await (await DuckDBInstance.create(":memory:")).connect();
await db.run(`CREATE TABLE t AS SELECT * FROM read_parquet('${file}')`);
await db.run(`COPY t TO '${out}.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)`);
await db.run(`COPY t TO '${out}.csv' (FORMAT csv, HEADER)`);
await db.run(`COPY t TO '${out}.json' (FORMAT json)`);
const result = await db.runAndReadAll(`SELECT count(*), sum("position.x"), max("body.count"),
  min("body.kind"), count("health"), count("parent"), sum("body.color"[2]), count(*) FILTER (sick) FROM t`);
console.log(JSON.stringify(result.getRows()[0].map(Number)));
