/** While the site is edited (`npm run site:dev`): gives the browser what the build would have copied. */
import { readFile } from 'node:fs/promises';
import type { UserConfig } from 'vitepress';
import { incidentPage, INCIDENTS } from './incidents.js';
import { linkedFile } from './links.js';
import { inProject } from './project.js';

/** That of the Vite which VitePress brings, not of the one that builds the project. */
type Plugin = Extract<NonNullable<NonNullable<UserConfig['vite']>['plugins']>[number], { name: string }>;

export function servedFiles(): Plugin {
  return {
    name: 'served-files',
    configureServer: ({ middlewares, config }) => {
      middlewares.use((request, response, next) => {
        const place = new URL(request.url ?? '', 'http://a.example').pathname.slice(config.base.length);
        const incident = INCIDENTS.find((name) => place === `live/${name}.html`);
        const file = linkedFile(place);
        if (incident !== undefined) {
          response.setHeader('content-type', 'text/html');
          incidentPage(incident).then((html) => response.end(html), next);
        } else if (file === undefined) next();
        else readFile(inProject(file)).then((content) => response.end(content), next);
      });
    },
  };
}
