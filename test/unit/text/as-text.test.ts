import { expect, it } from 'vitest';
import { asText } from '../../../src/text/as-text.js';

const endless: unknown[] = [];
endless.push(endless);

it.each<[value: unknown, text: string]>([
  ['lamp', 'lamp'],
  [5, '5'],
  [5n, '5'],
  [NaN, 'NaN'],
  [true, 'true'],
  [null, 'null'],
  [undefined, 'undefined'],
  [Symbol('lamp'), 'Symbol(lamp)'],
  [{ toString: null }, '{"toString":null}'],
  [JSON.parse('{"__proto__":null}'), '{"__proto__":null}'],
  [['a', 1], '["a",1]'],
  [endless, 'an object'],
  [() => {}, 'an object'],
])('is the text of value %#', (value, text) => {
  expect(asText(value)).toBe(text);
});
