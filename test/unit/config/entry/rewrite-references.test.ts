import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expandConfig, type ExpansionContext } from '../../../../src/config/entry/expand.js';
import { rewriteReferences, type Replace } from '../../../../src/config/entry/rewrite-references.js';
import type { ServerConfig } from '../../../../src/config/entry/server-config.js';

const FOLDER = '/home/ada/$HOME (odd)';
const folder: Replace = ({ origin, name }) =>
  origin === 'builtin' && name === 'workspaceFolder' ? { literal: FOLDER } : undefined;

const context: ExpansionContext = {
  env: { NAME: 'value', EMPTY: '', workspaceFolder: 'a variable of the host' },
  inputs: { 'input:a': 'answer' },
  workspaceFolder: FOLDER,
  home: '/home/ada',
};

const meaning = (config: ServerConfig): unknown =>
  expandConfig({ name: 'x', baseDir: '/base', config }, context);

const PIECES = [
  '${workspaceFolder}',
  '${NAME}',
  '$NAME',
  '${env:workspaceFolder}',
  '${EMPTY:-in ${workspaceFolder}}',
  '${MISSING:-${workspaceFolder}/$NAME}',
  '${input:a}',
  '$${NAME}',
  '$$NAME',
  '$$$${',
  '$',
  '}',
  '~/',
  '/x',
  'é "',
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }).map((pieces) => pieces.join(''));

describe('replaced references', () => {
  it('keep the meaning of an entry.', () => {
    fc.assert(
      fc.property(text, text, text, (arg, value, cwd) => {
        const config = { command: 'x', args: [arg], env: { KEY: value }, cwd };
        expect(meaning(rewriteReferences(config, folder))).toEqual(meaning(config));
      }),
    );
  });

  it('keep the meaning of a remote entry.', () => {
    fc.assert(
      fc.property(text, (value) => {
        const config = { url: 'https://x.example', env: { OWN: value }, headers: { 'X-Own': '${OWN}' } };
        expect(meaning(rewriteReferences(config, folder))).toEqual(meaning(config));
      }),
    );
  });

  it('leave texts without such references unchanged.', () => {
    const config = { command: '$NAME', args: ['${NAME}', '$$', '`a', '${broken'], cwd: '~' };
    expect(rewriteReferences(config, folder)).toEqual(config);
  });
});
