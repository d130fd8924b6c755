/** The machine of the connections as the host changes it. */
import type { EffectPorts } from '../actors/effect-ports.js';
import { ConfigError } from '../errors.js';
import type { MachineOverrides } from '../options.js';

export function toAdaptedConnection({
  connection: adapt,
}: MachineOverrides = {}): EffectPorts['adaptConnection'] {
  return (
    adapt &&
    ((machine, effects) => {
      const adapted = adapt(machine as never, effects as never) as typeof machine | undefined;
      // `provide` keeps the chart.
      if (adapted?.config === machine.config) return adapted;
      throw new ConfigError(
        "machines.connection: expected the machine that it is called with, or the result of its 'provide'.",
      );
    })
  );
}
