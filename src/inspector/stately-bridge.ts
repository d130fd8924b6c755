/**
 * The page that embeds a viewer of Stately's protocol, by default the hosted one, and passes the messages to it.
 * Nothing else here sends data to another origin, and it is served only if a host requests it.
 */

/** The hosted viewer. */
export const STATELY_VIEWER = 'https://stately.ai/inspect';

/** The address for the messages of the bridge: one a line (application/x-ndjson), each of `@statelyai/inspect` 0.7. */
export const STATELY_STREAM = '/api/stately';
export const STATELY_PAGE = '/stately';
const SCRIPT = '/stately.js';
const STYLE = '/stately.css';

export interface BridgeFile {
  readonly type: string;
  readonly text: string;
  /** The policy of this page, which must frame the viewer. */
  readonly policy: string;
}

/** The files of the bridge to one viewer, by path. `viewer` is its address. */
export function bridgeFiles(viewer: URL): ReadonlyMap<string, BridgeFile> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "connect-src 'self'",
    `frame-src ${viewer.origin}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return new Map([
    [STATELY_PAGE, { type: 'text/html; charset=utf-8', text: page(viewer), policy }],
    [SCRIPT, { type: 'text/javascript; charset=utf-8', text: BRIDGE, policy }],
    [STYLE, { type: 'text/css; charset=utf-8', text: LOOKS, policy }],
  ]);
}

function page({ href, host }: URL): string {
  return `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Troupe in Stately's inspector</title>
  <link rel="stylesheet" href="${STYLE}">
  <p role="status">Waiting for ${escaped(host)}. Events are sent to that page.</p>
  <iframe title="Stately inspector" src="${escaped(href)}"></iframe>
  <script type="module" src="${SCRIPT}"></script>
</html>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

const LOOKS = `
html, body { height: 100%; margin: 0; }
body { display: flex; flex-direction: column; font: 0.9rem system-ui; color-scheme: light dark; }
p { margin: 0; padding: 0.4rem 0.8rem; }
iframe { flex: 1; border: 0; }
`;

/** Requests the messages when the viewer reports that it is ready, and again after a reload. */
const BRIDGE = `
const frame = document.querySelector('iframe');
const status = document.querySelector('p');
const viewer = new URL(frame.src).origin;
let asking = new AbortController();
addEventListener('hashchange', () => location.reload());
// As in the inspection page: the key leaves the address, and stays in this tab.
const key = location.hash.slice(1) || sessionStorage.getItem('troupe.key');
sessionStorage.setItem('troupe.key', key);
history.replaceState(null, '', location.pathname);

addEventListener('message', ({ source, origin, data }) => {
  if (source !== frame.contentWindow || origin !== viewer || data?.type !== '@statelyai.connected') return;
  asking.abort();
  asking = new AbortController();
  void forward(asking.signal);
});

async function forward(signal) {
  try {
    const headers = { authorization: 'Bearer ' + key };
    const answer = await fetch('${STATELY_STREAM}', { headers, signal });
    if (!answer.ok) throw new Error((await answer.json()).error);
    status.textContent = 'Events are sent to ' + viewer + '.';
    let rest = '';
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      const lines = (rest + read.value).split('\\n');
      rest = lines.pop();
      for (const line of lines) frame.contentWindow.postMessage(JSON.parse(line), viewer);
    }
    status.textContent = 'The stream has ended.';
  } catch (error) {
    if (!signal.aborted) status.textContent = 'The stream has ended: ' + error.message;
  }
}
`;
