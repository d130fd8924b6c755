import { describe, expect, it } from 'vitest';
import { MadeTools, type ToolSource } from '../../../src/adapters/tool-source.js';
import type { CatalogTool } from '../../../src/catalog/registry.js';

const catalogTool = (name: string): CatalogTool => ({ name }) as unknown as CatalogTool;

function makeSource(tools: readonly CatalogTool[]): {
  tools: readonly CatalogTool[];
  made: string[];
  all: MadeTools<string>;
} {
  const source = { tools, made: [] as string[] };
  const all = new MadeTools(source as unknown as ToolSource, ({ name }) => {
    source.made.push(name);
    return `made ${source.made.length}`;
  });
  return Object.assign(source, { all });
}

describe('tools that are created for a framework', () => {
  it('are created once, and again only if a tool changed.', () => {
    const [a, b] = [catalogTool('a'), catalogTool('b')];
    const source = makeSource([a, b]);
    expect(source.all.present).toBe(source.all.present);
    source.tools = [catalogTool('a'), b];
    expect([...source.all.present.values()]).toEqual(['made 3', 'made 2']);
    source.tools = [a, b];
    expect(source.all.get('a')).toBe('made 1');
    expect(source.made).toEqual(['a', 'b', 'a']);
  });

  it('can still be found by name after they were removed, but not before they were added.', () => {
    const source = makeSource([catalogTool('a')]);
    expect(source.all.get('a')).toBe('made 1');
    source.tools = [];
    expect(source.all.present.size).toBe(0);
    expect(source.all.get('a')).toBe('made 1');
    expect(source.all.get('b')).toBeUndefined();
  });

  it('are kept in a bounded number, even if a server renames its tools again and again.', () => {
    const source = makeSource([]);
    for (let n = 0; n < 3_000; n += 1) {
      source.tools = [catalogTool(`t${n}`)];
      expect(source.all.present.size).toBe(1);
    }
    expect(source.all.get('t0')).toBeUndefined();
    expect(source.all.get('t2998')).toBe('made 2999');
    expect(source.all.get('t2999')).toBe('made 3000');
  });

  it('are reused for unchanged tools, however many there are.', () => {
    const many = Array.from({ length: 10_000 }, (_, index) => catalogTool(`t${index}`));
    const source = makeSource(many);
    expect(source.all.present.size).toBe(10_000);
    source.tools = [...many.slice(0, -1), catalogTool('t9999')];
    expect(source.all.present.size).toBe(10_000);
    expect(source.made).toHaveLength(10_001);
  });
});
