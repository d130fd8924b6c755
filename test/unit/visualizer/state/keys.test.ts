/** The help lists exactly the keys that the page listens to. */
import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { VIEWS } from '../../../../visualizer/src/state/page.js';
import { KEYS, keySign } from '../../../../visualizer/src/state/keys.js';
import { useLeakCheck } from '../../../support/leak-check.js';

useLeakCheck();

const FOLDER = new URL('../../../../visualizer/src/', import.meta.url);

/** Keys in comparisons, and in tables of keys. */
function keysIn(source: string): string[] {
  const compared = [...source.matchAll(/\bkey === '([^']+)'/g)].map(([, key = '']) => key);
  const tables = [...source.matchAll(/(?:keys|moves|KEYS)\b.*Record<string, .*> = \{([^}]+)\}/g)];
  const listed = tables.flatMap(([, table = '']) =>
    [...table.matchAll(/^\s*(?:'([^']+)'|(\w+)):/gm)].map(([, quoted, plain]) => quoted ?? plain ?? ''),
  );
  return [...compared, ...listed];
}

function handled(): Set<string> {
  const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' });
  const sources = files
    .filter((path) => /\.tsx?$/.test(path) && !path.endsWith('keys.ts'))
    .map((path) => readFileSync(new URL(path, FOLDER), 'utf8'));
  return new Set(sources.filter((source) => /onKeyDown|'keydown'/.test(source)).flatMap(keysIn));
}

describe('the help for keys', () => {
  it('reads handlers: comparisons and tables.', () => {
    const source = `if (key === 'x') go(); const keys: Record<string, () => void> = {\n  '+': zoom,\n  0: fit,\n};`;
    expect(keysIn(source)).toEqual(['x', '+', '0']);
  });

  it('lists every key that is handled, and no other.', () => {
    const digits = VIEWS.map((_, index) => String(index + 1));
    const listed = new Set(KEYS.flatMap(({ keys }) => keys.flatMap(([each]) => each)));
    expect([...listed].toSorted()).toEqual([...new Set([...handled(), ...digits])].toSorted());
  });

  it('lists no key twice in one place, and every key as it is printed on a keyboard.', () => {
    for (const { keys } of KEYS) {
      const signs = keys.flatMap(([each]) => each.map(keySign));
      expect(new Set(signs).size).toBe(signs.length);
      expect(signs.filter((sign) => sign.trim() === '' || /Arrow|Page[UD]/.test(sign))).toEqual([]);
    }
  });
});
