// The page that finds entities. It has a box for names, IDs and queries, and the list of matches. A wide
// window also shows the selected entity beside the list.

import { aborted, get } from './api.js';
import { columnChooser } from './column-chooser.js';
import { facets } from './query-chips.js';
import { virtualList } from './virtual-list.js';
import { check, complete, queryBox } from './query-box.js';
import { sample } from './query-help.js';
import { entityIn, textOf } from './query-text.js';
import { emptyBox, format, h, later, panel, replace, setText } from './ui.js';

const typingPause = 250; // milliseconds from the last key to the query
const livePause = 2000; // shortest time between two refreshes of the rows in view, in milliseconds
const maxNames = 6; // largest number of names among the suggestions

export const page = { id: 'entities', title: 'Entities', mount };

async function mount(root, app) {
  const wide = matchMedia('(min-width: 64rem)');
  let asking = new AbortController();
  let query = ''; // query of the list
  let addressed = app.params.get('query') ?? ''; // query in the page's address
  let settled = true; // whether the next query adds a step to the history; false while the user types
  let picked = ''; // ID of the entity beside the list; empty for none
  let named = false; // whether a row of the list has a name
  let pause = livePause; // milliseconds until the next refresh of the rows in view
  let announced = false; // whether the number of matches was announced to a screen reader

  const box = queryBox({
    label: 'Find entities by ID, name, component or query',
    text: addressed,
    placeholder: `Name, ID such as 17.3, or query such as ${sample(app.world)}`,
    suggest,
    onInput: (text) => {
      if (entityIn(text)) askLater.cancel();
      else askLater(text);
    },
    onSubmit: submit,
  });
  const chips = facets(app.world, (text) => {
    box.setText(text);
    enter(text);
  });
  const elsewhere = h('a', { class: 'button' }, 'Histogram and files');
  const count = h('span', { class: 'entities-count num' });
  const chooser = columnChooser(app.world, () => {
    list.setColumns(listColumns());
    list.refresh();
  });

  const list = virtualList({
    label: 'Entities',
    columns: listColumns(),
    fetch: async (offset, limit, signal) => {
      const begun = performance.now();
      const answer = await get(
        'entities',
        {
          query,
          offset,
          limit,
          columns: chooser
            .chosen()
            .map((label) => textOf(app.world.columns, label))
            .join(','),
        },
        { signal },
      );
      pause = Math.max(livePause, 10 * (performance.now() - begun));
      if (!signal.aborted) showCount(answer);
      if (!named && answer.rows.some((row) => row.name)) {
        named = true;
        list.setColumns(listColumns());
      }
      return { rows: answer.rows, total: answer.total };
    },
    cells: (row) => [
      h(
        'a',
        { class: 'num', href: `#/entity/${row.id}`, tabindex: -1, onclick: pickLink },
        row.id,
        row.disabled && h('span', { class: 'dim' }, ' disabled'),
      ),
      ...(named ? [row.name ?? ''] : []),
      ...chooser
        .chosen()
        .map((name) => h('span', { title: row.values?.[name] ?? '' }, row.values?.[name] ?? '')),
    ],
    keyOf: (row) => row.id,
    onOpen: (row) => pick(row.id),
    onMark: (row) => {
      if (picked && row) followMark(row.id);
    },
    empty: emptyBox('No matches', 'No entity matches the query now.'),
  });

  const side = h('aside', { class: 'entities-side panel', aria: { label: 'Selected entity' } });
  side.hidden = true;
  const split = h(
    'div',
    { class: 'entities-split' },
    panel('Matches', { class: 'flush entities-list', tools: [elsewhere, chooser.element] }, list.element),
    side,
  );
  split.querySelector('.panel-head h2').after(count);
  root.classList.add('fill');
  replace(
    root,
    h('h1', { class: 'unseen' }, 'Entities'),
    h('div', { class: 'panel entities-ask' }, box.element, chips.element),
    split,
  );

  function listColumns() {
    return [
      { title: 'Entity', width: 'minmax(6rem, 9rem)' },
      ...(named ? [{ title: 'Name', width: 'minmax(9rem, 1.5fr)' }] : []),
      ...chooser.chosen().map((name) => ({
        title: name,
        width: 'minmax(9rem, 2fr)',
        class: 'num',
        head: h('span', { title: name }, name),
      })),
    ];
  }

  // suggest suggests the entity of an ID or of a slot number. For other texts, it adds matching names to the
  // suggestions for a query.
  async function suggest(text, at, signal) {
    const word = text.trim();
    if (entityIn(word)) {
      const id = await meant(word, signal);
      const item = {
        text: id,
        kind: 'entity',
        detail: id === word ? 'entity ID' : `in slot ${word}`,
        go: () => pick(id),
      };
      return { from: 0, to: text.length, items: id ? [item] : [] };
    }
    const [answer, names] = await Promise.all([
      complete(text, at, signal),
      /^[^()!|<>=~"]{1,100}$/.test(word)
        ? get('names', { prefix: word, limit: maxNames }, { signal }).then(
            (a) => a.names,
            () => [],
          )
        : [],
    ]);
    const found = names.map((n) => ({
      text: n.name,
      kind: 'entity',
      detail: [n.detail, n.id].filter(Boolean).join(' · '),
      go: () => pick(n.id),
    }));
    const same = found.filter((n) => n.text.toLowerCase() === word.toLowerCase());
    return { ...answer, items: [...same, ...answer.items, ...found.filter((n) => !same.includes(n))] };
  }

  // meant returns the ID of an entity, or '' for an empty slot. The argument word is the ID or the number of
  // the slot.
  async function meant(word, signal) {
    if (word.includes('.')) return word;
    const { slots } = await get('memory/word', { slot: word }, { signal });
    return slots.find((s) => s.slot === Number(word) && s.alive)?.id ?? '';
  }

  const askLater = later(typingPause, (text) => ask(text));

  // ask shows the matches of a query. If the query fails, ask shows the error and returns false. If another
  // query replaces the query first, ask returns true.
  async function ask(text) {
    askLater.cancel();
    asking.abort();
    asking = new AbortController();
    const { signal } = asking;
    try {
      const { columns, error } = await check(text, signal);
      if (error) throw error;
      box.fail(null);
      chips.show(text);
      if (text !== addressed && settled) {
        history.pushState(null, '', location.hash);
        settled = false;
      }
      query = addressed = text;
      address();
      chooser.proposed(columns);
      named = announced = false;
      list.setColumns(listColumns());
      list.reload();
      return true;
    } catch (error) {
      if (aborted(error)) return true;
      box.fail(error);
      return false;
    }
  }

  // enter shows the matches of a complete query. The next query then adds a step to the browser's history.
  async function enter(text) {
    const valid = await ask(text);
    settled = true;
    return valid;
  }

  async function submit(text) {
    const word = text.trim();
    try {
      if (entityIn(word)) {
        const id = await meant(word);
        if (id) pick(id);
        else box.fail({ message: `Slot ${word} is empty.` });
        return;
      }
      if (await enter(text)) return;
      // a text that is not a query may be a name
      const { names } = await get('names', { prefix: word, limit: 1 });
      if (box.text !== text || names[0]?.name.toLowerCase() !== word.toLowerCase()) return;
      box.fail(null);
      pick(names[0].id);
    } catch (error) {
      box.fail(error);
    }
  }

  function address() {
    app.replace({ ...(query && { query }), ...(picked && { entity: picked }) });
    elsewhere.href = `#/queries?${new URLSearchParams({ query })}`;
  }

  function showCount({ total, exact }) {
    const what = query.trim() ? ' match' : ' in the world';
    const text = `${exact ? '' : 'about '}${format.number(total)}${what}`;
    setText(count, text);
    // The page announces the number once for each query: the number may change with every refresh.
    if (!announced) app.announce(text);
    announced = true;
  }

  // pickLink shows a linked entity beside the list if the window is wide. A click with a modifier key opens
  // another tab or window as usual.
  function pickLink(event) {
    if (!wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const id = /^#\/entity\/([^/?]+)$/.exec(event.target.closest?.('a')?.getAttribute('href') ?? '')?.[1];
    if (!id) return;
    event.preventDefault();
    pick(decodeURIComponent(id));
  }

  const followMark = later(150, (id) => pick(id));

  // The page of one entity is mounted beside the list. The variable turn changes when the selection changes
  // or ends. If turn changes during an await, the awaited entity is no longer selected.
  let turn = 0;
  let unmount = null;

  async function pick(id) {
    followMark.cancel();
    if (!wide.matches) {
      app.go(`#/entity/${id}`);
      return;
    }
    if (id === picked) return;
    drop();
    const my = ++turn;
    picked = id;
    address();
    const place = h('div', { class: 'page page-entity entities-entity' });
    place.addEventListener('click', pickLink);
    replace(
      side,
      h(
        'div',
        { class: 'panel-head' },
        h('h2', { class: 'num' }, id),
        h(
          'div',
          { class: 'panel-tools' },
          h('a', { class: 'button', href: `#/entity/${id}` }, 'Open page'),
          h('button', { type: 'button', class: 'quiet', onclick: close }, 'Close'),
        ),
      ),
      place,
    );
    side.hidden = false;
    try {
      const { page: entity } = await import('./entity.js');
      if (my !== turn) return;
      const stop = await entity.mount(place, {
        ...app,
        beside: true,
        path: [id],
        params: new URLSearchParams(),
        replace() {},
        go: goFrom,
      });
      if (my === turn) unmount = stop;
      else stop?.();
    } catch (error) {
      if (my === turn) replace(place, emptyBox('This entity cannot be shown', error.message));
    }
  }

  // goFrom is app.go for the page beside the list.
  function goFrom(hash) {
    const id = /^#\/entity\/([^/?]+)$/.exec(hash)?.[1];
    if (!id) app.go(hash);
    else if (decodeURIComponent(id) === picked) repick();
    else pick(decodeURIComponent(id));
  }

  function repick() {
    const id = picked;
    drop();
    pick(id);
  }

  function drop() {
    turn++;
    picked = '';
    unmount?.();
    unmount = null;
  }

  function close() {
    drop();
    side.hidden = true;
    replace(side);
    address();
    list.focus();
  }

  function onKey(event) {
    if (
      event.key !== 'Escape' ||
      event.defaultPrevented ||
      !picked ||
      event.target.closest?.('input, textarea, select, dialog')
    )
      return;
    close();
    event.preventDefault();
  }
  root.addEventListener('keydown', onKey);

  // slow requests make the pause longer
  let timer = setTimeout(function look() {
    if (!document.hidden) list.refresh();
    timer = setTimeout(look, pause);
  }, pause);

  const first = app.params.get('entity') ?? '';
  if (!(await ask(box.text)) && !query) list.reload();
  chips.count();
  if (first && wide.matches) pick(first);

  return () => {
    clearTimeout(timer);
    askLater.cancel();
    followMark.cancel();
    asking.abort();
    unmount?.();
    turn++;
    chips.destroy();
    box.destroy();
    list.destroy();
  };
}
