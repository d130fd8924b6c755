import { describe, expect, it } from 'vitest';
import { urlProblem } from '../../../../src/config/entry/entry-texts.js';
import { parseLocalSocket } from '../../../../src/config/entry/local-socket.js';
import { maskUrl } from '../../../../src/config/entry/mask-entry.js';

describe('The address of a socket', () => {
  it.each([
    ['unix:///run/a.sock', '/run/a.sock', 'http://localhost/', 'unix:///run/a.sock'],
    ['unix:///run/a.sock#/mcp', '/run/a.sock', 'http://localhost/mcp', 'unix:///run/a.sock#/mcp'],
    ['UNIX:///run/a.sock#mcp', '/run/a.sock', 'http://localhost/mcp', 'unix:///run/a.sock#/mcp'],
    ['unix:/run/a.sock#/mcp', '/run/a.sock', 'http://localhost/mcp', 'unix:///run/a.sock#/mcp'],
    ['unix:///run/a%20b.sock', '/run/a b.sock', 'http://localhost/', 'unix:///run/a%20b.sock'],
    ['unix:///run/a.sock#/mcp?key=x', '/run/a.sock', 'http://localhost/mcp?key=x', 'unix:///run/a.sock#/mcp'],
    ['pipe:///pipe/a#/mcp', '\\\\.\\pipe\\a', 'http://localhost/mcp', 'pipe:///pipe/a#/mcp'],
  ])('%s leads to %s', (address, path, url, shown) => {
    const socket = parseLocalSocket(address);
    expect(socket).toMatchObject({ path, shown });
    expect(socket?.url.href).toBe(url);
    expect(urlProblem(address)).toBeUndefined();
  });

  it.each(['unix://run/a.sock', 'unix:a.sock', 'unix:', 'unix:///', 'pipe://host/pipe/a'])(
    'is refused: %s',
    (address) => {
      expect(parseLocalSocket(address)).toBeUndefined();
      expect(urlProblem(address)).toBeDefined();
    },
  );

  it('shows the path of requests, and masks their query.', () => {
    expect(maskUrl('unix:///run/a.sock#/mcp?key=secret')).toBe('unix:///run/a.sock#/mcp?key=***');
    expect(maskUrl('https://a.example/mcp#secret')).toBe('https://a.example/mcp#***');
  });
});
