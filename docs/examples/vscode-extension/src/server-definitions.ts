/** How each server is started. */
import type * as vscode from 'vscode';
import type { Editor, Home } from './editor.js';
import { firstFile, howToGet, placesOf } from './program-files.js';
import type { ServerId } from './settings.js';

export interface Offer {
  readonly definitions: vscode.McpStdioServerDefinition[];
  /** A sentence for each server that is missing. */
  readonly problems: readonly string[];
}

/** One business data server, and a gateway for each folder of the workspace: its configuration is the folder's. */
export function offerOf(ids: readonly ServerId[], editor: Editor, home: Home): Offer {
  const folders = editor.workspace.workspaceFolders ?? [];
  const definitions: vscode.McpStdioServerDefinition[] = [];
  const problems: string[] = [];
  for (const id of ids) {
    const scopes = id === 'troupe' && folders.length > 0 ? folders.map((folder) => [folder]) : [folders];
    for (const scope of scopes) {
      const places = placesOf(
        id,
        home.extensionPath,
        scope.map(({ uri }) => uri.fsPath),
      );
      const program = firstFile(places);
      if (program === undefined) problems.push(howToGet(id));
      else definitions.push(definitionOf(id, program, scope[0], folders.length > 1, editor, home));
    }
  }
  return { definitions, problems: [...new Set(problems)] };
}

function definitionOf(
  id: ServerId,
  program: string,
  folder: vscode.WorkspaceFolder | undefined,
  isOneOfMany: boolean,
  editor: Editor,
  { execPath, isElectron, version }: Home,
): vscode.McpStdioServerDefinition {
  const env = isElectron ? { ELECTRON_RUN_AS_NODE: '1' } : {};
  const make = (label: string, words: readonly string[]) =>
    new editor.McpStdioServerDefinition(label, execPath, [program, ...words], env, version);
  if (id === 'business-data') return make('Business data', ['--stdio']);
  const gateway = make(isOneOfMany && folder !== undefined ? `Troupe: ${folder.name}` : 'Troupe', ['serve']);
  if (folder !== undefined) gateway.cwd = folder.uri;
  return gateway;
}
