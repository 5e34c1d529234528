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

// stateOf says whether the query asks for the component ('with'), leaves it out ('without') or says nothing of it ('off').
export function stateOf(text, component) {
  for (const term of terms(text)) {
    const { name, without } = plain(term.text);
    if (name === component) return without ? 'without' : 'with';
  }
  return 'off';
}

// withState returns the query with the component asked for, left out or not named, and the rest as it was.
export function withState(text, component, state) {
  const kept = terms(text).filter((term) => plain(term.text).name !== component).map((term) => term.text);
  if (state === 'with') kept.push(quoteName(component));
  if (state === 'without') kept.push(`!${quoteName(component)}`);
  return kept.join(', ');
}

// plain takes a term apart that names a component and nothing else.
function plain(term) {
  const [, not, word] = /^(!|not\s)?\s*(.*)$/s.exec(term);
  const name = /^"(?:[^"\\]|\\.)*"$/s.test(word) ? word.slice(1, -1).replace(/\\(.)/gs, '$1') : word;
  return { name, without: not !== undefined };
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
