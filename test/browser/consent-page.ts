/** The page of an authorization server that asks the user to agree or refuse. */
import type { ServerResponse } from 'node:http';
import type { Bent } from '../support/authorization-server.js';
import type { Seen } from '../support/http-server.js';

/** Shows the page before the authorization; agreeing continues as without it. */
export function asking(): Bent {
  return { instead: askAtAuthorize };
}

function askAtAuthorize({ method, path }: Seen, response: ServerResponse): boolean {
  const { pathname, searchParams } = new URL(path, 'http://127.0.0.1');
  if (method !== 'GET' || pathname !== '/authorize') return false;
  const answer = searchParams.get('answer');
  if (answer === 'agree') return false;
  if (answer === 'refuse') refuse(searchParams, response);
  else ask(searchParams, response);
  return true;
}

function refuse(params: URLSearchParams, response: ServerResponse): void {
  const back = new URL(params.get('redirect_uri') ?? '');
  back.searchParams.set('error', 'access_denied');
  back.searchParams.set('state', params.get('state') ?? '');
  response.writeHead(302, { location: back.href }).end();
}

function ask(params: URLSearchParams, response: ServerResponse): void {
  const fields = [...params].map(
    ([name, value]) => `<input type="hidden" name="${escaped(name)}" value="${escaped(value)}">`,
  );
  response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
  response.end(
    `<!doctype html><html lang="en"><title>Harbor office</title><body><h1>Allow access to your account?</h1>
     <form action="/authorize">${fields.join('')}
     <button name="answer" value="agree">Agree</button>
     <button name="answer" value="refuse">Refuse</button></form></body></html>`,
  );
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
