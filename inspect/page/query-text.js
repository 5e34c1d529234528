// The text of a query, as far as the page takes it apart: the server alone says what it means.

// unitsAt turns a position in characters, as the server counts, into one in UTF-16 units, as the browser does. A position
// past the end is the end.
export function unitsAt(text, position) {
  let units = 0;
  for (const character of text) {
    if (position-- <= 0) break;
    units += character.length;
  }
  return units;
}

// charactersAt is the way back.
export function charactersAt(text, units) {
  return [...text.slice(0, units)].length;
}

// terms returns the parts of a query that stand between commas or "and", those within brackets and quotes not counted:
// from and to are where a part's text begins and ends, in UTF-16 units and without the white space around it.
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

// stateOf says whether the query asks for the component of a column, as the world describes it, ('with'),
// leaves it out ('without') or says nothing of it ('off').
export function stateOf(text, column) {
  for (const term of terms(text)) {
    if (means(term.text, column)) return plain(term.text).without ? 'without' : 'with';
  }
  return 'off';
}

// withState returns the query with the component asked for, left out or not named, and the rest as it was.
export function withState(text, column, state) {
  const kept = terms(text).filter((term) => !means(term.text, column)).map((term) => term.text);
  if (state === 'with') kept.push(column.text);
  if (state === 'without') kept.push(`!${column.text}`);
  return kept.join(', ');
}

// means tells whether a term names the column and nothing else. Several columns may have one name, and
// numbers behind it.
function means(term, column) {
  const { name, number } = plain(term);
  return name === column.name && (number === null ? column.label === column.name : number === column.id);
}

// plain takes a term apart that names a component and nothing else.
function plain(term) {
  const [, not, word] = /^(!|not\s)?\s*(.*)$/s.exec(term);
  const [, written, number] = /^("(?:[^"\\]|\\.)*"|[^"#]*)(?:#(\d+))?$/s.exec(word) ?? [null, word];
  const name = written.startsWith('"') ? written.slice(1, -1).replace(/\\(.)/gs, '$1') : written.trim();
  return { name, number: number === undefined ? null : Number(number), without: not !== undefined };
}

// textOf returns how a query writes a column that the server has called by its label.
export function textOf(columns, label) {
  return columns.find((c) => c.label === label)?.text ?? quoteName(label);
}

// fieldText returns how a query writes a field of a column.
export function fieldText(column, field) {
  return column.text + (field.path === '' || field.path.startsWith('[') ? field.path : `.${field.path}`);
}

// quoteName writes a name so that a query means it.
export function quoteName(name) {
  const word = /^[\p{L}_][\p{L}\p{Nd}\p{M}_]*$/u.test(name) && !['and', 'or', 'not'].includes(name);
  return word ? name : `"${name.replace(/[\\"]/g, '\\$&').replace(/\n/g, '\\n')}"`;
}

// entityIn returns the text when it can only mean an entity: an ID such as 17.3, or the number of a slot. Otherwise it
// returns ''.
export function entityIn(text) {
  const word = text.trim();
  return /^\d{1,10}(\.\d{1,10})?$/.test(word) ? word : '';
}
