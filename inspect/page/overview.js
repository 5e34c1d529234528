// The overview: how the world is, and how it was in the last ten minutes.

import { lineChart, sparkline } from './charts.js';
import { errorBox, format, h, replace, setText, unitOf } from './ui.js';

// What the readings are: of a sample, in the order of their importance.
const readings = [
  {
    id: 'tick', name: 'Tick time, 99 of 100 below', color: '--c1', of: (s) => s.tickSeconds?.p99, write: format.seconds,
    note: (s) => (s.budgetSeconds > 0 ? `${format.percent(s.tickSeconds?.p99 / s.budgetSeconds)} of ${format.seconds(s.budgetSeconds)}` : `half below ${format.seconds(s.tickSeconds?.p50)}`),
    bad: (s) => s.budgetSeconds > 0 && s.tickSeconds?.p99 > s.budgetSeconds,
  },
  {
    id: 'rate', name: 'Ticks a second', color: '--c7', of: (s) => s.ticksPerSecond, write: (n) => (typeof n === 'number' ? n.toFixed(1) : format.number(n)),
    note: (s) => (s.late > 0 || s.dropped > 0 ? `${format.short(s.late)} late, ${format.short(s.dropped)} dropped` : `tick ${format.number(s.tick)}`),
  },
  { id: 'entities', name: 'Entities', color: '--c3', of: (s) => s.entities, write: format.number, note: (s) => `tick ${format.number(s.tick)}`, zero: false },
  { id: 'changes', name: 'Structural changes', color: '--c4', of: (s) => s.changesPerSecond, write: format.rate, note: () => 'added, removed, born, deleted' },
  {
    id: 'memory', name: 'Memory, resident', color: '--c2', of: (s) => s.memory?.resident, write: format.bytes,
    note: (s) => `${format.bytes(s.memory?.committed)} committed`,
  },
  {
    id: 'pause', name: 'Collector, longest pause', color: '--c5', of: (s) => s.gc?.pauseWorst, write: format.seconds,
    note: (s) => `Go heap ${format.bytes(s.memory?.goHeap)}`,
  },
];

// What the charts show: one value a series.
const charts = [
  {
    title: 'Tick time', unit: 'seconds', half: true, height: 190,
    series: [{ label: 'p50', color: '--c7' }, { label: 'p99', color: '--c1', fill: true }, { label: 'worst', color: '--c5' }, { label: 'budget', color: '--warn', dash: [5, 4] }],
    of: (s) => [s.tickSeconds?.p50, s.tickSeconds?.p99, s.tickSeconds?.worst, s.budgetSeconds > 0 ? s.budgetSeconds : null],
  },
  { title: 'Ticks a second', unit: 'number', height: 190, series: [{ label: '', color: '--c7', fill: true }], of: (s) => [s.ticksPerSecond] },
  { title: 'Structural changes a second', unit: 'rate', series: [{ label: '', color: '--c4', fill: true }], of: (s) => [s.changesPerSecond] },
  { title: 'Entities', unit: 'number', zero: false, series: [{ label: '', color: '--c3' }], of: (s) => [s.entities] },
  {
    title: 'Memory', unit: 'bytes', series: [{ label: 'committed', color: '--c8' }, { label: 'resident', color: '--c2', fill: true }, { label: 'Go heap', color: '--c6' }],
    of: (s) => [s.memory?.committed, s.memory?.resident, s.memory?.goHeap],
  },
  { title: 'Collector: longest pause of the second', unit: 'seconds', series: [{ label: '', color: '--c5', fill: true }], of: (s) => [s.gc?.pauseWorst] },
];

export const page = {
  id: 'overview',
  title: 'Overview',
  mount(root, app) {
    const notice = h('div', { class: 'notice' });
    const meters = readings.map((r) => {
      const value = h('div', { class: 'meter-value' });
      const note = h('div', { class: 'meter-note' });
      const spark = sparkline({ color: r.color, zero: r.zero });
      const element = h('div', { class: 'meter', data: { reading: r.id } }, h('div', { class: 'meter-name', title: r.name }, r.name), value, note, spark.element);
      return { reading: r, value, note, spark, element, text: null };
    });
    const drawn = charts.map((c) => ({ of: c.of, chart: lineChart(c), half: c.half }));
    const costs = h('div');
    const columns = h('div');
    root.append(
      h('h1', { class: 'unseen' }, 'Overview'),
      notice,
      h('div', { class: 'meters', role: 'group', aria: { label: 'Readings' } }, meters.map((m) => m.element)),
      h('div', { class: 'grid' }, drawn.map((d) => h('section', { class: ['panel', d.half && 'half'] }, h('div', { class: 'panel-body' }, d.chart.element)))),
      h('div', { class: 'grid' }, costs, columns),
    );

    function show(s) {
      for (const m of meters) {
        const text = m.reading.write(m.reading.of(s));
        if (m.text !== text) {
          m.text = text;
          const [number, unit] = unitOf(text);
          replace(m.value, number, unit && h('span', { class: 'unit' }, unit));
        }
        m.value.classList.toggle('bad', Boolean(m.reading.bad?.(s)));
        setText(m.note, m.reading.note(s));
        m.spark.push(s.at, m.reading.of(s) ?? null);
      }
      for (const d of drawn) d.chart.push(s.at, d.of(s).map((v) => v ?? null));
    }

    const end = new AbortController();
    let stop = () => {};
    app.api.get('overview', null, { signal: end.signal }).then(({ now, history }) => {
      const samples = history ?? [];
      const times = samples.map((s) => s.at);
      for (const m of meters) m.spark.set(times, samples.map((s) => m.reading.of(s) ?? null));
      for (const d of drawn) {
        const rows = samples.map((s) => d.of(s));
        d.chart.set(times, d.of(now).map((_, i) => rows.map((r) => r[i] ?? null)));
      }
      show(now);
    }).catch((error) => {
      if (!app.api.aborted(error)) replace(notice, errorBox(error));
    }).finally(() => {
      if (!end.signal.aborted) stop = app.live.on(show);
    });

    return () => {
      end.abort();
      stop();
      for (const m of meters) m.spark.destroy();
      for (const d of drawn) d.chart.destroy();
    };
  },
};
