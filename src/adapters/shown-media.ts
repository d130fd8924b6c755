/**
 * Selects the data of a result that a model gets. A provider refuses a whole conversation, now and at every later turn,
 * for one image that is too large, of a type that it does not accept, or of another type than declared. So an image is
 * sent under the type that its bytes show, and the text names what is not sent.
 */
import type { MediaBlock } from '../results/split-content.js';
import { digitGroups } from '../text/digit-groups.js';

/** Characters of base64: the smallest limit of a provider for one image. */
const MAX_CHARACTERS = 5 * 2 ** 20;
/** Characters of base64 in one result. */
const MAX_CHARACTERS_IN_ALL = 10 * 2 ** 20;
const MAX_SHOWN = 20;

const NAMES = [
  ['image', 'image', 'images'],
  ['audio', 'audio recording', 'audio recordings'],
  ['file', 'file', 'files'],
] as const;

/** Characters of base64 that suffice to recognize every type below. */
const BEGINNING = 24;

/** The image types that every provider accepts, and PDF, by the hexadecimal digits with which their bytes begin. */
const BEGINNINGS: readonly (readonly [mimeType: string, digits: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
];

export function isImage({ mimeType, data }: MediaBlock): boolean {
  return mimeType.startsWith('image/') && knownType(data) === mimeType && data.length <= MAX_CHARACTERS;
}

export function isImageOrPdf(block: MediaBlock): boolean {
  const { mimeType, data } = block;
  const isPdf = mimeType === 'application/pdf' && knownType(data) === mimeType;
  return isImage(block) || (isPdf && data.length <= MAX_CHARACTERS);
}

/** The blocks that `shows` accepts, each with the type that its bytes show, and a sentence about the others. */
export function sortMedia(
  blocks: readonly MediaBlock[],
  shows: (block: MediaBlock) => boolean,
): { readonly shown: readonly MediaBlock[]; readonly note?: string } {
  const shown: MediaBlock[] = [];
  const others: MediaBlock[] = [];
  let room = MAX_CHARACTERS_IN_ALL;
  for (const block of blocks.map(toTyped)) {
    const isShown = shown.length < MAX_SHOWN && block.data.length <= room && shows(block);
    (isShown ? shown : others).push(block);
    if (isShown) room -= block.data.length;
  }
  return { shown, ...(others.length > 0 && { note: noteOf(others) }) };
}

function toTyped(block: MediaBlock): MediaBlock {
  const mimeType = knownType(block.data);
  if (mimeType === undefined || mimeType === block.mimeType) return block;
  return { ...block, type: mimeType.startsWith('image/') ? 'image' : 'file', mimeType };
}

function knownType(data: string): string | undefined {
  const beginning = Buffer.from(data.slice(0, BEGINNING), 'base64').toString('hex');
  return BEGINNINGS.find(([, digits]) => digits.test(beginning))?.[0];
}

/** Names no media types, since the server chooses their text. */
function noteOf(blocks: readonly MediaBlock[]): string {
  const kinds = NAMES.flatMap(([kind, one, many]) => {
    const count = blocks.filter(({ type }) => type === kind).length;
    return count === 0 ? [] : `${digitGroups(count)} ${count === 1 ? one : many}`;
  });
  const bytes = blocks.reduce((sum, { data }) => sum + Buffer.byteLength(data, 'base64'), 0);
  return `[Part of this result, but not shown to you: ${kinds.join(', ')}; ${digitGroups(bytes)} bytes.]`;
}
