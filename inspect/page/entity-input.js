// An input for an entity's ID or name, with suggestions.

import * as api from './api.js';
import { h, later, replace } from './ui.js';

let inputs = 0;

// entityInput makes an input: { element, input, meant() }. value is the initial text, and id is the ID of the
// entity that value names. entityInput calls onChoose(text, id) when the user chooses a suggestion. meant()
// returns the value to send: {id} if the ID is known, null if the input is empty, otherwise the text.
export function entityInput({
  label,
  value = '',
  id = '',
  placeholder = 'ID or name',
  search = false,
  onChoose,
}) {
  const listID = `suggestions-${++inputs}`;
  const list = h('ul', {
    class: 'suggestions',
    id: listID,
    role: 'listbox',
    hidden: true,
    aria: { label: 'Names' },
  });
  let known = { text: value, id }; // the chosen entity; the ID is necessary because names may be ambiguous
  let found = [];
  let marked = -1;
  let end = null;

  const input = h('input', {
    type: 'text',
    value,
    placeholder,
    autocomplete: 'off',
    spellcheck: 'false',
    role: 'combobox',
    class: 'entity-input',
    aria: { label, expanded: 'false', controls: listID, autocomplete: 'list' },
    data: { search: search ? '' : null },
    oninput: () => suggest(input.value),
    onfocusout: () => hide(),
    onkeydown(event) {
      if (list.hidden || event.isComposing) return;
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (step) {
        event.preventDefault();
        mark((marked + step + found.length + (marked < 0 && step < 0 ? 1 : 0)) % found.length);
      } else if (event.key === 'Escape') {
        event.preventDefault();
        hide();
      } else if (event.key === 'Enter' && marked >= 0) {
        event.preventDefault();
        choose(found[marked]);
      }
    },
  });
  const element = h('span', { class: 'entity-box' }, input, list);

  const suggest = later(120, async (text) => {
    end?.abort();
    end = new AbortController();
    const { signal } = end;
    if (text.trim() === '' || /^\d+(\.\d*)?$/.test(text.trim())) {
      hide();
      return;
    }
    try {
      const { names } = await api.get('names', { prefix: text.trim(), limit: 8 }, { signal });
      if (!signal.aborted && document.activeElement === input) show(names);
    } catch {
      if (!signal.aborted) hide(); // the input works without suggestions too
    }
  });

  function show(names) {
    found = names;
    marked = -1;
    replace(
      list,
      names.map((n, i) =>
        h(
          'li',
          {
            role: 'option',
            id: `${listID}-${i}`,
            aria: { selected: 'false' },
            onpointerdown(event) {
              // pointerdown comes before the input loses the focus
              event.preventDefault();
              choose(n);
            },
          },
          h('span', { class: 'clip' }, n.name),
          h('span', { class: 'dim clip' }, n.detail || n.id),
        ),
      ),
    );
    list.hidden = names.length === 0;
    input.setAttribute('aria-expanded', !list.hidden);
    input.removeAttribute('aria-activedescendant');
  }

  function mark(i) {
    marked = i;
    [...list.children].forEach((li, k) => li.setAttribute('aria-selected', k === i));
    input.setAttribute('aria-activedescendant', `${listID}-${i}`);
    list.children[i]?.scrollIntoView({ block: 'nearest' });
  }

  function hide() {
    suggest.cancel();
    end?.abort();
    list.hidden = true;
    marked = -1;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
  }

  function choose(name) {
    input.value = onChoose ? name.name : name.id;
    known = { text: input.value, id: name.id };
    hide();
    onChoose?.(name.name, name.id);
  }

  function meant() {
    const text = input.value.trim();
    if (text === '') return null;
    return known.id && text === known.text.trim() ? { id: known.id } : text;
  }

  return { element, input, meant };
}
