/** Formats figures. */

/** Three significant digits; thousands with commas. */
export function number(value) {
  if (value === null || value === undefined) return '–';
  if (value === 0) return '0';
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return Number(value.toFixed(Math.min(digits, 3))).toLocaleString('en', { maximumFractionDigits: 3 });
}

/** `12.3 (11.9–14)`; without the spread if there is none. */
export function spread(figure) {
  if (!figure) return '–';
  const { median, min, max, runs } = figure;
  return runs < 2 ? number(median) : `${number(median)} (${number(min)}–${number(max)})`;
}

export const times = (value) => (value === null ? '–' : `${value.toFixed(2)} ×`);

export const duration = (ms) =>
  ms < 90_000
    ? `${Math.round(ms / 1_000)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1_000)} s`;
