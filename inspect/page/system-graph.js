// The schedule as a graph. Each phase is a band. In a phase, a system is to the right of the systems that
// must end before it starts. Nodes are HTML, because their texts wrap and they contain buttons; edges are
// SVG.

import { layered } from './graph-layers.js';
import { format, h, later, replace, setStyle, setText, svg, tip } from './ui.js';

const gap = { x: 46, y: 12 };
const band = { head: 26, side: 12, below: 12 };
const maxChips = 12; // largest number of columns and resources in a list of a node
const maxSystems = 400; // largest number of systems in a drawn graph

// systemGraph returns { element, tools, show(schedule, colors), update(costs), mark({ system, column }),
// destroy() }. It calls onSystem(name) when the user chooses a system, and onColumn(name) when the user
// chooses a column or a resource. "Show all" calls onColumn with the chosen name again.
export function systemGraph({ onSystem, onColumn }) {
  let schedule = null;
  let nodes = new Map(); // values { element, cost, system }, by the system's name
  let edges = []; // { edge, group }
  let marks = { system: null, column: null };
  let width = 0; // width for which the graph was laid out
  let nodeWidth = 0;

  const lines = svg('svg', { class: 'graph-lines', role: 'group', aria: { label: 'Dependencies' } });
  const place = h('div', { class: 'graph-place' });
  const element = h('div', { class: 'graph', tabindex: -1 }, place);
  const tools = h('span', { class: 'dim systems-hint' }, 'choose a column to see which systems use it');

  function chips(names, kind, resource) {
    return names.map((name) =>
      h(
        'button',
        {
          type: 'button',
          class: ['chip', 'graph-column', resource && 'resource'],
          data: { column: name, kind },
          title: `${name}: ${kind}${resource ? ', a resource' : ''}`,
          aria: { pressed: 'false' },
          onclick: () => onColumn(name),
        },
        name,
      ),
    );
  }

  function touched(title, columns, resources, kind) {
    const all = [...chips(columns, kind, false), ...chips(resources, kind, true)];
    if (all.length === 0) return null;
    const more = all.length - maxChips;
    return h(
      'div',
      { class: 'graph-touched' },
      h('span', { class: 'dim' }, title),
      all.slice(0, maxChips),
      more > 0 &&
        h(
          'span',
          { class: 'dim', title: [...columns, ...resources].slice(maxChips).join(', ') },
          `and ${more} more`,
        ),
    );
  }

  // when describes the sets and the rate of a system.
  function when(s) {
    const parts = [];
    if (s.sets.length > 0) parts.push(`in ${s.sets.join(', ')}`);
    if (s.every > 1) parts.push(`one in ${s.every} ticks`);
    if (s.rate > 0) parts.push(`${s.rate} times a second`);
    return parts.join('; ');
  }

  function nodeOf(s, color) {
    const cost = h('span', { class: 'graph-cost num' });
    const fill = h('span', { class: 'graph-fill', aria: { hidden: 'true' } });
    const node = h(
      'article',
      {
        class: 'graph-node',
        data: { system: s.name },
        style: { '--mark': `var(${color})` },
        onpointerenter: () => near(s.name),
        onpointerleave: () => near(null),
        onfocusin: () => near(s.name),
        onfocusout: () => near(null),
      },
      fill,
      h(
        'div',
        { class: 'graph-head' },
        h(
          'button',
          { type: 'button', class: 'quiet graph-name', onclick: () => onSystem(s.name), title: s.name },
          s.name,
        ),
        cost,
      ),
      s.exclusive &&
        h('p', { class: 'graph-touched dim' }, 'exclusive: runs alone and may change the structure'),
      when(s) !== '' && h('p', { class: 'graph-touched dim' }, when(s)),
      touched('writes', s.writes, s.writesResources, 'writes'),
      touched('reads', s.reads, s.readsResources, 'reads'),
    );
    return { element: node, cost, system: s };
  }

  function show(next, colors) {
    if (next.systems.length > maxSystems) {
      schedule = null;
      nodes = new Map();
      edges = [];
      setStyle(place, { width: 'auto', height: 'auto' });
      replace(
        place,
        h(
          'p',
          { class: 'dim graph-none' },
          `${format.number(next.systems.length)} systems are too many to draw. ` +
            'The table lists all systems, and ',
          h('a', { href: 'api/v1/systems' }, 'the JSON interface'),
          ' has their order.',
        ),
      );
      return;
    }
    schedule = next;
    nodes = new Map(next.systems.map((s) => [s.name, nodeOf(s, colors.get(s.name))]));
    width = nodeWidth = 0;
    layOut();
    mark(marks);
  }

  function layOut() {
    const room = element.clientWidth;
    if (!schedule || room === 0 || room === width) return;
    width = room;
    const phases = [];
    for (const s of schedule.systems) {
      if (phases.at(-1)?.name !== s.phase) phases.push({ name: s.phase, systems: [] });
      phases.at(-1).systems.push(s);
    }
    for (const p of phases) {
      const names = new Map(p.systems.map((s, i) => [s.name, i]));
      p.edges = schedule.edges
        .filter((e) => names.has(e.from) && names.has(e.to))
        .map((e) => ({ edge: e, from: names.get(e.from), to: names.get(e.to) }));
      p.depth = layered.depth(p.systems.length, p.edges);
    }
    const deepest = Math.max(1, ...phases.map((p) => p.depth));
    const node = Math.floor(
      Math.max(150, Math.min(260, (room - 2 * band.side - (deepest - 1) * gap.x) / deepest)),
    );
    const whole = Math.max(room, 2 * band.side + deepest * node + (deepest - 1) * gap.x);
    if (node === nodeWidth) {
      // only the width of the background changes
      for (const e of place.querySelectorAll('.graph-band')) e.style.width = `${whole}px`;
      place.style.width = `${whole}px`;
      return;
    }
    nodeWidth = node;

    replace(
      place,
      lines,
      [...nodes.values()].map((n) => n.element),
    );
    for (const n of nodes.values()) n.element.style.width = `${node}px`;
    // One loop reads all heights, so that the browser computes the layout of the page only once.
    const heights = new Map([...nodes].map(([name, n]) => [name, n.element.offsetHeight]));
    edges = [];
    const bands = [];
    let top = 0;
    for (const p of phases) {
      const { points, height, routes } = layered.place(
        p.systems.map((s) => heights.get(s.name)),
        p.edges,
        { width: node, gapX: gap.x, gapY: gap.y },
      );
      p.systems.forEach((s, i) =>
        setStyle(nodes.get(s.name).element, {
          left: `${band.side + points[i].x}px`,
          top: `${top + band.head + points[i].y}px`,
        }),
      );
      routes.forEach((route, i) => edges.push(edgeOf(p.edges[i].edge, route, band.side, top + band.head)));
      const bandHeight = band.head + height + band.below;
      const note = p.systems.length > 1 && p.edges.length === 0 && 'may run in parallel';
      bands.push(
        h(
          'div',
          { class: 'graph-band', style: { top: `${top}px`, height: `${bandHeight}px`, width: `${whole}px` } },
          h('p', { class: 'graph-phase' }, h('b', null, p.name), note && ` ${note}`),
        ),
      );
      top += bandHeight;
    }
    setStyle(place, { width: `${whole}px`, height: `${top}px` });
    lines.setAttribute('width', whole);
    lines.setAttribute('height', top);
    replace(
      lines,
      edges.map((e) => e.group),
    );
    place.prepend(...bands);
  }

  function edgeOf(edge, route, left, top) {
    const d = route
      .map((p, i) => {
        const [x, y] = [left + p.x, top + p.y];
        if (i === 0) return `M${x} ${y}`;
        const before = route[i - 1];
        const half = (p.x - before.x) / 2;
        return p.y === before.y
          ? `L${x} ${y}`
          : `C${left + before.x + half} ${top + before.y} ${x - half} ${y} ${x} ${y}`;
      })
      .join('');
    const end = route.at(-1);
    const [x, y] = [left + end.x, top + end.y];
    const text = [
      h('p', null, h('b', null, edge.from), ' ends before ', h('b', null, edge.to), ' starts:'),
      edge.why.map((w) => h('p', null, w)),
    ];
    const group = svg(
      'g',
      {
        class: 'graph-edge',
        tabindex: 0,
        role: 'img',
        aria: { label: `${edge.from} before ${edge.to}: ${edge.why.join('; ')}` },
        onpointermove: (event) => tip.show(event.clientX, event.clientY, text),
        onpointerleave: () => tip.hide(),
        onfocus(event) {
          const box = event.currentTarget.getBoundingClientRect();
          tip.show(box.left + box.width / 2, box.top + box.height / 2, text);
        },
        onblur: () => tip.hide(),
      },
      svg('path', { class: 'graph-hit', d }),
      svg('path', { class: 'graph-line', d }),
      svg('path', { class: 'graph-arrow', d: `M${x} ${y}l-7 -3.5v7z` }),
    );
    return { edge, group };
  }

  function update(costs) {
    const most = Math.max(...costs.systems.map((c) => c.share), 0);
    for (const c of costs.systems) {
      const n = nodes.get(c.name);
      if (!n) continue;
      setText(n.cost, c.disabled ? 'disabled' : c.runs > 0 ? format.percent(c.share) : 'not run');
      n.cost.title = c.runs > 0 ? `${format.seconds(c.mean)} a tick` : '';
      setStyle(n.element, {
        '--heat': `${most > 0 ? Math.round((c.share / most) * 100) : 0}%`,
        '--share': `${Math.min(1, c.share) * 100}%`,
      });
    }
  }

  // near highlights the edges of a system. near(null) ends the highlight.
  function near(name) {
    for (const e of edges) {
      const on = e.edge.from === name || e.edge.to === name;
      e.group.classList.toggle('on', on);
      e.group.classList.toggle('off', name !== null && !on);
    }
  }

  function uses(s, column) {
    if (s.writes.includes(column) || s.writesResources.includes(column)) return 'writes';
    if (s.reads.includes(column) || s.readsResources.includes(column)) return 'reads';
    return 'none';
  }

  function mark(next) {
    marks = next;
    for (const n of nodes.values()) {
      if (next.column === null) delete n.element.dataset.uses;
      else n.element.dataset.uses = uses(n.system, next.column);
      n.element.classList.toggle('chosen', n.system.name === next.system);
      for (const b of n.element.querySelectorAll('.graph-column'))
        b.setAttribute('aria-pressed', b.dataset.column === next.column);
    }
    if (next.column === null) replace(tools, 'choose a column to see which systems use it');
    else {
      const count = (kind) => [...nodes.values()].filter((n) => uses(n.system, next.column) === kind).length;
      replace(
        tools,
        h('b', null, next.column),
        `: writers ${count('writes')}, readers ${count('reads')} `,
        h('button', { type: 'button', class: 'quiet', onclick: () => onColumn(next.column) }, 'Show all'),
      );
    }
  }

  const resized = later(60, layOut);
  const size = new ResizeObserver(() => (width === 0 ? layOut() : resized()));
  size.observe(element);

  return {
    element,
    tools,
    show,
    update,
    mark,
    destroy() {
      size.disconnect();
      resized.cancel();
    },
  };
}
