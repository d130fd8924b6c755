/** A process that hears signals, and keeps what it is told to do. */
import { EventEmitter } from 'node:events';

export class FakeProcess extends EventEmitter {
  readonly pid = 7;
  readonly told: string[] = [];

  kill(pid: number, signal: string): void {
    this.told.push(`${signal} to ${pid}, heard by ${this.listenerCount(signal)}`);
  }

  exit(): void {
    this.told.push('exit');
  }
}
