/**
 * The provider of the servers, for as long as the extension is active.
 *
 * 1. It is registered once, under the id that `package.json` contributes; settings and folders change what it offers.
 * 2. Nothing is offered unless the settings or the command say so.
 * 3. The same problem is reported once, until the settings change.
 */
import type * as vscode from 'vscode';
import type { Editor, Home } from './editor.js';
import { offerOf } from './server-definitions.js';
import { readSettings, SECTION } from './settings.js';

export const PROVIDER_ID = 'troupe-servers';
export const COMMAND = 'troupeServers.register';

export function registerServers(editor: Editor, home: Home): vscode.Disposable[] {
  const changed = new editor.EventEmitter<void>();
  const reported = new Set<string>();
  let isAskedFor = false;

  const provideMcpServerDefinitions = (): vscode.McpStdioServerDefinition[] => {
    const { autoRegister, serverIds, problem } = readSettings(editor);
    if (!autoRegister && !isAskedFor) return [];
    const { definitions, problems } = offerOf(serverIds, editor, home);
    for (const one of problem === undefined ? problems : [problem]) tell(one);
    return definitions;
  };
  const tell = (problem: string): void => {
    if (reported.has(problem)) return;
    reported.add(problem);
    void editor.window.showWarningMessage(problem);
  };

  return [
    changed,
    editor.lm.registerMcpServerDefinitionProvider(PROVIDER_ID, {
      onDidChangeMcpServerDefinitions: changed.event,
      provideMcpServerDefinitions,
    }),
    editor.workspace.onDidChangeConfiguration((change) => {
      if (!change.affectsConfiguration(SECTION)) return;
      reported.clear();
      changed.fire();
    }),
    editor.workspace.onDidChangeWorkspaceFolders(() => changed.fire()),
    editor.commands.registerCommand(COMMAND, () => {
      isAskedFor = true;
      reported.clear();
      const labels = provideMcpServerDefinitions().map(({ label }) => label);
      changed.fire();
      if (labels.length > 0) void editor.window.showInformationMessage(`Registered: ${labels.join(', ')}.`);
    }),
  ];
}
