/** The settings, and what is wrong with them. */
import type * as vscode from 'vscode';
import type { Editor } from './editor.js';

export const SECTION = 'troupeServers';
export const SERVER_IDS = ['business-data', 'troupe'] as const;

export type ServerId = (typeof SERVER_IDS)[number];

export interface Settings {
  readonly autoRegister: boolean;
  readonly serverIds: readonly ServerId[];
  /** What somebody has to correct. */
  readonly problem?: string;
}

export function readSettings({ workspace }: Editor): Settings {
  const settings: vscode.WorkspaceConfiguration = workspace.getConfiguration(SECTION);
  const autoRegister = settings.get<unknown>('autoRegister', true) !== false;
  const wanted = settings.get<unknown>('registerServerId', '');
  if (wanted === '') return { autoRegister, serverIds: SERVER_IDS };
  const serverIds = SERVER_IDS.filter((id) => id === wanted);
  if (serverIds.length > 0) return { autoRegister, serverIds };
  const problem = `The setting ${SECTION}.registerServerId is ${JSON.stringify(wanted)}. It has to be one of ${SERVER_IDS.join(', ')}, or empty for all.`;
  return { autoRegister, serverIds, problem };
}
