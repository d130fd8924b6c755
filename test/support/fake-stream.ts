/** A stream that keeps what is written to it, and is a terminal where a size is given. */
import { Writable } from 'node:stream';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export class FakeStream extends Writable {
  readonly isTTY: boolean;
  columns?: number;
  rows?: number;
  written = '';

  constructor(size?: Size) {
    super({ decodeStrings: false });
    this.isTTY = size !== undefined;
    Object.assign(this, size);
  }

  /** As a terminal does when its window changes. */
  resize({ columns, rows }: Size): void {
    this.columns = columns;
    this.rows = rows;
    this.emit('resize');
  }

  override _write(chunk: string | Buffer, _: BufferEncoding, done: () => void): void {
    this.written += String(chunk);
    done();
  }
}
