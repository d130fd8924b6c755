/** The second major version of the SDK's client: used as the first one is. */
export { open } from '../clients/sdk.mjs';

export async function load(kind) {
  const [library, stdio] = await Promise.all([
    import('@modelcontextprotocol/client'),
    kind === 'stdio' ? import('@modelcontextprotocol/client/stdio') : {},
  ]);
  return { ...library, ...stdio, logMessage: 'notifications/message' };
}
