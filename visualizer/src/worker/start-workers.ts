/** The workers of the page. */
import elkAddress from 'elkjs/lib/elk-worker.min.js?url';
import LogWorker from './log-worker.ts?worker';

export const startLogWorker = (): Worker => new LogWorker();
export const startElkWorker = (): Worker => new Worker(elkAddress);
