// A dialog in which the user chooses the columns of a list. The browser keeps the choice for each world.

import { dialog, h } from './ui.js';

const most = 12; // largest number of columns in a list
const unasked = 3; // number of columns shown if neither the user nor the query names columns

// columnChooser returns { element, chosen(), proposed(labels) }. element is a button. chosen returns the
// labels of the shown columns. proposed sets the labels of the columns that a query names. These columns are
// shown if the user has not chosen columns. onChange is called when the choice changes.
export function columnChooser(world, onChange) {
  const key = `vast-columns:${world.name}`;
  const all = world.columns.filter((c) => c.storage !== 'tag').map((c) => c.label);
  let kept = load(); // the user's choice; null if the user has not chosen
  let named = [];

  function load() {
    try {
      const list = JSON.parse(localStorage.getItem(key));
      return Array.isArray(list) ? list.filter((name) => all.includes(name)).slice(0, most) : null;
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
    // the column Name is left out, because every list shows the names
    return (values.length ? values : all.filter((name) => name !== 'Name')).slice(0, values.length ? most : unasked);
  }

  function open() {
    const boxes = all.map((name) => h('label', { class: 'row' },
      h('input', { type: 'checkbox', value: name, checked: chosen().includes(name), onchange: changed }), h('span', { class: 'clip' }, name)));
    function changed() {
      const inputs = boxes.map((b) => b.firstChild);
      const list = inputs.filter((i) => i.checked).map((i) => i.value);
      for (const i of inputs) i.disabled = !i.checked && list.length >= most;
      keep(list);
    }
    const box = dialog('Columns of the list',
      h('p', { class: 'dim' }, `At most ${most} columns. Default: the columns that the query names.`),
      h('div', { class: 'columns-choice' }, boxes),
      h('p', null, h('button', {
        type: 'button', onclick() {
          keep(null);
          box.close();
        },
      }, 'Columns of the query')));
  }

  return {
    element: h('button', { type: 'button', class: 'quiet', aria: { haspopup: 'dialog' }, onclick: open }, 'Columns'),
    chosen,
    proposed(names) { named = names; },
  };
}
