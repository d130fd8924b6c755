/** The workers of the page. Each is a file beside the page, or is enclosed in it if the page is one file. */
import { default as elkAddress } from 'elkjs/lib/elk-worker.min.js?worker&url';
import { default as logAddress } from './log-worker.ts?worker&url';
import { enclosedId, type WorkerName } from '../log/one-file.js';

export const WORKER_FILES: Readonly<Record<WorkerName, string>> = { elk: elkAddress, log: logAddress };

export function startWorker(name: WorkerName): Worker {
  const enclosed = document.querySelector(`script#${enclosedId(name)}`);
  if (enclosed === null) return new Worker(WORKER_FILES[name]);
  const code = JSON.parse(enclosed.textContent) as string;
  return new Worker(URL.createObjectURL(new Blob([code], { type: 'text/javascript' })));
}
