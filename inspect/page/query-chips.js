// The world's components as chips. A chip shows and changes whether the query requires or excludes its
// component.

import { aborted, get } from './api.js';
import { stateOf, withState } from './query-text.js';
import { format, h, replace, setText } from './ui.js';

const few = 14; // number of chips shown at first
const countPause = 10_000; // milliseconds from the end of a count to the next count

const next = { off: 'with', with: 'without', without: 'off' };
const words = { off: 'any', with: 'required', without: 'excluded' };

// facets returns { element, show(text), count(), destroy() }. The function show sets the states of the chips
// from the text of a query. The function count counts the entities of each shown component, again and again,
// with a pause of countPause. When the user presses a chip, facets calls onChange with the new text of the
// query.
export function facets(world, onChange) {
  let text = '';
  let all = false;
  let timer = 0;
  const end = new AbortController();
  const chips = world.columns.map((column) => {
    const number = h('span', { class: 'facet-count num' });
    const element = h(
      'button',
      { type: 'button', class: 'chip facet', onclick: () => press(column) },
      h('span', { class: 'facet-name' }, column.label),
      number,
    );
    return { column, element, number, entities: null };
  });
  const more = h('button', { type: 'button', class: 'chip', onclick: toggle });
  const element = h('div', { class: 'facets', role: 'group', aria: { label: 'Components' } });

  function press(column) {
    onChange(withState(text, column, next[stateOf(text, column)]));
  }

  function toggle() {
    all = !all;
    draw();
    count();
  }

  // The chips of components that the query requires or excludes are always shown.
  const shown = () => chips.filter((chip, i) => all || i < few || stateOf(text, chip.column) !== 'off');

  function draw() {
    const list = shown();
    for (const chip of list) {
      const state = stateOf(text, chip.column);
      chip.element.dataset.state = state;
      chip.element.setAttribute(
        'aria-label',
        `${chip.column.label}: ${words[state]}` +
          (chip.entities === null ? '' : `, ${format.number(chip.entities)} entities have it`),
      );
      chip.element.title = `${words[state]}; press for ${words[next[state]]}`;
    }
    const hidden = chips.length - list.length;
    setText(more, all ? 'fewer' : `${hidden} more`);
    const focused = document.activeElement;
    replace(
      element,
      list.map((chip) => chip.element),
      (all || hidden > 0) && more,
    );
    if (element.contains(focused)) focused.focus();
  }

  // count requests one number after another, because parallel requests would slow the program down.
  async function count() {
    clearTimeout(timer);
    for (const chip of shown()) {
      if (end.signal.aborted || document.hidden) break;
      try {
        const answer = await get('count', { query: chip.column.text }, { signal: end.signal });
        chip.entities = answer.count;
        setText(chip.number, format.short(answer.count));
      } catch (error) {
        if (aborted(error)) return;
        break; // the next round tries again
      }
    }
    draw();
    clearTimeout(timer);
    if (!end.signal.aborted) timer = setTimeout(count, countPause);
  }

  draw();
  return {
    element,
    show(query) {
      text = query;
      draw();
    },
    count,
    destroy() {
      clearTimeout(timer);
      end.abort();
    },
  };
}
