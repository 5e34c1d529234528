// The page for SQL statements: an editor, the rows as they arrive, a chart of the rows, files of the rows,
// examples, the tables of the world, and the history of the statements.

import { aborted, binary, get } from './api.js';
import { queryBox } from './query-box.js';
import { historyOf } from './query-history.js';
import { sqlChart } from './sql-chart.js';
import { complete, quoteName } from './sql-complete.js';
import { examples, explain } from './sql-help.js';
import { pinsOf } from './sql-pins.js';
import { run } from './sql-run.js';
import { csvOf, sqlTable } from './sql-table.js';
import { tableList } from './sql-tables.js';
import { download, format, h, panel, replace, setText } from './ui.js';

const maxStatement = 100_000; // characters
const limits = [1000, 10_000, 100_000, 500_000];
const defaultLimit = 10_000;
const statements = historyOf('vast-sql');

export const page = { id: 'sql', title: 'SQL', mount };

function mount(root, app) {
  const pins = pinsOf(app.world);
  let schema = { tables: [], functions: [] };
  let running = null; // the AbortController of the running statement
  let shownText = null; // the statement whose rows are shown
  let past = -1; // index of the editor's text in the history; -1 for a new text
  let draft = ''; // the new text, while the editor shows a text of the history
  const end = new AbortController();

  const box = queryBox({
    label: 'SQL statement',
    text: app.params.get('q') ?? '',
    placeholder: 'SELECT …   Ctrl+Enter runs the statement',
    lines: 3,
    suggest: async (text, caret) => complete(text, caret, schema),
    onInput: () => {
      past = -1;
    },
    onSubmit: () => execute(true),
    editor: { most: maxStatement, onEdge: recall },
  });
  const start = h(
    'button',
    {
      type: 'button',
      class: 'primary',
      title: 'Run the statement (Ctrl+Enter)',
      onclick: () => (running ? stop() : execute(true)),
    },
    'Run',
  );
  const limit = h(
    'select',
    { aria: { label: 'Largest number of rows' } },
    limits.map((n) => h('option', { value: n, selected: n === defaultLimit }, `${format.number(n)} rows`)),
  );
  const state = h('p', { class: 'queries-state dim', role: 'status' });
  const notes = h('div', { class: 'sql-notes' });
  const table = sqlTable();
  const chart = sqlChart();
  const saves = [
    h('button', { type: 'button', title: 'Save the rows of the list as CSV', onclick: saveCSV }, 'CSV'),
    app.world.handlers?.includes('arrow') &&
      h(
        'button',
        {
          type: 'button',
          title: 'Run the statement again and save all rows as an Arrow stream',
          onclick: saveArrow,
        },
        'Arrow',
      ),
  ];
  const pin = h(
    'button',
    {
      type: 'button',
      class: 'quiet',
      title: 'Show the result on the overview, and refresh it there',
      aria: { pressed: false },
      onclick: togglePin,
    },
    'Pin',
  );
  const onMap = h(
    'a',
    { class: 'button quiet', title: 'Show the entities of the statement on the map' },
    'On the map',
  );
  onMap.hidden = true;
  const tools = h('span', { class: 'row' }, onMap, pin, saves);
  const exampleList = h('div', { class: 'queries-texts' });
  const recentList = h('div', { class: 'queries-texts' });
  const tables = h('div', { class: 'sql-tables' });

  replace(
    root,
    h('h1', { class: 'unseen' }, 'SQL'),
    h(
      'div',
      { class: 'sql' },
      h(
        'div',
        { class: 'sql-main' },
        h(
          'section',
          { class: 'panel', aria: { label: 'Statement' } },
          h(
            'div',
            { class: 'panel-body sql-ask' },
            box.element,
            h('div', { class: 'row' }, start, limit, state),
            notes,
          ),
        ),
        panel('Rows', { class: 'flush sql-rows', tools }, chart.element, table.element),
      ),
      h(
        'div',
        { class: 'sql-side' },
        panel('Examples', {}, exampleList),
        panel('Tables', {}, tables),
        panel(
          'History',
          { tools: h('button', { type: 'button', class: 'quiet', onclick: clear }, 'Clear') },
          recentList,
        ),
      ),
    ),
  );

  // choice returns a button that puts a statement into the editor, and runs the statement if it only
  // reads.
  const choice = (text, detail) =>
    h(
      'button',
      { type: 'button', class: 'queries-text', title: text, onclick: () => use(text) },
      detail && h('span', null, detail),
      h('code', null, text.replace(/\s+/g, ' ')),
    );

  function use(text) {
    box.setText(text);
    past = -1;
    execute(false);
  }

  // recall replaces the text by the previous (-1) or the next (1) statement of the history.
  function recall(direction) {
    const list = statements.recent();
    const to = past - direction;
    if (to < -1 || to >= list.length) return false;
    if (past < 0) draft = box.text;
    past = to;
    box.setText(past < 0 ? draft : list[past]);
    const caret = direction < 0 ? 0 : box.text.length;
    box.input.setSelectionRange(caret, caret);
    return true;
  }

  function showRecent() {
    const list = statements.recent();
    replace(
      recentList,
      list.length ? list.map((text) => choice(text)) : h('p', { class: 'dim' }, 'No statements yet.'),
    );
  }

  function clear() {
    statements.forget();
    showRecent();
  }

  function stop() {
    running?.abort();
  }

  // execute runs the statement in the editor. If byUser is false, the server refuses a statement that may
  // write.
  async function execute(byUser) {
    stop();
    const text = box.text.trimEnd();
    if (text === '') {
      box.input.focus();
      return;
    }
    const mine = new AbortController();
    running = mine;
    box.close();
    box.fail(null);
    replace(notes);
    setText(start, 'Cancel');
    setText(state, 'Running…');
    const startTime = performance.now();
    const clock = setInterval(
      () =>
        setText(
          state,
          `Running… ${rowsText(table)}, ` +
            `${format.seconds(Math.round((performance.now() - startTime) / 1000))}`,
        ),
      1000,
    );
    let answered = false;
    const begin = (columns) => {
      answered = true;
      keepInAddress(text);
      table.begin(columns);
      onMap.hidden = !(app.world.views?.length > 0 && columns.some((c) => c.name.toLowerCase() === 'entity'));
    };
    try {
      const answer = await run(text, {
        limit: Number(limit.value),
        post: byUser,
        signal: mine.signal,
        onColumns: begin,
        onRow: table.add,
      });
      const summary =
        answer.changed !== undefined
          ? `${count(answer.changed)} changed`
          : answer.more
            ? `the first ${rowsText(table)}`
            : rowsText(table);
      setText(state, `${summary} in ${format.seconds(answer.seconds)}`);
      app.announce(summary);
      replace(
        notes,
        answer.notes?.map((note) => h('p', { class: 'box' }, note)),
      );
    } catch (error) {
      if (running !== mine) return; // another statement has begun
      if (!aborted(error)) box.fail({ ...error, message: explain(error, schema) });
      setText(state, aborted(error) ? `Cancelled after ${rowsText(table)}` : '');
    } finally {
      clearInterval(clock);
      if (running === mine) {
        running = null;
        setText(start, 'Run');
        if (answered) finish(text);
      }
    }
  }

  // keepInAddress puts the statement into the address. The browser's Back button returns to the previous
  // statement.
  function keepInAddress(text) {
    if (shownText !== null && shownText !== text) history.pushState(null, '', location.hash);
    shownText = text;
    app.replace({ q: text });
    onMap.href = `#/map?${new URLSearchParams({ sql: text })}`;
    showPin();
  }

  function finish(text) {
    table.end();
    chart.show(table);
    statements.remember(text);
    showRecent();
  }

  function showPin() {
    pin.disabled = shownText === null;
    pin.setAttribute('aria-pressed', shownText !== null && pins.has(shownText));
  }

  function togglePin() {
    if (pins.has(shownText)) pins.remove(shownText);
    else pins.add(shownText);
    showPin();
  }

  const fileName = (kind) => `${app.world.name || 'world'}.${kind}`;

  function saveCSV() {
    download(new Blob([csvOf(table)], { type: 'text/csv' }), fileName('csv'));
  }

  async function saveArrow() {
    try {
      const bytes = await binary('arrow', { q: shownText ?? box.text }, { signal: end.signal });
      download(new Blob([bytes], { type: 'application/vnd.apache.arrow.stream' }), fileName('arrows'));
      setText(state, `Saved ${format.bytes(bytes.byteLength)}.`);
    } catch (error) {
      if (!aborted(error)) box.fail({ message: explain(error, schema) });
    }
  }

  async function loadTables() {
    try {
      schema = await get('sql/tables', null, { signal: end.signal });
    } catch (error) {
      if (!aborted(error)) replace(tables, h('p', { class: 'bad' }, error.message));
      return;
    }
    replace(
      exampleList,
      examples(schema.tables).map(({ text, detail }) => choice(text, detail)),
    );
    replace(
      tables,
      tableList(schema.tables, (t) => use(`SELECT * FROM ${quoteName(t.name)} LIMIT 100`)),
    );
  }

  function onKey(event) {
    if (event.key !== 'Escape' || event.defaultPrevented || !running) return;
    stop();
    event.preventDefault();
  }
  root.addEventListener('keydown', onKey);

  showPin();
  showRecent();
  loadTables();
  if (box.text.trim()) execute(false);
  else box.input.focus({ preventScroll: true });

  return () => {
    stop();
    end.abort();
    box.destroy();
    table.destroy();
    chart.destroy();
  };
}

const count = (n) => `${format.number(n)} ${n === 1 ? 'row' : 'rows'}`;
const rowsText = (table) => count(table.rows.length);
