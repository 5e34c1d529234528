// Completion of SQL statements: tables, columns, functions and keywords.

const keywords =
  `ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CROSS DELETE DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS
  EXPLAIN FILTER FROM FULL GLOB GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NATURAL
  NOT NULL OFFSET ON OR ORDER OUTER OVER PARTITION PLAN QUERY RECURSIVE RETURNING RIGHT SELECT SET THEN UNION
  UPDATE USING VALUES WHEN WHERE WITH`.split(/\s+/);
const most = 40; // largest number of suggestions

const token =
  /--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|'(?:[^']|'')*(?:'|$)|"(?:[^"]|"")*(?:"|$)|`[^`]*(?:`|$)|\[[^\]]*(?:\]|$)|[\p{L}\p{N}_$]+|\s+|./gu;

// tokens returns the tokens of a statement: { text, from, to, kind }. kind is 'word', 'name' for a quoted
// name, 'text', 'comment', or 'mark' for numbers and other characters.
function tokens(statement) {
  const list = [];
  for (const { 0: text, index: from } of statement.matchAll(token)) {
    if (/^\s/.test(text)) continue;
    const kind = /^(--|\/\*)/.test(text)
      ? 'comment'
      : text[0] === "'"
        ? 'text'
        : /^["`[]/.test(text)
          ? 'name'
          : /^[\p{L}_]/u.test(text)
            ? 'word'
            : 'mark';
    list.push({ text, from, to: from + text.length, kind });
  }
  return list;
}

const upper = (t) => (t?.kind === 'word' ? t.text.toUpperCase() : '');
const isName = (t) => t?.kind === 'name' || (t?.kind === 'word' && !keywords.includes(upper(t)));
const nameIn = (t) => (t.kind === 'name' ? t.text.slice(1, -1).replaceAll('""', '"') : t.text);

// quoteName quotes the name of a table or a column if SQL needs the quotes.
export function quoteName(name) {
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) && !keywords.includes(name.toUpperCase())
    ? name
    : `"${name.replaceAll('"', '""')}"`;
}

// tablesIn returns the tables that a statement names after FROM and JOIN, as a map. The key of a table is its
// alias, or its name if it has no alias, in lower case.
function tablesIn(list, tables) {
  const found = new Map();
  let from = false; // whether a comma separates tables
  list.forEach((t, i) => {
    if (['WHERE', 'GROUP', 'ORDER', 'SELECT', 'LIMIT', 'HAVING'].includes(upper(t))) from = false;
    if (upper(t) === 'FROM') from = true;
    if (!['FROM', 'JOIN'].includes(upper(t)) && !(from && t.text === ',')) return;
    const named = list[i + 1];
    const table =
      named && isName(named) && tables.find((one) => one.name.toLowerCase() === nameIn(named).toLowerCase());
    if (!table) return;
    const as = upper(list[i + 2]) === 'AS';
    const alias = list[as ? i + 3 : i + 2];
    const tick = as && upper(alias) === 'OF'; // AS OF TICK
    found.set((isName(alias) && !tick ? nameIn(alias) : table.name).toLowerCase(), table);
  });
  return found;
}

// complete returns suggestions for a caret position, for a query box. schema is { tables, functions }.
export function complete(statement, caret, schema) {
  const list = tokens(statement);
  const at = list.findIndex((t) => t.from < caret && caret <= t.to && (t.kind !== 'mark' || t.to > caret));
  const current = list[at];
  const none = { from: caret, to: caret, items: [] };
  if (current && current.kind !== 'word' && !(current.kind === 'name' && current.text[0] === '"'))
    return none;
  const before = list.filter((t) => t.to <= (current?.from ?? caret) && t.kind !== 'comment');
  const typed = current ? statement.slice(current.from, caret).replace(/^"/, '') : '';
  const last = before.at(-1);
  const named = tablesIn(
    list.filter((t) => t !== current),
    schema.tables,
  ); // the typed word is not an alias yet
  let items;
  if (last?.text === '.') {
    const owner = before.at(-2);
    const table =
      owner &&
      (named.get(nameIn(owner).toLowerCase()) ?? schema.tables.find((t) => t.name === nameIn(owner)));
    items = table ? columnsOf(table, '') : [];
  } else if (
    ['FROM', 'JOIN', 'INTO', 'UPDATE'].includes(upper(last)) ||
    (last?.text === ',' && afterFrom(before))
  ) {
    items = tableItems(schema);
  } else if (upper(last) === 'OF' && upper(before.at(-2)) === 'AS') {
    items = [{ text: 'TICK', kind: 'keyword' }];
  } else if (typed || statement.trim() === '') {
    items = wordItems(typed, named, schema, statement.trim() === '', upper(last));
  } else {
    return none;
  }
  return { from: current?.from ?? caret, to: current?.to ?? caret, items: matching(items, typed) };
}

// afterFrom reports whether the tokens end in the list of tables after FROM.
function afterFrom(before) {
  const clause = before.findLast((t) =>
    ['SELECT', 'FROM', 'WHERE', 'GROUP', 'ORDER', 'ON', 'VALUES', 'USING'].includes(upper(t)),
  );
  return upper(clause) === 'FROM';
}

const tableItems = (schema) =>
  schema.tables.map((t) => ({
    text: quoteName(t.name),
    label: t.name,
    kind: 'table',
    detail: t.columns.map((c) => c.name).join(', '),
  }));

const columnsOf = (table, detail) =>
  table.columns.map((c) => ({
    text: quoteName(c.name),
    label: c.name,
    kind: 'column',
    detail: [c.type.toLowerCase(), detail].filter(Boolean).join(' of '),
  }));

// wordItems returns the columns and aliases of the named tables, the keywords, the functions and all tables.
// For an empty statement, it returns only SELECT, WITH and EXPLAIN. last is the word before the typed word,
// in upper case. AS OF TICK ends a statement about an earlier tick; after AS, OF TICK is enough.
function wordItems(typed, named, schema, empty, last) {
  const small = typed !== '' && typed === typed.toLowerCase();
  const words = empty
    ? ['SELECT', 'WITH', 'EXPLAIN']
    : [...keywords, last === 'AS' ? 'OF TICK' : 'AS OF TICK'];
  const columns = [...named.values()].flatMap((t) => columnsOf(t, t.name));
  return [
    ...columns,
    ...[...named]
      .filter(([alias, t]) => alias !== t.name.toLowerCase())
      .map(([alias, t]) => ({ text: quoteName(alias), kind: 'alias', detail: t.name })),
    ...words.map((word) => ({ text: small ? word.toLowerCase() : word, kind: 'keyword' })),
    ...(empty
      ? []
      : schema.functions.map((name) => ({ text: `${name}(`, label: `${name}()`, kind: 'function' }))),
    ...(empty ? [] : tableItems(schema)),
  ];
}

// matching returns the items that begin with the typed text, followed by the other items that contain the
// text. A single typed character finds only items that begin with it. Among items with the same text,
// matching returns the first. If the typed text is the whole text of an item, matching returns no items.
function matching(items, typed) {
  const word = typed.toLowerCase();
  const seen = new Set();
  const different = items.filter(
    (item) => !seen.has(item.text.toLowerCase()) && seen.add(item.text.toLowerCase()),
  );
  const label = (item) => (item.label ?? item.text).toLowerCase();
  if (word && different.some((item) => label(item) === word)) return [];
  const begins = different.filter((item) => label(item).startsWith(word));
  const contains =
    word.length > 1
      ? different.filter((item) => !label(item).startsWith(word) && label(item).includes(word))
      : [];
  return [...begins, ...contains].slice(0, most);
}
