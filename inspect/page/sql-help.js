// Help for SQL statements: examples for the tables of the world, and advice about errors.

import { quoteName } from './sql-complete.js';
import { holdsEntities } from './sql-run.js';

const numeric = (c) => /^(INT|REAL|FLOAT|DOUBLE|NUM)/i.test(c.type) && !holdsEntities(c.name);
const isText = (c) => /^(TEXT|CHAR|VARCHAR)/i.test(c.type);
const isRelation = (t) =>
  t.columns.length === 2 && t.columns[0].name === 'source' && t.columns[1].name === 'target';
const isComponent = (t) =>
  t.columns[0]?.name === 'entity' && t.name !== 'entities' && !/^(archetype|vast)_/.test(t.name);
// isQuantity reports whether a column holds numbers other than IDs and indexes.
const isQuantity = (c) => numeric(c) && !/(^|_)(id|index|number|place)$/.test(c.name);

// examples returns statements with their explanations, for the tables of a world: [{ text, detail }].
export function examples(tables) {
  const list = [];
  const add = (detail, ...lines) => list.push({ text: lines.join('\n'), detail });
  const q = quoteName;
  const components = tables.filter(isComponent);
  const named =
    components.find((t) => t.columns.some(isText) && t.columns.some(numeric)) ??
    components.find((t) => t.columns.some(isText));
  const counted = components.filter((t) => t !== named && t.columns.some(isQuantity));
  const first =
    counted.find((t) => t.columns.some((c) => isQuantity(c) && /^INT/i.test(c.type))) ?? counted[0];
  const other = components
    .filter((t) => t !== named && t !== first)
    .sort((a, b) => b.columns.length - a.columns.length)[0];
  const relation = tables.find(isRelation);
  const number = named?.columns.findLast(numeric);
  const group = named?.columns.findLast(isText);
  const value = first?.columns.find(isQuantity);
  if (tables.some((t) => t.name === 'entities'))
    add('How many entities are there?', 'SELECT count(*) FROM entities');
  if (named && number)
    add(
      `Rows with the largest ${number.name}`,
      `SELECT * FROM ${q(named.name)}`,
      `ORDER BY ${q(number.name)} DESC LIMIT 20`,
    );
  if (value) {
    const v = q(value.name);
    add(
      `Distribution of ${first.name}.${value.name}`,
      `SELECT ${v}, count(*) AS n FROM ${q(first.name)}`,
      `GROUP BY ${v} ORDER BY ${v}`,
    );
    add(
      `Range of ${first.name}.${value.name}`,
      `SELECT count(*), min(${v}), avg(${v}), max(${v})`,
      `FROM ${q(first.name)}`,
    );
    add(`Entities with ${first.name}, for the map`, `SELECT entity FROM ${q(first.name)}`);
  }
  if (relation && group) {
    const [r, t, g] = [q(relation.name), q(named.name), q(group.name)];
    add(
      `${relation.name}: sources by ${group.name} of the target`,
      `SELECT ${g}, count(*) AS n`,
      `FROM ${r} JOIN ${t} ON ${t}.entity = ${r}.target`,
      `GROUP BY ${g} ORDER BY n DESC LIMIT 20`,
    );
    if (first) {
      add(
        `The same for ${first.name} only`,
        `SELECT ${g}, count(*) AS n`,
        `FROM ${q(first.name)} JOIN ${r} ON ${r}.source = ${q(first.name)}.entity`,
        `JOIN ${t} ON ${t}.entity = ${r}.target`,
        `GROUP BY ${g} ORDER BY n DESC LIMIT 20`,
      );
    }
  } else if (relation) {
    add(
      `Targets with the most sources in ${relation.name}`,
      'SELECT target, count(*) AS n',
      `FROM ${q(relation.name)} GROUP BY target`,
      'ORDER BY n DESC LIMIT 20',
    );
  }
  if (first && other)
    add(
      `Entities with ${first.name} and ${other.name}`,
      `SELECT * FROM ${q(first.name)}`,
      `JOIN ${q(other.name)} USING (entity) LIMIT 100`,
    );
  if (value)
    add('How a statement runs', 'EXPLAIN QUERY PLAN', `SELECT sum(${q(value.name)}) FROM ${q(first.name)}`);
  return list;
}

// explain returns the text of an error, with advice.
export function explain(error, schema) {
  const message = error.message.replace(/^sqlite3: (SQL logic error: )?/, '');
  const advice = adviceFor(error, message, schema);
  return advice ? `${message}${/[.!?]$/.test(message) ? '' : '.'} ${advice}` : message;
}

function adviceFor(error, message, { tables }) {
  if (error.code === 'method') return 'Press Run.';
  const [, table] = /no such table: (?:\w+\.)?(.+)/.exec(message) ?? [];
  if (table)
    return near(
      table,
      tables.map((t) => t.name),
      'The panel Tables lists all tables.',
    );
  const [, column] = /no such column: (?:[^.]+\.)?(.+)/.exec(message) ?? [];
  if (column)
    return near(
      column.replace(/ - .*/, ''),
      tables.flatMap((t) => t.columns.map((c) => c.name)),
      "Texts have single quotes: 'Paris'.",
    );
  const [, called] = /no such function: (.+)/.exec(message) ?? [];
  if (called) return 'Press Ctrl+Space after the first letters to see the functions.';
  const [, unclear] = /ambiguous column name: (.+)/.exec(message) ?? [];
  if (unclear) return `Write a table before the name, such as t.${unclear}.`;
  if (/not authorized/.test(message)) return 'The database does not allow this statement.';
  if (/incomplete input/.test(message))
    return 'The statement ends too early: look for a missing bracket or quote.';
  return '';
}

// near suggests the most similar of the names. It returns fallback if none of the names is similar.
function near(name, names, fallback) {
  const best = names
    .map((other) => [distance(name.toLowerCase(), other.toLowerCase()), other])
    .sort((a, b) => a[0] - b[0])[0];
  return best && best[0] <= Math.max(1, name.length / 3) ? `Do you mean ${best[1]}?` : fallback;
}

// distance returns the number of letters to insert, delete or replace to turn one text into the other.
function distance(a, b) {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let k = 1; k <= b.length; k++)
      next.push(Math.min(next[k - 1] + 1, row[k] + 1, row[k - 1] + (a[i - 1] === b[k - 1] ? 0 : 1)));
    row = next;
  }
  return row[b.length];
}
