import { describe, expect, it } from 'vitest';
import { colorsFor, type ColorChoice } from '../../../../src/cli/output/colors.js';

const PLAIN_PIPE: ColorChoice = { isTerminal: false, isAllowed: true, env: {} };
const TERMINAL: ColorChoice = { isTerminal: true, isAllowed: true, env: { TERM: 'xterm-256color' } };

describe('colors', () => {
  it.each<readonly [string, ColorChoice, boolean]>([
    ['on a terminal', TERMINAL, true],
    ['in a pipe', PLAIN_PIPE, false],
    ['on a dumb terminal', { ...TERMINAL, env: { TERM: 'dumb' } }, false],
    ['with --no-color', { ...TERMINAL, isAllowed: false }, false],
    ['with --no-color and FORCE_COLOR', { ...TERMINAL, isAllowed: false, env: { FORCE_COLOR: '1' } }, false],
    ['with NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '1' } }, false],
    ['with an empty NO_COLOR', { ...TERMINAL, env: { NO_COLOR: '' } }, true],
    ['with NO_COLOR and FORCE_COLOR', { ...TERMINAL, env: { NO_COLOR: '1', FORCE_COLOR: '1' } }, false],
    ['with FORCE_COLOR in a pipe', { ...PLAIN_PIPE, env: { FORCE_COLOR: '1' } }, true],
    ['with FORCE_COLOR=0 on a terminal', { ...TERMINAL, env: { FORCE_COLOR: '0' } }, false],
  ])('%s: %o gives %s.', (_, choice, isColored) => {
    expect(colorsFor(choice).red('x') !== 'x').toBe(isColored);
  });
});
