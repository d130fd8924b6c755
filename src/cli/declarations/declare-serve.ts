/** Declares `troupe serve`. */
import { type Command, Option } from 'commander';
import {
  collectHost,
  collectName,
  collectOrigin,
  collectUrl,
  OFFER_MODES,
  toLimit,
  toMilliseconds,
  toNoToken,
  toPort,
  toToken,
  toTokens,
  toUrl,
} from '../arguments/flags.js';
import { toListenAddress } from '../arguments/listen-address.js';
import { applyVariables } from '../arguments/serve-variables.js';
import type { Host } from '../host.js';
import type { ServeFlags } from '../serving/serve-flags.js';
import { addCommand, fleetOption, logFormatOption, type Act } from './declare.js';

export function addServe(program: Command, act: Act, { env, stdin }: Pick<Host, 'env' | 'stdin'>): void {
  addCommand(program, 'serve', 'serve all servers as one MCP server over stdin and stdout')
    .option('--http [port]', 'serve many clients over HTTP; default: any free port', toPort)
    .option('--host <address>', 'address to listen on; --no-token is refused if other computers can reach it')
    .option(
      '--token <token>',
      'token that HTTP clients must send; default: $TROUPE_SERVE_TOKEN, or one that is made and kept',
      toToken,
    )
    .addOption(
      new Option('--no-token', 'admit every user and program of this computer')
        .preset('')
        .argParser(toNoToken),
    )
    .option('--oauth-issuer <url>', 'accept tokens from this authorization server (repeatable)', collectUrl)
    .option('--public-url <url>', 'public address, if the service is behind a proxy', toUrl)
    .option(
      '--allow-origin <origin>',
      'accept requests from pages of this origin (repeatable)',
      collectOrigin,
    )
    .option('--allow-host <name>', 'accept this value of the Host header (repeatable)', collectHost)
    .option('--bare', 'serve a single server and keep its original names')
    .option('--fail-closed', 'refuse clients while a server has failed')
    .option('--admin-tools', 'add tools that show the status of servers and retry or restart them')
    .addOption(
      new Option(
        '--offer <mode>',
        'offer all tools, a search for tools, or (auto) all while they take few tokens, else the search',
      )
        .choices(OFFER_MODES)
        .default('all'),
    )
    .option('--offer-tokens <number>', "limit of '--offer auto', estimated; default: 10000", toTokens)
    .option('--max-sessions <number>', 'most clients over HTTP at the same time; default: 1000', toLimit)
    .option(
      '--require <server>',
      'answer 503 at /readyz while this server is not ready (repeatable)',
      collectName,
    )
    .option(
      '--metrics <address>',
      'serve metrics for Prometheus, without a token, on this port of 127.0.0.1, or on HOST:PORT',
      toListenAddress,
    )
    .option('--grace-period <ms>', 'time for calls in flight to finish on shutdown', toMilliseconds, 10_000)
    .option(
      '--drain-delay <ms>',
      'on shutdown, refuse only new sessions for this time, until load balancers have noticed; default: 0',
      toMilliseconds,
    )
    .addOption(fleetOption())
    .option('--fleet-address <url>', 'where the other hosts reach this one; default: where it listens', toUrl)
    .addOption(logFormatOption())
    .action(async (_, command: Command) => {
      const variables = applyVariables(command, env);
      const { serve } = await import('../commands/serve-command.js');
      await act<ServeFlags>(command, (flags, terminal) => serve(flags, terminal, { stdin, variables }));
    });
}
