/** Where the editor comes in. */
import process from 'node:process';
import * as vscode from 'vscode';
import { registerServers } from './register-servers.js';

export function activate({ extension, extensionPath, subscriptions }: vscode.ExtensionContext): void {
  const { version } = extension.packageJSON as { version: string };
  const isElectron = process.versions['electron'] !== undefined;
  subscriptions.push(
    ...registerServers(vscode, { extensionPath, version, execPath: process.execPath, isElectron }),
  );
}
