// A word of 64 slots: the entities in its slots, their components, and the bytes of one component.

import { aborted } from './api.js';
import { errorBox, format, h, palette, replace, svg } from './ui.js';

const maxLines = 32; // largest number of lines of bytes
const lineBytes = 16;

// wordView returns the panel of a word. Its method open(slot, column) shows the word and the entity of a
// slot. Its property slot is null while the panel is closed. The panel calls onChange when it opens a slot or
// closes.
export function wordView(app, memory, { onChange }) {
  const element = h('section', { class: 'panel', hidden: true, aria: { label: 'Word' } });
  const title = h('h2');
  const body = h('div', { class: 'panel-body stack' });
  element.append(
    h(
      'header',
      { class: 'panel-head' },
      title,
      h(
        'div',
        { class: 'panel-tools' },
        h(
          'button',
          { type: 'button', class: 'quiet', aria: { label: 'Previous word' }, onclick: () => move(-64) },
          '‹ previous',
        ),
        h(
          'button',
          { type: 'button', class: 'quiet', aria: { label: 'Next word' }, onclick: () => move(64) },
          'next ›',
        ),
        h('button', { type: 'button', class: 'quiet', onclick: close }, 'Close'),
      ),
    ),
    body,
  );

  const self = { element, open, close, slot: null, column: undefined };
  let asking = null;

  function move(by) {
    const slot = self.slot + by;
    if (slot >= 0 && slot < memory().maxEntities) open(slot, self.column);
  }

  function close() {
    asking?.abort();
    self.slot = null;
    element.hidden = true;
    onChange();
  }

  async function open(slot, column = self.column) {
    asking?.abort();
    asking = new AbortController();
    const mine = asking;
    const first = self.slot === null;
    self.slot = slot;
    self.column = column >= 0 ? column : undefined;
    element.hidden = false;
    onChange();
    try {
      const word = await app.api.get('memory/word', { slot }, { signal: mine.signal });
      if (asking !== mine) return;
      const one = word.slots[slot - word.first];
      const has = (c) => digit(c.slots, slot - word.first);
      const shown =
        word.columns.find((c) => c.column === self.column && has(c)) ??
        word.columns.find((c) => has(c) && c.storage !== 'tag' && !c.private) ??
        null;
      if (shown) self.column = shown.column;
      let bytes = null;
      if (one.alive && shown) {
        bytes = await app.api
          .get('memory/bytes', { slot, column: shown.column }, { signal: mine.signal })
          .catch((error) => {
            if (aborted(error)) throw error;
            return { error };
          });
        if (asking !== mine) return;
      }
      const focused = element.contains(document.activeElement) ? document.activeElement.dataset.focus : '';
      fill(word, one, shown, bytes);
      if (first) element.scrollIntoView({ block: 'nearest' });
      if (focused)
        element
          .querySelector(`[data-focus="${CSS.escape(focused)}"], .slots [aria-selected="true"]`)
          ?.focus();
    } catch (error) {
      if (!aborted(error))
        replace(
          body,
          errorBox(error, () => open(slot, column)),
        );
    }
  }

  function fill(word, one, shown, bytes) {
    const i = one.slot - word.first;
    const alive = word.slots.filter((s) => s.alive).length;
    replace(
      title,
      `Word ${format.number(word.word)}: ` +
        `slots ${format.number(word.first)} – ${format.number(word.first + 63)}`,
    );
    replace(
      body,
      h(
        'p',
        { class: 'dim' },
        word.owned
          ? `${alive} of 64 slots in use. Archetype ${word.archetype.join(', ') || 'without columns'}; ` +
              `extent of ${format.number(word.extentSlots)} slots ` +
              `from slot ${format.number(word.extentFirst)}.`
          : 'No archetype owns this word.',
      ),
      h(
        'div',
        { class: 'word' },
        h('span', { class: 'word-name' }, 'in use'),
        slotsRow(word, i),
        word.columns.map((c) => [
          h(
            'button',
            {
              type: 'button',
              class: 'word-name',
              data: { focus: `column ${c.column}` },
              title: `${c.name}: ${c.storage}${c.size ? `, ${c.size} bytes` : ''}`,
              aria: { pressed: shown?.column === c.column },
              onclick: () => open(one.slot, c.column),
            },
            c.name,
          ),
          presenceRow(c, i),
        ]),
      ),
      h(
        'p',
        null,
        h('strong', null, `Slot ${format.number(one.slot)}: `),
        one.alive
          ? [
              h('a', { href: `#/entity/${one.id}` }, one.name || `entity ${one.id}`),
              one.name && h('span', { class: 'dim' }, ` ${one.id}`),
            ]
          : 'empty',
        h('span', { class: 'dim' }, `, used ${format.number(one.uses)} ${one.uses === 1 ? 'time' : 'times'}`),
      ),
      one.alive && shown && bytes && (bytes.error ? errorBox(bytes.error) : bytesPart(bytes)),
    );
  }

  // slotsRow returns a row with a button for each slot. The Tab key skips the buttons of slots that are not
  // selected.
  function slotsRow(word, selected) {
    const row = h(
      'div',
      { class: 'slots', role: 'listbox', aria: { label: 'Slots of the word', orientation: 'horizontal' } },
      word.slots.map((s, i) =>
        h('button', {
          type: 'button',
          role: 'option',
          tabindex: i === selected ? 0 : -1,
          class: s.alive && 'live',
          data: { focus: `slot ${s.slot}` },
          title: `slot ${s.slot}${s.alive ? `: ${s.name || s.id}` : ': free'}`,
          aria: { selected: i === selected, label: `slot ${s.slot}, ${s.alive ? s.name || s.id : 'free'}` },
          onclick: () => open(s.slot),
        }),
      ),
    );
    row.addEventListener('keydown', (event) => {
      const to = { ArrowRight: selected + 1, ArrowLeft: selected - 1, Home: 0, End: 63 }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      if (to >= 0 && to < 64) open(word.first + to);
      else move(to < 0 ? -1 : 1);
    });
    return row;
  }

  function presenceRow(c, selected) {
    const squares = (want) =>
      Array.from({ length: 64 }, (_, i) => (digit(c.slots, i) === want ? `M${i * 10} 0h9v9h-9z` : '')).join(
        '',
      );
    return svg(
      'svg',
      {
        viewBox: '0 0 639 9',
        preserveAspectRatio: 'none',
        role: 'img',
        aria: { label: `${c.name}: present in ${count(c.slots)} of 64 slots` },
      },
      svg('path', { class: 'off', d: squares(false) || 'M0 0' }),
      svg('path', { class: 'on', d: squares(true) || 'M0 0' }),
      svg('rect', { class: 'pick', x: selected * 10, y: 0, width: 9, height: 9 }),
    );
  }

  function bytesPart(b) {
    const area = memory().areas.find((a) => a.column === b.column && a.kind === 'elements');
    const where =
      b.from >= 0
        ? `0x${b.from.toString(16)} of the world’s memory`
        : b.storage === 'heap'
          ? 'on the Go heap'
          : 'outside of the reservations';
    const partAt = new Map(); // from the offset of a byte to the index of its part
    b.parts.forEach((p, i) => {
      for (let k = p.offset; k < p.offset + p.size; k++) partAt.set(k, i);
    });
    const cells = [];
    const light = (i, on) => {
      for (const cell of cells) cell.element.classList.toggle('lit', on && cell.part === i);
    };
    const lines = [];
    const total = Math.min(b.hex.length / 2, maxLines * lineBytes);
    for (let at = 0; at < total; at += lineBytes) {
      lines.push(
        h(
          'div',
          { class: 'hex-line' },
          h('span', { class: 'off' }, at.toString(16).padStart(4, '0')),
          h(
            'span',
            null,
            Array.from({ length: Math.min(lineBytes, total - at) }, (_, k) => {
              const part = partAt.get(at + k);
              const cell = h(
                'span',
                {
                  class: 'hex-byte',
                  title: part === undefined ? 'between fields' : b.parts[part].path || b.type,
                  style: part === undefined ? {} : { '--mark': `var(${palette(part)})` },
                  onmouseenter: () => light(part, part !== undefined),
                  onmouseleave: () => light(part, false),
                },
                b.hex.slice(2 * (at + k), 2 * (at + k) + 2),
              );
              cells.push({ element: cell, part });
              return cell;
            }),
          ),
        ),
      );
    }
    return h(
      'div',
      { class: 'stack' },
      h(
        'h3',
        null,
        b.name,
        h(
          'span',
          { class: 'dim' },
          ` ${b.type || 'tag'}, ${format.number(b.size)} bytes, ${where}` +
            (area && area.stride > b.size ? `, one every ${area.stride} bytes` : ''),
        ),
      ),
      lines.length > 0 && h('div', { class: 'hex scroll' }, lines),
      b.parts.length > 0 &&
        h(
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
                h('th', null, 'Field'),
                h('th', null, 'Value'),
                h('th', null, 'Type'),
                h('th', { class: 'num' }, 'Bytes'),
              ),
            ),
            h(
              'tbody',
              null,
              b.parts.slice(0, 64).map((p, i) =>
                h(
                  'tr',
                  { onmouseenter: () => light(i, true), onmouseleave: () => light(i, false) },
                  h(
                    'td',
                    null,
                    h('span', {
                      class: 'swatch',
                      style: { '--mark': `var(${palette(i)})`, display: 'inline-block' },
                    }),
                    ' ',
                    p.path || b.name,
                  ),
                  h(
                    'td',
                    { class: 'num' },
                    p.kind === 'entity' && p.text !== '0.0'
                      ? h('a', { href: `#/entity/${p.text}` }, p.text)
                      : p.text,
                  ),
                  h('td', { class: 'dim' }, p.type),
                  h(
                    'td',
                    { class: 'num' },
                    p.size === 1 ? p.offset : `${p.offset} – ${p.offset + p.size - 1}`,
                  ),
                ),
              ),
            ),
          ),
        ),
      (b.cut || b.parts.length > 64 || total * 2 < b.hex.length) &&
        h('p', { class: 'dim' }, 'Not everything is shown.'),
      b.hex === '' &&
        b.size > 0 &&
        h(
          'p',
          { class: 'dim' },
          'The bytes are not shown, because the component lies on the Go heap or is too large.',
        ),
    );
  }

  return self;
}

// digit reports whether bit i of a word is set. text is the word in 16 hexadecimal digits, the most
// significant first.
function digit(text, i) {
  return ((Number.parseInt(text[15 - (i >> 2)], 16) >> (i & 3)) & 1) === 1;
}

function count(text) {
  let n = 0;
  for (let i = 0; i < 64; i++) if (digit(text, i)) n++;
  return n;
}
