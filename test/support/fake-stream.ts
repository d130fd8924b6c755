/** A stream that keeps what is written to it. It is a terminal if a size is given. */
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

  /** Changes the size and reports it, as a terminal does. */
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
