/** The visualizer with a recorded incident in it, as a page that needs no server: what its "Export" writes. */
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import { pageInOneFile } from '../../visualizer/src/log/one-file.js';
import { sharePage } from '../../visualizer/src/log/share-page.js';
import { inProject } from './project.js';

const PAGE = inProject('dist/visualizer');
export const INCIDENTS = ['flaps-forever'];

export async function incidentPage(name: string): Promise<string> {
  const log = await readFile(inProject(`test/property/replay/corpus/${name}.jsonl`));
  const pieces = [...sharePage(await template(), [new Uint8Array(log)])];
  return pieces
    .map((piece) => (typeof piece === 'string' ? piece : new TextDecoder().decode(piece)))
    .join('');
}

export async function writeIncidents(outDir: string): Promise<void> {
  await mkdir(join(outDir, 'live'), { recursive: true });
  for (const name of INCIDENTS) await writeFile(join(outDir, `live/${name}.html`), await incidentPage(name));
}

async function template(): Promise<string> {
  const names = await readdir(join(PAGE, 'assets')).catch(() => undefined);
  if (names === undefined) throw new Error('The visualizer is not built; run: npm run build:page');
  const worker = (start: string): string => {
    const name = names.find((candidate) => candidate.startsWith(start));
    if (name === undefined) throw new Error(`The visualizer has no file for ${start}.`);
    return `./assets/${name.slice(0, -'.br'.length)}`;
  };
  return pageInOneFile({
    page: await read('index.html'),
    workers: { elk: worker('elk-worker'), log: worker('log-worker') },
    read,
  });
}

/** Scripts and styles are compressed. */
async function read(address: string): Promise<string> {
  const path = join(PAGE, address);
  return address.endsWith('.html')
    ? readFile(path, 'utf8')
    : brotliDecompressSync(await readFile(`${path}.br`)).toString();
}
