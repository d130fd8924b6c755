/**
 * `null` in an optional field of a message counts as absent: many languages write fields without a value as `null`. Only
 * fields that MCP 2025-11-25 defines are changed. Data of a server (`structuredContent`, `_meta`, schemas) and
 * required fields keep their `null`.
 */
import { isJsonObject, type JsonObject } from '../json/json-object.js';

/** The fields of an object. For a list, the shape applies to every item. */
export interface Shape {
  /** Names of optional fields. */
  readonly optional?: readonly string[];
  /** Fields with fields of their own. */
  readonly of?: Readonly<Record<string, Shape>>;
  /** The shape of every field, whatever its name. */
  readonly each?: Shape;
}

/** The value without those `null`s; the same object if it has none. */
export function withoutNulls<T>(value: T, shape: Shape | undefined): T {
  if (shape === undefined || typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return itemsWithoutNulls(value, shape) as T;
  const given = value as JsonObject;
  let changed: Record<string, unknown> | undefined;
  // By the fields that are there: a shape names many more.
  for (const field of Object.keys(given)) {
    const item = given[field];
    if (item === null) {
      if (shape.optional?.includes(field) === true) delete (changed ??= { ...given })[field];
    } else if (typeof item === 'object') {
      const now = withoutNulls(item, shape.each ?? shapeOf(shape, field));
      if (now !== item) (changed ??= { ...given })[field] = now;
    }
  }
  return (changed as T | undefined) ?? value;
}

function itemsWithoutNulls(items: readonly unknown[], shape: Shape): readonly unknown[] {
  let changed: unknown[] | undefined;
  items.forEach((item, index) => {
    const now = withoutNulls(item, shape);
    if (now !== item) (changed ??= [...items])[index] = now;
  });
  return changed ?? items;
}

function shapeOf({ of }: Shape, field: string): Shape | undefined {
  return of !== undefined && Object.hasOwn(of, field) ? of[field] : undefined;
}

const ICONS: Shape = { optional: ['mimeType', 'sizes', 'theme'] };
const ANNOTATIONS: Shape = { optional: ['audience', 'priority', 'lastModified'] };
const RESOURCE: Shape = {
  optional: ['title', 'description', 'mimeType', 'size', 'icons', 'annotations', '_meta'],
  of: { icons: ICONS, annotations: ANNOTATIONS },
};
const RESOURCE_CONTENTS: Shape = { optional: ['mimeType', 'text', 'blob', '_meta'] };
const PROMPT: Shape = {
  optional: ['title', 'description', 'icons', 'arguments', '_meta'],
  of: { icons: ICONS, arguments: { optional: ['title', 'description', 'required'] } },
};

/** A tool of a list. */
export const TOOL: Shape = {
  optional: ['title', 'description', 'icons', 'annotations', 'outputSchema', 'execution', '_meta'],
  of: {
    icons: ICONS,
    annotations: {
      optional: ['title', 'readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'],
    },
    execution: { optional: ['taskSupport'] },
  },
};

/** Content of any type: text, image, audio, embedded resource or link. */
const CONTENT: Shape = {
  ...RESOURCE,
  of: { ...RESOURCE.of, resource: RESOURCE_CONTENTS },
};
const MESSAGES: Shape = { optional: ['_meta'], of: { content: CONTENT } };
const LIST = ['nextCursor', '_meta'];

const INITIALIZE: Shape = {
  optional: ['instructions', '_meta'],
  of: {
    serverInfo: { optional: ['title', 'description', 'websiteUrl', 'icons'], of: { icons: ICONS } },
    capabilities: {
      optional: [
        'experimental',
        'logging',
        'completions',
        'prompts',
        'resources',
        'tools',
        'tasks',
        'extensions',
      ],
      of: {
        prompts: { optional: ['listChanged'] },
        resources: { optional: ['subscribe', 'listChanged'] },
        tools: { optional: ['listChanged'] },
      },
    },
  },
};

const RESULTS: Readonly<Record<string, Shape>> = {
  initialize: INITIALIZE,
  'tools/list': { optional: LIST, of: { tools: TOOL } },
  'resources/list': { optional: LIST, of: { resources: RESOURCE } },
  'resources/templates/list': { optional: LIST, of: { resourceTemplates: RESOURCE } },
  'prompts/list': { optional: LIST, of: { prompts: PROMPT } },
  'tools/call': {
    optional: ['content', 'structuredContent', 'isError', '_meta'],
    of: { content: CONTENT },
  },
  'resources/read': { optional: ['_meta'], of: { contents: RESOURCE_CONTENTS } },
  'prompts/get': { optional: ['description', '_meta'], of: { messages: MESSAGES } },
  'completion/complete': { optional: ['_meta'], of: { completion: { optional: ['total', 'hasMore'] } } },
};

const PARAMS: Readonly<Record<string, Shape>> = {
  'notifications/progress': { optional: ['total', 'message', '_meta'] },
  'notifications/cancelled': { optional: ['requestId', 'reason', '_meta'] },
  'notifications/message': { optional: ['level', 'logger', '_meta'] },
  'sampling/createMessage': {
    optional: [
      'modelPreferences',
      'systemPrompt',
      'includeContext',
      'temperature',
      'stopSequences',
      'metadata',
      'tools',
      'toolChoice',
      'task',
      '_meta',
    ],
    of: {
      messages: MESSAGES,
      modelPreferences: {
        optional: ['hints', 'costPriority', 'speedPriority', 'intelligencePriority'],
        of: { hints: { optional: ['name'] } },
      },
      tools: TOOL,
      toolChoice: { optional: ['mode'] },
    },
  },
  'elicitation/create': {
    optional: ['mode', 'task', '_meta'],
    of: {
      requestedSchema: {
        optional: ['$schema', 'required'],
        of: {
          properties: {
            each: {
              optional: [
                'title',
                'description',
                'default',
                'minLength',
                'maxLength',
                'format',
                'minimum',
                'maximum',
                'minItems',
                'maxItems',
                'enumNames',
              ],
            },
          },
        },
      },
    },
  },
};

const ANY: Shape = { optional: ['_meta'] };

/** The result of a request. */
export function resultWithoutNulls(method: string, result: Record<string, unknown>): Record<string, unknown> {
  return withoutNulls(result, shapeIn(RESULTS, method));
}

/** The parameters of a request or a notification; `{}` if they are `null` or absent. */
export function paramsWithoutNulls(method: unknown, params: unknown): unknown {
  if (params === null || params === undefined) return {};
  if (!isJsonObject(params)) return params;
  return withoutNulls(params, shapeIn(PARAMS, method));
}

/** A server may send anything as the method. */
function shapeIn(shapes: Readonly<Record<string, Shape>>, method: unknown): Shape {
  return (typeof method === 'string' && Object.hasOwn(shapes, method) && shapes[method]) || ANY;
}
