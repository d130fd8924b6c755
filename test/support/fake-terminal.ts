/** A `Terminal` on streams that keep what is written. */
import { Terminal } from '../../src/cli/output/terminal.js';
import { FakeStream, type Size } from './fake-stream.js';

export interface FakeTerminal {
  readonly terminal: Terminal;
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  /** The reader of stdout goes away. */
  hangUp(): void;
}

/** A terminal on both streams where a size is given, two pipes otherwise. Without colors. */
export function makeTerminal(size?: Size): FakeTerminal {
  const stdout = new FakeStream(size);
  const stderr = new FakeStream(size);
  const gone = new AbortController();
  const terminal = new Terminal({ stdout, stderr, env: {} }, gone.signal, false);
  return { terminal, stdout, stderr, hangUp: () => gone.abort() };
}
