/** Finds the recorded answer to a request by its method, its subject and its arguments. Pure. */
import { MASK } from '../config/entry/mask.js';
import { isJsonObject } from '../json/json-object.js';
import { cutText } from '../text/visible-text.js';

/** A request as a recorded server compares it. */
export interface RecordedRequest {
  /** Method of the request, for instance `tools/call`. */
  readonly method: string;
  /** Params without `_meta`, which is different in every request. In the log, secrets are masked. */
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Whether a recorded request is the one that was asked. Called only for requests of the same method and name.
 *
 * @param recorded The request in the log.
 * @param asked The request of the test.
 */
export type MatchRequests = (recorded: RecordedRequest, asked: RecordedRequest) => boolean;

/** The fields that say what a request is about: the name of a tool, the URI of a resource, a page. */
const SUBJECT = ['name', 'uri', 'ref', 'cursor'];
const MAX_SHOWN = 5;
const MAX_PARAMS = 200;

export function requestOf(method: string, params: unknown): RecordedRequest {
  const { _meta, ...others } = isJsonObject(params) ? params : {};
  return { method, params: others };
}

/** Whether both are about the same tool, resource, prompt or page. */
export function hasSameSubject(recorded: RecordedRequest, asked: RecordedRequest): boolean {
  return (
    recorded.method === asked.method &&
    SUBJECT.every((field) => differences(recorded.params[field], asked.params[field]).length === 0)
  );
}

/** Whether both have the same params, apart from what is masked in the log. */
export const matchesParams: MatchRequests = (recorded, asked) =>
  differences(recorded.params, asked.params).length === 0;

/** The recorded request that differs least, and where it differs; undefined if there is none. */
export function nearestRequest<T extends { readonly request: RecordedRequest }>(
  recorded: readonly T[],
  asked: RecordedRequest,
): { readonly nearest: T; readonly differs: readonly string[] } | undefined {
  return recorded
    .filter(({ request }) => request.method === asked.method)
    .map((nearest) => ({ nearest, differs: differences(nearest.request.params, asked.params) }))
    .toSorted((a, b) => a.differs.length - b.differs.length)
    .at(0);
}

/** A request for people: `tools/call {"name":"add","arguments":{"a":1}}`. */
export function requestText({ method, params }: RecordedRequest): string {
  return `${method} ${cutText(JSON.stringify(params), MAX_PARAMS)}`;
}

export function listText(texts: readonly string[]): string {
  const more = texts.length - MAX_SHOWN;
  return [...texts.slice(0, MAX_SHOWN), ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

/** The paths at which the two values differ, such as `arguments.a`. A masked text in the log stands for any text. */
function differences(recorded: unknown, asked: unknown, path = ''): readonly string[] {
  if (typeof recorded === 'string' && recorded.includes(MASK)) return isMaskOf(recorded, asked) ? [] : [path];
  if (Array.isArray(recorded) && Array.isArray(asked))
    return Array.from({ length: Math.max(recorded.length, asked.length) }, (_, index) => index).flatMap(
      (index) => differences(recorded[index], asked[index], `${path}[${index}]`),
    );
  if (isJsonObject(recorded) && isJsonObject(asked))
    return [...new Set([...Object.keys(recorded), ...Object.keys(asked)])].flatMap((field) =>
      differences(recorded[field], asked[field], path === '' ? field : `${path}.${field}`),
    );
  return Object.is(recorded, asked) ? [] : [path];
}

/** Numbers may be masked, too. */
function isMaskOf(recorded: string, asked: unknown): boolean {
  if (typeof asked !== 'string') return recorded === MASK && typeof asked === 'number';
  const [first = '', ...pieces] = recorded.split(MASK);
  if (!asked.startsWith(first)) return false;
  const last = pieces.pop() ?? '';
  let at = first.length;
  for (const piece of pieces) {
    const found = asked.indexOf(piece, at);
    if (found === -1) return false;
    at = found + piece.length;
  }
  return asked.length - last.length >= at && asked.endsWith(last);
}
