// Shows a component as a group of typed fields. The user can fold fields with parts, and edit values in
// place. An update changes the texts of the view, except for a value that the user is editing. The view is
// built again only if the shape of the value changes.

import { entityInput } from './entity-input.js';
import { format, h, replace, setText } from './ui.js';

const foldedFrom = 9; // a field with at least this number of parts is folded at first

// componentView shows a component. context has
//   folds              a Map of the states of fold buttons by key; true is unfolded
//   mayEdit            whether the user may edit values
//   save(component, path, value)   resolves when the value is saved, and rejects with an error
//   slot               slot of the entity
//   labelOf(component) the unique label of the component's column
//   remove(component)  opens a dialog that removes the component
export function componentView(component, context) {
  const inside = { ...context, component, mayEdit: context.mayEdit && component.editable };
  const label = context.labelOf(component);
  const body = h('div', { class: 'panel-body' });
  const summary = h('span', { class: 'component-summary mono dim clip' });
  const place = h('a', {
    class: 'component-place mono dim hide-narrow',
    href: `#/memory?slot=${context.slot}&column=${component.id}`,
    hidden: true,
  });
  const disabled = h('span', { class: 'chip warn', hidden: true });
  let fields = null;
  let shape = '';
  const twist = foldButton(label, `${component.id}`, true, context, (open) => {
    body.hidden = !open;
    summary.hidden = open;
  });
  const element = h(
    'section',
    { class: 'panel component', data: { column: component.column }, aria: { label } },
    h(
      'header',
      { class: 'panel-head' },
      component.value ? twist : h('span', { class: 'twist-none' }),
      h('h2', null, label),
      component.type &&
        component.type.split('.').at(-1) !== component.column &&
        h('span', { class: 'dim mono clip hide-narrow' }, component.type),
      summary,
      h(
        'div',
        { class: 'panel-tools' },
        disabled,
        place,
        component.storage !== 'dense' && h('span', { class: 'chip' }, component.storage),
        component.size > 0 && h('span', { class: 'dim num' }, format.bytes(component.size)),
        context.mayEdit &&
          h(
            'button',
            {
              type: 'button',
              class: 'quiet small',
              title: `Remove ${label}`,
              aria: { label: `Remove ${label}` },
              onclick: () => context.remove(component),
            },
            'Remove',
          ),
      ),
    ),
    component.value && body,
  );

  function update(now, flash) {
    disabled.hidden = now.disabledBy.length === 0;
    setText(disabled, `disabled by ${now.disabledBy.join(', ')}`);
    if (!now.value) return;
    inside.component = now;
    setText(summary, now.value.text);
    place.hidden = !now.place;
    place.title = now.place
      ? `reservation ${now.place.reservation} + ${format.number(now.place.offset)} bytes`
      : '';
    setText(place, now.place?.address ?? '');
    const to = shapeOf(now.value);
    if (to !== shape) {
      shape = to;
      fields = hasRows(now.value)
        ? listView(now.value, inside, 0)
        : fieldView({ ...now.value, name: 'value' }, inside, 0);
      replace(body, h('ul', { class: 'tree fields' }, hasRows(now.value) ? fields.items : fields.element));
    }
    fields.update(hasRows(now.value) ? now.value : { ...now.value, name: 'value' }, flash);
  }

  body.hidden = twist.getAttribute('aria-expanded') !== 'true';
  summary.hidden = !body.hidden;
  update(component, false);
  return { element, update };
}

// shapeOf returns a text that describes the shape of a value. A view can show all values of the same shape.
function shapeOf(field) {
  const parts = (field.parts ?? []).map(shapeOf).join();
  return `${field.path}:${field.kind}${field.editable ? '+' : ''}${field.more ?? ''}(${parts})`;
}

// hasRows reports whether the parts of a value are shown as rows. A complete vector is shown as a single row.
const hasRows = (field) =>
  (field.kind !== 'vector' || field.more > 0) &&
  (field.parts?.length > 0 || (field.more > 0 && field.kind !== 'string'));

// foldButton makes a button that folds and unfolds the parts of a value. context.folds keeps the state of the
// button under key.
function foldButton(name, key, open, context, toggle) {
  open = context.folds.get(key) ?? open;
  const button = h('button', {
    type: 'button',
    class: 'twist',
    aria: { expanded: open, label: `Parts of ${name}` },
    onclick() {
      open = !open;
      context.folds.set(key, open);
      button.setAttribute('aria-expanded', open);
      toggle(open);
    },
  });
  return button;
}

// listView shows each part of a value as a row.
function listView(field, context, depth) {
  const views = (field.parts ?? []).map((part) => fieldView(part, context, depth));
  const items = views.map((v) => v.element);
  if (field.more > 0) items.push(h('li', { class: 'dim more' }, `… ${format.number(field.more)} more`));
  return {
    items,
    update(now, flash) {
      views.forEach((view, i) => view.update(now.parts[i], flash));
    },
  };
}

