/** Makes room for a file in place of one that cannot be understood, which is kept for whoever wants to know. */
import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import { isAbsence } from './config/sources.js';

/** Another process may have been faster: then there is nothing to do. */
export async function moveAside(file: string): Promise<void> {
  try {
    await rename(file, `${file}.${randomBytes(4).toString('hex')}.broken`);
  } catch (error) {
    if (!isAbsence(error)) throw error;
  }
}
