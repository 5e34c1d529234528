// A dialog in which the user chooses the columns of a list. The browser keeps the choice for each world.

import { dialog, h } from './ui.js';

const maxColumns = 12;
const defaultColumns = 3; // number of columns if neither the user nor the query names columns

// columnChooser returns { element, chosen(), proposed(labels) }. element is a button. chosen() returns the
// labels of the columns to show. proposed(labels) sets the columns for a user who has not chosen columns: the
// columns that the query names. columnChooser calls onChange when the user changes the choice.
export function columnChooser(world, onChange) {
  const key = `vast-columns:${world.name}`;
  const all = world.columns.filter((c) => c.storage !== 'tag').map((c) => c.label);
  let kept = load(); // the user's choice; null if the user has not chosen
  let named = [];

  function load() {
    try {
      const list = JSON.parse(localStorage.getItem(key));
      return Array.isArray(list) ? list.filter((name) => all.includes(name)).slice(0, maxColumns) : null;
    } catch {
      return null; // the browser forbids storage, or the stored text is invalid
    }
  }

  function keep(list) {
    kept = list;
    try {
      if (list) localStorage.setItem(key, JSON.stringify(list));
      else localStorage.removeItem(key);
    } catch {
      // the browser forbids storage, or the storage is full
    }
    onChange();
  }

  function chosen() {
    if (kept) return kept;
    const values = named.filter((name) => all.includes(name));
    // every list shows the names, so the column Name is no default
    return (values.length ? values : all.filter((name) => name !== 'Name')).slice(
      0,
      values.length ? maxColumns : defaultColumns,
    );
  }

  function open() {
    const boxes = all.map((name) =>
      h(
        'label',
        { class: 'row' },
        h('input', { type: 'checkbox', value: name, checked: chosen().includes(name), onchange: changed }),
        h('span', { class: 'clip' }, name),
      ),
    );
    // limit disables the empty boxes if no more columns are possible. It returns the chosen columns.
    function limit() {
      const inputs = boxes.map((b) => b.firstChild);
      const list = inputs.filter((i) => i.checked).map((i) => i.value);
      for (const i of inputs) i.disabled = !i.checked && list.length >= maxColumns;
      return list;
    }
    function changed() {
      keep(limit());
    }
    limit();
    const box = dialog(
      'Columns of the list',
      h(
        'p',
        { class: 'dim' },
        `At most ${maxColumns} columns. Default: columns of the query, or the first ${defaultColumns}.`,
      ),
      h('div', { class: 'columns-choice' }, boxes),
      h(
        'p',
        null,
        h(
          'button',
          {
            type: 'button',
            onclick() {
              keep(null);
              box.close();
            },
          },
          'Columns of the query',
        ),
      ),
    );
  }

  return {
    element: h(
      'button',
      { type: 'button', class: 'quiet', aria: { haspopup: 'dialog' }, onclick: open },
      'Columns',
    ),
    chosen,
    proposed(names) {
      named = names;
    },
  };
}
