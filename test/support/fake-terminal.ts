/** A `Terminal` whose streams keep what is written to them, and whose JSON must fit the published schema. */
import { Terminal } from '../../src/cli/output/terminal.js';
import type { JsonOutput } from '../../src/cli/output/json-output.js';
import { checkValue } from './command-output.js';
import { FakeStream, type Size } from './fake-stream.js';

export interface FakeTerminal {
  readonly terminal: Terminal;
  readonly stdout: FakeStream;
  readonly stderr: FakeStream;
  /** The reader of stdout goes away. */
  hangUp(): void;
}

class CheckedTerminal extends Terminal {
  override printJson<T extends keyof JsonOutput>(
    command: T,
    value: JsonOutput[T],
    form?: 'line' | 'page',
  ): void {
    super.printJson(command, value, form);
    checkValue(command, JSON.parse(JSON.stringify(value)));
  }
}

/** Both streams are terminals if a size is given, otherwise pipes. Without colors. */
export function makeTerminal(size?: Size, env: Readonly<Record<string, string>> = {}): FakeTerminal {
  const stdout = new FakeStream(size);
  const stderr = new FakeStream(size);
  const gone = new AbortController();
  const terminal = new CheckedTerminal({ stdout, stderr, env }, gone.signal, false);
  return { terminal, stdout, stderr, hangUp: () => gone.abort() };
}
