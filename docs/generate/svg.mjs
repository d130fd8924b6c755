/**
 * What the generated pictures have in common: colors for light and dark pages, and the writing of SVG.
 */

/** Colors of a light and of a dark page. Tones are for states and for what leads to them. */
export const THEMES = {
  light: {
    page: '#f6f8fa',
    box: '#ffffff',
    inner: '#f9fafb',
    border: '#d0d7de',
    ink: '#1f2328',
    muted: '#656d76',
    done: '#1a7f37',
    error: '#cf222e',
    after: '#9a6700',
    line: '#8c959f',
    work: '#0969da',
    good: '#1a7f37',
    warn: '#9a6700',
    bad: '#cf222e',
    rest: '#6e5494',
  },
  dark: {
    page: '#0d1117',
    box: '#161b22',
    inner: '#11161d',
    border: '#30363d',
    ink: '#e6edf3',
    muted: '#8d96a0',
    done: '#3fb950',
    error: '#ff7b72',
    after: '#d29922',
    line: '#6e7681',
    work: '#58a6ff',
    good: '#3fb950',
    warn: '#d29922',
    bad: '#ff7b72',
    rest: '#b392f0',
  },
};

export function place({ x, y, width, height }) {
  return `x="${round(x)}" y="${round(y)}" width="${round(width)}" height="${round(height)}"`;
}

export function size(width, height) {
  const [w, h] = [Math.ceil(width), Math.ceil(height)];
  return `viewBox="0 0 ${w} ${h}" width="${w}" height="${h}"`;
}

export function point({ x, y }) {
  return `${round(x)} ${round(y)}`;
}

export function round(value) {
  return Math.round(value * 10) / 10;
}

export function escape(words) {
  return words.replace(/[<>&"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
