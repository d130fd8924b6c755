/** A process that can receive signals and records the signals it sends and its exits. */
import { EventEmitter } from 'node:events';

export class FakeProcess extends EventEmitter {
  readonly pid = 7;
  readonly actions: string[] = [];

  kill(pid: number, signal: string): void {
    this.actions.push(`${signal} to ${pid}, heard by ${this.listenerCount(signal)}`);
  }

  exit(): void {
    this.actions.push('exit');
  }
}
