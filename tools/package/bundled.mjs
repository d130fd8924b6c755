/** The packages whose code the published package holds. `notices.txt` beside that code has their licenses. */

/** Bundled into `dist/bundle`: what signs in. */
export const IN_THE_CODE = ['@modelcontextprotocol/sdk', 'pkce-challenge', 'zod'];

/** Bundled into the inspection page. */
export const IN_THE_PAGE = ['preact', 'xstate', 'elkjs'];
