/** A recorded log with calls of every kind: answered, refused by the tool, lost and sent again, and without an end. */
import { createTroupe } from '../../src/runtime/troupe.js';
import type { LogSink } from '../../src/event-log/record/record-options.js';
import { createControlledClock } from '../../src/testing/controlled-clock.js';
import { text, tool } from '../../src/testing/ordinary-answers.js';
import { ScriptedServer, SILENCE } from '../../src/testing/scripted-server.js';

/** Longer than what a page shows at once. */
export const LONG_ANSWER = JSON.stringify(
  Array.from({ length: 400 }, (_, line) => ({ line, words: 'so it goes' })),
);

export async function callLog(bodies: boolean): Promise<string> {
  const clock = createControlledClock(Date.UTC(2026, 4, 12, 8, 30));
  const lines: string[] = [];
  const sink: LogSink = { write: (part) => void lines.push(part), close: () => {} };
  const searching = new ScriptedServer(
    { tools: [tool('find', { annotations: { readOnlyHint: true } })], on: { 'tools/call': { afterMs: 40 } } },
    clock,
  );
  const files = new ScriptedServer(
    {
      tools: [tool('read'), tool('write'), tool('wait')],
      on: {
        'tools/call': async ({ name }) => {
          await new Promise<void>((resolve) => clock.setTimeout(resolve, 60));
          if (name === 'wait') return SILENCE;
          return name === 'write' ? { ...text('The disk is full.'), isError: true } : text(LONG_ANSWER);
        },
      },
    },
    clock,
  );
  const troupe = createTroupe({
    ...{ clock, seed: 3, record: { target: sink, wire: !bodies, bodies } },
    servers: {
      files: { type: 'in-process', server: files },
      search: { type: 'in-process', server: searching },
    },
  });
  const starting = troupe.start();
  await clock.runUntil(starting);
  await clock.runUntil(troupe.callTool('mcp__files__read', { path: 'notes.txt' }));
  await clock.runUntil(troupe.callTool('mcp__files__write', { path: 'notes.txt' }));
  const lost = troupe.callTool('mcp__search__find', { words: 'lost and found' });
  await clock.advance(15);
  await searching.die();
  await clock.runUntil(lost);
  const waiting = troupe.callTool('mcp__files__wait', {}).catch(() => undefined);
  await clock.advance(500);
  const log = lines.join('');
  const closing = troupe.close();
  await clock.runUntil(closing);
  await waiting;
  return log;
}
