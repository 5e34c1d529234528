// The page that finds entities: one box for names, IDs and queries, a list of all that match, and the one that is picked
// beside it where there is room.

import { aborted, get } from './api.js';
import { columnChooser } from './column-chooser.js';
import { facets } from './query-chips.js';
import { virtualList } from './virtual-list.js';
import { check, complete, queryBox } from './query-box.js';
import { sample } from './query-help.js';
import { entityIn, textOf } from './query-text.js';
import { emptyBox, format, h, later, panel, replace, setText } from './ui.js';

const typingPause = 250; // milliseconds without a key, before a text is asked as a query
const livePause = 2000; // milliseconds at least between two looks at the rows in view
const namesMost = 6; // names among the suggestions

export const page = { id: 'entities', title: 'Entities', mount };

async function mount(root, app) {
  const wide = matchMedia('(min-width: 64rem)');
  let asking = new AbortController();
  let query = ''; // the text that the list shows
  let addressed = app.params.get('query') ?? ''; // the text in the page's address
  let settled = true; // the address is one to come back to, not of a text that is being written
  let picked = ''; // the entity beside the list
  const { title } = document; // the entity puts its own in place
  let named = false; // a row of the list has a name
  let pause = livePause; // until the rows in view are looked at again
  let told = false; // a screen reader was told how many match

  const box = queryBox({
    label: 'Find entities by ID, name, component or query',
    text: addressed,
    placeholder: `A name, an ID such as 17.3, or a query such as ${sample(app.world)}`,
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
  const elsewhere = h('a', { class: 'button' }, 'Histogram, files');
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
      const answer = await get('entities', { query, offset, limit, columns: chooser.chosen().map((label) => textOf(app.world.columns, label)).join(',') }, { signal });
      pause = Math.max(livePause, 10 * (performance.now() - begun));
      if (!signal.aborted) showCount(answer);
      if (!named && answer.rows.some((row) => row.name)) {
        named = true;
        list.setColumns(listColumns());
      }
      return { rows: answer.rows, total: answer.total };
    },
    cells: (row) => [
      h('a', { class: 'num', href: `#/entity/${row.id}`, tabindex: -1, onclick: pickLink }, row.id),
      ...(named ? [row.name ?? ''] : []),
      ...chooser.chosen().map((name) => h('span', { title: row.values?.[name] ?? '' }, row.values?.[name] ?? '')),
    ],
    onOpen: (row) => pick(row.id),
    onMark: (row) => {
      if (picked && row) followMark(row.id);
    },
    empty: emptyBox('Nothing matches', 'No entity has what the query asks for, at this moment.'),
  });

  const side = h('aside', { class: 'entities-side panel', aria: { label: 'The picked entity' } });
  side.hidden = true;
  const split = h('div', { class: 'entities-split' },
    panel('Matches', { class: 'flush entities-list', tools: [elsewhere, chooser.element] }, list.element), side);
  split.querySelector('.panel-head h2').after(count);
  root.classList.add('fill');
  replace(root, h('h1', { class: 'unseen' }, 'Entities'), h('div', { class: 'panel entities-ask' }, box.element, chips.element), split);

  function listColumns() {
    return [
      { title: 'Entity', width: 'minmax(6rem, 9rem)' },
      ...(named ? [{ title: 'Name', width: 'minmax(9rem, 1.5fr)' }] : []),
      ...chooser.chosen().map((name) => ({ title: name, width: 'minmax(9rem, 2fr)', class: 'num', head: h('span', { title: name }, name) })),
    ];
  }

  // suggest adds what is called so to what may stand in a query.
  async function suggest(text, at, signal) {
    const word = text.trim();
    if (entityIn(word)) {
      const id = await meant(word, signal);
      const item = { text: id, kind: 'entity', detail: id === word ? 'by its ID' : `in slot ${word}`, go: () => pick(id) };
      return { from: 0, to: text.length, items: id ? [item] : [] };
    }
    const [answer, names] = await Promise.all([
      complete(text, at, signal),
      /^[^()!|<>=~"]{1,100}$/.test(word) ? get('names', { prefix: word, limit: namesMost }, { signal }).then((a) => a.names, () => []) : [],
    ]);
    const found = names.map((n) => ({
      text: n.name, kind: 'entity', detail: [n.detail, n.id].filter(Boolean).join(' · '), go: () => pick(n.id),
    }));
    const same = found.filter((n) => n.text.toLowerCase() === word.toLowerCase());
    return { ...answer, items: [...same, ...answer.items, ...found.filter((n) => !same.includes(n))] };
  }

  // meant returns the ID of the entity that a number means: itself, or that of who lives in the slot; '' for nobody.
  async function meant(word, signal) {
    if (word.includes('.')) return word;
    const { slots } = await get('memory/word', { slot: word }, { signal });
    return slots.find((s) => s.slot === Number(word) && s.alive)?.id ?? '';
  }

  const askLater = later(typingPause, (text) => ask(text));

  // ask shows what matches a text, and says whether it is a query.
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
      named = told = false;
      list.setColumns(listColumns());
      list.reload();
      return true;
    } catch (error) {
      if (aborted(error)) return true;
      box.fail(error);
      return false;
    }
  }

  // enter asks for a text in a way that the browser's Back undoes.
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
        else box.fail({ message: `Nobody lives in slot ${word}.` });
        return;
      }
      if (await enter(text)) return;
      // No query: it may be what somebody is called.
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
    const text = `${exact ? '' : 'about '}${format.number(total)}${query.trim() ? ' match' : ' in the world'}`;
    setText(count, text);
    if (!told) app.announce(text); // once a query: in a world that lives the number never rests
    told = true;
  }

  // pickLink follows links to entities within this page, but for those that are to be opened elsewhere.
  function pickLink(event) {
    if (!wide.matches || event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    const id = /^#\/entity\/([^/?]+)$/.exec(event.target.closest?.('a')?.getAttribute('href') ?? '')?.[1];
    if (!id) return;
    event.preventDefault();
    pick(decodeURIComponent(id));
  }

  const followMark = later(150, (id) => pick(id));

  // What is beside the list is the page of one entity, mounted there. Each pick has a number: whoever finds another was
  // overtaken.
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
    place.addEventListener('click', pickLink); // others that it names come in its place
    replace(side, h('div', { class: 'panel-head' }, h('h2', { class: 'num' }, id), h('div', { class: 'panel-tools' },
      h('a', { class: 'button', href: `#/entity/${id}` }, 'Open alone'),
      h('button', { type: 'button', class: 'quiet', onclick: close }, 'Close'))), place);
    side.hidden = false;
    try {
      const { page: entity } = await import('./entity.js');
      if (my !== turn) return;
      const stop = await entity.mount(place, { ...app, path: [id], params: new URLSearchParams(), replace() {}, go: goFrom });
      if (my === turn) unmount = stop;
      else stop?.();
    } catch (error) {
      if (my === turn) replace(place, emptyBox('This entity cannot be shown', error.message));
    }
  }

  // goFrom is how what is beside the list goes elsewhere.
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
    document.title = title;
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
    if (event.key !== 'Escape' || event.defaultPrevented || !picked || event.target.closest?.('input, textarea, select, dialog')) return;
    close();
    event.preventDefault();
  }
  root.addEventListener('keydown', onKey);

  // What takes the program long is asked for less often.
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
