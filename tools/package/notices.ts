/** A plugin of Vite that writes `notices.txt`: the bundled packages and their licenses. */
import { readFile, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'vite';

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

export function notices(bundled: readonly string[]): Plugin {
  return {
    name: 'notices',
    async generateBundle() {
      const texts = await Promise.all(bundled.map(noticeOf));
      this.emitFile({ type: 'asset', fileName: 'notices.txt', source: texts.join('\n\n') });
    },
  };
}

async function noticeOf(name: string): Promise<string> {
  const folder = join(MODULES, name);
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Readonly<
    Record<'version' | 'license' | 'homepage', string | undefined>
  >;
  const files = await readdir(folder);
  const license = files.find((file) => /^licen[cs]e/i.test(file));
  const { version = '', license: terms = '', homepage = `https://www.npmjs.com/package/${name}` } = manifest;
  const text = license === undefined ? '' : await readFile(join(folder, license), 'utf8');
  return `${name} ${version}, ${terms}; its source is at ${homepage}\n\n${text.trim()}\n`;
}
