import { describe, expect, it } from 'vitest';
import { isImage, isImageOrPdf, sortMedia } from '../../../src/adapters/shown-media.js';
import type { MediaBlock } from '../../../src/results/split-content.js';
import { JPEG, PDF, PNG } from '../../support/started-troupe.js';

const base64 = (bytes: string): string => Buffer.from(bytes, 'latin1').toString('base64');
const GIF = base64('GIF89a\x01\x00');
const WEBP = base64('RIFF\x10\x00\x00\x00WEBPVP8 ');

function block(data: string, mimeType: string): MediaBlock {
  const [kind] = mimeType.split('/');
  return { type: kind === 'image' || kind === 'audio' ? kind : 'file', data, mimeType };
}

describe('the media that a model gets', () => {
  it.each([
    ['image/png', PNG],
    ['image/jpeg', JPEG],
    ['image/gif', GIF],
    ['image/webp', WEBP],
  ])('include an image of type %s, whatever its declared type is.', (mimeType, data) => {
    for (const called of ['image/png', 'image/jpg', 'application/octet-stream', 'audio/wav']) {
      expect(sortMedia([block(data, called)], isImage)).toEqual({
        shown: [{ type: 'image', data, mimeType }],
      });
    }
  });

  it.each([
    ['a picture of another type', block(base64('<svg/>'), 'image/svg+xml')],
    ['data that is declared a PNG but is not', block(base64('not a picture'), 'image/png')],
    ['empty data', block('====', 'image/png')],
    ['audio', block(base64('RIFF\x10\x00\x00\x00WAVE'), 'audio/wav')],
    ['a document', block(PDF, 'image/png')],
    ['a picture of more than 5 MiB of base64', block(PNG + 'A'.repeat(5 * 2 ** 20), 'image/png')],
  ])('exclude %s.', (_what, given) => {
    const { shown, note } = sortMedia([given], isImage);
    expect(shown).toEqual([]);
    expect(note).toMatch(/1 [a-z ]+; [\d,]+ bytes/);
  });

  it('include a PDF if the provider accepts it.', () => {
    const given = [
      block(PDF, 'application/octet-stream'),
      block(PNG, 'image/png'),
      block(base64('PK'), 'application/pdf'),
    ];
    const { shown, note } = sortMedia(given, isImageOrPdf);
    expect(shown).toEqual([
      { type: 'file', data: PDF, mimeType: 'application/pdf' },
      { type: 'image', data: PNG, mimeType: 'image/png' },
    ]);
    expect(note).toContain('1 file; 2 bytes');
  });

  it('are limited, as is the note about the rest.', () => {
    const many = sortMedia(
      Array.from({ length: 100_000 }, () => block(GIF, 'image/gif')),
      isImage,
    );
    expect(many.shown).toHaveLength(20);
    expect(many.note).toContain('99,980 images; 799,840 bytes');
    const large = block(PNG + 'A'.repeat(4 * 2 ** 20), 'image/png');
    const some = sortMedia([large, large, large, block(GIF, 'image/gif')], isImage);
    expect(some.shown.map(({ mimeType }) => mimeType)).toEqual(['image/png', 'image/png', 'image/gif']);
    expect(some.note).toMatch(/: 1 image; /);
  });
});
