/**
 * Writes docs/images/*.png: every view of the page in light and dark, as in the browser tests.
 *
 *     node tools/screenshots/main.mjs
 *
 * Needs the built page (`npm run build`). The sources are loaded without a build. `test/browser` has the code that drives
 * the page and takes pictures; a test there compares the picture of the guide.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadSources } from '../load-sources.mjs';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const IMAGES = join(ROOT, 'docs/images');

const sources = await loadSources();
const { launchChromium } = await sources.load('/test/browser/chromium.ts');
const { PICTURES, takePicture } = await sources.load('/tools/screenshots/pictures.ts');
const { Visualizer } = await sources.load('/test/browser/visualizer-page.ts');
const { makeScene, playScene } = await sources.load('/test/browser/visualizer-scene.ts');
const { FileSource } = await sources.load('/src/inspector/file-source.ts');
const { openInspectionServer } = await sources.load('/src/inspector/inspection-server.ts');
const { systemClock } = await sources.load('/src/ports.ts');

const scene = makeScene();
await playScene(scene);
const folder = await mkdtemp(join(tmpdir(), 'troupe-pictures-'));
const log = join(folder, 'morning.jsonl');
await writeFile(log, scene.log());
const closing = scene.troupe.close();
await scene.clock.advance(10_000);
await closing;

const source = new FileSource([{ label: '', parts: [await readFile(log)] }], 'morning.jsonl', systemClock);
const server = await openInspectionServer({
  source,
  clock: systemClock,
  port: 0,
  folder: join(ROOT, 'dist/visualizer'),
});
const browser = await launchChromium();
await mkdir(IMAGES, { recursive: true });
for (const picture of PICTURES) {
  const page = new Visualizer(await browser.newPage(), server.url);
  await page.begin(picture.look);
  await writeFile(join(IMAGES, `${picture.name}.png`), await takePicture(page, picture));
  await page.page.close();
}
await browser.close();
await server.close();
await sources.close();
await rm(folder, { recursive: true });
