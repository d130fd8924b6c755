/** A stub of the editor API that the extension uses: it records calls, and a test can change its settings. */
import type * as vscode from 'vscode';
import type { Editor } from '../../../docs/examples/vscode-extension/src/editor.js';

class StandInEmitter<T> implements vscode.EventEmitter<T> {
  readonly listeners = new Set<(value: T) => unknown>();
  readonly event: vscode.Event<T> = (listener, self) => {
    const bound = (value: T): unknown => listener.call(self, value) as unknown;
    this.listeners.add(bound);
    return { dispose: () => this.listeners.delete(bound) };
  };
  fire(value: T): void {
    for (const listener of this.listeners) listener(value);
  }
  dispose(): void {
    this.listeners.clear();
  }
}

class StandInDefinition implements vscode.McpStdioServerDefinition {
  cwd?: vscode.Uri;
  version?: string;
  constructor(
    readonly label: string,
    public command: string,
    public args: string[] = [],
    public env: Record<string, string | number | null> = {},
    version?: string,
  ) {
    if (version !== undefined) this.version = version;
  }
}

export class StandInEditor implements Editor {
  readonly settings: Record<string, unknown> = {};
  readonly providers = new Map<string, vscode.McpServerDefinitionProvider>();
  readonly warnings: string[] = [];
  readonly notes: string[] = [];
  /** How often the provider reported a change of its servers. */
  changes = 0;
  folders: readonly string[] = [];
  readonly #commands = new Map<string, () => unknown>();
  readonly #settingsChanged = new StandInEmitter<vscode.ConfigurationChangeEvent>();
  readonly #foldersChanged = new StandInEmitter<vscode.WorkspaceFoldersChangeEvent>();

  readonly EventEmitter = StandInEmitter;
  readonly McpStdioServerDefinition = StandInDefinition;
  readonly lm: Editor['lm'] = {
    registerMcpServerDefinitionProvider: (id, provider) => {
      this.providers.set(id, provider);
      const listening = provider.onDidChangeMcpServerDefinitions?.(() => (this.changes += 1));
      return this.#disposable(() => {
        listening?.dispose();
        this.providers.delete(id);
      });
    },
  };
  readonly commands: Editor['commands'] = {
    registerCommand: (name, run) => {
      this.#commands.set(name, () => run() as unknown);
      return this.#disposable(() => this.#commands.delete(name));
    },
  };
  readonly window = {
    showWarningMessage: async (text: string) => void this.warnings.push(text),
    showInformationMessage: async (text: string) => void this.notes.push(text),
  } as Editor['window'];
  readonly workspace = this.#makeWorkspace();

  get listeners(): number {
    return this.#settingsChanged.listeners.size + this.#foldersChanged.listeners.size + this.#commands.size;
  }

  set(section: string, key: string, value: unknown): void {
    this.settings[`${section}.${key}`] = value;
    this.#settingsChanged.fire({ affectsConfiguration: (name) => name === section });
  }

  openFolders(...folders: readonly string[]): void {
    this.folders = folders;
    this.#foldersChanged.fire({ added: [], removed: [] });
  }

  run(command: string): void {
    this.#commands.get(command)?.();
  }

  #makeWorkspace(): Editor['workspace'] {
    const folders = (): readonly vscode.WorkspaceFolder[] =>
      this.folders.map((fsPath, index) => {
        const name = fsPath.split('/').at(-1) ?? '';
        return { uri: { fsPath } as vscode.Uri, name, index };
      });
    const get = (section: string) => (key: string, otherwise: unknown) =>
      this.settings[`${section}.${key}`] ?? otherwise;
    return {
      get workspaceFolders() {
        const open = folders();
        return open.length === 0 ? undefined : open;
      },
      getConfiguration: (section = '') => ({ get: get(section) }) as unknown as vscode.WorkspaceConfiguration,
      onDidChangeConfiguration: this.#settingsChanged.event,
      onDidChangeWorkspaceFolders: this.#foldersChanged.event,
    };
  }

  #disposable(dispose: () => void): vscode.Disposable {
    return { dispose };
  }
}
