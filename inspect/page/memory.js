// The memory page: the world's address space, drawn as cells. The user can zoom in, from all reservations to
// the bytes of one component.

import { pictureView } from './memory-canvas.js';
import { areaName, category, css, inks, modes, ramp } from './memory-picture.js';
import { aborted } from './api.js';
import { errorBox, format, h, later, onTheme, panel, replace, setText } from './ui.js';
import { wordView } from './memory-word.js';

const drawEach = 1000; // milliseconds between two pictures of one layout
const drawLeast = 200; // shortest time between two requests for pictures, in milliseconds
const readEach = 2000; // milliseconds between two reads of the areas

export const page = {
  id: 'memory',
  title: 'Memory',
  async mount(root, app) {
    const end = new AbortController();
    const state = {
      by: modes.some((m) => m.id === app.params.get('by')) ? app.params.get('by') : 'state',
      whole: app.params.get('whole') === '1',
      view: null,
    };
    let memory = await app.api.get('memory', null, { signal: end.signal });
    let ink = inks();

    const notice = h('div', { role: 'status' });
    const way = h('nav', { class: 'memory-way', aria: { label: 'Where you are' } });
    const legend = h('div');
    const here = h('div', { class: 'memory-here' });
    const figures = h('div');
    const table = h('div', { class: 'scroll' });
    const scaleNote = h('div', { class: 'memory-scale' });
    const modeButtons = modes.map((m) =>
      h(
        'button',
        { type: 'button', title: m.about, data: { mode: m.id }, onclick: () => show({ by: m.id }) },
        m.title,
      ),
    );
    const wholeButtons = [
      [false, 'Used', 'Committed memory only'],
      [true, 'Whole reservation', 'Reserved address space too'],
    ].map(([whole, title, about]) =>
      h(
        'button',
        {
          type: 'button',
          title: about,
          data: { whole: String(whole) },
          onclick: () => show({ whole, view: null }),
        },
        title,
      ),
    );

    const picture = pictureView({
      onZoom: (view) => show({ view }),
      onHere: (cell) => tellHere(cell),
      onOpen: (slot, column) => word.open(slot, column),
      onAnnounce: (text) => app.announce(text),
      onResize: () => layOut(),
    });
    const word = wordView(app, () => memory, {
      onChange: () => remember(),
    });

    // remember puts the mode, the scale and the open word (see memory-word.js) into the page's address, so
    // that the browser's Back button returns to this state. Browsers limit how often a page may set its
    // address, so remember first checks for a change.
    let remembered = '';
    function remember() {
      const params = Object.fromEntries(
        Object.entries({
          by: state.by === 'state' ? '' : state.by,
          whole: state.whole ? '1' : '',
          slot: word.slot ?? '',
          column: word.slot === null ? '' : (word.column ?? ''),
        }).filter(([, v]) => v !== ''),
      );
      const text = JSON.stringify(params);
      if (text === remembered) return;
      remembered = text;
      app.replace(params);
    }

    function show(change) {
      Object.assign(state, change);
      for (const b of modeButtons) b.setAttribute('aria-pressed', b.dataset.mode === state.by);
      for (const b of wholeButtons)
        b.setAttribute('aria-pressed', b.dataset.whole === String(state.whole) && !state.view);
      remember();
      layOut();
    }

    function layOut() {
      picture.layOut(memory, state, ink);
      tellWay();
      tellScale();
      want();
    }

    // A new request for a picture cancels the earlier request.
    let asking = null;
    let asked = 0;
    let timer = 0;
    function want(wait = 0) {
      clearTimeout(timer);
      timer = setTimeout(ask, Math.max(wait, asked + drawLeast - performance.now()));
    }
    async function ask() {
      if (end.signal.aborted || document.hidden) return;
      asking?.abort();
      const mine = new AbortController();
      asking = mine;
      asked = performance.now();
      const { layout, by } = { layout: picture.layout, by: state.by };
      try {
        if (layout.cells > 0) {
          const buffer = await app.api.binary(
            'memory/picture',
            { by, ranges: picture.ranges() },
            { signal: mine.signal },
          );
          if (asking !== mine || end.signal.aborted) return;
          if (picture.layout === layout) {
            picture.take(buffer, by);
            replace(notice);
            tellLegend();
            tellScale();
          }
        }
      } catch (error) {
        if (aborted(error) || asking !== mine) return;
        replace(notice, errorBox(error));
      }
      if (asking === mine) {
        asking = null;
        want(drawEach);
      }
    }

    let reading = 0;
    async function read() {
      if (!document.hidden) {
        try {
          memory = await app.api.get('memory', null, { signal: end.signal });
          tellFigures();
          tellTable();
          if (picture.outdated(memory)) layOut();
          else picture.remember(memory);
        } catch (error) {
          if (aborted(error)) return;
        }
      }
      if (!end.signal.aborted) reading = setTimeout(read, readEach);
    }

    function tellWay() {
      const area = state.view && memory.areas[state.view.area];
      const steps = [[state.whole ? 'whole reservation' : 'world', () => show({ view: null })]];
      if (area)
        steps.push([
          areaName(area),
          () =>
            show({
              view: { area: state.view.area, from: area.usedFrom, bytes: picture.wholeArea(state.view.area) },
            }),
        ]);
      if (area && picture.partial()) {
        const range = picture.layout.ranges[0];
        steps.push([`${format.bytes(range.to - range.from)} from ${hex(range.from - area.from)}`, null]);
      }
      replace(
        way,
        steps.map(([text, go], i) => [
          i > 0 && h('span', { class: 'sep', aria: { hidden: 'true' } }, '›'),
          i === steps.length - 1 || !go
            ? h('span', { aria: { current: 'location' } }, text)
            : h('button', { type: 'button', onclick: go }, text),
        ]),
      );
    }

    function tellScale() {
      const { layout } = picture;
      const data = picture.data;
      const pages = layout.bytes / memory.pageSize;
      const one = pages >= 1 ? `${format.number(pages)} ${pages === 1 ? 'page' : 'pages'}` : '';
      replace(
        scaleNote,
        h(
          'span',
          null,
          `A cell is ${format.bytes(layout.bytes)}` +
            (one ? `: ${one} of ${format.bytes(memory.pageSize)}` : ''),
        ),
        h('span', null, `${format.number(layout.cells)} cells`),
        data?.by === state.by &&
          data.sampled &&
          h('span', null, state.by === 'change' ? 'Changes: sampled' : 'Density: sampled'),
        state.by === 'change' &&
          h(
            'span',
            null,
            data?.by === 'change' && data.seconds > 0
              ? `Compared with ${format.seconds(data.seconds)} ago`
              : 'Waiting for the first comparison …',
          ),
      );
    }

    function tellLegend() {
      const { data } = picture;
      if (!data || data.by !== state.by) return;
      if (data.by === 'density') {
        replace(legend, rampLegend(ink.density, 'no slots in use', 'all slots in use'));
        return;
      }
      if (data.by === 'change') {
        replace(legend, rampLegend(ink.change, 'unchanged', 'all changed'));
        return;
      }
      const entries =
        data.by === 'state' ? stateEntries() : data.by === 'column' ? columnEntries() : archetypeEntries();
      replace(
        legend,
        h(
          'ul',
          { class: 'memory-legend' },
          entries.map(([colour, text, count, size]) =>
            h(
              'li',
              null,
              h('span', { class: 'swatch', style: { '--mark': css(colour) } }),
              h('span', { class: 'clip', title: text }, text),
              h('span', { class: 'num right dim' }, count),
              h('span', { class: 'num right' }, size),
            ),
          ),
        ),
      );
    }

    const sum = (name) => memory.areas.reduce((n, a) => n + a[name], 0);
    function stateEntries() {
      const [committed, resident, huge, decommitted, swapped] = [
        'committed',
        'resident',
        'huge',
        'decommitted',
        'swapped',
      ].map(sum);
      const pages = (n) => format.short(Math.round(n / memory.pageSize));
      const hugePages = memory.limits.hugePageSize ? huge / memory.limits.hugePageSize : 0;
      const list = [
        [
          ink.huge,
          'resident, huge pages',
          `${format.short(hugePages)} × ${format.bytes(memory.limits.hugePageSize)}`,
          format.bytes(huge),
        ],
        [ink.resident, 'resident', pages(resident - huge), format.bytes(resident - huge)],
        [
          ink.committed,
          'committed, untouched',
          pages(committed - resident - swapped),
          format.bytes(committed - resident - swapped),
        ],
        [ink.decommitted, 'decommitted', pages(decommitted), format.bytes(decommitted)],
        [
          ink.reserved,
          'reserved only',
          pages(memory.bytes - committed - decommitted),
          format.bytes(memory.bytes - committed - decommitted),
        ],
      ];
      if (swapped > 0) list.splice(2, 0, [ink.swapped, 'swapped', pages(swapped), format.bytes(swapped)]);
      return list;
    }

    function columnEntries() {
      const of = new Map();
      for (const a of memory.areas) {
        const one = of.get(a.column) ?? { name: a.column < 0 ? 'world' : a.name, resident: 0, areas: 0 };
        one.resident += a.resident;
        one.areas++;
        of.set(a.column, one);
      }
      const all = [...of].sort((a, b) => b[1].resident - a[1].resident);
      return few(
        all,
        ([id, one]) => [
          id < 0 ? ink.dim : category(ink, id),
          one.name,
          `${one.areas} areas`,
          format.bytes(one.resident),
        ],
        (rest) => `${rest.length} more columns`,
      );
    }

    function archetypeEntries() {
      // The rarest columns come first, because they distinguish archetypes best.
      const having = new Map();
      for (const a of memory.archetypes) for (const c of a.columns) having.set(c, (having.get(c) ?? 0) + 1);
      const named = (a) => [...a.columns].sort((b, c) => having.get(b) - having.get(c)).join(', ');
      return few(
        memory.archetypes,
        (a) => [
          category(ink, a.number),
          named(a) || 'no columns',
          `${format.short(a.entities)} entities`,
          `${format.short(a.slots)} slots`,
        ],
        (rest) => `${rest.length} more archetypes`,
      );
    }

    function few(all, entry, more) {
      const most = 14;
      const list = all.slice(0, most).map(entry);
      if (all.length > most) list.push([ink.panel, more(all.slice(most)), '', '']);
      return list;
    }

    const rampLegend = (stops, low, high) => {
      const canvas = h('canvas', { class: 'memory-ramp', width: 128, height: 1, aria: { hidden: 'true' } });
      const pen = canvas.getContext('2d');
      for (let x = 0; x < 128; x++) {
        pen.fillStyle = css(ramp(stops, x / 127));
        pen.fillRect(x, 0, 1, 1);
      }
      return [
        canvas,
        h('div', { class: 'memory-ramp-names' }, h('span', null, low), h('span', null, high)),
        h('p', { class: 'dim' }, 'For pale cells, the share is unknown.'),
      ];
    };

    function tellFigures() {
      const l = memory.limits;
      const total = memory.purposes.reduce(
        (t, p) => ({
          reserved: t.reserved + p.reserved,
          committed: t.committed + p.committed,
          resident: t.resident + p.resident,
        }),
        { reserved: 0, committed: 0, resident: 0 },
      );
      const rows = [
        [
          'World',
          `${format.bytes(sum('resident'))} resident, ${format.bytes(sum('committed'))} committed, ` +
            `${format.bytes(memory.bytes)} reserved`,
        ],
        ['Slots', `${format.number(memory.slots)} of ${format.number(memory.maxEntities)}`],
        ['Program', `${format.bytes(total.resident)} resident, ${format.bytes(total.committed)} committed`],
        l.maxMappings > 0 && ['Mappings', `${format.number(l.mappings)} of ${format.number(l.maxMappings)}`],
        [
          'Pages',
          `${format.bytes(memory.pageSize)}` +
            (l.hugePageSize ? `; huge ${format.bytes(l.hugePageSize)} (${l.hugeMode})` : ''),
        ],
        l.controlGroup > 0 && ['Control group limit', `${format.bytes(l.controlGroup)}`],
        l.heapStandIn && ['Memory', 'on the Go heap (stand-in)'],
        ...memory.own.map((a) => [
          a.name ? `${a.name}: ${a.kind}` : `${a.kind} ${a.number}`,
          `${format.bytes(a.committed)} outside of the reservations`,
        ]),
      ].filter(Boolean);
      replace(
        figures,
        h(
          'dl',
          { class: 'facts' },
          rows.map(([name, text]) => [h('dt', null, name), h('dd', { class: 'num' }, text)]),
        ),
      );
    }

    function tellTable() {
      const rows = memory.areas
        .map((a, index) => [a, index])
        .filter(([a]) => a.committed > 0)
        .sort((a, b) => b[0].resident - a[0].resident)
        .slice(0, 24);
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
              h('th', null, 'Area'),
              h('th', { class: 'num' }, 'resident'),
              h('th', { class: 'num' }, 'committed'),
            ),
          ),
          h(
            'tbody',
            null,
            rows.map(([a, index]) =>
              h(
                'tr',
                { class: ['pick', state.view?.area === index && 'now'], onclick: () => zoomTo(index) },
                h(
                  'td',
                  { class: 'clip', title: areaName(a) },
                  h('button', { class: 'quiet', type: 'button' }, areaName(a)),
                ),
                h('td', { class: 'num' }, format.bytes(a.resident)),
                h('td', { class: 'num' }, format.bytes(a.committed)),
              ),
            ),
          ),
        ),
      );
    }
    const zoomTo = (index) =>
      show({ view: { area: index, from: memory.areas[index].usedFrom, bytes: picture.wholeArea(index) } });

    // The panel about the cell under the pointer first shows the data that the browser has, and then the
    // server's answer.
    const askHere = later(180, async (cell) => {
      try {
        const at = await app.api.get(
          'memory/at',
          { offset: Math.floor((cell.from + cell.to) / 2) },
          { signal: end.signal },
        );
        if (picture.here?.from !== cell.from || picture.here?.to !== cell.to) return;
        replace(here, hereFacts(cell, at));
        const slots = picture.slotsOf(cell);
        const text =
          at.entity && slots?.[1] - slots?.[0] === 1
            ? `${at.entity.name || 'entity'} ${at.entity.id}${at.field ? `, ${at.field}` : ''}`
            : '';
        if (text) picture.addTip(text);
      } catch (error) {
        if (!aborted(error)) replace(here, h('p', { class: 'dim' }, error.message));
      }
    });

    function tellHere(cell) {
      askHere.cancel();
      if (!cell) {
        replace(
          here,
          h(
            'p',
            { class: 'dim' },
            'Point at the picture, or focus it with Tab and move with the arrow keys. ' +
              'Zoom with + and − or the wheel. Enter or a click opens the word; Esc goes back.',
          ),
        );
        return;
      }
      replace(here, hereFacts(cell, null));
      askHere(cell);
    }

    function hereFacts(cell, at) {
      const area = memory.areas[cell.area];
      const slots = picture.slotsOf(cell);
      const rows = [
        ['Area', area ? areaName(area) : 'between areas'],
        ['Place', `${hex(cell.from)}, ${format.bytes(cell.to - cell.from)}`],
        at && ['Address', at.address],
        ['State', cell.words || '…'],
        slots && [
          'Slots',
          slots[1] - slots[0] === 1
            ? format.number(slots[0])
            : `${format.number(slots[0])} – ${format.number(slots[1] - 1)}`,
        ],
        slots && [
          'Word',
          `${format.number(Math.floor(slots[0] / 64))}` +
            (slots[1] - slots[0] > 64 ? ` – ${format.number(Math.floor((slots[1] - 1) / 64))}` : ''),
        ],
        cell.share !== null && [state.by === 'change' ? 'Changed' : 'In use', format.percent(cell.share)],
        at?.archetype.length > 0 && ['Archetype', at.archetype.join(', ')],
        at &&
          slots &&
          slots[1] - slots[0] === 1 && [
            'Entity',
            at.entity ? h('a', { href: `#/entity/${at.entity.id}` }, at.entity.name || at.entity.id) : 'none',
          ],
        at?.field &&
          cell.to - cell.from <= memory.areas[cell.area].stride && [
            'Field',
            `${at.field}: ${at.fieldType}, byte ${at.byte}`,
          ],
      ].filter(Boolean);
      return [
        h(
          'dl',
          { class: 'facts' },
          rows.map(([name, value]) => [h('dt', null, name), h('dd', null, value)]),
        ),
        slots &&
          h(
            'p',
            { class: 'row' },
            h(
              'button',
              { type: 'button', onclick: () => word.open(slots[0], area.column) },
              `Open word ${format.number(Math.floor(slots[0] / 64))}`,
            ),
          ),
      ];
    }

    const zoomButtons = [
      ['−', 'Zoom out (−)', () => picture.zoom(1)],
      ['+', 'Zoom in (+)', () => picture.zoom(-1)],
    ].map(([text, label, go]) =>
      h('button', { type: 'button', title: label, aria: { label }, onclick: go }, text),
    );
    const slotBox = h('input', {
      type: 'search',
      inputmode: 'numeric',
      placeholder: 'slot or 17.3',
      size: 11,
      aria: { label: 'Open the word of a slot or an entity' },
    });
    const jump = h(
      'form',
      {
        class: 'row',
        onsubmit(event) {
          event.preventDefault();
          const slot = Number.parseInt(slotBox.value, 10);
          if (slot >= 0) word.open(slot);
        },
      },
      slotBox,
    );

    replace(
      root,
      notice,
      h(
        'div',
        { class: 'split' },
        h(
          'div',
          { class: 'memory-main' },
          h(
            'section',
            { class: 'panel flush', aria: { label: 'Memory picture' } },
            h(
              'header',
              { class: 'panel-head' },
              way,
              h(
                'div',
                { class: 'panel-tools' },
                h('div', { class: 'group', role: 'group', aria: { label: 'Show by' } }, modeButtons),
                h('div', { class: 'group', role: 'group', aria: { label: 'Scale' } }, wholeButtons),
                h('div', { class: 'group' }, zoomButtons),
                jump,
              ),
            ),
            picture.strips,
            picture.element,
            scaleNote,
          ),
          word.element,
        ),
        h(
          'div',
          { class: 'stack' },
          panel('At the pointer', {}, here),
          panel('Legend', {}, legend),
          panel('Figures', {}, figures),
          panel('Largest areas', { class: 'flush' }, table),
        ),
      ),
    );

    picture.start();
    tellHere(null);
    tellFigures();
    tellTable();
    show({});
    const slot = app.params.get('slot');
    if (slot !== null && Number.parseInt(slot, 10) >= 0)
      word.open(
        Number.parseInt(slot, 10),
        app.params.has('column') ? Number(app.params.get('column')) : undefined,
      );
    reading = setTimeout(read, readEach);
    const onVisible = () => {
      if (!document.hidden) want();
    };
    document.addEventListener('visibilitychange', onVisible);
    const offTheme = onTheme(() => {
      ink = inks();
      layOut();
      tellLegend();
    });
    return () => {
      end.abort();
      asking?.abort();
      clearTimeout(timer);
      clearTimeout(reading);
      askHere.cancel();
      document.removeEventListener('visibilitychange', onVisible);
      offTheme();
      picture.stop();
    };
  },
};

const hex = (n) => `0x${n.toString(16)}`;
