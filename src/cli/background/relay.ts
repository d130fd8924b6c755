/**
 * Runs a command in the background process of its configuration, if there is one: its output, exit code and Ctrl-C are as
 * if it ran here. Loads nothing that the command itself needs.
 *
 * R1. Until the process has begun the command, the command can still run here. Afterwards it is never run twice.
 * R2. If there is a process that cannot be used, a note says why.
 */
import { once } from 'node:events';
import type { Flags } from '../arguments/flags.js';
import { EXIT, listenForStop, type ExitCode } from '../exit.js';
import type { Host } from '../host.js';
import { oneLine, type OutputStream, type Terminal } from '../output/terminal.js';
import { systemClock } from '../../ports.js';
import { isMet, isSameVersion, meet, removeStale, type Met } from './meet.js';
import { send, type StreamFacts } from './relay-messages.js';
import { placeOf, type Place } from './place.js';

export interface Relayed {
  readonly args: readonly string[];
  readonly host: Host;
  readonly flags: Flags;
  readonly terminal: Terminal;
}

/** Undefined if the command has to run here. */
export async function relay({ args, host, flags, terminal }: Relayed): Promise<ExitCode | undefined> {
  const note = (why: string): undefined =>
    terminal.note(oneLine(`troupe: not run in the background process: ${why}`)) as undefined;
  const place = await placeOf(flags).catch(() => undefined);
  if (place === undefined) return undefined;
  const found = await meet(place);
  if (!isMet(found)) {
    if (found.state === 'stale') await removeStale(place, AbortSignal.timeout(1_000)).catch(() => {});
    return found.state === 'unusable' ? note(found.why) : undefined;
  }
  if (!isSameVersion(found)) {
    found.socket.destroy();
    return note(`it is of version ${found.version}; ${ANEW}`);
  }
  return follow(found, { args, host, terminal, place, note });
}

const ANEW = "'troupe down' and 'troupe up --background' start it anew";

interface Following extends Omit<Relayed, 'flags'> {
  readonly place: Place;
  readonly note: (why: string) => undefined;
}

async function follow(
  { socket, messages }: Met,
  { args, host, terminal, place, note }: Following,
): Promise<ExitCode | undefined> {
  let isHere = false;
  const stopListening = listenForStop(process, systemClock, (press) => {
    if (press === 1) return send(socket, { type: 'interrupt' });
    isHere = true;
    return socket.destroy();
  });
  const onGone = (): void => send(socket, { type: 'gone' });
  terminal.gone.addEventListener('abort', onGone, { once: true });
  const input = new RelayedInput(host, (data) => send(socket, { type: 'stdin', data }));
  const { env, stdout, stderr } = host;
  send(socket, {
    type: 'run',
    request: { args, env, stdout: factsOf(stdout), stderr: factsOf(stderr) },
  });
  try {
    for await (const message of messages) {
      if (message.type === 'declined') return note(message.why);
      if (message.type === 'exit') return message.code;
      if (message.type === 'stdin-wanted') input.open();
      else if (!host[message.stream].write(Buffer.from(message.data, 'base64')))
        await drained(host[message.stream], terminal);
    }
  } catch {
    // The connection was lost.
  } finally {
    input.close();
    terminal.gone.removeEventListener('abort', onGone);
    stopListening();
  }
  terminal.note(
    isHere
      ? 'troupe: interrupted'
      : oneLine(
          `troupe: the background process has ended; what the command did is not known. Its log: ${place.log}`,
        ),
  );
  return EXIT.failed;
}

function factsOf({ isTTY = false, columns, rows }: OutputStream): StreamFacts {
  return { isTTY, ...(columns !== undefined && { columns }), ...(rows !== undefined && { rows }) };
}

/** Also resolves when the stream has no reader any more. */
async function drained(stream: OutputStream, { gone }: Terminal): Promise<void> {
  await once(stream as NodeJS.WriteStream, 'drain', { signal: gone }).catch(() => {});
}

/** Reads stdin only if the command wants it. */
class RelayedInput {
  #isOpen = false;
  readonly #read = (chunk: Buffer | string): void =>
    this.pass(Buffer.from(chunk as string).toString('base64'));
  readonly #end = (): void => this.pass(null);

  constructor(
    private readonly host: Host,
    private readonly pass: (data: string | null) => void,
  ) {}

  open(): void {
    this.#isOpen = true;
    this.host.stdin.on('data', this.#read).on('end', this.#end);
  }

  close(): void {
    if (!this.#isOpen) return;
    this.host.stdin.off('data', this.#read).off('end', this.#end);
    this.host.stdin.pause();
  }
}
