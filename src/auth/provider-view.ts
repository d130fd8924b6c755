/** The same provider with some members replaced. Its own methods still run on the original, so private fields work. */
import type { OAuthClientProvider } from '../mcp/oauth.js';

export function viewOf(
  provider: OAuthClientProvider,
  replaced: Partial<OAuthClientProvider>,
): OAuthClientProvider {
  return new Proxy(provider, {
    get: (target, name) => {
      if (Object.hasOwn(replaced, name)) return Reflect.get(replaced, name) as unknown;
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}
