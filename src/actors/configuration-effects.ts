/** The effects of the configuration's chart: one reads the sources and applies the differences, one watches the files. */
import {
  configurationMachine,
  type ApplyConfigurationFailure,
  type ApplyConfigurationInput,
  type ApplyConfigurationOutput,
  type ConfigurationEvent,
  type FilesReread,
} from '../../machines/configuration/configuration.machine.js';
import type { SourceReport } from '../config/files/sources.js';
import type { Clock } from '../ports.js';
import { messageOf } from '../text/error-message.js';
import { plainEffect } from './effect.js';
import { fromCallback } from 'xstate';
import { FileWatch } from '../config/files/file-watch.js';

export interface ConfigurationEffectPorts extends ApplyConfigurationPorts {
  /** Undefined if no file is watched. */
  readonly watch: Omit<WatchFilesPorts, 'clock'> | undefined;
}

export function configurationEffects({ clock, read, watch }: ConfigurationEffectPorts) {
  return configurationMachine.provide({
    actors: {
      applyConfiguration: applyConfiguration({ clock, read }),
      ...(watch !== undefined && { watchFiles: watchFiles({ clock, ...watch }) }),
    },
  });
}

interface ApplyConfigurationPorts {
  readonly clock: Pick<Clock, 'now'>;
  readonly read: (input: ApplyConfigurationInput) => Promise<readonly SourceReport[]>;
}

function applyConfiguration({ clock, read }: ApplyConfigurationPorts) {
  return plainEffect<ApplyConfigurationOutput, ApplyConfigurationInput>(
    (error): ApplyConfigurationFailure => ({ message: messageOf(error), at: clock.now() }),
    async (input) => {
      const sources = await read(input);
      return { readable: sources.every(({ ok }) => ok), at: clock.now() };
    },
  );
}

interface WatchFilesPorts {
  readonly clock: Pick<Clock, 'now'>;
  /** Absolute paths of the files to watch, including files that do not exist. */
  readonly places: () => Promise<readonly string[]>;
  /** Called when the watch ends; the promise resolves once it is closed. */
  readonly closing: (closed: Promise<void>) => void;
}

function watchFiles({ clock, places, closing }: WatchFilesPorts) {
  return fromCallback<FilesReread>(({ sendBack, receive }) => {
    const send = (event: ConfigurationEvent): void => sendBack(event);
    const failed = (error: unknown): void => send({ type: 'watch.failed', message: messageOf(error) });
    const watch = new FileWatch({
      onchange: () => send({ type: 'files.changed', at: clock.now() }),
      onerror: failed,
    });
    const follow = async (): Promise<void> => {
      try {
        await watch.follow(await places());
      } catch (error) {
        failed(error);
      }
    };
    receive(() => void follow());
    void follow();
    return () => closing(watch.close());
  });
}
