import { win32 } from 'node:path';
import { describe, expect, it } from 'vitest';
import { platformOf, THIS_PLATFORM } from '../../../src/platform/platform.js';
import { useLeakCheck } from '../../support/leak-check.js';

useLeakCheck();

describe('the answers of an operating system', () => {
  it('are those of the system that runs this process', () => {
    expect(THIS_PLATFORM).toEqual(platformOf(process.platform));
  });

  it.each([
    ['linux', 'proc', 'xdg-open', false],
    ['darwin', 'ps', 'open', true],
    ['freebsd', 'ps', 'xdg-open', false],
    ['openbsd', 'ps', 'xdg-open', false],
  ] as const)('are those of POSIX on %s', (name, processTable, opener, isDesktop) => {
    expect(platformOf(name)).toMatchObject({
      name,
      processTable,
      opener: [opener],
      isDesktop,
      hasProcessGroups: true,
      hasFileModes: true,
      ignoresCase: false,
      homeVariable: 'HOME',
      stdoutBlocks: false,
      keychainCharacters: Infinity,
    });
  });

  it('are others on Windows', () => {
    const windows = platformOf('win32');
    expect(windows).toMatchObject({
      paths: win32,
      processTable: undefined,
      hasProcessGroups: false,
      hasFileModes: false,
      ignoresCase: true,
      homeVariable: 'USERPROFILE',
      stdoutBlocks: true,
    });
    expect(windows.busyFileCodes.has('EPERM')).toBe(true);
  });

  it('keep tokens out of the logs that macOS collects', () => {
    expect(platformOf('darwin').privateFolder).toBe('data');
  });
});
