// The overview: the state of the world, its last ten minutes, pinned SQL statements, and the highest costs.

import { lineChart, sparkline } from './charts.js';
import { pinned } from './sql-pins.js';
import { bar, emptyBox, errorBox, format, h, panel, replace, setQuantity, setText } from './ui.js';

const oneDigit = (n) => (typeof n === 'number' ? n.toFixed(1) : format.number(n));

// The readings, the most important first. get returns the value of the reading in a sample.
const readings = [
  {
    id: 'tick',
    name: 'Tick time, p99',
    color: '--c1',
    get: (s) => s.tickSeconds?.p99,
    write: format.seconds,
    note: (s) =>
      s.budgetSeconds > 0
        ? `${format.percent(s.tickSeconds.p99 / s.budgetSeconds)} of ${format.seconds(s.budgetSeconds)}`
        : `p50 ${format.seconds(s.tickSeconds?.p50)}`,
    bad: (s) => s.budgetSeconds > 0 && s.tickSeconds.p99 > s.budgetSeconds,
  },
  {
    id: 'rate',
    name: 'Ticks a second',
    color: '--c7',
    get: (s) => s.ticksPerSecond,
    write: oneDigit,
    note: (s) =>
      s.late > 0 || s.dropped > 0
        ? `${format.short(s.late)} late, ${format.short(s.dropped)} dropped`
        : `tick ${format.number(s.tick)}`,
  },
  {
    id: 'entities',
    name: 'Entities',
    color: '--c3',
    get: (s) => s.entities,
    write: format.number,
    note: (s) => `tick ${format.number(s.tick)}`,
    zero: false,
  },
  {
    id: 'changes',
    name: 'Structural changes',
    color: '--c4',
    get: (s) => s.changesPerSecond,
    write: format.rate,
    note: () => 'components and entities',
  },
  {
    id: 'memory',
    name: 'Memory, resident',
    color: '--c2',
    get: (s) => s.memory.resident,
    write: format.bytes,
    note: (s) => `${format.bytes(s.memory.committed)} committed`,
  },
  {
    id: 'pause',
    name: 'Longest GC pause',
    color: '--c5',
    get: (s) => s.gc.pauseWorst,
    write: format.seconds,
    note: (s) => `Go heap ${format.bytes(s.memory.goHeap)}`,
  },
  {
    id: 'cpu',
    name: 'Processors busy',
    color: '--c8',
    get: (s) => s.cpu,
    write: (n) => (typeof n === 'number' ? n.toFixed(2) : format.number(n)),
    note: (s) => `${format.number(s.goroutines)} goroutines`,
  },
];

// The charts. values returns the values of all series in a sample.
const charts = [
  {
    title: 'Tick time',
    unit: 'seconds',
    half: true,
    series: [
      { label: 'p50', color: '--c7' },
      { label: 'p99', color: '--c1', fill: true },
      { label: 'worst', color: '--c5' },
      { label: 'budget', color: '--warn', dash: [5, 4] },
    ],
    values: (s) => [
      s.tickSeconds?.p50,
      s.tickSeconds?.p99,
      s.tickSeconds?.worst,
      s.budgetSeconds > 0 ? s.budgetSeconds : null,
    ],
  },
  {
    title: 'Ticks a second',
    unit: 'number',
    series: [{ label: '', color: '--c7', fill: true }],
    values: (s) => [s.ticksPerSecond],
  },
  {
    title: 'Structural changes a second',
    unit: 'rate',
    series: [{ label: '', color: '--c4', fill: true }],
    values: (s) => [s.changesPerSecond],
  },
  {
    title: 'Entities',
    unit: 'number',
    zero: false,
    series: [{ label: '', color: '--c3' }],
    values: (s) => [s.entities],
  },
  {
    title: 'Processors busy',
    unit: 'number',
    series: [{ label: '', color: '--c8', fill: true }],
    values: (s) => [s.cpu],
  },
  {
    title: 'Memory',
    unit: 'bytes',
    half: true,
    series: [
      { label: 'committed', color: '--c8' },
      { label: 'resident', color: '--c2', fill: true },
      { label: 'Go heap', color: '--c6' },
    ],
    values: (s) => [s.memory.committed, s.memory.resident, s.memory.goHeap],
  },
  {
    title: 'Longest GC pause',
    unit: 'seconds',
    series: [{ label: '', color: '--c5', fill: true }],
    values: (s) => [s.gc.pauseWorst],
  },
];

const costsShown = 8;

