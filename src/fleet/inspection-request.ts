/** How a viewer asks a host for its stream: a signed request to the gateway of the host. */

/** Where the gateway answers. */
export const INSPECTION_PATH = '/fleet/inspection';
/** What the signature is for. */
export const INSPECTION_PURPOSE = 'inspect';
