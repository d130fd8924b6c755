/** Makes the page one HTML file: scripts, styles and workers are written into it. */
import type { Plugin } from 'vite';

export function inOneFile(): Plugin {
  return {
    name: 'in-one-file',
    enforce: 'pre',
    async resolveId(source, importer) {
      if (!source.endsWith('?worker')) return null;
      return this.resolve(`${source}&inline`, importer, { skipSelf: true });
    },
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        for (const page of Object.values(bundle)) {
          if (page.type !== 'asset' || !page.fileName.endsWith('.html')) continue;
          let html = String(page.source);
          for (const part of Object.values(bundle)) {
            if (part === page) continue;
            const text = part.type === 'chunk' ? part.code : String(part.source);
            const inlined = inline(html, part.fileName, text);
            if (inlined === undefined) continue;
            html = inlined;
            delete bundle[part.fileName];
          }
          page.source = html;
        }
      },
    },
  };
}

/** Undefined where the page does not ask for that file. */
function inline(html: string, fileName: string, text: string): string | undefined {
  const name = fileName.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  const script = new RegExp(`<script[^>]*src="\\./${name}"[^>]*></script>`);
  const style = new RegExp(`<link[^>]*href="\\./${name}"[^>]*>`);
  if (script.test(html)) {
    const code = text.replaceAll(/<\/(script)/gi, String.raw`<\/$1`).replaceAll('<!--', String.raw`<\!--`);
    // Where it stood in the head, the page would not be there yet for a script that is no module.
    return html.replace(script, () => `<script type="module">${code}</script>`);
  }
  return style.test(html) ? html.replace(style, () => `<style>${text}</style>`) : undefined;
}
