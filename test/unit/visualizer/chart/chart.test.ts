/** Which transition a chart shows as taken, which ones as possible, and its layout. */
import Elk from 'elkjs/lib/elk.bundled.js';
import { describe, expect, it } from 'vitest';
import { arrangementOf } from '../../../../visualizer/src/chart/arrangements.js';
import { layoutChart } from '../../../../visualizer/src/chart/chart-layout.js';
import { possibleFrom, takenBy } from '../../../../visualizer/src/chart/taken.js';
import { namesOf } from '../../../../visualizer/src/words/names.js';
import { ownCharts } from '../../../../visualizer/src/log/own-charts.js';
import { stateIdsOf } from '../../../../src/charts/chart-lookup.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const charts = ownCharts();
const connection = charts['connection']?.model;
if (connection === undefined) throw new Error('There is no chart of a connection.');

describe('the chart of the page', () => {
  it('shows the transition that an event has taken.', () => {
    const taken = takenBy(connection, {
      from: { reconnecting: 'releasing' },
      to: { reconnecting: 'backingOff' },
      events: ['xstate.done.actor.releaseSession'],
    });
    expect(taken.map(({ source, targets }) => [source, ...targets])).toEqual([
      ['connection.reconnecting.releasing', 'connection.reconnecting.backingOff'],
    ]);
    const stop = takenBy(connection, {
      from: { reconnecting: 'backingOff' },
      to: { shuttingDown: { procedure: 'draining', purpose: 'ending' } },
      events: ['connection.stop'],
    });
    expect(stop.map(({ source }) => source)).toEqual(['connection.reconnecting']);
    expect(takenBy(connection, { from: 'stopped', to: 'stopped', events: ['connection.retry'] })).toEqual([]);
  });

  it('offers the transitions of every active state, and no others.', () => {
    const active = new Set(stateIdsOf(connection, { reconnecting: 'backingOff' }));
    const sources = new Set(possibleFrom(connection, active).map(({ source }) => source));
    expect(sources).toContain('connection.reconnecting.backingOff');
    expect(sources).toContain('connection');
    for (const source of sources) expect(active).toContain(source);
  });

  it.each(Object.keys(charts))(
    'lays out the chart of %s with every state in its parent and every line.',
    async (name) => {
      const { model } = charts[name] ?? { model: connection };
      const elk = new Elk.default();
      const placed = await layoutChart(model, arrangementOf(model), (graph) => elk.layout(graph), {
        names: namesOf(name, false),
        boldWidth: (text, size) => text.length * size * 0.7,
      });
      const ids = new Set(placed.boxes.map(({ state }) => state.id));
      expect(ids.size).toBe(placed.content.states.size - 1);
      for (const { state, x, y, width, height } of placed.boxes) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(x + width).toBeLessThanOrEqual(placed.width + 1);
        for (const child of state.states) {
          const inner = placed.boxes.find((box) => box.state.id === child.id);
          expect(inner?.x).toBeGreaterThanOrEqual(x);
          expect((inner?.y ?? 0) + (inner?.height ?? 0)).toBeLessThanOrEqual(y + height);
        }
      }
      const drawn = new Set(placed.lines.filter(({ paths }) => paths.length > 0).map(({ id }) => id));
      for (const { key } of placed.content.lines) expect(drawn).toContain(key);
    },
  );

  it('has no manual arrangement if its states have changed since.', () => {
    const other = { ...connection, root: { ...connection.root, states: connection.root.states.slice(1) } };
    expect(arrangementOf(connection).rows.length).toBeGreaterThan(0);
    expect(arrangementOf(other).rows).toEqual([]);
  });
});
