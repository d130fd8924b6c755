import { describe, expect, it } from 'vitest';
import { unknownTool } from '../../../src/requests/unknown-tool.js';
import { UnknownToolError } from '../../../src/errors.js';
import { makeStatus } from '../../support/make-status.js';

const waiting = (server: string) => makeStatus({ server }, { configuring: 'awaitingTrust' });
const STATUSES = [makeStatus({ server: 'files' }), waiting('search'), waiting('my maps'), waiting('-x')];

describe('the error of a call of an unknown tool', () => {
  it.each<[name: string, needsTrust: readonly string[]]>([
    ['mcp__search__find', ['search']],
    ['search/find', ['search']],
    ['mcp__my_maps__route', ['my maps']],
    // It can be a tool of any of them: the host may have named it.
    ['find', ['search', 'my maps', '-x']],
  ])('names the servers that may have it and wait for trust: %s', (name, needsTrust) => {
    const error = unknownTool(name, STATUSES);
    expect(error).toBeInstanceOf(UnknownToolError);
    expect(error).toMatchObject({ code: 'UNKNOWN_TOOL', tool: name, needsTrust });
    for (const words of ['troupe trust search', "troupe trust 'my maps'", 'troupe trust -- -x'])
      expect(error.message).toContain(words);
  });

  it('names none if no server waits for trust.', () => {
    const away = makeStatus({ server: 'slow' }, { starting: 'launching' });
    const error = unknownTool('mcp__slow__find', [makeStatus(), away]);
    expect(error).toMatchObject({ code: 'UNKNOWN_TOOL', needsTrust: [] });
    expect(error.message).not.toContain('trust');
  });

  it('follows the naming of the host.', () => {
    const error = unknownTool('mcp_search_find', STATUSES, undefined, [], 'mcp_{server}_{tool}');
    expect(error.needsTrust).toEqual(['search']);
  });
});
