// Pinned statements: the overview shows their results, and runs them again every few seconds. The browser
// keeps the pins of each world.

import { aborted } from './api.js';
import { explain } from './sql-help.js';
import { rowsOf } from './sql-run.js';
import { cell, isNumeric } from './sql-table.js';
import { format, h, replace, setQuantity } from './ui.js';

const most = 12; // largest number of pins
const shownRows = 8; // rows of a pinned table
const pause = 5000; // milliseconds from the end of a statement to its next run

// pinsOf returns the pins of a world: { list(), has(statement), add(statement), remove(statement) }.
export function pinsOf(world) {
  const key = `vast-sql-pins:${world.name}`;
  function list() {
    try {
      const kept = JSON.parse(localStorage.getItem(key) ?? '[]');
      return Array.isArray(kept) ? kept.filter((text) => typeof text === 'string').slice(0, most) : [];
    } catch {
      return []; // the browser forbids storage, or the storage holds other data
    }
  }
  function keep(statements) {
    try {
      localStorage.setItem(key, JSON.stringify(statements));
    } catch {
      // Storage is forbidden or full: the pins are not kept.
    }
  }
  return {
    list,
    has: (statement) => list().includes(statement),
    add: (statement) => keep([...list().filter((other) => other !== statement), statement].slice(-most)),
    remove: (statement) => keep(list().filter((other) => other !== statement)),
  };
}

// titleOf returns the text of a comment at the beginning of a statement, or else the statement in one line.
export function titleOf(statement) {
  const [, comment] = /^\s*--[ \t]*(.*\S)/.exec(statement) ?? [];
  return comment ?? statement.replace(/\s+/g, ' ').trim();
}

// pinned shows the pinned statements: { element, destroy() }.
export function pinned(app) {
  const pins = pinsOf(app.world);
  const cards = (app.world.sql ? pins.list() : []).map((statement) =>
    card(statement, () => pins.remove(statement)),
  );
  const element = h(
    'div',
    { class: 'grid sql-pins' },
    cards.map((c) => c.element),
  );
  return {
    element,
    destroy() {
      for (const c of cards) c.stop();
    },
  };
}

// card shows the result of a statement: a single number in large digits, another single value as text, and
// other results as a small table.
function card(statement, remove) {
  const end = new AbortController();
  const body = h('div', { class: 'panel-body' });
  let timer = 0;
  const element = h(
    'section',
    { class: 'panel sql-pin', aria: { label: titleOf(statement) } },
    h(
      'header',
      { class: 'panel-head' },
      h(
        'h2',
        { class: 'clip' },
        h(
          'a',
          { href: `#/sql?${new URLSearchParams({ q: statement })}`, title: statement },
          titleOf(statement),
        ),
      ),
      h(
        'button',
        {
          type: 'button',
          class: 'icon',
          title: 'Unpin',
          aria: { label: `Unpin: ${titleOf(statement)}` },
          onclick: unpin,
        },
        '×',
      ),
    ),
    body,
  );

  async function look() {
    if (!document.hidden) {
      try {
        show(await rowsOf(statement, shownRows, end.signal));
      } catch (error) {
        if (aborted(error)) return;
        replace(body, h('p', { class: 'bad wrap' }, explain(error, { tables: [] })));
      }
    }
    if (!end.signal.aborted) timer = setTimeout(look, pause);
  }

  function show({ columns, rows, more }) {
    if (rows.length === 1 && columns.length === 1 && !more) {
      const value = typeof rows[0][0] === 'number' ? format.number(rows[0][0]) : '';
      if (!value) {
        replace(body, h('p', { class: 'wrap' }, cell(rows[0][0], columns[0])));
        return;
      }
      const number = body.querySelector('.meter-value');
      if (number) setQuantity(number, value);
      else
        setQuantity(
          replace(
            body,
            h('div', { class: 'meter-value' }),
            h('div', { class: 'meter-note' }, columns[0].name),
          ).firstChild,
          value,
        );
      return;
    }
    const classes = columns.map((_, i) => isNumeric({ columns, rows }, i) && 'num');
    replace(
      body,
      rows.length === 0
        ? h('p', { class: 'dim' }, 'No rows.')
        : h(
            'div',
            { class: 'scroll' },
            h(
              'table',
              { class: 'data' },
              h(
                'thead',
                null,
                h(
                  'tr',
                  null,
                  columns.map((c, i) => h('th', { scope: 'col', class: classes[i] || null }, c.name)),
                ),
              ),
              h(
                'tbody',
                null,
                rows.map((row) =>
                  h(
                    'tr',
                    null,
                    row.map((value, i) => h('td', { class: classes[i] || null }, cell(value, columns[i]))),
                  ),
                ),
              ),
            ),
          ),
      more && h('p', { class: 'dim' }, 'and more rows'),
    );
  }

  function unpin() {
    remove();
    stop();
    element.remove();
  }

  function stop() {
    end.abort();
    clearTimeout(timer);
  }

  look();
  return { element, stop };
}
