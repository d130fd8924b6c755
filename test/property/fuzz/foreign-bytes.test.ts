/** Every parser of foreign bytes, with bytes of every depth, size and shape. `tools/fuzz` tries far more of them. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bytesOf, parsersFrom } from '../../../tools/fuzz/cases.mjs';
import { fuzz } from '../../support/fuzz.js';

const parsers = await parsersFrom(async (path) => {
  const source = new URL(`../../..${path}`, import.meta.url).href;
  return (await import(/* @vite-ignore */ source)) as Record<string, unknown>;
});
const kept = JSON.parse(
  readFileSync(new URL('../../../tools/fuzz/seeds.json', import.meta.url), 'utf8'),
) as readonly { readonly parser: string; readonly seed: number }[];

describe.each(Object.entries(parsers))('the parser of %s', (name, parse) => {
  it('throws for no bytes', async () => {
    const property = fc.asyncProperty(fc.nat(2 ** 32 - 1), async (seed) => {
      expect(await parse(bytesOf(seed))).not.toBeInstanceOf(Error);
    });
    await fuzz(150, property);
  });

  it('throws for no bytes for which it once did', async () => {
    for (const { parser, seed } of kept) if (parser === name) await parse(bytesOf(seed));
    expect(parsers).toHaveProperty([name]);
  });
});
