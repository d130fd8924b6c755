/**
 * docs/reference/package.md: the frameworks and their tested versions, how the declarations compile, what an installation
 * brings, and what is bundled. From package.json, the lock file, and what `tools/package` has measured.
 */
import { code, page, table } from './markdown.mjs';

const CLIENTS = ['openai', '@anthropic-ai/sdk'];

/** @param {{ manifest: any, installed: any, bundled: { code: string[], page: string[] }, footprint: any, types: any[] }} known */
export function packagePage({ manifest, installed, bundled, footprint, types }) {
  return page('The package', '`package.json` and `tools/package/figures.json`', [
    '## Frameworks',
    'All are optional. npm accepts every version in the range beside Troupe. `openai` and `@anthropic-ai/sdk` are no peers, since ' +
      'Troupe only matches their types.',
    table(['Package', 'Range', 'Tested with'], frameworkRows(manifest, installed)),
    '## Declarations',
    'These compile a strict program (`exactOptionalPropertyTypes`, `skipLibCheck: false`, no types of the DOM) that imports Troupe, ' +
      'the gateway and the adapters without a framework. The entry points that share types with XState (`./machines`, `./charts`, ' +
      '`./event-log`, `./testing`, `./xstate`) need `skipLibCheck: true` together with `exactOptionalPropertyTypes`, as XState itself does.',
    table(
      ['TypeScript', '`@types/node`', 'Module resolution'],
      types.map(({ compiler, node, way }) => [compiler, node, way]),
    ),
    '## Footprint',
    `\`npm install ${manifest.name}\` brings ${footprint.packages} packages with ${footprint.mb} MB on disk; Troupe itself has ` +
      `${footprint.own} MB. No package has an install script. _Alone_ counts the packages and megabytes that no other dependency ` +
      'needs.',
    table(
      ['Dependency', 'Packages', 'Alone', 'MB alone'],
      footprint.dependencies.map(({ name, packages, alone, mb }) => [
        code(name),
        String(packages),
        String(alone),
        mb.toFixed(2),
      ]),
    ),
    '## Bundled packages',
    'Their code is part of the package; `notices.txt` beside it has the licenses.',
    table(
      ['Package', 'Version', 'License', 'Part of'],
      [
        ...bundled.code.map((name) => bundledRow(installed, name, '`dist/bundle`')),
        ...bundled.page.map((name) => bundledRow(installed, name, '`dist/visualizer`')),
      ],
    ),
  ]);
}

function frameworkRows({ peerDependencies, devDependencies }, installed) {
  const names = [...Object.keys(peerDependencies), ...CLIENTS];
  return names.map((name) => {
    const places = Object.entries(devDependencies)
      .filter(([place, range]) => place === name || range.startsWith(`npm:${name}@`))
      .map(([place]) => installed[`node_modules/${place}`].version);
    const range = peerDependencies[name];
    return [
      code(name),
      range === undefined ? 'any' : code(range.replaceAll('||', 'or')),
      places.toSorted().join(', '),
    ];
  });
}

function bundledRow(installed, name, place) {
  const { version, license } = installed[`node_modules/${name}`];
  return [code(name), version, license, place];
}
