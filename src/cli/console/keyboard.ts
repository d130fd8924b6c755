/** The keys of a terminal, one by one and without an echo. */
import { createInterface, type Key } from 'node:readline';
import { Writable } from 'node:stream';

/** A terminal sends the rest of a key's sequence this fast, milliseconds; Escape alone has no rest. */
const SEQUENCE_MS = 50;
const SIGQUIT_KEY = '\u001C';

export interface KeyListener {
  /** The character, or the name that readline gives to a key without one. */
  key(key: string): void;
  /** Keys for which a terminal would send the signal; SIGINT also for the end of the input. */
  signal(signal: 'SIGINT' | 'SIGQUIT' | 'SIGTSTP'): void;
}

/** Reads until the returned function is called. */
export function openKeyboard(stdin: NodeJS.ReadableStream, listener: KeyListener): () => void {
  const nowhere = new Writable({ write: (_, __, done) => done() });
  const keys = createInterface({
    input: stdin,
    output: nowhere,
    terminal: true,
    historySize: 0,
    escapeCodeTimeout: SEQUENCE_MS,
  });
  const onKey = (text: string | undefined, { name, ctrl, sequence = '', ...more }: Key): void => {
    if (text === SIGQUIT_KEY) return listener.signal('SIGQUIT');
    if (ctrl === true) return;
    if ('code' in more) return listener.key(name ?? sequence);
    // Escape and a key that follows at once are one sequence.
    const last = sequence.at(-1) ?? '';
    for (const _ of sequence.slice(1)) listener.key('escape');
    listener.key(/^[!-~]$/.test(last) ? last : (name ?? sequence));
  };
  const ended = (): void => listener.signal('SIGINT');
  stdin.on('keypress', onKey);
  keys.on('SIGINT', () => listener.signal('SIGINT'));
  keys.on('SIGTSTP', () => listener.signal('SIGTSTP'));
  keys.on('close', ended);
  return () => {
    stdin.off('keypress', onKey);
    keys.off('close', ended);
    keys.close();
  };
}
