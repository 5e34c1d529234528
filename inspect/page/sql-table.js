// The rows of a statement as a list, which grows while rows arrive.

import { entityOf, holdsEntities, numberOf, textOf } from './sql-run.js';
import { emptyBox, format, h, replace } from './ui.js';
import { virtualList } from './virtual-list.js';

const sample = 100; // number of rows from which the widths of the columns are computed
const refreshTime = 100; // milliseconds between two refreshes while rows arrive
const letter = 0.57; // width of a letter, in rem
const maxText = 500; // longest text of a cell

// sqlTable makes the list: { element, columns, rows, begin(columns), add(row), end(), destroy() }.
export function sqlTable() {
  let timer = 0;
  let shaped = 0; // number of rows from which the widths of the columns were computed
  const table = { columns: [], rows: [] };
  const empty = h(
    'div',
    null,
    emptyBox('Run a statement', 'Choose an example, or write a statement and press Ctrl+Enter.'),
  );

  const list = virtualList({
    label: 'Rows',
    columns: [],
    fetch: async (offset, limit) => ({
      rows: table.rows.slice(offset, offset + limit),
      total: table.rows.length,
    }),
    cells: (row) => row.map((value, i) => cell(value, table.columns[i])),
    empty,
  });

  // shape sets the widths of the columns.
  function shape() {
    const some = table.rows.slice(0, sample);
    shaped = some.length;
    list.setColumns(
      table.columns.map((c, i) => {
        const longest = Math.max(c.name.length, ...some.map((row) => shown(row[i], c).length));
        const width = letter * Math.min(48, Math.max(6, longest + 2));
        const number = isNumeric(table, i);
        return {
          title: c.name,
          width: `minmax(${Math.min(width, 24 * letter)}rem, ${width}${number ? 'rem' : 'fr'})`,
          number,
          class: 'sql-cell',
          head: h('span', { title: c.type ? `${c.name}: ${c.type.toLowerCase()}` : c.name }, c.name),
        };
      }),
    );
  }

  function refresh() {
    timer = 0;
    if (shaped < Math.min(sample, table.rows.length)) shape();
    list.refresh();
  }

  return Object.assign(table, {
    element: list.element,
    begin(columns) {
      [table.columns, table.rows] = [columns, []];
      replace(empty, emptyBox('No rows', 'The statement has returned no rows.'));
      shape();
      list.reload();
    },
    add(row) {
      table.rows.push(row);
      timer ||= setTimeout(refresh, refreshTime);
    },
    end() {
      clearTimeout(timer);
      refresh();
    },
    destroy() {
      clearTimeout(timer);
      list.destroy();
    },
  });
}

// isNumeric reports whether the values of a column are numbers, but not entities. It looks at the first rows
// only.
export function isNumeric({ columns, rows }, i) {
  if (holdsEntities(columns[i].name)) return false;
  let found = false;
  for (let row = 0; row < Math.min(rows.length, 10 * sample); row++) {
    const value = rows[row][i];
    if (value === null) continue;
    if (numberOf(value) === undefined && value?.real === undefined) return false;
    found = true;
  }
  return found;
}

function shown(value, column) {
  if (value === null) return 'null';
  if (holdsEntities(column.name)) return entityOf(value) || textOf(value);
  if (value.blob !== undefined) return bytesOf(value);
  return textOf(value).slice(0, maxText);
}

const bytesOf = (value) => format.bytes(atob(value.blob).length);

// cell returns the node of a value. An entity is a link; the title of the link is the entity's number in SQL.
export function cell(value, column) {
  if (value === null) return h('span', { class: 'dim' }, 'null');
  const id = holdsEntities(column.name) && entityOf(value);
  if (id) return h('a', { class: 'num', href: `#/entity/${id}`, tabindex: -1, title: textOf(value) }, id);
  const text = textOf(value).slice(0, maxText);
  if (value.blob !== undefined) return h('span', { class: 'dim', title: text }, bytesOf(value));
  return h('span', { title: text }, text);
}

// csvOf returns the rows as CSV, with a header line.
export function csvOf({ columns, rows }) {
  const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = [columns.map((c) => quoted(c.name)).join(',')];
  for (const row of rows) lines.push(row.map((value) => quoted(textOf(value))).join(','));
  return `${lines.join('\r\n')}\r\n`;
}
