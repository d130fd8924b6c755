/**
 * Which data of a result a model is handed. A provider refuses a whole conversation for one image of a type that it does
 * not take, of another type than was declared, or that is too large; and it would refuse it again with every later turn.
 * So an image is handed on under the type that its bytes show, and what is not handed on is named in the text.
 */
import type { MediaBlock } from '../calls/result/take-apart.js';

/** Characters of base64: the smallest limit of a provider for one image. */
const MOST_CHARACTERS = 5 * 2 ** 20;
/** Of one result. */
const MOST_CHARACTERS_IN_ALL = 10 * 2 ** 20;
const MOST_SHOWN = 20;

const NAMES = [
  ['image', 'image', 'images'],
  ['audio', 'audio recording', 'audio recordings'],
  ['file', 'file', 'files'],
] as const;

/** Enough base64 of the beginning to tell every type that is known here. */
const BEGINNING = 24;

/** The image types that every provider takes, and PDF, by the hexadecimal digits that their bytes begin with. */
const BEGINNINGS: readonly (readonly [mimeType: string, digits: RegExp])[] = [
  ['image/png', /^89504e470d0a1a0a/],
  ['image/jpeg', /^ffd8ff/],
  ['image/gif', /^47494638(?:37|39)61/],
  ['image/webp', /^52494646.{8}57454250/],
  ['application/pdf', /^255044462d/],
];

export function isImage({ mimeType, data }: MediaBlock): boolean {
  return mimeType.startsWith('image/') && knownType(data) === mimeType && data.length <= MOST_CHARACTERS;
}

export function isImageOrPdf(block: MediaBlock): boolean {
  const { mimeType, data } = block;
  const isPdf = mimeType === 'application/pdf' && knownType(data) === mimeType;
  return isImage(block) || (isPdf && data.length <= MOST_CHARACTERS);
}

/** The blocks that `shows` lets pass, each of the type that its bytes show, and a sentence about the others. */
export function sortMedia(
  blocks: readonly MediaBlock[],
  shows: (block: MediaBlock) => boolean,
): { readonly shown: readonly MediaBlock[]; readonly note?: string } {
  const shown: MediaBlock[] = [];
  const others: MediaBlock[] = [];
  let room = MOST_CHARACTERS_IN_ALL;
  for (const block of blocks.map(toTyped)) {
    const isShown = shown.length < MOST_SHOWN && block.data.length <= room && shows(block);
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

/** Without media types, which are words of the server. */
function noteOf(blocks: readonly MediaBlock[]): string {
  const kinds = NAMES.flatMap(([kind, one, many]) => {
    const count = blocks.filter(({ type }) => type === kind).length;
    return count === 0 ? [] : `${count.toLocaleString('en-US')} ${count === 1 ? one : many}`;
  });
  const bytes = blocks.reduce((sum, { data }) => sum + Buffer.byteLength(data, 'base64'), 0);
  return `[Part of this result, but not shown to you: ${kinds.join(', ')}; ${bytes.toLocaleString('en-US')} bytes.]`;
}