// fieldView shows one field as a row. The row has a value, the few numbers of a vector, or parts that fold.
function fieldView(field, context, depth) {
  const name = h(
    'span',
    {
      class: ['field-name', !field.exported && 'dim'],
      title: field.exported ? field.path : `${field.path} (not exported)`,
    },
    field.name,
  );
  const place = field.offset >= 0 ? ` at byte ${field.offset}` : ', stored elsewhere';
  const type = h(
    'span',
    {
      class: 'field-type dim mono clip hide-narrow',
      title: `${field.type}, ${field.size} bytes${place}`,
    },
    field.type,
  );
  if (hasRows(field)) return groupView(field, context, depth, name, type);
  const values = field.kind === 'vector' ? field.parts : [field];
  const leaves = values.map((part) =>
    leafView(part, context, field.kind === 'vector' ? `${field.name} ${part.name}` : field.name),
  );
  const cells = leaves.map((leaf, i) =>
    h(
      'span',
      { class: 'field-value' },
      field.kind === 'vector' && h('span', { class: 'field-part dim' }, values[i].name.replace(/[[\]]/g, '')),
      leaf.element,
    ),
  );
  const error = h('div', { class: 'field-error', role: 'alert' });
  for (const leaf of leaves) leaf.error = error;
  return {
    element: h(
      'li',
      { data: { path: field.path } },
      h(
        'div',
        { class: 'tree-row field-row' },
        h('span', { class: 'twist-none' }),
        name,
        h('span', { class: 'field-values' }, cells),
        type,
      ),
      error,
    ),
    update(now, flash) {
      if (now.kind === 'vector') leaves.forEach((leaf, i) => leaf.update(now.parts[i], flash));
      else leaves[0].update(now, flash);
    },
  };
}

// groupView shows a field with parts. The parts are built when the group first unfolds.
function groupView(field, context, depth, name, type) {
  const list = h('ul');
  const text = h('span', { class: 'field-values mono dim clip' });
  let latest = field;
  let parts = null;
  const twist = foldButton(
    field.name,
    `${context.component.id}/${field.path}`,
    depth < 3 && (field.parts?.length ?? 0) + (field.more ?? 0) < foldedFrom,
    context,
    show,
  );
  function show(open) {
    list.hidden = !open;
    if (open && !parts) {
      parts = listView(latest, context, depth + 1);
      replace(list, parts.items);
    }
    if (open) parts.update(latest, false);
  }
  show(twist.getAttribute('aria-expanded') === 'true');
  return {
    element: h(
      'li',
      { data: { path: field.path } },
      h('div', { class: 'tree-row field-row' }, twist, name, text, type),
      list,
    ),
    update(now, flash) {
      latest = now;
      setText(text, now.text);
      if (!list.hidden) parts.update(now, flash);
    },
  };
}

// leafView shows a value that is edited as a whole.
function leafView(field, context, name) {
  const element = h('span', { class: 'leaf' });
  const editable = context.mayEdit && field.editable;
  let latest = field;
  let editing = false;
  const self = { element, error: null, update };

  const text = h('span', { class: ['leaf-text', kinds[field.kind] ?? 'mono'] });
  const link = h('a', { class: 'leaf-text' });
  const button =
    editable &&
    h('button', {
      type: 'button',
      class: 'leaf-button',
      title: 'Edit (Enter)',
      aria: { label: `Edit ${name}` },
      onclick: edit,
    });

  function show() {
    if (latest.kind === 'entity') {
      const e = latest.entity;
      if (e?.alive) {
        setText(link, e.name || e.id);
        link.setAttribute('href', `#/entity/${encodeURIComponent(e.id)}`);
        link.title = e.id;
      } else {
        setText(text, e ? `${e.id} (no longer alive)` : 'none');
      }
      const seen = e?.alive ? link : text;
      if (button) {
        setText(button, 'change');
        if (element.firstChild !== seen || element.lastChild !== button) replace(element, seen, button);
      } else if (element.firstChild !== seen) {
        replace(element, seen);
      }
      return;
    }
    const shown = textOf(latest);
    if (text.dataset.shown !== shown) {
      text.dataset.shown = shown;
      replace(
        text,
        shown,
        latest.kind === 'enum' &&
          String(latest.value) !== shown &&
          h('span', { class: 'dim enum-number' }, ` ${latest.value}`),
        latest.more > 0 && h('span', { class: 'dim' }, ` ${format.number(latest.more)} bytes more`),
      );
    }
    const seen = button || text;
    if (button && button.firstChild !== text) replace(button, text);
    if (element.firstChild !== seen) replace(element, seen);
  }

  function update(now, flash) {
    const changed = now.text !== latest.text || now.value !== latest.value;
    latest = now;
    if (editing) return;
    show();
    if (flash && changed) flashOf(element);
  }

  function edit() {
    if (editing) return;
    editing = true;
    const editor = editorOf(latest, context.component, name);
    const save = h('button', { type: 'submit', class: 'small primary' }, 'Save');
    const form = h(
      'form',
      {
        class: 'leaf-edit',
        onsubmit(event) {
          event.preventDefault();
          submit();
        },
        onkeydown(event) {
          if (event.key !== 'Escape' || event.defaultPrevented) return;
          event.preventDefault();
          event.stopPropagation();
          close();
        },
        onfocusout(event) {
          // An unchanged editor closes when it loses the focus.
          if (!form.contains(event.relatedTarget) && editor.value() === editor.initial) close(false);
        },
      },
      editor.element,
      save,
    );
    replace(element, form);
    editor.input.focus();
    editor.input.select?.();

    // hasFocus reports whether the focus is in the editor. After a click on Save, Save is disabled and no
    // element has the focus: hasFocus then returns true, too.
    function hasFocus() {
      const at = document.activeElement;
      return !at || at === document.body || form.contains(at);
    }
    function close(back = hasFocus()) {
      if (!editing) return;
      editing = false;
      replace(self.error);
      show();
      if (back) element.querySelector('button')?.focus();
    }
    async function submit() {
      save.disabled = true;
      editor.input.setAttribute('aria-invalid', 'false');
      try {
        await context.save(
          context.component,
          latest.path,
          editor.meant ? editor.meant() : valueOf(latest, editor.value()),
        );
        close();
        flashOf(element);
      } catch (error) {
        editor.input.setAttribute('aria-invalid', 'true');
        replace(self.error, error.message);
        if (hasFocus()) editor.input.focus();
      } finally {
        save.disabled = false;
      }
    }
  }

  show();
  return self;
}

