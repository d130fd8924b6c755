import { consistsOf } from './pieces.js';

/** Whether a URI can be one that the template stands for (RFC 6570). What has no variable is no template. */
export function fitsTemplate(uri: string, uriTemplate: string): boolean {
  const pieces = uriTemplate.split(/\{[^{}]*\}/u);
  return pieces.length > 1 && consistsOf(uri, pieces);
}
