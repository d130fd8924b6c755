/** When the inspection attaches to a running troupe, and that no page can block it. */
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import type { LogSink, RecordTarget, Recording } from '../../../src/event-log/record/record-options.js';
import { LiveSource } from '../../../src/inspector/live-source.js';
import type { InspectionMessage } from '../../../src/inspector/page-protocol.js';
import { useCrashWatch } from '../../support/crash-watch.js';
import { useLeakCheck } from '../../support/leak-check.js';
import { ScriptedServer, tool } from '../../support/scripted-server.js';
import { inProcess, passTime, useTroupes } from '../../support/test-troupe.js';

useLeakCheck();
useCrashWatch();
const troupes = useTroupes();

/** A page as the source sees it; it accepts data only while it is not stalled. */
class FakePage extends Writable {
  #text = '';
  #isTaking = true;
  #held: (() => void) | undefined;

  constructor() {
    super({ highWaterMark: 1_000 });
  }

  get messages(): InspectionMessage[] {
    const lines = this.#text.split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as InspectionMessage);
  }

  stall(): void {
    this.#isTaking = false;
  }

  take(): void {
    this.#isTaking = true;
    this.#held?.();
    this.#held = undefined;
  }

  override _write(chunk: Buffer | string, _: BufferEncoding, done: () => void): void {
    this.#text += String(chunk);
    if (this.#isTaking) done();
    else this.#held = done;
  }
}

/** A troupe with one server, with a count of its recordings and listeners. */
async function watchable({ history = 0 } = {}) {
  const test = troupes.make({ servers: { files: inProcess(new ScriptedServer({ tools: [tool('read')] })) } });
  const { troupe, clock } = test;
  await troupe.start();
  const attached = { recordings: 0, ever: 0, listeners: 0 };
  let sink: LogSink | undefined;
  let beginning: Promise<Recording> | undefined;
  const source = new LiveSource({
    clock,
    title: 'test',
    history,
    isReadOnly: false,
    recorded: () => undefined,
    // No Stately viewer is used in these tests.
    system: undefined as never,
    record: async (target: RecordTarget): Promise<Recording> => {
      attached.recordings += 1;
      attached.ever += 1;
      sink = typeof target === 'object' && 'target' in target ? (target.target as LogSink) : undefined;
      beginning = troupe.record(target);
      const recording = await beginning;
      let isOpen = true;
      return {
        close: async () => {
          if (isOpen) attached.recordings -= 1;
          isOpen = false;
          await recording.close();
        },
      };
    },
    connections: () => [troupe.connection('files')].flatMap((connection) => connection ?? []),
    connection: (name) => troupe.connection(name),
    tools: () => troupe.tools,
    mask: () => (text) => text,
    review: () => undefined,
    onchanged: (fn) => {
      attached.listeners += 1;
      const subscription = troupe.events$.subscribe(fn);
      return () => {
        attached.listeners -= 1;
        subscription.unsubscribe();
      };
    },
  });
  const settle = async (): Promise<void> => {
    await beginning?.catch(() => {});
    await clock.advance(0);
  };
  return {
    ...test,
    source,
    attached,
    settle,
    write: (lines: string) => void sink?.write(lines),
    rotate: () => void sink?.rotate?.(),
  };
}

/** The log that the page has received. */
const textOf = (page: FakePage): string =>
  page.messages.map((message) => (message.kind === 'log' ? message.lines : '')).join('');
const kinds = (page: FakePage): string[] => page.messages.map(({ kind }) => kind);

describe('the source of a running troupe', () => {
  it('attaches nothing until a page opens, once for all pages, and detaches after the last has closed.', async () => {
    const { source, attached, clock, settle } = await watchable();
    expect(attached).toEqual({ recordings: 0, ever: 0, listeners: 0 });
    const pages = [new FakePage(), new FakePage()];
    for (const page of pages) source.watch(page);
    await settle();
    expect(attached).toEqual({ recordings: 1, ever: 1, listeners: 1 });
    for (const page of pages) page.destroy();
    await settle();
    expect(attached).toEqual({ recordings: 1, ever: 1, listeners: 1 });
    await clock.advance(9_000);
    const again = new FakePage();
    source.watch(again);
    await clock.advance(20_000);
    expect(attached).toEqual({ recordings: 1, ever: 1, listeners: 1 });
    again.destroy();
    await clock.advance(10_000);
    expect(attached).toEqual({ recordings: 0, ever: 1, listeners: 0 });
    expect([...source.log()]).toEqual([]);
    const later = new FakePage();
    source.watch(later);
    await settle();
    expect(attached).toEqual({ recordings: 1, ever: 2, listeners: 1 });
    expect(kinds(later)).toEqual(['hello', 'status', 'log']);
    later.destroy();
    await passTime(clock, source.close('over'));
    expect(attached).toEqual({ recordings: 0, ever: 2, listeners: 0 });
  });

  it('keeps the history from the opening to the end, whether or not a page is open.', async () => {
    const { source, attached, clock, troupe, settle } = await watchable({ history: 2 * 1_024 * 1_024 });
    await source.open();
    expect(attached).toEqual({ recordings: 1, ever: 1, listeners: 0 });
    await passTime(clock, troupe.connection('files')?.stop() ?? Promise.resolve());
    const late = new FakePage();
    source.watch(late);
    await settle();
    expect(kinds(late).slice(0, 3)).toEqual(['hello', 'status', 'log']);
    expect(textOf(late)).toContain('"connection.stop"');
    late.destroy();
    await clock.advance(30_000);
    expect(attached).toEqual({ recordings: 1, ever: 1, listeners: 0 });
    const again = new FakePage();
    source.watch(again);
    await settle();
    expect(textOf(again)).toBe(textOf(late));
    again.destroy();
    await passTime(clock, source.close('over'));
    expect(attached).toEqual({ recordings: 0, ever: 1, listeners: 0 });
    expect([...source.log()]).toEqual([]);
  });

  it('leaves no timer if it closes before the last page is forgotten.', async () => {
    const { source, clock, settle } = await watchable();
    const before = clock.pending.length;
    const page = new FakePage();
    source.watch(page);
    await settle();
    page.destroy();
    await settle();
    expect(clock.pending.length).toBeGreaterThan(before);
    await passTime(clock, source.close('over'));
    expect(clock.pending.length).toBe(before);
  });

  it('attaches again for a page that opens while the source detaches.', async () => {
    const { source, clock, attached, settle } = await watchable();
    const first = new FakePage();
    source.watch(first);
    await settle();
    first.destroy();
    await settle();
    // The timer fires, and the page opens before anything else happens.
    const late = new FakePage();
    clock.setTimeout(() => source.watch(late), 10_000);
    await clock.advance(10_000);
    await settle();
    expect(attached).toEqual({ recordings: 1, ever: 2, listeners: 1 });
    expect(kinds(late)).toEqual(['hello', 'status', 'log']);
    late.destroy();
    await passTime(clock, source.close('over'));
  });

  it('stops sending to a page that does not read, buffers nothing for it, and resynchronizes it later.', async () => {
    const { source, settle, write, rotate, clock, troupe } = await watchable({ history: 8_000 });
    const [slow, fast] = [new FakePage(), new FakePage()];
    source.watch(slow);
    source.watch(fast);
    await settle();
    slow.stall();
    for (let part = 1; part <= 6; part += 1) {
      rotate();
      write(`{"header":${part}}\n`);
      for (let count = 0; count < 50; count += 1) write(`{"entry":${part}}\n`);
    }
    expect(slow.writableLength).toBeLessThan(20_000);
    await settle();
    expect(fast.messages.filter((message) => message.kind === 'log').length).toBeGreaterThan(6);
    expect(kinds(fast)).not.toContain('resync');
    expect(troupe.connection('files')?.state).toBe('ready');
    slow.take();
    await settle();
    const resync = slow.messages.find((message) => message.kind === 'resync');
    expect(resync?.missed).toBeGreaterThan(100);
    const after = slow.messages.at(kinds(slow).indexOf('resync') + 1);
    expect(after).toMatchObject({ kind: 'log', lines: expect.stringMatching(/^\{"header":6\}\n/) });
    slow.destroy();
    fast.destroy();
    await passTime(clock, source.close('over'));
  });

  it('cuts off a page that has not read for a minute.', async () => {
    const { source, settle, write, clock } = await watchable();
    const page = new FakePage();
    page.stall();
    source.watch(page);
    await settle();
    write(`{"entry":"${'x'.repeat(2_000)}"}\n`);
    await clock.advance(59_000);
    expect(page.destroyed).toBe(false);
    await clock.advance(2_000);
    expect(page.destroyed).toBe(true);
    await passTime(clock, source.close('over'));
  });

  it('sends a sign of life every five seconds to a page that reads.', async () => {
    const { source, settle, write, clock } = await watchable();
    const before = clock.pending.length;
    const [page, slow] = [new FakePage(), new FakePage()];
    for (const each of [page, slow]) source.watch(each);
    expect(page.messages[0]).toMatchObject({ kind: 'hello', aliveEveryMs: 5_000 });
    await settle();
    await clock.advance(5_000);
    expect(kinds(page).at(-1)).toBe('alive');
    slow.stall();
    write(`{"entry":"${'x'.repeat(2_000)}"}\n`);
    const held = slow.writableLength;
    await clock.advance(50_000);
    expect(kinds(page).filter((kind) => kind === 'alive')).toHaveLength(11);
    expect(slow.writableLength).toBe(held);
    page.destroy();
    slow.destroy();
    await settle();
    await passTime(clock, source.close('over'));
    expect(clock.pending.length).toBe(before);
  });

  it('ends with the newest rows and an end message, even for a page that opens later.', async () => {
    const { source, settle, clock, troupe } = await watchable();
    const page = new FakePage();
    source.watch(page);
    await settle();
    await passTime(clock, troupe.connection('files')?.stop() ?? Promise.resolve());
    const ended = source.close('over');
    page.destroy();
    await passTime(clock, ended);
    const late = new FakePage();
    source.watch(late);
    await settle();
    expect(late.messages.at(-1)).toEqual({ kind: 'end', why: 'over' });
    expect(late.writableEnded).toBe(true);
    await clock.advance(20_000);
  });

  it('sends its pages an end message if the recording ends by itself, and starts another one for the next page.', async () => {
    const { source, settle, clock, troupe, attached } = await watchable();
    const page = new FakePage();
    source.watch(page);
    await settle();
    await passTime(clock, troupe.close());
    await settle();
    expect(page.messages.at(-1)).toMatchObject({ kind: 'end', why: 'The recording has ended.' });
    expect(attached.recordings).toBe(0);
    const next = new FakePage();
    source.watch(next);
    await settle();
    expect(next.messages.at(-1)).toMatchObject({ kind: 'end' });
  });
});