// kinds are the CSS classes of texts, by the kind of the field.
const kinds = { string: 'leaf-string', enum: 'leaf-word', time: 'mono', duration: 'mono' };

function textOf(field) {
  if (field.kind === 'string') return field.value === '' ? '""' : (field.value ?? field.text);
  return field.text === '' ? '""' : field.text;
}

// flashOf highlights a changed value. Two classes alternate, so that the animation restarts.
function flashOf(element) {
  const odd = element.classList.contains('flash-a');
  element.classList.toggle('flash-a', !odd);
  element.classList.toggle('flash-b', odd);
}

// editorOf returns an editor that suits a field's kind: { element, input, initial, value(), meant() }. The
// text initial is the first value of the input. Only the editor of an entity has meant, which returns the
// value to send.
function editorOf(field, component, name) {
  const label = { label: name };
  const simple = (input, initial) => ({ element: input, input, initial, value: () => input.value });
  switch (field.kind) {
    case 'bool': {
      const input = h(
        'select',
        { aria: label },
        ['true', 'false'].map((t) => h('option', { value: t }, t)),
      );
      input.value = String(field.value);
      return simple(input, input.value);
    }
    case 'enum': {
      const choices = component.choices?.[field.choices] ?? [];
      const known = choices.some((c) => String(c.value) === String(field.value));
      const input = h(
        'select',
        { aria: label },
        choices.map((c) => h('option', { value: String(c.value) }, c.name)),
        !known && h('option', { value: String(field.value) }, field.text),
      );
      input.value = String(field.value);
      return simple(input, input.value);
    }
    case 'entity': {
      const box = entityInput({
        label: name,
        value: field.entity ? field.entity.name || field.entity.id : '',
        id: field.entity?.id,
        placeholder: 'ID or name; empty for none',
      });
      return {
        element: box.element,
        input: box.input,
        initial: box.input.value,
        value: () => box.input.value,
        meant: box.meant,
      };
    }
    case 'string': {
      const value = field.value ?? '';
      const input =
        value.length > 60 || value.includes('\n')
          ? h('textarea', {
              aria: label,
              rows: 4,
              onkeydown(event) {
                // Enter saves; Shift+Enter begins a new line
                if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
                event.preventDefault();
                input.form.requestSubmit();
              },
            })
          : h('input', { type: 'text', aria: label, autocomplete: 'off', spellcheck: 'false' });
      input.value = value;
      return simple(input, value);
    }
  }
  const value = field.kind === 'duration' ? field.text : String(field.value);
  const input = h('input', {
    type: 'text',
    class: 'mono',
    aria: label,
    autocomplete: 'off',
    spellcheck: 'false',
    value,
    inputmode: field.kind === 'float' || field.kind === 'int' || field.kind === 'uint' ? 'decimal' : null,
    size: Math.max(8, value.length + 1),
  });
  return simple(input, value);
}

// valueOf returns the value to send for the text in an input. An integer is sent as a string of digits,
// because a JSON number could lose digits. An invalid text is sent too: the server's error says what is
// allowed.
function valueOf(field, text) {
  switch (field.kind) {
    case 'bool':
      return text === 'true';
    case 'enum': // not a string of digits, because such a string may be the name of another value
      return Number.isSafeInteger(Number(text)) ? Number(text) : text;
    case 'float': {
      const number = Number(text);
      return text.trim() === '' || !Number.isFinite(number) ? text.trim() : number;
    }
    case 'string':
      return text;
  }
  return text.trim();
}
