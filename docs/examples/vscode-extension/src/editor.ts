/** What the extension needs of the editor. The editor has all of it; a test has no more. */
import type * as vscode from 'vscode';

export interface Editor {
  readonly lm: Pick<typeof vscode.lm, 'registerMcpServerDefinitionProvider'>;
  readonly workspace: Pick<
    typeof vscode.workspace,
    'getConfiguration' | 'onDidChangeConfiguration' | 'workspaceFolders' | 'onDidChangeWorkspaceFolders'
  >;
  readonly window: Pick<typeof vscode.window, 'showInformationMessage' | 'showWarningMessage'>;
  readonly commands: Pick<typeof vscode.commands, 'registerCommand'>;
  readonly EventEmitter: typeof vscode.EventEmitter;
  readonly McpStdioServerDefinition: typeof vscode.McpStdioServerDefinition;
}

/** Where the extension is, and what runs it. */
export interface Home {
  readonly extensionPath: string;
  /** Of the extension. When it changes, the editor asks the servers for their tools anew. */
  readonly version: string;
  readonly execPath: string;
  /** Whether that program is Electron, which runs as Node.js only if `ELECTRON_RUN_AS_NODE` is set. */
  readonly isElectron: boolean;
}
