import { describe, expect, it } from 'vitest';
import { ConfigError, createTroupe, type TroupeOptions } from '../../../src/index.js';
import { clientCapabilities, type ServerRequestHandlers } from '../../../src/server-requests/handlers.js';
import { useLeakCheck } from '../../support/leak-check.js';

const no = (): { action: 'decline' } => ({ action: 'decline' });
const refuse = async (): Promise<'refused'> => 'refused';

describe('the declared capabilities', () => {
  useLeakCheck();

  it.each<readonly [string, ServerRequestHandlers, object]>([
    ['nothing', {}, {}],
    ['roots', { roots: [] }, { roots: { listChanged: true } }],
    ['sampling by a function', { sampling: refuse }, { sampling: {} }],
    [
      'sampling with tools',
      { sampling: { createMessage: refuse, tools: true, context: false } },
      { sampling: { tools: {} } },
    ],
    ['elicitation of both kinds', { elicitation: no }, { elicitation: { form: {}, url: {} } }],
    ['elicitation by form', { elicitation: { form: no } }, { elicitation: { form: {} } }],
    ['elicitation by address', { elicitation: { url: no } }, { elicitation: { url: {} } }],
  ])('for %s are those', (_, handlers, expected) => {
    expect(clientCapabilities(handlers)).toEqual(expected);
  });

  it('hold what the host declares beside them', () => {
    const given = { experimental: { x: {} }, elicitation: { form: { applyDefaults: true } } };
    expect(clientCapabilities({ elicitation: { form: no } }, given)).toEqual(given);
  });
});

describe('handlers', () => {
  useLeakCheck();

  it.each<readonly [field: string, options: unknown]>([
    ['handlers', { handlers: 'all' }],
    ['handlers.roots', { handlers: { roots: '/work' } }],
    ['handlers.roots', { handlers: { roots: [{ uri: '/work' }] } }],
    ['handlers.roots', { handlers: { roots: [{ uri: 'file:///work', name: 7 }] } }],
    ['handlers.sampling', { handlers: { sampling: {} } }],
    ['handlers.sampling', { handlers: { sampling: { createMessage: refuse, tools: 'yes' } } }],
    ['handlers.elicitation', { handlers: { elicitation: {} } }],
    ['handlers.elicitation', { handlers: { elicitation: { form: no, url: 'https://x.example' } } }],
    ['capabilities.sampling', { capabilities: { sampling: {} } }],
    ['capabilities.roots', { capabilities: { roots: {} }, handlers: { sampling: refuse } }],
    ['validateArguments', { validateArguments: 'no' }],
  ])('that make no sense are refused by name: %s', (field, options) => {
    const make = (): unknown => createTroupe(options as TroupeOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(`'${field}'`);
  });

  it('that make sense are taken', () => {
    const options: TroupeOptions = {
      validateArguments: false,
      capabilities: { experimental: {}, sampling: {} },
      handlers: { roots: [{ uri: 'file:///work' }], sampling: refuse, elicitation: { form: no } },
    };
    expect(createTroupe(options).status).toEqual([]);
  });
});
