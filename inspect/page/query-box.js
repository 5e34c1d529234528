// A field for the text of a query, with completion. The box shows an error at the wrong word.
//
//   const box = queryBox({ label, text, placeholder, lines, suggest, onInput, onSubmit, editor });
//   root.append(box.element);
//
// suggest(text, caret, signal) returns the suggestions for a caret position: { from, to, items }. The
// positions caret, from and to count UTF-16 units. An item is { text, label, detail, kind, go }. The list
// shows label, or text if there is no label. When the user takes an item, the box calls the item's function
// go. For an item without go, the box replaces [from, to) with the item's text.
//
// The field is a combobox as defined by ARIA. The arrow keys choose a suggestion. Enter and Tab take the
// chosen suggestion. If no suggestion is chosen, Enter runs the query. Escape closes the list, and
// Control+Space opens the list. If lines is over 1, Shift+Enter begins a new line.
//
// With the option editor, Enter begins a new line, and Control+Enter runs the query. editor is
// { most, onEdge }: the largest length of the text, and a function that the box calls with -1 or 1 if an
// arrow key would leave the first or the last line. onEdge returns whether it has used the key.

import { get } from './api.js';
import { charactersAt, unitsAt } from './query-text.js';
import { h, replace, setStyle, setText } from './ui.js';

const typingPause = 80; // milliseconds from the last key to the request for suggestions

let boxes = 0;

// complete implements suggest with the server's suggestions.
export async function complete(text, caret, signal) {
  const answer = await get('query/complete', { text, at: charactersAt(text, caret) }, { signal });
  return { from: unitsAt(text, answer.from), to: unitsAt(text, answer.to), items: answer.items };
}

// check asks the server whether a text is a valid query: { valid, columns, error }.
export const check = (text, signal) => get('query/check', { text }, { signal });