export const page = {
  id: 'overview',
  title: 'Overview',
  mount(root, app) {
    const notice = h('div', { class: 'stack' });
    const meters = readings.map((reading) => {
      const value = h('div', { class: 'meter-value' });
      const note = h('div', { class: 'meter-note' });
      const spark = sparkline({ color: reading.color, zero: reading.zero });
      const element = h(
        'div',
        { class: 'meter', data: { reading: reading.id } },
        h('div', { class: 'meter-name', title: reading.name }, reading.name),
        value,
        note,
        spark.element,
      );
      return { reading, value, note, spark, element };
    });
    const drawn = charts.map((c) => ({ values: c.values, chart: lineChart(c), half: c.half }));
    const [systems, columns] = [systemCosts(), columnCosts()];
    const pins = pinned(app);
    root.append(
      notice,
      h(
        'div',
        { class: 'meters', role: 'group', aria: { label: 'Readings' } },
        meters.map((m) => m.element),
      ),
      pins.element,
      h(
        'div',
        { class: 'grid three' },
        drawn.map((d) =>
          h(
            'section',
            { class: ['panel', d.half && 'half'] },
            h('div', { class: 'panel-body' }, d.chart.element),
          ),
        ),
      ),
      h('div', { class: 'grid pair' }, systems.element, columns.element),
    );

    function show(s) {
      for (const m of meters) {
        setQuantity(m.value, m.reading.write(m.reading.get(s)));
        m.value.classList.toggle('bad', Boolean(m.reading.bad?.(s)));
        setText(m.note, m.reading.note(s));
        m.spark.push(s.at, m.reading.get(s) ?? null);
      }
      for (const d of drawn)
        d.chart.push(
          s.at,
          d.values(s).map((v) => v ?? null),
        );
      explain(s);
    }

    // explain shows why readings are missing or out of date.
    let explained = '';
    function explain(s) {
      const because = !s.admitting
        ? `unheard ${Math.round(s.age)}`
        : s.tick === undefined
          ? 'no schedule'
          : '';
      if (because === explained) return;
      explained = because;
      if (because === '') replace(notice);
      else if (because === 'no schedule') replace(notice, noSchedule());
      else replace(notice, notAdmitting(s));
    }

    const end = new AbortController();
    const stops = [];
    app.api
      .get('overview', null, { signal: end.signal })
      .then(({ now, history }) => {
        const times = history.map((s) => s.at);
        for (const m of meters)
          m.spark.set(
            times,
            history.map((s) => m.reading.get(s) ?? null),
          );
        for (const d of drawn) {
          const rows = history.map((s) => d.values(s));
          d.chart.set(
            times,
            d.values(now).map((_, i) => rows.map((r) => r[i] ?? null)),
          );
        }
        show(now);
      })
      .catch((error) => {
        if (!app.api.aborted(error)) replace(notice, errorBox(error));
      })
      .finally(() => {
        if (end.signal.aborted) return;
        stops.push(app.live.on(show));
        stops.push(
          app.api.stream('costs', {
            onEvent(_, c) {
              systems.update(c.systems, c.moreSystems);
              columns.update(c.columns, c.moreColumns);
            },
          }),
        );
      });

    return () => {
      end.abort();
      for (const stop of stops) stop();
      pins.destroy();
      for (const m of meters) m.spark.destroy();
      for (const d of drawn) d.chart.destroy();
    };
  },
};

function noSchedule() {
  return emptyBox(
    'This world has no schedule',
    'Entities, memory and queries work without a schedule. ' +
      'Ticks and systems need a schedule, which also admits the inspector between ticks:',
    h(
      'pre',
      null,
      's := sched.New(world, sched.Options{Rate: 60})\n' +
        's.Add(sched.System{Name: "move", Run: move})\n' +
        'err := s.Run(ctx)',
    ),
  );
}

function notAdmitting(s) {
  return h(
    'div',
    { class: 'box warn' },
    h(
      'p',
      { class: 'box-title' },
      `The program has not admitted the inspector for ${format.seconds(Math.round(s.age))}`,
    ),
    h(
      'p',
      null,
      'The page shows the last known values of the world. Either a tick takes this long, or ' +
        'the program does not call World.Admit. A running schedule calls World.Admit between ticks. A loop ' +
        'of your own must call World.Admit once per iteration.',
    ),
  );
}

// costPanel returns a panel with a table of the highest costs: { element, update(rows, more) }. columns are
// { title, hint, class, cell(row, most) }; most is the row with the highest cost. more is the number of rows
// that the server omits. update does not replace the link, because the link may have the focus.
function costPanel(title, hash, linkTitle, columns) {
  const body = h('tbody');
  const link = h('a', { href: hash }, linkTitle);
  const element = panel(
    title,
    { class: 'flush', tools: link },
    h(
      'div',
      { class: 'scroll' },
      h(
        'table',
        { class: 'data costs' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            columns.map((c) => h('th', { class: c.class, title: c.hint }, c.title)),
          ),
        ),
        body,
      ),
    ),
  );
  element.hidden = true;
  return {
    element,
    update(rows, more) {
      element.hidden = rows.length === 0;
      const shown = rows.slice(0, costsShown);
      const left = rows.length - shown.length + more;
      setText(link, left > 0 ? `${linkTitle}: ${format.number(left)} more` : linkTitle);
      replace(
        body,
        shown.map((row) =>
          h(
            'tr',
            null,
            columns.map((c) => h('td', { class: c.class }, c.cell(row, rows[0]))),
          ),
        ),
      );
    },
  };
}

const systemCosts = () =>
  costPanel('Most expensive systems', '#/systems', 'Systems', [
    { title: 'System', class: 'name', cell: (s) => s.name },
    {
      title: 'Load',
      hint: 'Run time in the last second, as a share of the second',
      class: 'num',
      cell: (s) => format.percent(s.load),
    },
    { title: '', class: 'share', cell: (s, most) => bar(s.load / most.load, '--c1') },
    { title: 'p50', class: 'num', cell: (s) => format.seconds(s.p50) },
    { title: 'p99', class: 'num', cell: (s) => format.seconds(s.p99) },
    { title: 'worst', class: 'num hide-narrow', cell: (s) => format.seconds(s.worst) },
  ]);

const columnCosts = () =>
  costPanel('Largest columns', '#/memory', 'Memory', [
    { title: 'Column', class: 'name', cell: (c) => h('span', { title: c.type }, c.name) },
    { title: 'Committed', class: 'num', cell: (c) => format.bytes(c.committed) },
    { title: '', class: 'share', cell: (c, most) => bar(c.committed / most.committed, '--c2') },
    { title: 'Entities', class: 'num', cell: (c) => format.number(c.entities) },
    {
      title: 'Dense',
      hint:
        'Share of the slots that have the component; ' +
        'words of 64 slots without the component are not counted',
      class: 'num hide-narrow',
      cell: (c) => (c.slots > 0 ? format.percent(c.entities / c.slots) : '–'),
    },
  ]);
