/** Answers `roots/list` (MCP specification, "Roots"). */
import { isJsonObject } from '../json/json-object.js';
import type { RootsHandler } from './handlers.js';
import { BadAnswer, type Responder } from './responder.js';

export function answerRoots(handler: RootsHandler): Responder {
  return {
    isQuestion: false,
    respond: async (_, about) => {
      const roots: unknown = typeof handler === 'function' ? await handler(about) : handler;
      if (!Array.isArray(roots)) throw new BadAnswer('roots are a list.');
      if (!roots.every(isRoot)) throw new BadAnswer('each root has a uri that starts with file://.');
      return { isRefused: false, answer: { roots } };
    },
  };
}

/** A root with a `file://` address; the specification allows no others. */
export function isRoot(root: unknown): boolean {
  if (!isJsonObject(root)) return false;
  const { uri, name } = root;
  const isFile = typeof uri === 'string' && uri.startsWith('file://');
  return isFile && (name === undefined || typeof name === 'string');
}
