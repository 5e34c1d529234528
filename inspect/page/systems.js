// The systems page: the order and the costs of the systems, the work of each worker in one tick, and the
// buttons for pause, step and resume.

import { costTable } from './cost-table.js';
import { systemGraph } from './system-graph.js';
import { timeline } from './timeline.js';
import { emptyBox, errorBox, format, h, palette, panel, replace, setQuantity, setText } from './ui.js';

// The stream sends an event each second. Shares and means of costs cover the last eventsKept events.
const eventsKept = 10;

// meterOf makes one of the readings at the top of the page.
function meterOf(name) {
  const value = h('div', { class: 'meter-value' });
  const note = h('div', { class: 'meter-note' });
  return {
    value,
    note,
    element: h('div', { class: 'meter' }, h('div', { class: 'meter-name' }, name), value, note),
  };
}

// costsOf returns the costs of systems. now and before are statistics; before is the earlier one. The shares
// and means cover the ticks between them; p50 and p99 cover the last 256 runs, max and runs all runs. If
// before is missing, belongs to another schedule, or has as many ticks as now, the shares and means cover all
// ticks.
export function costsOf(now, before) {
  const same = before?.id === now.id && now.ticks.count > before.ticks.count ? before : null;
  const past = new Map(same?.systems.map((s) => [s.name, s.times]));
  const ticks = now.ticks.count - (same?.ticks.count ?? 0);
  const took = now.ticks.total - (same?.ticks.total ?? 0);
  const cost = (name, times, recent, earlier) => {
    const spent = times.total - (earlier?.total ?? 0);
    return {
      name,
      share: took > 0 ? spent / took : 0,
      mean: ticks > 0 ? spent / ticks : 0,
      p50: recent.p50,
      p99: recent.p99,
      last: times.last,
      max: times.max,
      runs: times.count,
    };
  };
  return {
    systems: now.systems.map((s) => ({
      ...cost(s.name, s.times, s.recent, past.get(s.name)),
      disabled: s.disabled,
    })),
    commands: cost('', now.applying, now.recentApplying, same?.applying),
  };
}

