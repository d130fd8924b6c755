/** Whatever the category id is, the example server reads no file outside its data folder and follows no link in it. */
import { execFileSync } from 'node:child_process';
import { symlinkSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { useLeakCheck } from '../../support/leak-check.js';
import { category, folderWith } from './data-folder.js';
import { businessData, initialize, RawServer, toolCall, type Answer } from './raw-server.js';

useLeakCheck();

const SECRET = 'out-of-bounds';

/** A data folder with secrets around it, and a server that uses it. */
function guarded(): { folder: string; data: string; server: RawServer } {
  const folder = folderWith({
    'secret.json': category(SECRET),
    'data/marks.json': category('inside'),
    'data/nested/deep.json': category(SECRET),
    'data/notes.txt': category(SECRET),
    'data/UPPER.json': category(SECRET),
    'data-twin/marks.json': category(SECRET),
  });
  const data = join(folder, 'data');
  return { folder, data, server: new RawServer(businessData('--data', data)) };
}

function isRefused({ error }: Answer): boolean {
  return error?.code === -32602;
}

describe('a category id', () => {
  it('of no category is rejected, in whatever form it is written.', async () => {
    const { folder, data, server } = guarded();
    symlinkSync(join(folder, 'secret.json'), join(data, 'link.json'));
    symlinkSync(folder, join(data, 'up.json'));
    const encoded = [
      '%2e%2e%2fsecret',
      '..%2fsecret',
      '%252e%252e%252fsecret',
      '..%c0%afsecret',
      '..%5csecret',
    ];
    const unicode = [
      '．．／secret',
      '..∕secret',
      '..\u2215secret',
      '\u202e../secret',
      'ｍarks',
      'mаrks',
      'marks\u0301',
    ];
    const ids = [
      ...[
        '../secret',
        '..',
        '.',
        './marks',
        'nested/deep',
        'nested/../marks',
        '../data-twin/marks',
        '../data/marks',
      ],
      ...[
        join(folder, 'secret'),
        join(data, 'marks'),
        '/etc/passwd',
        'file:///etc/passwd',
        '~/secret',
        'C:\\marks',
      ],
      ...[
        'marks\0',
        '../secret\0',
        '\0',
        'marks\0.json',
        'marks.json',
        'marks ',
        ' marks',
        'marks/',
        'MARKS',
        'UPPER',
      ],
      ...['link', 'up', 'up/secret', 'notes', 'notes.txt', '..\\secret', 'marks\n', '__proto__', 'toString'],
      ...encoded,
      ...unicode,
      'a'.repeat(100_000),
    ];
    for (const [index, categoryId] of ids.entries()) {
      const answer = await server.ask(toolCall(index, 'searchRecords', { categoryId }));
      expect(isRefused(answer), JSON.stringify(categoryId)).toBe(true);
      expect(JSON.stringify(answer)).not.toContain(SECRET);
    }
    expect(await server.ask(toolCall('good', 'searchRecords', { categoryId: 'marks' }))).toMatchObject({
      result: { structuredContent: { records: [{ mark: 'inside' }] } },
    });
  });

  it('made of random parts returns the category of exactly that name or an error.', async () => {
    const { folder, server } = guarded();
    await server.ask(initialize());
    const pieces = [
      '..',
      '.',
      '/',
      '\\',
      '\0',
      '%2e',
      '%2f',
      'marks',
      'secret',
      'data',
      '.json',
      'nested',
      folder,
    ];
    const id = fc.oneof(
      fc
        .array(fc.constantFrom(...pieces, '／', '．', '∕', ' ', '~', ':'), { maxLength: 8 })
        .map((all) => all.join('')),
      fc.string({ unit: 'binary', maxLength: 20 }),
    );
    let last = 0;
    await fc.assert(
      fc.asyncProperty(
        id,
        fc.constantFrom('describeCategory', 'searchRecords', 'analyze'),
        async (categoryId, tool) => {
          const answer = await server.ask(toolCall(++last, tool, { categoryId }));
          expect(JSON.stringify(answer)).not.toContain(SECRET);
          expect(isRefused(answer)).toBe(categoryId !== 'marks');
        },
      ),
      { numRuns: 400, seed: 8, interruptAfterTimeLimit: 12_000 },
    );
  });

  it('whose file is not a regular file or becomes a link never exposes other files and never blocks the server.', async () => {
    const { folder, data, server } = guarded();
    execFileSync('mkfifo', [join(data, 'pipe.json')]);
    expect(isRefused(await server.ask(toolCall('pipe', 'analyze', { categoryId: 'pipe' })))).toBe(true);

    const marks = join(data, 'marks.json');
    for (let round = 0; round < 60; round += 1) {
      const asked = server.ask(toolCall(round, 'searchRecords', { categoryId: 'marks' }));
      unlinkSync(marks);
      if (round % 2 === 0) symlinkSync(join(folder, 'secret.json'), marks);
      else writeFileSync(marks, category('inside'));
      const answer = await asked;
      expect(JSON.stringify(answer)).not.toContain(SECRET);
      expect([undefined, -32602, -32000]).toContain(answer.error?.code);
    }
  });
});
