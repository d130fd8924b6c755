/** Replaces `{{name}}` in every text of a value; a name without a value stays unchanged. */
export function fill(value, values) {
  if (typeof value === 'string') {
    return value.replaceAll(/\{\{(\w+)\}\}/g, (all, name) => values[name] ?? all);
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, values));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [fill(name, values), fill(item, values)]),
  );
}
