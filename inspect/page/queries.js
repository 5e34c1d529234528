// The page for queries: the text of a query, the matches, a histogram of a field, and files of the matches;
// also examples, earlier queries and a reference.

import { get, binary, aborted } from './api.js';
import { histogram } from './histogram.js';
import { check, complete, queryBox } from './query-box.js';
import { examples, reference, sample } from './query-help.js';
import { historyOf } from './query-history.js';
import { fieldText, textOf } from './query-text.js';
import { download, emptyBox, format, h, panel, replace, setText } from './ui.js';

const bins = 60;
const maxSaved = 1 << 20; // largest number of rows of a file
const { forget, recent, remember } = historyOf('vast-queries');

export const page = { id: 'queries', title: 'Queries', mount };

function mount(root, app) {
  let asking = new AbortController();
  let drawing = new AbortController();
  let asked = null; // the query whose answer is shown
  let wanted = app.params.get('field'); // chosen field of the histogram; '' for none, null for the first

  const box = queryBox({
    label: 'Query',
    text: app.params.get('query') ?? '',
    placeholder: sample(app.world),
    lines: 2,
    suggest: complete,
    onSubmit: () => run(),
  });
  const choice = h(
    'select',
    { aria: { label: 'Which rows' }, onchange: () => run() },
    h('option', { value: 'first' }, 'first rows'),
    h('option', { value: 'sample' }, 'random sample'),
  );
  const limit = h(
    'select',
    { aria: { label: 'How many rows' }, onchange: () => run() },
    [50, 100, 500].map((n) => h('option', { value: n }, format.number(n))),
  );
  const state = h('p', { class: 'queries-state dim', role: 'status' });
  const all = h('a', { class: 'button', href: '#/entities' }, 'All as a list');
  const table = h('div', { class: 'scroll queries-table', tabindex: 0, aria: { label: 'Rows' } });
  const saves = [
    ['csv', 'CSV'],
    ['ndjson', 'NDJSON'],
  ].map(([kind, title]) =>
    h(
      'button',
      {
        type: 'button',
        title: `Save the matches as ${title}, up to ${format.number(maxSaved)} rows`,
        onclick: () => save(kind),
      },
      title,
    ),
  );

  const chart = histogram();
  const field = h('select', { aria: { label: 'Field' }, onchange: choose });
  const spread = h('p', { class: 'dim' }, 'Run a query to see the distribution of a field.');
  const past = h('div', { class: 'queries-past' });

  replace(
    root,
    h('h1', { class: 'unseen' }, 'Queries'),
    h(
      'div',
      { class: 'queries' },
      h(
        'div',
        { class: 'queries-main' },
        panel(
          'Query',
          { class: 'queries-ask' },
          box.element,
          h(
            'div',
            { class: 'row' },
            h('button', { type: 'button', class: 'primary', onclick: () => run() }, 'Run'),
            choice,
            limit,
            h('span', { class: 'queries-saves' }, 'save as ', saves),
          ),
          state,
        ),
        panel('Rows', { class: 'flush queries-rows', tools: all }, table),
      ),
      h(
        'div',
        { class: 'queries-side' },
        panel('Histogram', { tools: field }, spread, chart.element),
        panel('Examples', {}, h('div', { class: 'queries-texts' })),
        panel(
          'History',
          { tools: h('button', { type: 'button', class: 'quiet', onclick: clear }, 'Clear') },
          past,
        ),
        reference(),
      ),
    ),
  );

  const shown = root.querySelector('.queries-texts');
  examples(app.world).then((list) =>
    replace(
      shown,
      list.map(({ text, detail }) => ask(text, detail)),
    ),
  );

  // ask returns a button that runs a query.
  function ask(text, detail) {
    return h(
      'button',
      {
        type: 'button',
        class: 'queries-text',
        onclick() {
          box.setText(text);
          run();
        },
      },
      h('code', null, text || '(everything)'),
      detail && h('span', { class: 'dim' }, detail),
    );
  }

  function showPast() {
    const list = recent();
    replace(past, list.length ? list.map((text) => ask(text)) : h('p', { class: 'dim' }, 'No queries yet.'));
  }

  function clear() {
    forget();
    showPast();
  }

  async function run() {
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    const text = box.text;
    box.close();
    box.fail(null);
    setText(state, 'Searching…');
    const begun = performance.now();
    try {
      const { columns, error } = await check(text, signal);
      if (error) throw error;
      const random = choice.value === 'sample';
      const [rows, count] = await Promise.all([
        rowsOf(text, columnsText(columns), { limit: Number(limit.value), random }, signal),
        get('count', { query: text }, { signal }),
      ]);
      const took = (performance.now() - begun) / 1000;
      // The browser's Back button must return to the previous query.
      if (asked !== null && asked !== text) history.pushState(null, '', location.hash);
      asked = text;
      remember(text);
      showPast();
      setText(
        state,
        `${count.exact ? '' : 'about '}${plural(count.count, 'entity', 'entities')}; ` +
          `${format.number(count.scanned)} slots searched in ${format.seconds(took)}; ` +
          `${random ? 'a random sample of ' : 'the first '}${plural(rows.length, 'row', 'rows')}`,
      );
      showRows(rows, columns);
      showFields(columns);
      await draw();
    } catch (error) {
      if (aborted(error)) return;
      setText(state, '');
      box.fail(error);
    }
  }

  // columnsText converts labels of columns to a list of names, as a query writes them.
  function columnsText(labels) {
    return labels.map((label) => textOf(app.world.columns, label)).join(',');
  }

  // address puts the query, the choice of rows and the field into the page's URL, so that the user can save
  // or send the URL. It also updates the link to the list of entities.
  function address() {
    const params = { query: asked };
    if (choice.value === 'sample') params.rows = 'sample';
    if (field.value) params.field = field.value;
    app.replace(params);
    all.href = `#/entities?${new URLSearchParams({ query: asked })}`;
  }

  function showRows(rows, columns) {
    if (!rows.length) {
      replace(table, emptyBox('No matches', 'No entity matches the query now.'));
      return;
    }
    const named = rows.some((row) => row.name);
    replace(
      table,
      h(
        'table',
        { class: 'data' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, 'Entity'),
            named && h('th', { scope: 'col' }, 'Name'),
            columns.map((name) => h('th', { scope: 'col' }, name)),
          ),
        ),
        h(
          'tbody',
          null,
          rows.map((row) =>
            h(
              'tr',
              null,
              h('td', null, h('a', { class: 'num', href: `#/entity/${row.id}` }, row.id)),
              named && h('td', null, row.name ?? ''),
              columns.map((name) =>
                h('td', { class: 'queries-value', title: row.values[name] ?? '' }, row.values[name] ?? '–'),
              ),
            ),
          ),
        ),
      ),
    );
  }

  function showFields(columns) {
    const able = app.world.columns.filter((c) => !columns.length || columns.includes(c.label));
    const groups = able
      .map((c) => [c.label, c.fields.filter((f) => numeric.has(f.kind)).map((f) => fieldText(c, f))])
      .filter(([, names]) => names.length);
    replace(
      field,
      h('option', { value: '' }, 'no field'),
      groups.map(([name, names]) =>
        h(
          'optgroup',
          { label: name },
          names.map((n) => h('option', { value: n }, n)),
        ),
      ),
    );
    const names = groups.flatMap(([, list]) => list);
    field.value = names.includes(wanted) || wanted === '' ? wanted : (names[0] ?? '');
  }

  function choose() {
    wanted = field.value;
    if (asked === null) run();
    else draw();
  }

  // explain shows a text above the histogram, or no text if the text is empty.
  function explain(text) {
    setText(spread, text);
    spread.hidden = text === '';
  }

  async function draw() {
    drawing.abort();
    drawing = new AbortController();
    const { signal } = drawing;
    address();
    if (!field.value) {
      chart.show(null);
      explain(field.length > 1 ? 'Choose a field.' : 'The query names no component with numeric fields.');
      return;
    }
    try {
      const answer = await get('histogram', { query: asked, field: field.value, bins }, { signal });
      explain('');
      chart.show(answer);
    } catch (error) {
      if (aborted(error)) return;
      chart.show(null);
      explain(error.message);
    }
  }

  async function save(kind) {
    const text = box.text;
    setText(state, 'Collecting the rows…');
    for (const b of saves) b.disabled = true;
    try {
      const { columns, error } = await check(text);
      if (error) throw error;
      const bytes = await binary('rows', {
        query: text,
        columns: columnsText(columns),
        format: kind,
        limit: maxSaved,
      });
      download(
        new Blob([bytes], { type: kind === 'csv' ? 'text/csv' : 'application/x-ndjson' }),
        `${app.world.name || 'world'}.${kind}`,
      );
      setText(state, `Saved ${format.bytes(bytes.byteLength)}.`);
    } catch (error) {
      setText(state, '');
      box.fail(error);
    } finally {
      for (const b of saves) b.disabled = false;
    }
  }

  if (app.params.get('rows') === 'sample') choice.value = 'sample';
  showPast();
  replace(
    table,
    emptyBox(
      'Run a query',
      'Name components, separated by commas, and press Enter. An empty query selects all entities.',
    ),
  );
  showFields([]);
  if (app.params.has('query')) run();

  return () => {
    asking.abort();
    drawing.abort();
    chart.destroy();
    box.destroy();
  };
}

// numeric has the kinds of fields that a histogram can show.
const numeric = new Set(['float', 'int', 'uint', 'enum', 'bool']);

const plural = (n, one, many) => `${format.number(n)} ${n === 1 ? one : many}`;

async function rowsOf(text, columns, { limit, random }, signal) {
  const params = { query: text, limit, columns };
  if (!random) return (await get('entities', params, { signal })).rows;
  return (await get('rows', { ...params, sample: limit }, { signal })).rows;
}
