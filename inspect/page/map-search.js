// The box that finds entities by name on the map.

import { aborted } from './api.js';
import { h, later, replace } from './ui.js';

let boxes = 0;

// searchBox returns the box. It calls choose({ id, name, detail }) when the user chooses an entity.
export function searchBox(app, choose) {
  const id = `map-found-${++boxes}`;
  let found = [];
  let marked = -1;
  let asking = null;

  const list = h('ul', { class: 'map-found', role: 'listbox', id, hidden: true, aria: { label: 'Found' } });
  const input = h('input', {
    type: 'search',
    placeholder: 'Find by name…',
    autocomplete: 'off',
    spellcheck: 'false',
    role: 'combobox',
    aria: { label: 'Find by name', expanded: 'false', controls: id, autocomplete: 'list' },
    oninput: later(120, ask),
    onkeydown: pressed,
    onblur: () => setTimeout(close, 150),
    onfocus: () => found.length > 0 && open(),
  });

  async function ask() {
    asking?.abort();
    const prefix = input.value.trimStart();
    if (prefix === '') {
      close();
      return;
    }
    const mine = new AbortController();
    asking = mine;
    try {
      found = (await app.api.get('names', { prefix, limit: 8 }, { signal: mine.signal })).names;
    } catch (error) {
      if (aborted(error)) return;
      found = [];
    }
    marked = found.length > 0 ? 0 : -1;
    open();
  }

  function open() {
    replace(
      list,
      found.length === 0 && h('li', { class: 'dim' }, 'No name starts with this text'),
      found.map((one, i) =>
        h(
          'li',
          {
            role: 'option',
            id: `${id}-${i}`,
            aria: { selected: i === marked },
            onpointerdown: (event) => event.preventDefault(),
            onclick: () => take(i),
          },
          h('span', { class: 'clip' }, one.name),
          h('span', { class: 'dim nowrap' }, one.detail),
        ),
      ),
    );
    list.hidden = false;
    input.setAttribute('aria-expanded', 'true');
    input.setAttribute('aria-activedescendant', marked >= 0 ? `${id}-${marked}` : '');
  }

  function close() {
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
  }

  function take(i) {
    const one = found[i];
    if (!one) return;
    input.value = one.name;
    close();
    input.blur();
    choose(one);
  }

  async function pressed(event) {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      if (found.length === 0) return;
      marked = (marked + (event.key === 'ArrowDown' ? 1 : -1) + found.length) % found.length;
      open();
    } else if (event.key === 'Enter') {
      if (list.hidden) await ask();
      take(Math.max(0, marked));
    } else if (event.key === 'Escape' && !list.hidden) {
      close();
      event.stopPropagation();
    } else {
      return;
    }
    event.preventDefault();
  }

  return h('div', { class: 'map-search' }, input, list);
}
