import { describe, expect, it } from 'vitest';
import { ConfigError, createTroupe, type TroupeOptions } from '../../../src/index.js';
import { clientCapabilities, type ServerRequestHandlers } from '../../../src/server-requests/handlers.js';
import { useLeakCheck } from '../../support/leak-check.js';

const decline = (): { action: 'decline' } => ({ action: 'decline' });
const refuse = async (): Promise<'refused'> => 'refused';

describe('the declared capabilities', () => {
  useLeakCheck();

  it.each<readonly [string, ServerRequestHandlers, object]>([
    ['no handlers', {}, {}],
    ['roots', { roots: [] }, { roots: { listChanged: true } }],
    ['a sampling function', { sampling: refuse }, { sampling: {} }],
    [
      'sampling with tools',
      { sampling: { createMessage: refuse, tools: true, context: false } },
      { sampling: { tools: {} } },
    ],
    ['elicitation of both kinds', { elicitation: decline }, { elicitation: { form: {}, url: {} } }],
    ['form elicitation', { elicitation: { form: decline } }, { elicitation: { form: {} } }],
    ['URL elicitation', { elicitation: { url: decline } }, { elicitation: { url: {} } }],
  ])('for %s are derived from the handlers', (_, handlers, expected) => {
    expect(clientCapabilities(handlers)).toEqual(expected);
  });

  it('include those that the host declares itself', () => {
    const given = { experimental: { x: {} }, elicitation: { form: { applyDefaults: true } } };
    expect(clientCapabilities({ elicitation: { form: decline } }, given)).toEqual(given);
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
    ['handlers.elicitation', { handlers: { elicitation: { form: decline, url: 'https://x.example' } } }],
    ['capabilities.sampling', { capabilities: { sampling: {} } }],
    ['capabilities.roots', { capabilities: { roots: {} }, handlers: { sampling: refuse } }],
    ['validateArguments', { validateArguments: 'no' }],
  ])('with an invalid value are rejected by name: %s', (field, options) => {
    const make = (): unknown => createTroupe(options as TroupeOptions);
    expect(make).toThrow(ConfigError);
    expect(make).toThrow(`'${field}'`);
  });

  it('with valid values are accepted', () => {
    const options: TroupeOptions = {
      validateArguments: false,
      capabilities: { experimental: {}, sampling: {} },
      handlers: { roots: [{ uri: 'file:///work' }], sampling: refuse, elicitation: { form: decline } },
    };
    expect(createTroupe(options).status).toEqual([]);
  });
});
