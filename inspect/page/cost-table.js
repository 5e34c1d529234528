// A sortable table of the costs of systems, with the highest costs first.

import { bar, format, h, replace, setText } from './ui.js';

const columns = [
  { id: 'name', title: 'System' },
  {
    id: 'share',
    title: 'Share',
    of: (c) => c.share,
    write: format.percent,
    hint: 'Share of the tick time. Systems that run in parallel can add up to more than 100%',
  },
  {
    id: 'p50',
    title: 'p50',
    of: (c) => c.p50,
    write: format.seconds,
    hint: 'Median of the last 256 runs',
    narrow: false,
  },
  {
    id: 'p99',
    title: 'p99',
    of: (c) => c.p99,
    write: format.seconds,
    hint: '99th percentile of the last 256 runs',
  },
  {
    id: 'max',
    title: 'Longest',
    of: (c) => c.max,
    write: format.seconds,
    hint: 'Longest of all runs',
    narrow: false,
  },
  { id: 'runs', title: 'Runs', of: (c) => c.runs, write: format.short, narrow: false },
];

// costTable returns { element, tools, show(schedule, colors), update(costs), mark(name) }. The caller shows
// tools beside the heading. costTable calls onSystem(name) when the user chooses a row.
export function costTable({ onSystem }) {
  let order = { by: 'share', down: true };
  let colors = new Map();
  let phases = new Map();
  let rows = new Map(); // rows of the table by the system's name; '' for the row of the commands
  let costs = null;
  let markedName = null;

  const heads = columns.map((c) => {
    const button = h(
      'button',
      {
        type: 'button',
        class: 'quiet sort',
        title: c.hint,
        onclick() {
          order = { by: c.id, down: order.by === c.id ? !order.down : c.id !== 'name' };
          sort();
        },
      },
      c.title,
    );
    return h(
      'th',
      {
        scope: 'col',
        class: [c.of && 'num', c.id === 'share' && 'cost-share', c.narrow === false && 'hide-narrow'],
      },
      button,
    );
  });
  const tbody = h('tbody');
  const stack = h('div', { class: 'cost-stack', role: 'img' });
  const element = h(
    'div',
    null,
    stack,
    h(
      'div',
      { class: 'cost-rows' },
      h('table', { class: 'data cost-table' }, h('thead', null, h('tr', null, heads)), tbody),
    ),
  );
  const tools = h('span', { class: 'dim systems-hint' }, 'last few seconds');

  function rowOf(name) {
    const cells = columns
      .slice(1)
      .map((c) =>
        h('td', { class: ['num', c.id === 'share' && 'cost-share', c.narrow === false && 'hide-narrow'] }),
      );
    const share = h('span', { class: 'cost-percent' });
    const color = colors.get(name) ?? '--edge';
    const fill = bar(0, color);
    cells[0].append(fill, share);
    const title =
      name === ''
        ? h('span', { class: 'dim clip' }, 'applying commands')
        : h(
            'button',
            {
              type: 'button',
              class: 'quiet cost-name',
              title: name,
              onclick(event) {
                event.stopPropagation(); // the handler of the row would call onSystem again
                onSystem(name);
              },
            },
            name,
          );
    const row = h(
      'tr',
      { class: name === '' ? null : 'pick', onclick: name === '' ? null : () => onSystem(name) },
      h(
        'td',
        { class: 'name' },
        h(
          'div',
          { class: 'cost-title' },
          h('span', { class: 'swatch', style: { '--mark': `var(${color})` } }),
          title,
          phases.has(name) && h('span', { class: 'cost-phase dim' }, phases.get(name)),
        ),
      ),
      cells,
    );
    return { row, cells, share, fill: fill.firstChild, texts: cells.slice(1) };
  }

  function show(schedule, colorsOf) {
    colors = colorsOf;
    const names = new Set(schedule.systems.map((s) => s.phase));
    phases = new Map(names.size > 1 ? schedule.systems.map((s) => [s.name, s.phase]) : []);
    rows = new Map([...schedule.systems.map((s) => s.name), ''].map((name) => [name, rowOf(name)]));
    replace(
      tbody,
      [...rows.values()].map((r) => r.row),
    );
    mark(markedName);
  }

  function update(latest) {
    costs = [...latest.systems, latest.commands];
    for (const c of costs) {
      const r = rows.get(c.name);
      if (!r) continue;
      setText(r.share, format.percent(c.share));
      r.fill.style.width = `${Math.min(1, c.share) * 100}%`;
      columns
        .slice(2)
        .forEach((column, i) => setText(r.texts[i], c.runs > 0 ? column.write(column.of(c)) : '–'));
      r.row.hidden = c.name === '' && c.runs === 0;
    }
    drawStack();
    sort();
  }

  // drawStack draws the bar above the table. The bar shows how the costs divide among the systems and the
  // commands.
  function drawStack() {
    const parts = costs.filter((c) => c.share > 0).sort((a, b) => b.share - a.share);
    const all = parts.reduce((sum, c) => sum + c.share, 0);
    replace(
      stack,
      parts.map((c) =>
        h(
          'span',
          {
            class: 'cost-piece',
            title: `${c.name || 'commands'}: ${format.percent(c.share)}`,
            style: {
              width: `${(c.share / all) * 100}%`,
              background: `var(${colors.get(c.name) ?? '--edge'})`,
            },
          },
          c.share / all > 0.12 && h('span', null, c.name || 'commands'),
        ),
      ),
    );
    stack.setAttribute(
      'aria-label',
      parts.length > 0
        ? `Highest costs: ${parts
            .slice(0, 3)
            .map((c) => `${c.name || 'commands'}, ${format.percent(c.share)} of the tick`)
            .join('; ')}`
        : 'No system ran',
    );
  }

  function sort() {
    columns.forEach((c, i) => {
      if (c.id === order.by) heads[i].setAttribute('aria-sort', order.down ? 'descending' : 'ascending');
      else heads[i].removeAttribute('aria-sort');
    });
    if (!costs) return;
    const column = columns.find((c) => c.id === order.by);
    const sign = order.down ? -1 : 1;
    const sorted = [...costs].sort(
      (a, b) => sign * (column.of ? column.of(a) - column.of(b) : a.name.localeCompare(b.name)),
    );
    // a row that is already in its place is not moved, so that a focused row keeps the focus
    let at = tbody.firstChild;
    for (const c of sorted) {
      const row = rows.get(c.name)?.row;
      if (!row) continue;
      if (row === at) at = at.nextSibling;
      else tbody.insertBefore(row, at);
    }
  }

  function mark(name) {
    markedName = name;
    for (const [system, r] of rows) {
      if (system === name && name !== '') r.row.setAttribute('aria-selected', 'true');
      else r.row.removeAttribute('aria-selected');
    }
  }

  return { element, tools, show, update, mark };
}
