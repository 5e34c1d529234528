// Runs SQL statements, and reads the values of their rows.

import { ApiError, lines } from './api.js';

// run runs a statement, and returns the last line of the answer: { rows, more, seconds, changed, notes }. It
// calls onColumns([{ name, type }]) once, and then onRow for each row, which is an array of values. A limit
// of 0 means all rows. If post is false, the server refuses a statement that may write.
export async function run(statement, { limit, post = false, signal, onColumns, onRow }) {
  let end = null;
  const request = post ? { body: { statement, limit }, signal } : { params: { q: statement, limit }, signal };
  await lines('sql', request, (line) => {
    if (Array.isArray(line)) onRow(line);
    else if (line.columns) onColumns(line.columns);
    else end = line;
  });
  if (end?.error) throw new ApiError(0, end.error);
  if (!end)
    throw new ApiError(0, {
      code: 'incomplete',
      message: 'The answer is incomplete. The program may have exited.',
    });
  return end;
}

// rowsOf runs a statement that only reads, and returns { columns, rows, more, seconds, notes }. Each row is
// an array of values.
export async function rowsOf(statement, limit, signal) {
  const rows = [];
  let columns = [];
  const end = await run(statement, {
    limit,
    signal,
    onColumns: (c) => {
      columns = c;
    },
    onRow: (row) => rows.push(row),
  });
  return { ...end, columns, rows };
}

// A value is null, a boolean, a number, a text, or an object: { integer } for a large integer, { real } for
// an infinite number, and { blob } for bytes in base64.

// textOf returns a value as text, and '' for null.
export function textOf(value) {
  if (value === null) return '';
  if (typeof value !== 'object') return String(value);
  return value.integer ?? value.real ?? hex(value.blob);
}

// numberOf returns a value as a number, or undefined for a value that is not a finite number.
export function numberOf(value) {
  if (typeof value === 'number') return value;
  return value?.integer === undefined ? undefined : Number(value.integer);
}

const hex = (blob) =>
  `x'${[...atob(blob)].map((c) => c.charCodeAt(0).toString(16).padStart(2, '0')).join('')}'`;

// holdsEntities reports whether a column with the name holds entities.
export const holdsEntities = (name) => /^(.*\.)?(entity|source|target|parent)$/i.test(name);

// entityOf returns the ID of the entity in a value, such as '17.3', or '' if the value is not an entity. The
// lower 32 bits of the number are the slot. The next 24 bits are the generation, which is not 0.
export function entityOf(value) {
  const text = value?.integer ?? (Number.isSafeInteger(value) ? String(value) : '0');
  const bits = BigInt.asUintN(64, BigInt(text));
  const generation = (bits >> 32n) & 0xffffffn;
  return generation === 0n ? '' : `${bits & 0xffffffffn}.${generation}`;
}
