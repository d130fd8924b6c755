/** A `Terminal` whose streams keep what is written to them. */
import { Terminal } from '../../src/cli/output/terminal.js';
import { FakeStream, type Size } from './fake-stream.js';

export interface FakeTerminal {
  readonly terminal: Terminal;
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  /** The reader of stdout goes away. */
  hangUp(): void;
}

/** Both streams are terminals if a size is given, otherwise pipes. Without colors. */
export function makeTerminal(size?: Size, env: Readonly<Record<string, string>> = {}): FakeTerminal {
  const stdout = new FakeStream(size);
  const stderr = new FakeStream(size);
  const gone = new AbortController();
  const terminal = new Terminal({ stdout, stderr, env }, gone.signal, false);
  return { terminal, stdout, stderr, hangUp: () => gone.abort() };
}
