/** Which parts belong to one recording. Runs in a browser. */
import type { LogHeader } from './entry.js';

/** Whether two headers are of the same recording. Logs of earlier writers have no id and are compared by their content. */
export function isSameRun(a: LogHeader, b: LogHeader): boolean {
  if (a.run !== undefined || b.run !== undefined) return a.run === b.run;
  if (a.seed !== b.seed || JSON.stringify(a.input) !== JSON.stringify(b.input)) return false;
  const [earlier, later] = a.part <= b.part ? [a, b] : [b, a];
  if (earlier.part === later.part) return a.startedAt === b.startedAt;
  return earlier.firstSeq < later.firstSeq && earlier.startedAt <= later.startedAt;
}

/** Whether two headers are of the same troupe, which may have several recorders. */
export function isSameProcess(a: LogHeader, b: LogHeader): boolean {
  if (a.run === undefined || b.run === undefined || a.run === b.run) return isSameRun(a, b);
  return a.pid === b.pid && a.host === b.host && a.seed === b.seed;
}

/** The recording in words, such as `web-1, pid 42`. */
export function runLabel({ host, pid, startedAt }: LogHeader): string {
  const words = [...(host === undefined ? [] : [host]), ...(pid === undefined ? [] : [`pid ${pid}`])];
  return words.length > 0 ? words.join(', ') : new Date(startedAt).toISOString();
}

/** The same for each of several, all different: equal words get a number. */
export function runLabels(headers: readonly LogHeader[]): readonly string[] {
  const labels = headers.map(runLabel);
  return labels.map((label, index) => {
    const before = labels.slice(0, index).filter((other) => other === label).length;
    return before === 0 ? label : `${label} (${before + 1})`;
  });
}
