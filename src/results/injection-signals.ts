/**
 * Finds signs that a text was written to steer a model. It says where they are, but not what to do about them: a
 * security guide contains the same words. Disguises that only a reader recognizes (paraphrase, encodings, most
 * languages) are not found.
 *
 * I1. The time is linear in the length of any text.
 * I2. The whole text is scanned, in windows; the findings do not depend on where windows begin.
 * I3. Findings repeat no words of the text, since a result may hold secrets.
 */
import { splitsSurrogatePair } from '../text/visible-text.js';

/** A sign of prompt injection in a text. */
export interface InjectionSignal {
  /** Kind of the sign. */
  readonly name: InjectionSignalName;
  /** Number of places where it occurs. */
  readonly count: number;
  /** Offsets of the first ten places, in characters from the start of the whole text. */
  readonly positions: readonly number[];
}

const WINDOW = 2 ** 18;
const MAX_POSITIONS = 10;

/** The signals in the order of the patterns. Pauses after every window. */
export function* scanForInjection(
  text: string,
  window = WINDOW,
): Generator<undefined, readonly InjectionSignal[], undefined> {
  const searches = INJECTION_PATTERNS.map(([name, pattern]) => new Search(name, pattern));
  let from = 0;
  while (from < text.length) {
    const until = windowEnd(text, from + window);
    for (const search of searches) search.look(text, from, until);
    from = until;
    if (from < text.length) yield;
  }
  return toSignals(searches);
}

function windowEnd(text: string, end: number): number {
  if (end >= text.length) return text.length;
  return splitsSurrogatePair(text, end) ? end + 1 : end;
}

/** The search for one pattern in a text. */
class Search {
  count = 0;
  readonly positions: number[] = [];
  #matchedUntil = 0;

  constructor(
    readonly name: InjectionSignalName,
    private readonly pattern: RegExp,
  ) {}

