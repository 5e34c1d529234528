// A chart of the rows of a statement: lines if all columns are numbers, bars if the second
// column is the first one with numbers.

import uPlot from './uplot/uPlot.esm.js';
import { chartFont } from './charts.js';
import { entityOf, holdsEntities, numberOf, textOf } from './sql-run.js';
import { isNumeric } from './sql-table.js';
import { bar, color, format, h, onTheme, palette, replace } from './ui.js';

const maxLines = 8;
const maxBars = 30;
const maxNames = 200; // a result with more rows has no bar chart

// sqlChart makes the chart: { element, show({ columns, rows }), destroy() }. The element is hidden if the
// rows have no chart.
export function sqlChart() {
  const element = h('figure', { class: 'chart sql-chart', role: 'group' });
  element.hidden = true;
  let plot = null;
  let place = null;
  const size = new ResizeObserver(() => {
    if (plot && place.clientWidth > 40)
      plot.setSize({ width: place.clientWidth, height: place.clientHeight });
  });
  const endTheme = onTheme(() => plot?.redraw(false));

  function clear() {
    size.disconnect();
    plot?.destroy();
    plot = null;
    replace(element);
  }

  function show(table) {
    clear();
    const chart = chartOf(table);
    element.hidden = !chart;
    if (!chart) return;
    element.setAttribute('aria-label', chart.label);
    replace(element, h('figcaption', { class: 'chart-head' }, h('h3', null, chart.title), chart.legend));
    if (chart.bars) {
      element.append(bars(chart));
      return;
    }
    place = h('div', { class: 'chart-place' });
    element.append(place);
    plot = lines(chart, place);
    size.observe(place);
  }

  return {
    element,
    show,
    destroy() {
      clear();
      endTheme();
    },
  };
}

// chartOf chooses the chart of a table. It returns null if the table has no chart.
function chartOf(table) {
  const { columns, rows } = table;
  if (rows.length < 2 || columns.length < 2) return null;
  const numeric = columns.map((_, i) => i).filter((i) => isNumeric(table, i));
  const names = (list) => list.map((i) => columns[i].name).join(', ');
  if (numeric.length === columns.length) {
    const series = numeric.slice(1, 1 + maxLines);
    const title = `${names(series)} by ${columns[0].name}`;
    const sorted = rows
      .map((row) => row.map(numberOf))
      .filter((row) => row[0] !== undefined)
      .sort((a, b) => a[0] - b[0]);
    return {
      title,
      label: `Line chart: ${title}, ${format.number(sorted.length)} points`,
      data: [0, ...series].map((i) => sorted.map((row) => row[i] ?? null)),
      legend:
        series.length > 1 &&
        h(
          'div',
          { class: 'legend' },
          series.map((i, k) =>
            h(
              'span',
              { class: 'legend-item' },
              h('span', {
                class: 'legend-mark',
                style: { '--mark': `var(${palette(k)})` },
                aria: { hidden: 'true' },
              }),
              columns[i].name,
            ),
          ),
        ),
    };
  }
  const i = 1;
  if (numeric[0] !== i || rows.length > maxNames) return null;
  const title = `${columns[i].name} by ${columns[0].name}`;
  const list = rows.slice(0, maxBars).map((row) => ({ name: row[0], value: numberOf(row[i]) ?? 0 }));
  return { title, label: `Bar chart: ${title}`, bars: list, more: rows.length - list.length, of: columns[0] };
}

function bars({ bars: list, more, of }) {
  const most = Math.max(...list.map((b) => Math.abs(b.value)));
  const name = (value) => (holdsEntities(of.name) && entityOf(value)) || textOf(value) || '–';
  return h(
    'div',
    { class: 'sql-bars' },
    list.map((b) => [
      h('span', { class: 'clip', title: textOf(b.name) }, name(b.name)),
      bar(most > 0 ? Math.abs(b.value) / most : 0, b.value < 0 ? '--c5' : '--c1'),
      h('span', { class: 'num right' }, format.number(b.value)),
    ]),
    more > 0 && h('p', { class: 'dim sql-bars-more' }, `and ${format.number(more)} more rows`),
  );
}

function lines({ data }, place) {
  const hair = () => color('--line');
  const marks = (_, splits) => splits.map((v) => String(Number(v.toPrecision(6))));
  const axis = {
    stroke: () => color('--dim'),
    grid: { stroke: hair, width: 1 },
    ticks: { show: false },
    font: chartFont(),
    gap: 4,
    values: marks,
  };
  const plot = new uPlot(
    {
      width: Math.max(200, place.clientWidth),
      height: Math.max(120, place.clientHeight),
      padding: [8, 14, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: { x: { time: false } },
      axes: [
        { ...axis, size: 22 },
        {
          ...axis,
          size: (u, texts) => 14 + Math.max(26, ...(texts ?? []).map((t) => (t ?? '').length * 6.4)),
          space: 28,
        },
      ],
      series: [
        {},
        ...data.slice(1).map((_, k) => ({
          stroke: () => color(palette(k)),
          width: 1.5,
          points: { show: data[0].length <= 60, size: 5 },
        })),
      ],
    },
    data,
    place,
  );
  plot.root.setAttribute('aria-hidden', 'true'); // the rows show the values as text
  return plot;
}
