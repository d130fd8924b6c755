#!/usr/bin/env node
/** The command `troupe`. The exit code is set and the process left to end by itself, so that all output gets out. */
import process from 'node:process';
import { run } from './program.js';

process.exitCode = await run(process.argv.slice(2), process);