  /** Counts matches that begin in this window. */
  look(text: string, from: number, until: number): void {
    const { pattern } = this;
    const offset = Math.max(0, from - BEHIND);
    const window = text.slice(offset, until + REACH);
    pattern.lastIndex = Math.max(from, this.#matchedUntil) - offset;
    for (let match = pattern.exec(window); match !== null; match = pattern.exec(window)) {
      const position = offset + match.index;
      if (position >= until) return;
      this.#matchedUntil = offset + pattern.lastIndex;
      this.count += 1;
      if (this.positions.length < MAX_POSITIONS) this.positions.push(position);
    }
  }
}

function toSignals(searches: readonly Search[]): InjectionSignal[] {
  const signals = new Map<InjectionSignalName, InjectionSignal>();
  for (const { name, count, positions } of searches) {
    if (count === 0) continue;
    const known = signals.get(name) ?? { count: 0, positions: [] };
    const all = [...known.positions, ...positions].toSorted((a, b) => a - b);
    signals.set(name, { name, count: known.count + count, positions: all.slice(0, MAX_POSITIONS) });
  }
  return [...signals.values()];
}

/**
 * The patterns of text that is meant to steer a model. Every repetition is bounded, so that a scan is linear: a match
 * with its lookahead is at most `REACH` long, and no pattern looks back further than `BEHIND`.
 */
export const REACH = 1_024;
export const BEHIND = 64;

/** Kinds of signs of prompt injection in a text. */
export type InjectionSignalName =
  /** Words that tell a model to drop its instructions, take on another role, or keep something from its user. */
  | 'instruction-override'
  /** Text made to look like another speaker or another part of the conversation. */
  | 'fake-role-marker'
  /** A token that separates messages in the template of some model. */
  | 'chat-template-token'
  /** Characters that nobody sees and a model reads, unless a script or an emoji needs them. */
  | 'invisible-characters'
  /** Characters that make a person read another order than a model. */
  | 'bidirectional-characters'
  /** An attempt to close or to open the boundary that results are wrapped in. */
  | 'boundary-tag';

// A line break may be escaped as in JSON, and a line may be in a JSON string.
const GAP = String.raw`(?:[\s"'*_.,:;()-]|\\[nrt]){1,8}`;
const LINE_START = String.raw`(?:^|\n|\\n|")`;
const BLANK_LINE = String.raw`(?:^|\n[ \t]{0,4}\r?\n|(?:\\n){2}|")`;
const RULES = '(?:instructions?|prompts?|directives?|guidelines?)';
const DROP = '(?:ignore|disregard|forget)';

/** A pattern in which a space stands for any gap between two words. */
function phrase(pattern: string): string {
  return pattern.replaceAll(' ', GAP);
}

/** Words and the text before them, which is checked only if the words are found. */
function after(before: string, words: string): string {
  return `(?:${words})(?<=${before}(?:${words}))`;
}

/** Words at the beginning of a line, as a quotation, item or heading too. */
function atLineStart(words: string): string {
  return after(String.raw`${LINE_START}[ \t>#*[(-]{0,8}`, words);
}

const OVERRIDES = [
  phrase(
    `${DROP} (?:(?:all|any|every|each|the|these|those|of|your|my|our|please|completely) ){0,5}` +
      '(?:previous|prior|earlier|preceding|above|foregoing|initial|original|existing|former|system|developer|safety|your) ' +
      `(?:(?:and|or|of|the|your|previous|prior|above|system|safety|given|user) ){0,3}${RULES}\\b`,
  ),
  phrase(
    `${DROP} (?:(?:all|any|the|these|those|your) ){0,3}${RULES} ` +
      '(?:above|before|given|you (?:were|have|are|got)|that (?:came|were|precede)|from (?:before|above))\\b',
  ),
  phrase(
    `${DROP} (?:everything|anything|all|whatever) (?:that )?` +
      '(?:above|you (?:were|have been) (?:told|instructed|given|taught)|(?:said|told|written) (?:above|before))\\b',
  ),
  phrase(
    `(?:override|bypass) (?:(?:all|any|of|the) ){0,3}(?:your|previous|prior) (?:(?:safety|system) )?${RULES}\\b`,
  ),
  phrase(
    "from now on (?:you(?:'ll)? (?:(?:will|must|shall|should|only|always|never) ){0,2})" +
      '(?:act|respond|reply|answer|behave|obey|pretend|ignore|role-?play)\\b',
  ),
  phrase(
    'you are (?:now|no longer) (?:an?|the|in|bound by) ' +
      '(?:[^\\s.]{1,20}\\s){0,4}(?:assistant|ai|chatbot|persona|jailbroken|unrestricted|(?:developer|god|dan|debug) mode)\\b',
  ),
  phrase(
    '(?:reveal|print|show|output|repeat|leak|disclose) (?:me )?your (?:(?:full|entire|hidden|secret|initial|exact) ){0,2}' +
      '(?:system|developer|initial|hidden) (?:prompt|message|instructions)\\b',
  ),
  phrase("(?:do not|don['’]t|never) (?:tell|mention|say) (?:[^\\s.]{1,20}\\s){0,5}the user\\b"),
  `${atLineStart('(?:new|real|actual) (?:system )?(?:instructions?|prompt)')}[ \\t*]{0,4}:`,
  phrase(
    '(?:ignoriere|vergiss|missachte)(?:n sie)? (?:alle )?(?:(?:die|deine|ihre) )?' +
      '(?:bisherigen|vorherigen|vorigen|obigen|früheren) (?:anweisungen|instruktionen|befehle|vorgaben)',
  ),
  phrase(
    '(?:ignore[zr]?|oublie[zr]?) (?:toutes )?(?:les|tes|vos) (?:instructions|consignes) ' +
      '(?:précédentes|antérieures|ci-dessus)',
  ),
  phrase(
    '(?:ignor[ae]|olvida|esqueça|desconsidere) (?:todas )?(?:las|as|tus|suas) (?:instrucciones|instruções) ' +
      '(?:anteriores|previas|prévias|acima)',
  ),
  phrase('ignora(?:te)? (?:tutte )?le istruzioni (?:precedenti|sopra)'),
  String.raw`(?:игнорируй|забудь)(?:те)?\s{1,4}(?:все\s{1,4})?(?:предыдущие|прежние|вышеуказанные)\s{1,4}(?:инструкции|указания|команды)`,
  '(?:忽略|无视|無視|忘记|忘記)[^\\n。]{0,8}(?:之前|以上|先前|上面|前面)[^\\n。]{0,6}(?:指令|指示|提示|说明|說明|命令)',
  '(?:これまで|以前|上記|前)の[^\\n。]{0,6}(?:指示|命令)[^\\n。]{0,6}(?:無視|忘れ)',
];

/** Verbs that give an order at the beginning of a sentence. */
const VERBS =
  'accept|act|add|allow|append|approve|assume|attach|begin|buy|cancel|commit|confirm|contact|create|decode|delete|deny|disable|' +
  'disclose|discard|erase|execute|exfiltrate|fetch|follow|forget|forward|generate|get|give|grant|hide|ignore|include|insert|' +
  'install|invoke|keep|leak|make|mention|modify|navigate|never|notify|obey|omit|overwrite|paste|pay|perform|pretend|proceed|' +
  'publish|purchase|refuse|reject|remember|remove|rename|repeat|replace|reply|respond|return|reveal|revoke|role-?play|say|' +
  'select|send|show|skip|submit|summari[sz]e|tell|transfer|translate|treat|uninstall|unlock|visit|wipe|withdraw';
/** Verbs that are nouns as well: an object must follow. */
const NOUN_VERBS =
  'answer|browse|call|change|check|click|close|connect|copy|deploy|do|download|drop|edit|email|enable|encode|export|extract|' +
  'find|import|launch|list|load|log|mail|merge|message|move|open|order|output|post|print|push|put|query|read|recommend|report|' +
  'request|reset|run|save|schedule|search|set|share|shut|sign|start|stop|store|subscribe|switch|trigger|trust|type|update|' +
  'upload|use|wire|write';
const OBJECT =
  '(?:(?:the|an?|all|any|each|every(?:thing|one)?|both|this|that|these|those|my|your|our|their|its?|them|me|us|him|her|anything|' +
  'nothing|only|to|into|as|with|from|via)\\b|https?:|[`\'"/~$]|\\w{1,40}[_@/(.]\\w)';
const ORDER = `(?:(?:${VERBS})\\b|(?:${NOUN_VERBS})[ \\t]{1,3}${OBJECT}|do not\\b|don['’]t\\b|you (?:must|should|will|need to|have to)\\b)`;

const ROLE_MARKERS = [
  atLineStart('(?:system|assistant|developer|human)[ \\t](?:prompt|instructions?|override)') +
    String.raw`[ \t]?[\])*]{0,3}[ \t]?:`,
  atLineStart('system|developer') +
    String.raw`[ \t]?[\])*]{0,3}[ \t]?:?(?:\s|\\n){0,4}(?:you (?:are|must|should|will)|ignore|disregard|from now on|new instructions?)\b`,
  atLineStart(
    '(?:system|developer|assistant|administrator|admin|operator|user|human)(?:[ \\t](?:message|note|notice|update))?',
  ) +
    String.raw`[ \t]?(?:[\])*]{1,3}[ \t]?:?|:[*]{0,2})(?:\s|\\n){0,4}(?:(?:please|now|first|then|next|also|immediately|always|just)[ ,]{1,3}){0,3}${ORDER}`,
  `${after(String.raw`${LINE_START}[ \t]{0,3}#{2,4}[ \t]?`, 'system|instruction|assistant|human')}[ \\t]?:`,
  String.raw`<\s{0,4}/?\s{0,4}(?:system|assistant|developer|human)(?:[-_ ](?:prompt|message|instructions?|reminder|note))?\s{0,4}>`,
  String.raw`<\s{0,4}/?\s{0,4}(?:tool_result|tool_response|tool_use_error|tool_calls?|function_results?|function_calls?|user_query)\s{0,4}>`,
];

/** Case-sensitive: in other cases these are everyday words. */
const EXACT_ROLE_MARKERS = [`${after(BLANK_LINE, 'Human|Assistant')}:`, '</?IMPORTANT>'];

const TEMPLATE_TOKENS = [
  String.raw`<\|[a-z][a-z0-9_]{1,40}\|>`,
  '<｜[^｜<>\\n]{1,40}｜>',
  String.raw`\[/?(?:INST|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|SYSTEM_PROMPT)\]`,
  '<</?SYS>>',
  '<(?:start|end)_of_turn>',
];

const INVISIBLE = [
  // Zero-width spaces, except in Thai, Lao, Burmese and Khmer, which separate words with them.
  String.raw`(?<![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u200b])(?:\u200b(?![\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff])){1,200}`,
  // Characters that no text needs, and a byte order mark that is not at a beginning.
  String.raw`[\u2060-\u2064\u206a-\u206f\u180e\u115f\u1160\u3164\uffa0]{1,200}|(?<!^|\n)\ufeff`,
  // Joiners within Latin words.
  String.raw`(?<=[A-Za-z])[\u200c\u200d]{1,200}(?=[A-Za-z])`,
  // More in a row than any script needs: they encode a text.
  String.raw`[\u00ad\u034f\u061c\u200c-\u200f\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4,200}`,
  // Tags, except in flags, which consist of a few of them.
  String.raw`(?<![\u{1f3f4}\u{e0000}-\u{e007f}])[\u{e0000}-\u{e007f}]{1,200}|(?<=\u{1f3f4})[\u{e0000}-\u{e007f}]{9,200}`,
];

/** Embeddings, overrides and isolates. Plain marks are allowed: right-to-left text needs them. */
const BIDIRECTIONAL = [String.raw`[\u202a-\u202e\u2066-\u2069]{1,200}`];

const BOUNDARY_TAGS = [String.raw`(?:<|&lt;|\\u003c)[\s/\\]{0,20}mcp[_-]tool[_-]output`];

/** A pattern keeps only `lastIndex` between two scans, which every use must set. */
export const INJECTION_PATTERNS: readonly (readonly [InjectionSignalName, RegExp])[] = [
  ['instruction-override', anyOf(OVERRIDES, 'gi')],
  ['fake-role-marker', anyOf(ROLE_MARKERS, 'gi')],
  ['fake-role-marker', anyOf(EXACT_ROLE_MARKERS, 'g')],
  ['chat-template-token', anyOf(TEMPLATE_TOKENS, 'gi')],
  ['invisible-characters', anyOf(INVISIBLE, 'gu')],
  ['bidirectional-characters', anyOf(BIDIRECTIONAL, 'g')],
  ['boundary-tag', anyOf(BOUNDARY_TAGS, 'gi')],
];

function anyOf(patterns: readonly string[], flags: string): RegExp {
  return new RegExp(patterns.map((pattern) => `(?:${pattern})`).join('|'), flags);
}
