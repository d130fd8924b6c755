/** The workers of the page. */
import { default as ElkWorker } from 'elkjs/lib/elk-worker.min.js?worker';
import { default as LogWorker } from './log-worker.ts?worker';

export const startLogWorker = (): Worker => new LogWorker();
export const startElkWorker = (): Worker => new ElkWorker();
