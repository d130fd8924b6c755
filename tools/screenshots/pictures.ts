/** The pictures of the page in `docs/images`: what is done before each, and how it is taken. */
import { expectText, type Look, type Visualizer } from '../../test/browser/visualizer-page.js';

interface Picture {
  readonly name: string;
  readonly look: Look;
  readonly prepare: (page: Visualizer) => Promise<void>;
}

const SIZE = { width: 1280, height: 720 };
const PHONE = { width: 390, height: 844 };
/** Pictures in a row that are the same as the one before. */
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

/** Of the scene that the tests play (`visualizer-scene.ts`), as a recording. */
export const PICTURES: readonly Picture[] = THEMES.flatMap((theme) => [
  ...Object.entries(VIEWS).map(([view, prepare]) => ({
    name: `${view}-${theme}`,
    look: { ...SIZE, theme },
    prepare,
  })),
  { name: `phone-${theme}`, look: { ...PHONE, theme }, prepare: VIEWS['timeline'] ?? (async () => {}) },
]);

/** The one that the guide shows. */
export const GUIDE_PICTURE = 'docs/images/timeline-dark.png';

/** The bytes of a PNG. The page has been opened with the picture's look. */
export async function takePicture(page: Visualizer, { prepare }: Picture): Promise<Uint8Array> {
  await page.page.locator('.fleet-row ::-p-text(search)').click();
  await page.page.waitForSelector('.phases, .panel');
  await prepare(page);
  return whenStill(page);
}

/** What is asked of the log's worker is there some frames later, so one is taken until nothing changes any more. */
async function whenStill(page: Visualizer): Promise<Uint8Array> {
  await page.rest();
  let last = await page.page.screenshot({ type: 'png' });
  for (let same = 0, taken = 0; same < STILL; taken += 1) {
    if (taken === MAX_TAKEN) throw new Error('The page does not come to rest.');
    const next = await page.page.screenshot({ type: 'png' });
    same = Buffer.compare(next, last) === 0 ? same + 1 : 0;
    last = next;
  }
  return last;
}
