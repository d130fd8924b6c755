/** Changes YAML in one place. */
import { isMap, parseDocument } from 'yaml';
import type { TextEdit } from './edit-text.js';

/** Comments, anchors and the style of every value stay. */
export function editYaml(text: string, { path, value }: TextEdit): string {
  const eol = /\r?\n/.exec(text)?.[0] ?? '\n';
  const document = parseDocument(text, { stringKeys: true });
  if (value === undefined) document.deleteIn(path);
  else {
    for (let length = 1; length < path.length; length += 1) {
      const around = path.slice(0, length);
      const there = document.getIn(around, true);
      if (!isMap(there)) document.setIn(around, document.createNode({}));
      else if (there.items.length === 0) there.flow = false;
    }
    document.setIn(path, document.createNode(value));
  }
  const indent = /\n( +)\S/.exec(text)?.[1]?.length ?? 2;
  return document.toString({ lineWidth: 0, indent }).replaceAll(/\r?\n/g, eol);
}
