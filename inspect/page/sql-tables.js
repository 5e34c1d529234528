// The tables of the database, with their columns.

import { format, h } from './ui.js';

// Tables with the same columns, whose names differ only in the number at the end, form a group. A group of at
// least minGroup tables is one entry of the list.
const minGroup = 4;

// tableList returns the elements of the list. The button Show rows calls show(table).
export function tableList(tables, show) {
  const groups = new Map();
  for (const t of tables) {
    const key = JSON.stringify([t.name.replace(/\d+$/, ''), t.columns.map((c) => c.name)]);
    groups.set(key, [...(groups.get(key) ?? []), t]);
  }
  return [...groups.values()].flatMap((list) =>
    list.length < minGroup
      ? list.map((t) => tableOf(t, show))
      : fold(
          `${list[0].name} …`,
          `${format.number(list.length)} tables`,
          ...list.map((t) => tableOf(t, show)),
        ),
  );
}

function tableOf(table, show) {
  return fold(
    table.name,
    table.columns.map((c) => c.name).join(', '),
    h(
      'dl',
      { class: 'facts' },
      table.columns.map((c) => [
        h('dt', { class: 'mono' }, c.name),
        h('dd', { class: 'dim' }, c.type.toLowerCase()),
      ]),
    ),
    h('p', null, h('button', { type: 'button', onclick: () => show(table) }, 'Show rows')),
  );
}

const fold = (name, detail, ...parts) =>
  h(
    'details',
    null,
    h(
      'summary',
      { title: name },
      h('span', { class: 'mono clip' }, name),
      h('span', { class: 'dim clip' }, detail),
    ),
    parts,
  );
