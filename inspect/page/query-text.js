// Parses the parts of a query that the page needs. The server parses the whole query.

// unitsAt converts a position from characters, which the server counts, to UTF-16 units, which the browser
// counts. A position past the end becomes the end.
export function unitsAt(text, position) {
  let units = 0;
  for (const character of text) {
    if (position-- <= 0) break;
    units += character.length;
  }
  return units;
}

// charactersAt is the inverse of unitsAt.
export function charactersAt(text, units) {
  return [...text.slice(0, units)].length;
}

// terms returns the terms of a query. A comma or "and" outside of parentheses and quotes separates two terms.
// A term is { text, from, to }, without surrounding white space. from and to are positions in UTF-16 units.
export function terms(text) {
  const found = [];
  let start = 0;
  let depth = 0;
  const add = (end) => {
    const raw = text.slice(start, end);
    const trimmed = raw.trim();
    const from = start + raw.length - raw.trimStart().length;
    if (trimmed) found.push({ text: trimmed, from, to: from + trimmed.length });
  };
  for (const token of text.matchAll(/"(?:[^"\\]|\\.)*"?|[\p{L}_][\p{L}\p{Nd}\p{M}_]*|[(),]/gsu)) {
    if (token[0] === '(') depth++;
    else if (token[0] === ')') depth = Math.max(0, depth - 1);
    else if (depth === 0 && (token[0] === ',' || token[0] === 'and')) {
      add(token.index);
      start = token.index + token[0].length;
    }
  }
  add(text.length);
  return found;
}

// stateOf returns 'with' if a term of the query is the column's name, 'without' if a term is "not" and the
// column's name, and 'off' otherwise.
export function stateOf(text, column) {
  for (const term of terms(text)) {
    if (means(term.text, column)) return plain(term.text).without ? 'without' : 'with';
  }
  return 'off';
}

// withState returns a changed query, for which stateOf returns the given state. The terms of other columns do
// not change.
export function withState(text, column, state) {
  const kept = terms(text)
    .filter((term) => !means(term.text, column))
    .map((term) => term.text);
  if (state === 'with') kept.push(column.text);
  if (state === 'without') kept.push(`!${column.text}`);
  return kept.join(', ');
}

// means reports whether a term is the column's name, with or without "not". Columns with the same name differ
// in their numbers.
function means(term, column) {
  const { name, number } = plain(term);
  return name === column.name && (number === null ? column.label === column.name : number === column.id);
}

// plain parses a term that is a component's name, with or without "not".
function plain(term) {
  const [, not, word] = /^(!|not\s)?\s*(.*)$/s.exec(term);
  const [, written, number] = /^("(?:[^"\\]|\\.)*"|[^"#]*)(?:#(\d+))?$/s.exec(word) ?? [null, word];
  const name = written.startsWith('"') ? unquote(written) : written.trim();
  return { name, number: number === undefined ? null : Number(number), without: not !== undefined };
}

const escaped = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v' };
const escapes = /\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U(000[0-9a-fA-F]{5}|0010[0-9a-fA-F]{4})|(.))/gs;

// unquote returns the text that a string literal of Go stands for.
function unquote(literal) {
  return literal
    .slice(1, -1)
    .replace(escapes, (_, x, u, long, c) =>
      c === undefined ? String.fromCodePoint(parseInt(x ?? u ?? long, 16)) : (escaped[c] ?? c),
    );
}

// textOf returns the query text of the column with a label.
export function textOf(columns, label) {
  return columns.find((c) => c.label === label)?.text ?? quoteName(label);
}

// fieldText returns the query text of a column's field.
export function fieldText(column, field) {
  return column.text + (field.path === '' || field.path.startsWith('[') ? field.path : `.${field.path}`);
}

// quoteName quotes a name for a query if needed.
export function quoteName(name) {
  const word = /^[\p{L}_][\p{L}\p{Nd}\p{M}_]*$/u.test(name) && !['and', 'or', 'not'].includes(name);
  return word ? name : `"${name.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

// entityIn returns the trimmed text if the text is an ID such as 17.3 or the number of a slot, and ''
// otherwise.
export function entityIn(text) {
  const word = text.trim();
  return /^\d{1,10}(\.\d{1,10})?$/.test(word) ? word : '';
}
