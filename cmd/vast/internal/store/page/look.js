// The bar above the inspector: the user chooses the moment that the inspector shows, and compares two
// moments. A moment is the state of the world at a checkpoint, or in a saved file.
const at = (id) => document.getElementById(id);
let state;
let wanted; // number of the moment that the user chose last
let busy = false;

function cell(row, text, name) {
  const td = row.insertCell();
  td.textContent = text;
  if (name) td.className = name;
}

function say(text) {
  at('said').textContent = text;
  at('said').hidden = !text;
}

async function ask(path, options) {
  const response = await fetch(path, options);
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.error);
  return answer;
}

function label(m) {
  if (m.tick === undefined) return m.name;
  return `tick ${m.tick}, ${new Date(m.taken ?? m.written).toLocaleString()}`;
}

function draw() {
  const index = Math.max(
    0,
    state.moments.findIndex((m) => (m.number ?? 0) === wanted),
  );
  at('slider').value = index;
  at('shown').textContent = `${label(state.moments[index])} (${index + 1} of ${state.moments.length})`;
  at('older').disabled = index === 0;
  at('newer').disabled = index === state.moments.length - 1;
  document.title = `${label(state.moments[index])} · ${state.path}`;
}

async function show(index) {
  wanted = state.moments[Math.max(0, Math.min(index, state.moments.length - 1))].number ?? 0;
  draw();
  if (busy) return;
  busy = true;
  try {
    while (state.shown !== wanted) {
      state = await ask(`show?moment=${wanted}`, { method: 'POST' });
      const inside = at('inspector').contentWindow.location;
      inside.reload(); // the inspector shows the same view of the new moment
    }
    say(
      state.dropped
        ? `Left out: ${state.dropped.join(', ')}. ` + 'Only the program that saved this data can read it.'
        : '',
    );
  } catch (error) {
    say(error.message);
    wanted = state.shown;
    draw();
  } finally {
    busy = false;
  }
}

async function compare() {
  const before = Number(at('before').value);
  const after = wanted; // the user may choose another moment before the answer
  say('Comparing …');
  try {
    const d = await ask(`compare?before=${before}&after=${after}`);
    const of = (number) => label(state.moments.find((m) => (m.number ?? 0) === number));
    at('difference').querySelector('h2').textContent =
      `From ${of(before)} to ${of(after)}: ` +
      `${d.came} ${d.came === 1 ? 'entity' : 'entities'} came, ${d.went} went, ${d.changed} changed`;
    const columns = at('columns').tBodies[0];
    columns.replaceChildren();
    for (const c of d.columns) {
      const row = columns.insertRow();
      cell(row, c.name);
      cell(row, c.came);
      cell(row, c.went);
      cell(row, c.changed);
    }
    const entities = at('entities').tBodies[0];
    entities.replaceChildren();
    for (const e of d.entities) {
      for (const part of e.parts ?? [{}]) {
        const row = entities.insertRow();
        cell(row, e.name ? `${e.name} (${e.id})` : e.id);
        cell(row, e.what, e.what);
        cell(row, part.column ?? '');
        cell(row, part.before ?? '');
        cell(row, part.after ?? '');
      }
    }
    at('difference').hidden = false;
    const listed = d.entities.length;
    say(listed < d.came + d.went + d.changed ? `Only the first ${listed} entities are listed.` : '');
  } catch (error) {
    say(error.message);
  }
}

at('bar').addEventListener('submit', (event) => event.preventDefault());
at('slider').addEventListener('input', () => show(Number(at('slider').value)));
at('older').addEventListener('click', () => show(Number(at('slider').value) - 1));
at('newer').addEventListener('click', () => show(Number(at('slider').value) + 1));
at('compare').addEventListener('click', compare);
at('hide').addEventListener('click', () => {
  at('difference').hidden = true;
});

async function begin() {
  state = await ask('moments');
  wanted = state.shown;
  at('path').textContent = state.path;
  at('slider').max = state.moments.length - 1;
  for (const m of state.moments) at('before').add(new Option(label(m), m.number ?? 0));
  for (const id of ['slider', 'older', 'newer', 'compare']) at(id).hidden = state.moments.length < 2;
  at('before').parentElement.hidden = state.moments.length < 2;
  draw();
  at('inspector').src = '/#/entities';
}

begin().catch((error) => say(error.message));
