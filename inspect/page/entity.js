// The page of one entity: its components, its links and its place in memory. The page follows changes of the
// components, and the user edits the components in place.

import { componentView } from './entity-fields.js';
import { childrenTree } from './entity-children.js';
import { entityInput } from './entity-input.js';
import { dialog, emptyBox, errorBox, format, h, panel, replace, setText } from './ui.js';

const folds = new Map(); // whether a value is unfolded, by component and path; shared by all entities

// If app.beside is true, the page is beside a list. It then has no search box, and does not set the title of
// the document.
export const page = {
  id: 'entity',
  title: 'Entity',
  async mount(root, app) {
    const id = app.path[0];
    const finder = app.beside ? null : find(app);
    if (!id) {
      replace(
        root,
        panel(
          'Find an entity',
          {},
          finder,
          h(
            'p',
            { class: 'dim' },
            'An ID is a slot and a generation, such as 17.3. The page ',
            h('a', { href: '#/entities' }, 'Entities'),
            ' lists all entities.',
          ),
        ),
      );
      return undefined;
    }
    const end = new AbortController();
    let first;
    try {
      first = await app.api.get(`entities/${encodeURIComponent(id)}`, null, { signal: end.signal });
    } catch (error) {
      const gone = error.status === 410;
      replace(
        root,
        !app.beside && h('div', { class: 'row push' }, h('h2', { class: 'entity-title' }, id), finder),
        gone
          ? emptyBox(
              `Entity ${id} is no longer alive`,
              'It was deleted, or it moved to another slot and has a new ID. ' +
                'Its old slot may now hold another entity. ',
              h('p', null, h('a', { href: '#/entities' }, 'All entities')),
            )
          : errorBox(error, app.beside ? null : () => app.go(location.hash)),
      );
      return undefined;
    }
    return show(root, app, first, finder);
  },
};

// find returns the search box, which opens another entity.
function find(app) {
  async function open(text) {
    text = text.trim();
    if (text === '') return;
    if (/^\d+\.\d+$/.test(text)) {
      app.go(`#/entity/${text}`);
      return;
    }
    try {
      const { names } = await app.api.get('names', { prefix: text, limit: 1 });
      if (names.length === 0) throw new Error(`No name begins with “${text}”.`);
      app.go(`#/entity/${encodeURIComponent(names[0].id)}`);
    } catch (error) {
      if (app.api.aborted(error)) return;
      box.input.setAttribute('aria-invalid', 'true');
      box.input.title = error.message;
      app.announce(error.message);
    }
  }
  const box = entityInput({
    label: 'Find an entity',
    search: true,
    onChoose: (_, id) => app.go(`#/entity/${encodeURIComponent(id)}`),
  });
  box.input.addEventListener('input', () => {
    box.input.removeAttribute('aria-invalid');
    box.input.title = '';
  });
  return h(
    'form',
    {
      class: 'entity-find',
      role: 'search',
      onsubmit(event) {
        event.preventDefault();
        open(box.input.value);
      },
    },
    box.element,
  );
}

const entities = (n) => (n === 1 ? '1 entity' : `${format.number(n)} entities`);

// roles are the meanings of the tags of package prefab.
const roles = new Map([
  ['Prefab', 'template'],
  ['PrefabBase', 'base of a template'],
]);

// disabledText says which tags switch the entity off.
function disabledText(tags) {
  return [...tags.flatMap((tag) => roles.get(tag) ?? []), `disabled by ${tags.join(', ')}`].join(', ');
}

