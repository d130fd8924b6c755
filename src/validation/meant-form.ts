/**
 * Of several forms that a value may have (`anyOf`, `oneOf`), the one that it is meant to have: what does not fit the others
 * would lead astray. A form is not meant where the value is of another type, or has another value in a property that can
 * have but one.
 */
import type { OutputUnit } from '@cfworker/json-schema';

const CHOICES: ReadonlySet<string> = new Set(['anyOf', 'oneOf']);
/** Looking for forms among more than these is not worth its time. */
const MOST_FOUND = 200;

/** Without what is found in the forms that are not meant; all of it where not exactly one is. `wantedAt` reads the schema. */
export function onlyMeant(
  found: readonly OutputUnit[],
  wantedAt: (keywordLocation: string) => unknown,
): readonly OutputUnit[] {
  if (found.length > MOST_FOUND) return found;
  const places = placesOf(found);
  let left = found;
  for (const choice of found) {
    if (!CHOICES.has(choice.keyword) || !left.includes(choice)) continue;
    const wanted = wantedAt(choice.keywordLocation);
    const formOf = (unit: OutputUnit): string | undefined => formIn(choice, unit, places.get(unit) ?? '');
    const inForms = left.filter((unit) => formOf(unit) !== undefined);
    const wrong = new Set(inForms.map(formOf));
    const meant = new Set(wrong);
    for (const unit of inForms) if (isForeign(unit, choice, wantedAt)) meant.delete(formOf(unit));
    // One in which nothing is wrong fits.
    if (meant.size !== 1 || !Array.isArray(wanted) || wrong.size < wanted.length) continue;
    left = left.filter((unit) => unit !== choice && (!inForms.includes(unit) || meant.has(formOf(unit))));
  }
  return left;
}

/** Where in the schema each was found. What may not be there at all only follows that which says so. */
function placesOf(found: readonly OutputUnit[]): ReadonlyMap<OutputUnit, string> {
  const places = new Map<OutputUnit, string>();
  let last = '';
  for (const unit of found) {
    if (unit.keyword !== 'false') last = unit.keywordLocation;
    places.set(unit, last);
  }
  return places;
}

/** The number of the form in which that was found, as text; undefined where it was not found in that choice. */
function formIn(choice: OutputUnit, unit: OutputUnit, place: string): string | undefined {
  const isThere = isWithin(unit.instanceLocation, choice.instanceLocation);
  if (!isThere || unit === choice || !isWithin(place, choice.keywordLocation)) return undefined;
  return place.slice(choice.keywordLocation.length + 1).split('/', 1)[0];
}

function isForeign(
  { keyword, keywordLocation, instanceLocation }: OutputUnit,
  choice: OutputUnit,
  wantedAt: (keywordLocation: string) => unknown,
): boolean {
  if (keyword === 'type') return instanceLocation === choice.instanceLocation;
  const isOneValue =
    keyword === 'const' || (keyword === 'enum' && [wantedAt(keywordLocation)].flat().length < 2);
  const property = instanceLocation.slice(choice.instanceLocation.length + 1);
  return isOneValue && property !== '' && !property.includes('/');
}

function isWithin(location: string, whole: string): boolean {
  return location === whole || location.startsWith(`${whole}/`);
}
