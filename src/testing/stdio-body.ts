/**
 * Carries a scripted server on the stdin and stdout of its own process, which ends with its stdin: nothing holds the
 * process any more then.
 */
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { createInterface } from 'node:readline';
import type { ScriptedBody } from './scripted-server.js';

const A_LONG_TIME_MS = 3_600_000;

export class StdioBody implements ScriptedBody {
  onclose?: () => void;
  onmessage?: NonNullable<Transport['onmessage']>;
  onerror?: (error: Error) => void;
  #hold: NodeJS.Timeout | undefined;

  /** Nothing but SIGKILL ends the process, or a crash that it was told. */
  beStubborn(): void {
    process.on('SIGTERM', () => {});
    this.#hold = setInterval(() => {}, A_LONG_TIME_MS);
  }

  async start(): Promise<void> {
    const lines = createInterface({ input: process.stdin });
    lines.on('line', (line) => this.#read(line));
    lines.on('close', () => void this.close());
  }

  async send(message: JSONRPCMessage): Promise<void> {
    process.stdout.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    process.stdin.destroy();
    this.onclose?.();
  }

  crash(exitCode: number): void {
    clearInterval(this.#hold);
    process.exitCode = exitCode;
    void this.close();
  }

  garble(garbage: string): void {
    process.stdout.write(`${garbage}\n`);
  }

  complain(line: string): void {
    process.stderr.write(`${line}\n`);
  }

  #read(line: string): void {
    try {
      this.onmessage?.(JSON.parse(line) as JSONRPCMessage);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}