function show(root, app, first, finder) {
  const { id } = first;
  const mayWrite = !app.world.readOnly && app.api.hasToken();
  const labelOf = (c) => app.world.columns.find((one) => one.id === c.id)?.label ?? c.column;
  const context = { folds, mayEdit: mayWrite, slot: first.slot, labelOf, save, remove };
  let latest = first;
  let dead = false;
  let stop = null;
  let trees = [];

  const title = h('h2', { class: 'entity-title wrap' });
  const state = h('span', { class: 'chip' });
  const disabled = h('span', { class: 'chip warn entity-disabled', hidden: true });
  const follow = h(
    'button',
    { type: 'button', title: 'Follow live (f)', onclick: () => setFollow(!stop) },
    'Follow',
  );
  const notice = h('div', { aria: { live: 'polite' } });
  const components = h('div', { class: 'stack components' });
  const links = h('div', { class: 'stack' });
  const facts = h('dl', { class: 'facts' });
  const views = new Map();

  replace(
    root,
    h(
      'div',
      { class: 'row push entity-head' },
      h(
        'div',
        { class: 'row' },
        title,
        h(
          'button',
          {
            type: 'button',
            class: 'chip num',
            title: 'Copy the ID',
            aria: { label: `Copy the ID ${id}` },
            onclick: copy,
          },
          id,
        ),
        state,
        disabled,
      ),
      h(
        'div',
        { class: 'row' },
        finder,
        follow,
        h('a', { class: 'button', href: `#/memory?slot=${first.slot}` }, 'Show in memory'),
        mayWrite && h('button', { type: 'button', title: 'Add a component', onclick: addComponent }, 'Add'),
        mayWrite &&
          h(
            'button',
            { type: 'button', class: 'danger', title: 'Delete the entity', onclick: deleteEntity },
            'Delete',
          ),
      ),
    ),
    notice,
    h(
      'div',
      { class: 'split entity-split' },
      h(
        'div',
        { class: 'stack' },
        components,
        !mayWrite &&
          h(
            'p',
            { class: 'dim' },
            app.world.readOnly
              ? [
                  'Read-only. To allow edits, serve with ',
                  h('code', null, 'Options{ReadWrite: true}'),
                  ' (vast earth: ',
                  h('code', null, '-inspect-write'),
                  ').',
                ]
              : [
                  'To edit values, open the address that the program printed, which ends in ',
                  h('code', null, '#token=…'),
                  '.',
                ],
          ),
      ),
      h('div', { class: 'stack' }, links, panel('Place in memory', {}, facts)),
    ),
  );

  function update(now, flash) {
    latest = now;
    const name = now.name || `Entity ${id}`;
    setText(title, name);
    disabled.hidden = now.disabledBy.length === 0;
    setText(disabled, disabledText(now.disabledBy));
    if (!app.beside && !document.title.startsWith(name))
      document.title = `${name} · ${app.world.name || 'Vast'}`;
    const ids = now.components.map((c) => c.id);
    for (const [key, view] of views) {
      if (ids.includes(key)) continue;
      view.element.remove();
      views.delete(key);
    }
    now.components.forEach((component, i) => {
      let view = views.get(component.id);
      if (view) {
        view.update(component, flash);
      } else {
        view = componentView(component, context);
        views.set(component.id, view);
      }
      if (components.children[i] !== view.element)
        components.insertBefore(view.element, components.children[i] ?? null);
    });
    const none = components.querySelector(':scope > .none');
    if (ids.length === 0 && !none)
      components.append(h('p', { class: 'none dim' }, 'This entity has no components.'));
    else if (ids.length > 0) none?.remove();
    updateLinks(now);
    updateFacts(now);
  }

  let linksShown = '';
  function updateLinks(now) {
    const key = JSON.stringify(
      now.links.map((l) => (l.kind === 'relation' && l.direction === 'in' ? [l.id, 'in'] : l)),
    );
    if (key === linksShown) {
      for (const l of now.links)
        if (l.kind === 'relation' && l.direction === 'in')
          for (const count of links.querySelectorAll(`[data-count="${l.id}"]`))
            setText(count, `← ${entities(l.total)}`);
      return;
    }
    linksShown = key;
    const kept = trees;
    trees = [];
    const panels = now.links.map((l) => {
      if (l.kind === 'relation' && l.direction === 'in') {
        const tree = kept.find((t) => t.id === l.id) ?? {
          id: l.id,
          ...childrenTree(id, { id: l.id, name: l.column }, l.total),
        };
        trees.push(tree);
        return panel(
          null,
          { label: `${l.column}, entities with this target`, class: 'flush-tree' },
          h(
            'div',
            { class: 'row link-head' },
            h('h2', null, l.column),
            h('span', { class: 'dim', data: { count: l.id } }, `← ${entities(l.total)}`),
          ),
          tree.element,
        );
      }
      return linkPanel(l);
    });
    for (const tree of kept) if (!trees.includes(tree)) tree.destroy();
    replace(links, panels);
  }

  function linkPanel(l) {
    const [single, end] = [l.kind === 'relation', l.ends[0]];
    const link = (e) =>
      h('a', { href: `#/entity/${encodeURIComponent(e.id)}`, class: 'clip', title: e.id }, e.name || e.id);
    if (single) {
      return panel(
        null,
        { label: `${l.column}, target` },
        h(
          'div',
          { class: 'row' },
          h('h2', null, l.column),
          h('span', { class: 'dim', aria: { hidden: 'true' } }, '→'),
          link(end),
          mayWrite &&
            h('button', { type: 'button', class: 'quiet small', onclick: () => changeTarget(l) }, 'Change'),
        ),
      );
    }
    return panel(
      null,
      { label: `${l.column}, ${l.direction === 'out' ? 'to' : 'from'} others` },
      h(
        'div',
        { class: 'row link-head' },
        h('h2', null, l.column),
        h('span', { class: 'dim' }, `${l.direction === 'out' ? '→' : '←'} ${entities(l.total)}`),
      ),
      h(
        'ul',
        { class: 'link-ends' },
        l.ends.map((e) =>
          h('li', { class: 'row' }, link(e), e.value && h('span', { class: 'dim mono clip' }, e.value)),
        ),
        l.total > l.ends.length &&
          h('li', { class: 'dim' }, `… ${format.number(l.total - l.ends.length)} more`),
      ),
    );
  }

  let factsShown = '';
  function updateFacts(now) {
    const a = now.address;
    const rows = [
      ['Slot', format.number(a.slot), `word ${format.number(a.word)}, bit ${a.bit}`],
      ['Generation', format.number(now.generation), now.generation === 1 ? 'first use of the slot' : ''],
      [
        'Extent',
        `${format.number(a.extent)} – ${format.number(a.extent + a.slots - 1)}`,
        `${format.number(a.entities)} of ${format.number(a.slots)} slots in use`,
      ],
      ['Born with', now.archetype.join(', ') || 'nothing', ''],
    ];
    const key = rows.flat().join('|');
    if (key === factsShown) return;
    factsShown = key;
    replace(
      facts,
      rows.map(([name, value, note]) => [
        h('dt', null, name),
        h('dd', null, h('span', { class: 'num' }, value), note && h('span', { class: 'dim' }, ` · ${note}`)),
      ]),
    );
  }

  function setState(text, kind) {
    if (state.textContent === text) return;
    setText(state, text);
    state.className = `chip ${kind}`;
  }

  function setFollow(on) {
    follow.setAttribute('aria-pressed', on);
    if (!on) {
      stop?.();
      stop = null;
      if (!dead) setState('not followed', 'warn');
      return;
    }
    setState('waiting', '');
    stop = app.api.stream([`entity:${id}`], {
      onEvent: (_, now) => update(now, true),
      onState: (to) => setState(to, { live: 'good', waiting: 'warn', lost: 'bad' }[to]),
      onError(_, error) {
        if (error.code === 'stale') died();
      },
    });
  }

  function died() {
    if (dead) return;
    dead = true;
    context.mayEdit = false;
    setFollow(false);
    follow.disabled = true;
    setState('no longer alive', 'bad');
    root.classList.add('is-dead');
    replace(
      notice,
      h(
        'div',
        { class: 'box warn', role: 'alert' },
        h('p', { class: 'box-title' }, 'This entity is no longer alive'),
        h(
          'p',
          null,
          'It was deleted, or it moved to another slot and has a new ID. These are its last known values.',
        ),
      ),
    );
  }

  // Editing.

  // path names the component by its ID, because several components may share a name, and because a name may
  // equal the ID of another component.
  const path = (component) => `entities/${encodeURIComponent(id)}/components/${component.id}?by=id`;

  function changed(answer) {
    if (answer.component) {
      const components = latest.components.map((c) => (c.id === answer.component.id ? answer.component : c));
      update({ ...latest, components }, true);
    } else {
      reload();
    }
  }

  async function reload() {
    try {
      update(await app.api.get(`entities/${encodeURIComponent(id)}`), true);
    } catch (error) {
      if (error.status === 410) died();
    }
  }

  async function save(component, at, value) {
    try {
      changed(await app.api.send('PATCH', path(component), { path: at, value }));
      app.announce(`${component.column} ${at} saved`);
    } catch (error) {
      if (error.status === 410) died();
      throw error;
    }
  }

  // ask opens a dialog in which the user confirms a change. If the change fails, the dialog shows the error.
  function ask(heading, act, button, danger, ...children) {
    const wrong = h('p', { class: 'bad', role: 'alert' });
    const form = h(
      'form',
      {
        class: 'stack',
        async onsubmit(event) {
          event.preventDefault();
          try {
            await act();
            box.close();
          } catch (error) {
            replace(wrong, error.message);
          }
        },
      },
      children,
      wrong,
      h(
        'div',
        { class: 'row' },
        h('button', { type: 'submit', class: danger ? 'danger' : 'primary' }, button),
      ),
    );
    const box = dialog(heading, form);
    form.querySelector('input, select')?.focus();
    return form;
  }

  function remove(component) {
    ask(
      `Remove ${labelOf(component)}?`,
      async () => changed(await app.api.send('DELETE', path(component))),
      'Remove',
      true,
      h('p', null, `${latest.name || id} loses the component and its value.`),
    );
  }

  function changeTarget(l) {
    const box = entityInput({
      label: `Target in ${l.column}`,
      value: l.ends[0].name || l.ends[0].id,
      id: l.ends[0].id,
      placeholder: 'ID or name; empty for none',
    });
    ask(
      `Target in ${l.column}`,
      async () => changed(await app.api.send('PATCH', path(l), { value: box.meant() })),
      'Save',
      false,
      box.element,
    );
  }

  function addComponent() {
    const has = new Set([
      ...latest.components.map((c) => c.id),
      ...latest.links.filter((l) => l.direction === 'out').map((l) => l.id),
    ]);
    const free = app.world.columns.filter((c) => !has.has(c.id) && !c.edges);
    const select = h(
      'select',
      { id: 'which-component' },
      free.map((c) => h('option', { value: c.id }, c.label)),
    );
    const target = entityInput({ label: 'Target' });
    const row = h('label', { class: 'field' }, 'Target', target.element);
    const chosen = () => free.find((c) => String(c.id) === select.value);
    const choose = () => {
      row.hidden = !chosen()?.relation;
    };
    select.addEventListener('change', choose);
    ask(
      'Add a component',
      async () => {
        if (!chosen()) return;
        await app.api.send('POST', path(chosen()), chosen().relation ? { value: target.meant() ?? '' } : {});
        await reload();
      },
      'Add',
      false,
      free.length > 0
        ? [h('label', { class: 'field' }, 'Component', select), row]
        : h('p', null, 'The entity already has every component that can be added here.'),
    );
    choose();
  }

  function deleteEntity() {
    const below = latest.links.filter((l) => l.kind === 'relation' && l.direction === 'in');
    ask(
      `Delete ${latest.name || id}?`,
      async () => {
        await app.api.send('DELETE', `entities/${encodeURIComponent(id)}`);
        died();
      },
      'Delete',
      true,
      h('p', null, 'This deletes the entity and its components. The deletion cannot be undone.'),
      below.map((l) =>
        h(
          'p',
          null,
          `It is the target of ${entities(l.total)} in ${l.column}. `,
          'Depending on the relation, those entities are deleted too, lose their target, ' +
            'or prevent the deletion.',
        ),
      ),
    );
  }

  async function copy() {
    try {
      await navigator.clipboard.writeText(id);
      app.announce(`${id} copied`);
      replace(notice, h('p', { class: 'dim' }, `${id} copied.`));
      setTimeout(() => {
        if (!dead) replace(notice);
      }, 1500);
    } catch {
      dialog('Entity ID', h('p', null, h('code', null, id)));
    }
  }

  function onKey(event) {
    if (
      event.key !== 'f' ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      event.target.closest?.('input, textarea, select, dialog')
    )
      return;
    event.preventDefault();
    if (!dead) setFollow(!stop);
  }

  update(first, false);
  setFollow(true);
  document.addEventListener('keydown', onKey);
  return () => {
    document.removeEventListener('keydown', onKey);
    stop?.();
    for (const tree of trees) tree.destroy();
  };
}