export const page = {
  id: 'systems',
  title: 'Systems',
  async mount(root, app) {
    const end = new AbortController();
    const { signal } = end;
    let known = null; // the answer of GET systems
    let chosen = null; // the shown schedule, an element of known.schedules
    let control = { available: false, paused: false, reason: '' };
    let events = []; // the last statistics of the chosen schedule, the oldest first
    const marked = { system: null, column: null };

    // Pause, step and resume.
    const notice = h('div', { class: 'notice', role: 'status' });
    const pause = h('button', { type: 'button', class: 'primary', title: 'Space', onclick: toggle }, 'Pause');
    const steps = [1, 10, 60].map((n) =>
      h(
        'button',
        {
          type: 'button',
          title: n === 1 ? 'Key .' : null,
          aria: { label: `Step ${n} ${n === 1 ? 'tick' : 'ticks'}` },
          onclick: () => sendControl(n),
        },
        n === 1 ? 'Step' : `+${n}`,
      ),
    );
    const state = h('span', { class: 'systems-state' });
    const reason = h('p', { class: 'dim systems-reason' });
    const choice = h('select', {
      aria: { label: 'Schedule' },
      hidden: true,
      onchange: () => choose(Number(choice.value)),
    });

    const meters = {
      tick: meterOf('Tick'),
      time: meterOf('Tick time, p99'),
      applying: meterOf('Applying commands'),
      late: meterOf('Late, dropped'),
      workers: meterOf('Workers'),
    };
    const table = costTable({ onSystem: (name) => mark('system', name) });
    const graph = systemGraph({
      onSystem: (name) => mark('system', name),
      onColumn: (name) => mark('column', name),
    });
    const course = timeline({ record, onSystem: (name) => mark('system', name) });
    const states = h('p', { class: 'dim systems-states' });
    const jobs = h('p', { class: 'dim systems-states' });
    const queues = h('tbody');
    const sent = panel(
      'Events',
      { class: 'flush' },
      h(
        'table',
        { class: 'data' },
        h(
          'thead',
          null,
          h(
            'tr',
            null,
            h('th', { scope: 'col' }, 'Queue'),
            h('th', { scope: 'col', class: 'hide-narrow' }, 'Type'),
            ['Last tick', 'All', 'Memory'].map((title) => h('th', { scope: 'col', class: 'num' }, title)),
          ),
        ),
        queues,
      ),
    );
    const body = h('div', { class: 'systems-body' });
    root.append(
      h(
        'div',
        { class: 'row systems-control' },
        h('div', { class: 'row' }, pause, h('div', { class: 'group' }, steps), state),
        choice,
      ),
      reason,
      notice,
      body,
    );

    const shown = [
      h(
        'div',
        { class: 'meters', role: 'group', aria: { label: 'Readings' } },
        Object.values(meters).map((m) => m.element),
      ),
      states,
      jobs,
      h(
        'div',
        { class: 'systems-two' },
        panel('Time of a tick', { class: 'flush', tools: table.tools }, table.element),
        panel('Order of systems', { class: 'flush', tools: graph.tools }, graph.element),
      ),
      panel('One tick', { class: 'flush', tools: course.tools }, course.element),
      sent,
    ];

    // mark highlights a system or a column everywhere, or removes the highlight.
    function mark(kind, name) {
      if (kind) marked[kind] = marked[kind] === name ? null : name;
      table.mark(marked.system);
      graph.mark(marked);
      course.mark(marked.system);
    }

    function showControl() {
      const may = control.available && app.api.hasToken();
      const why =
        control.available && !may
          ? 'Pausing needs the token: open the address that the program printed.'
          : control.reason;
      for (const b of [pause, ...steps]) b.disabled = !may;
      setText(pause, control.paused ? 'Resume' : 'Pause');
      setText(reason, may ? '' : why);
      reason.hidden = may;
      state.dataset.state = control.paused ? 'paused' : 'runs';
      setText(state, control.paused ? 'paused' : chosen?.stats.running || control.available ? 'running' : '');
    }

    let lastRequest = Promise.resolve();

    // sendControl makes the program step the given number of ticks. Without a number, it pauses or resumes
    // the program.
    function sendControl(ticks) {
      if (pause.disabled) return;
      // Each request waits for the answer to the earlier request, and only then chooses between pause and
      // resume. So every press of a key has an effect.
      lastRequest = lastRequest
        .then(() => {
          const action = ticks ? 'step' : control.paused ? 'resume' : 'pause';
          return app.api.send('POST', 'control', { action, ticks }, { signal });
        })
        .then((done) => {
          notice.textContent = '';
          control.paused = done.paused;
          showControl();
          if (done.tick > 0) showTick(done.tick);
          if (ticks) {
            app.announce(`tick ${done.tick}`);
            course.again();
          } else {
            app.announce(done.paused ? 'paused' : 'running');
          }
        })
        .catch((error) => {
          if (!app.api.aborted(error)) replace(notice, errorBox(error));
        });
    }

    function toggle() {
      sendControl();
    }

    function onKey(event) {
      if (
        event.ctrlKey ||
        event.metaKey ||
        event.altKey ||
        event.defaultPrevented ||
        document.querySelector('dialog[open]')
      )
        return;
      if (event.target.closest?.('input, select, textarea')) return;
      if (event.key === '.') sendControl(1);
      else if (event.key === ' ' && !event.target.closest?.('button, a, summary, [role=tab]')) toggle();
      else return;
      event.preventDefault();
    }
    document.addEventListener('keydown', onKey);

    async function record(ticks) {
      return app.api.get('systems/timeline', { ticks, schedule: chosen.id }, { signal });
    }

    function choose(id) {
      const before = chosen?.id;
      chosen =
        known.schedules.find((s) => s.id === id) ??
        known.schedules.find((s) => s.main) ??
        known.schedules[0] ??
        null;
      events = chosen ? [chosen.stats] : [];
      if (!chosen) {
        replace(
          body,
          emptyBox(
            'The world has no schedule',
            h(
              'p',
              null,
              'The program runs its ticks without package sched, so there are no systems to show. ' +
                'With package sched, a system is a function that declares what it reads and writes:',
            ),
            h(
              'pre',
              null,
              h(
                'code',
                null,
                's := sched.New(world, sched.Options{Rate: 60})\n' +
                  's.Add(sched.System{Name: "move", Reads: sched.Columns(velocity), ' +
                  'Writes: sched.Columns(position), Run: move})\n' +
                  'err := s.Run(ctx)',
              ),
            ),
          ),
        );
        return;
      }
      if (!shown[0].isConnected) replace(body, shown);
      const colors = new Map(chosen.systems.map((s, i) => [s.name, palette(i)]));
      table.show(chosen, colors);
      graph.show(chosen, colors);
      course.show(colors);
      showStats(chosen.stats);
      if (chosen.id === before) return;
      marked.system = marked.column = null;
      mark();
      course.clear();
      course.again();
    }

    function showEvents(list) {
      sent.hidden = list.length === 0;
      replace(
        queues,
        list.map((q) =>
          h(
            'tr',
            null,
            h('td', { class: 'name' }, q.name),
            h('td', { class: 'hide-narrow dim' }, q.type),
            [format.number(q.last), format.short(q.total), format.bytes(q.bytes)].map((text) =>
              h('td', { class: 'num' }, text),
            ),
          ),
        ),
      );
    }

    function showTick(tick) {
      setText(meters.tick.value, format.number(tick));
    }

    function showStats(now) {
      const costs = costsOf(now, events[0]);
      table.update(costs);
      graph.update(costs);
      showEvents(now.events);
      states.hidden = now.states.length === 0;
      setText(states, now.states.map((s) => `${s.name}: ${s.value}`).join(' · '));
      jobs.hidden = now.jobs.length === 0;
      setText(
        jobs,
        now.jobs
          .map(
            (j) =>
              `${j.name}: ${format.number(j.inFlight)} jobs in flight; ` +
              `ticks waited for ${format.short(j.late)} of ${format.short(j.started)} jobs, ` +
              `${format.seconds(j.waitedSeconds)} in all`,
          )
          .join(' · '),
      );
      showTick(now.tick);
      setText(
        meters.tick.note,
        now.budgetSeconds > 0 ? `one tick every ${format.seconds(now.budgetSeconds)}` : '',
      );
      setQuantity(meters.time.value, format.seconds(now.recentTicks.p99));
      meters.time.value.classList.toggle(
        'bad',
        now.budgetSeconds > 0 && now.recentTicks.p99 > now.budgetSeconds,
      );
      setText(
        meters.time.note,
        now.budgetSeconds > 0
          ? `${format.percent(now.recentTicks.p99 / now.budgetSeconds)} of the budget`
          : `p50 ${format.seconds(now.recentTicks.p50)}`,
      );
      setQuantity(meters.applying.value, format.seconds(now.recentApplying.p99));
      setText(
        meters.applying.note,
        `${format.short(now.commandsDone)} done, ${format.short(now.commandsSkipped)} skipped`,
      );
      setText(
        meters.late.value,
        now.budgetSeconds > 0 ? `${format.short(now.late)}, ${format.short(now.dropped)}` : '–',
      );
      setText(
        meters.late.note,
        now.dropped > 0 ? 'simulated time lags behind' : now.budgetSeconds > 0 ? 'ticks' : 'no fixed rate',
      );
      setText(meters.workers.value, chosen.workers);
      setText(
        meters.workers.note,
        `${chosen.systems.length} ${chosen.systems.length === 1 ? 'system' : 'systems'}`,
      );
    }

    async function load() {
      known = await app.api.get('systems', null, { signal });
      control = known.control;
      replace(
        choice,
        known.schedules.map((s) =>
          h(
            'option',
            { value: s.id },
            `Schedule ${s.id}${s.main ? ', main' : ''}: ${s.systems.length} systems`,
          ),
        ),
      );
      choice.hidden = known.schedules.length < 2;
      choose(chosen?.id);
      if (chosen) choice.value = chosen.id;
      showControl();
    }

    // changed reports whether the schedules or their systems differ from those that the page shows.
    function changed(schedules) {
      return (
        schedules.length !== known.schedules.length ||
        schedules.some((s, i) => {
          const shownOne = known.schedules[i];
          return (
            s.id !== shownOne.id ||
            s.systems.length !== shownOne.systems.length ||
            s.systems.some((sys, k) => sys.name !== shownOne.systems[k]?.name)
          );
        })
      );
    }

    let loading = false;
    await load();
    const stop = app.api.stream('systems', {
      onEvent(_, event) {
        if (loading) return;
        control = event.control;
        showControl();
        if (changed(event.schedules)) {
          loading = true;
          load()
            .catch((error) => {
              if (!app.api.aborted(error)) replace(notice, errorBox(error));
            })
            .finally(() => {
              loading = false;
            });
          return;
        }
        const now = event.schedules.find((s) => s.id === chosen?.id);
        if (!now) return;
        chosen.stats = now;
        // During a pause, events repeat the statistics.
        if (now.ticks.count !== events.at(-1)?.ticks.count) events.push(now);
        while (events.length > eventsKept) events.shift();
        showStats(now);
      },
    });

    return () => {
      end.abort();
      stop();
      document.removeEventListener('keydown', onKey);
      graph.destroy();
      course.destroy();
    };
  },
};
