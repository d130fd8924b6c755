/** Declarations, members and rows of the API pages that have no description. */
import { Comment, ReflectionKind } from 'typedoc';

/** What has a heading or a row of its own. Parameters are described by the comment of their function. */
const DESCRIBED = [
  ReflectionKind.Interface,
  ReflectionKind.Class,
  ReflectionKind.TypeAlias,
  ReflectionKind.Variable,
  ReflectionKind.Function,
  ReflectionKind.Method,
  ReflectionKind.Property,
  ReflectionKind.Accessor,
];

/**
 * Each by its entry point and its name. The header of a file describes no declaration in it.
 *
 * @param {import('typedoc').ProjectReflection} project
 * @param {readonly string[]} headers the header comments of the sources
 */
export function undocumentedIn(project, headers) {
  const rejected = new Set(['', ...headers.map(inOneLine)]);
  return Object.values(project.reflections)
    .filter((reflection) => reflection.kindOf(DESCRIBED))
    .filter(isShown)
    .filter((reflection) => textsOf(reflection).some((text) => rejected.has(text)))
    .map((reflection) => `${reflection.getFriendlyFullName()} has no doc comment`);
}

/** Overloads are described one by one; a property that holds a function has a comment of its own. */
function textsOf({ comment, signatures, getSignature, type }) {
  const called = type?.type === 'reflection' ? type.declaration.signatures : undefined;
  const comments = signatures?.map((signature) => signature.comment) ?? [
    getSignature?.comment ?? comment ?? called?.[0]?.comment,
  ];
  return comments.map((each) => inOneLine(Comment.combineDisplayParts(each?.summary)));
}

function inOneLine(text) {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/**
 * The theme has rows for the members of an object type, of the parts of an intersection, and of a variant of a union if
 * one of its members has a comment. It shows all else as code.
 */
function isShown({ parent }) {
  if (!parent.kindOf(ReflectionKind.TypeLiteral)) return true;
  const owner = parent.parent;
  if (owner.kindOf(ReflectionKind.Parameter)) return false;
  const { type } = owner;
  if (type?.type === 'union' && !parent.children.some((member) => member.hasComment())) return false;
  return [type, ...(type?.types ?? [])].some((part) => part?.declaration === parent) && isShown(owner);
}