export function queryBox({
  label,
  text = '',
  placeholder = '',
  lines = 1,
  suggest,
  onInput,
  onSubmit,
  editor,
}) {
  const id = `querybox-${++boxes}`;
  let open = false;
  let found = { from: 0, to: 0, items: [] };
  let foundFor = ''; // text for which found was requested
  let chosen = -1;
  // The error { from, to, placed, message }, or null. The wrong word is at [from, to), in UTF-16 units.
  // placed is false for an error without a wrong word.
  let wrong = null;
  let timer = 0;
  let asking = null;

  const input = h(lines > 1 ? 'textarea' : 'input', {
    class: 'querybox-text',
    id,
    placeholder,
    role: 'combobox',
    autocomplete: 'off',
    autocapitalize: 'off',
    autocorrect: 'off',
    spellcheck: 'false',
    data: { search: '' },
    maxlength: editor?.most ?? 4096,
    aria: {
      label,
      autocomplete: 'list',
      expanded: 'false',
      controls: `${id}-list`,
      describedby: `${id}-error`,
    },
  });
  if (lines > 1) input.rows = lines;
  else input.type = 'text';
  input.value = text;

  // The mirror lies under the field and holds the field's text, because a word in a field cannot be marked or
  // measured.
  const before = h('span');
  const word = h('mark', { class: 'querybox-wrong' });
  const after = h('span');
  const mirror = h('div', { class: 'querybox-mirror', aria: { hidden: 'true' } }, before, word, after);
  const list = h('ul', {
    class: 'querybox-list',
    id: `${id}-list`,
    role: 'listbox',
    aria: { label: `${label}: suggestions` },
  });
  list.hidden = true;
  const caret = h('div', { class: 'querybox-caret', aria: { hidden: 'true' } });
  const message = h('div', { class: 'querybox-message' });
  const error = h('div', { class: 'querybox-error', id: `${id}-error`, role: 'alert' }, caret, message);
  error.hidden = true;
  const field = h('div', { class: `querybox-field${lines > 1 ? ' is-long' : ''}` }, mirror, input, list);
  const element = h('div', { class: 'querybox' }, field, error);

  function reflect() {
    const value = input.value;
    const from = wrong ? Math.min(wrong.from, value.length) : value.length;
    const to = wrong ? Math.min(wrong.to, value.length) : value.length;
    setText(before, value.slice(0, from));
    // For an error at the end of the text, the mirror marks a space.
    setText(word, wrong?.placed ? value.slice(from, to) || ' ' : '');
    setText(after, value.slice(to) + (value.endsWith('\n') ? ' ' : ''));
    if (lines > 1) {
      setStyle(input, { height: 'auto' });
      setStyle(input, { height: `${Math.min(input.scrollHeight + 2, 320)}px` });
    }
    follow();
  }

  // follow scrolls the mirror like the field, shows or hides the error, and puts carets (^) under the wrong
  // word.
  function follow() {
    mirror.scrollLeft = input.scrollLeft;
    mirror.scrollTop = input.scrollTop;
    error.hidden = !wrong || unfinished();
    word.classList.toggle('is-quiet', error.hidden);
    input.setAttribute('aria-invalid', String(Boolean(wrong?.placed) && !error.hidden));
    setText(message, wrong?.message ?? '');
    caret.hidden = !wrong?.placed || Boolean(editor); // the last line of an editor may be far from the word
    if (caret.hidden) return;
    const base = field.getBoundingClientRect();
    const at = word.getBoundingClientRect();
    const left = Math.max(0, Math.min(at.left - base.left, base.width - 16));
    setStyle(caret, {
      marginLeft: `${left}px`,
      width: `${Math.max(8, Math.min(at.width, base.width - left))}px`,
    });
    setText(caret, '^'.repeat(Math.max(1, [...word.textContent].length)));
  }

  // unfinished reports whether more letters may correct the wrong word: the list is open, and either the
  // caret is in the wrong word, or the list has an item with a function go.
  function unfinished() {
    const at = input.selectionStart ?? 0;
    return (
      open && wrong?.placed && ((wrong.from <= at && at <= wrong.to) || found.items.some((item) => item.go))
    );
  }

  function show(answer, value) {
    found = answer;
    foundFor = value;
    chosen = -1;
    replace(
      list,
      answer.items.map((item, i) =>
        h(
          'li',
          {
            class: 'querybox-item',
            id: `${id}-item-${i}`,
            role: 'option',
            aria: { selected: 'false' },
            onmousedown: (event) => event.preventDefault(), // the field keeps the focus
            onclick: () => take(i),
          },
          h('span', { class: `querybox-kind is-${kindClass(item.kind)}` }, item.kind || ''),
          h('span', { class: 'querybox-item-text' }, item.label ?? item.text),
          h('span', { class: 'querybox-item-detail' }, item.detail || ''),
        ),
      ),
    );
    open = answer.items.length > 0 && document.activeElement === input;
    list.hidden = !open;
    input.setAttribute('aria-expanded', String(open));
    input.removeAttribute('aria-activedescendant');
    if (open) place();
    follow();
  }

  // place puts the list under the word that a suggestion would replace.
  function place() {
    const range = document.createRange();
    const [node, offset] = nodeAt(Math.min(found.from, input.value.length));
    range.setStart(node, offset);
    range.collapse(true);
    const at = range.getBoundingClientRect();
    const base = field.getBoundingClientRect();
    const left = at.left ? at.left - base.left - 8 : 0;
    setStyle(list, { left: `${Math.max(0, Math.min(left, base.width - list.offsetWidth))}px` });
    if (editor && at.bottom) setStyle(list, { top: `${Math.min(at.bottom - base.top, base.height) + 4}px` });
  }

  function nodeAt(unit) {
    for (const part of [before, word, after]) {
      const length = part.textContent.length;
      if (unit <= length && part.firstChild) return [part.firstChild, unit];
      unit -= length;
    }
    return [mirror, 0];
  }

  function close() {
    clearTimeout(timer);
    asking?.abort();
    open = false;
    chosen = -1;
    list.hidden = true;
    input.setAttribute('aria-expanded', 'false');
    input.removeAttribute('aria-activedescendant');
    follow();
  }

  function choose(i) {
    const items = list.children;
    if (chosen >= 0) items[chosen]?.setAttribute('aria-selected', 'false');
    chosen = i;
    if (i < 0) {
      input.removeAttribute('aria-activedescendant');
      return;
    }
    items[i].setAttribute('aria-selected', 'true');
    items[i].scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', items[i].id);
  }

  function take(i) {
    if (input.value !== foundFor) {
      // found.from and found.to are positions in foundFor
      ask(0);
      return;
    }
    const item = found.items[i];
    close();
    if (item.go) {
      item.go();
      return;
    }
    input.setRangeText(item.text, found.from, Math.min(found.to, input.value.length), 'end');
    input.focus();
    changed();
  }

  function ask(pause) {
    clearTimeout(timer);
    asking?.abort();
    timer = setTimeout(async () => {
      const controller = new AbortController();
      asking = controller;
      try {
        const { value } = input;
        const answer = await suggest(value, input.selectionStart ?? value.length, controller.signal);
        if (!controller.signal.aborted) show(answer, value);
      } catch {
        if (!controller.signal.aborted) close(); // the field works without suggestions
      }
    }, pause);
  }

  function changed() {
    wrong = null;
    if (open) choose(-1); // the suggestions are for the old text
    reflect();
    ask(typingPause);
    onInput?.(input.value);
  }

  // leaves reports whether an arrow key would move the caret out of the text, and onEdge has used the key.
  function leaves(direction) {
    if (!editor || input.selectionStart !== input.selectionEnd) return false;
    const passed =
      direction < 0 ? input.value.slice(0, input.selectionStart) : input.value.slice(input.selectionEnd);
    return !passed.includes('\n') && editor.onEdge(direction);
  }

  input.addEventListener('input', changed);
  input.addEventListener('scroll', follow);
  input.addEventListener('select', follow);
  input.addEventListener('keyup', follow);
  input.addEventListener('click', () => {
    follow();
    if (!input.value) ask(0);
  });
  input.addEventListener('blur', close);
  input.addEventListener('keydown', (event) => {
    if (event.isComposing) return;
    const count = found.items.length;
    switch (event.key) {
      case 'ArrowDown':
        if (open) choose(chosen + 1 < count ? chosen + 1 : -1);
        else if (lines === 1) ask(0);
        else if (!leaves(1)) return;
        break;
      case 'ArrowUp':
        if (open) choose(chosen < 0 ? count - 1 : chosen - 1);
        else if (!leaves(-1)) return;
        break;
      case ' ':
        if (!event.ctrlKey) return;
        ask(0);
        break;
      case 'Tab':
        if (!open || chosen < 0) return;
        take(chosen);
        break;
      case 'Enter':
        if (event.shiftKey && lines > 1) return;
        if (editor && chosen < 0 && !event.ctrlKey && !event.metaKey) return;
        if (open && chosen >= 0) take(chosen);
        else {
          close();
          onSubmit?.(input.value);
        }
        break;
      case 'Escape':
        if (!open) return;
        close();
        event.stopPropagation();
        break;
      default:
        return;
    }
    event.preventDefault();
  });
  const sizes = new ResizeObserver(reflect);
  sizes.observe(field);
  reflect();

  return {
    element,
    input,
    get text() {
      return input.value;
    },
    // setText sets the text. It does not request suggestions, and does not call onInput.
    setText(value) {
      if (input.value === value) return;
      input.value = value;
      wrong = null;
      reflect();
    },
    // fail shows an ApiError. fail(null) hides the error.
    fail(problem) {
      wrong = null;
      if (problem) {
        const placed = Number.isInteger(problem.position);
        const from = placed ? unitsAt(input.value, problem.position) : input.value.length;
        const to = placed ? unitsAt(input.value, problem.position + Math.max(1, problem.length || 0)) : from;
        wrong = { from, to, placed, message: problem.message };
      }
      reflect();
    },
    close,
    destroy() {
      close();
      sizes.disconnect();
    },
  };
}

function kindClass(kind) {
  return /^[a-z]+$/.test(kind || '') ? kind : 'other';
}
