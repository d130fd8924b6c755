/** The pictures of the page in `docs/images`: the actions before each, and how to take them. */
import { expectText, type Look, type Visualizer } from '../../test/browser/visualizer-page.js';

interface Picture {
  readonly name: string;
  readonly look: Look;
  readonly prepare: (page: Visualizer) => Promise<void>;
}

const SIZE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };
/** Number of consecutive equal pictures that are required. */
const STILL = 3;
const MAX_TAKEN = 60;
const THEMES = ['light', 'dark'] as const;

const VIEWS: Readonly<Record<string, Picture['prepare']>> = {
  fleet: async () => {},
  chart: async (page) => {
    await page.show('Chart');
    await page.page.waitForSelector('.chart-state[data-active=true]');
    await page.rest();
  },
  timeline: async (page) => {
    await page.show('Timeline');
    await page.page.waitForSelector('#lane-story li');
  },
  events: async (page) => {
    await page.show('Events');
    await page.page.type('input[type=search]', 'session.lost');
    await expectText(page, '.events .toolbar-note', (text) => text.startsWith('2 of'));
    await page.page.locator('.event-row').click();
    await page.page.waitForSelector('.diff');
  },
  sequence: async (page) => {
    await page.show('Sequence');
    await page.page.waitForSelector('.sequence-row');
  },
  past: async (page) => {
    await page.show('Timeline');
    await page.scrubTo(0.42);
    await expectText(page, '.when', (text) => text.startsWith('Past'));
  },
};

/** A recording of the scene of the tests (`visualizer-scene.ts`). */
export const PICTURES: readonly Picture[] = THEMES.flatMap((theme) => [
  ...Object.entries(VIEWS).map(([view, prepare]) => ({
    name: `${view}-${theme}`,
    look: { ...SIZE, theme },
    prepare,
  })),
  { name: `phone-${theme}`, look: { ...PHONE, theme }, prepare: VIEWS['timeline'] ?? (async () => {}) },
]);

/** The picture in the guide. */
export const GUIDE_PICTURE = 'docs/images/timeline-dark.png';

/** Takes a picture as PNG. The page must be open in the look of the picture. */
export async function takePicture(page: Visualizer, { prepare }: Picture): Promise<Uint8Array> {
  // A page that is opened again shows what it showed last.
  await page.show('Fleet');
  await page.page.locator('.fleet-row ::-p-text(search)').click();
  await page.page.waitForSelector('.phases, .panel');
  await prepare(page);
  return whenStill(page);
}

/** Answers of the worker arrive some frames later, so this takes pictures until nothing changes. */
async function whenStill(page: Visualizer): Promise<Uint8Array> {
  await page.rest();
  let last = await page.page.screenshot({ type: 'png' });
  for (let same = 0, taken = 0; same < STILL; taken += 1) {
    if (taken === MAX_TAKEN) throw new Error('The page keeps changing.');
    const next = await page.page.screenshot({ type: 'png' });
    same = Buffer.compare(next, last) === 0 ? same + 1 : 0;
    last = next;
  }
  return last;
}
