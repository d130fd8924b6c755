/** The content of files that a person opens: one log as it is, or several recordings and reports in one order of time. */
import { mergeLines } from '../../../src/event-log/format/merge-lines.js';
import { runLabels } from '../../../src/event-log/format/runs.js';
import { groupRuns, splitParts } from '../../../src/event-log/format/split-parts.js';
import { isPacked, together, unpacked } from '../../../src/event-log/format/unpack.js';
import { piecesOf } from './file-pieces.js';

const REPORT_START = '{"troupeReport":';

/** Rejects with an `Error` that names the file that cannot be read. */
export async function* openFiles(files: readonly File[]): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const [only] = files;
  if (only !== undefined && files.length === 1 && (await isPlain(only))) {
    yield* piecesOf(only);
    return;
  }
  const splits = [];
  for (const file of files) splits.push(await splitFile(file));
  const report = splits.find((split) => split.report !== undefined)?.report;
  if (report !== undefined) yield new TextEncoder().encode(`${JSON.stringify(report)}\n`);
  const runs = groupRuns(splits.flatMap(({ parts }) => parts));
  const labels = runLabels(runs.flatMap(({ parts: [first] }) => first?.header ?? []));
  const merged = runs.map(({ parts }, index) => ({
    label: labels[index] ?? '',
    parts: parts.map(({ bytes }) => bytes),
  }));
  if (merged.length > 1) return yield* mergeLines(merged);
  for (const bytes of merged[0]?.parts ?? []) yield bytes as Uint8Array<ArrayBuffer>;
}

async function isPlain(file: File): Promise<boolean> {
  const start = new Uint8Array(await file.slice(0, REPORT_START.length).arrayBuffer());
  return !isPacked(start) && new TextDecoder().decode(start) !== REPORT_START;
}

async function splitFile(file: File): Promise<ReturnType<typeof splitParts>> {
  try {
    return splitParts(await together(unpacked(piecesOf(file))));
  } catch (error) {
    throw new Error(`${file.name}: ${error instanceof Error ? error.message : 'it cannot be read'}`, {
      cause: error,
    });
  }
}
