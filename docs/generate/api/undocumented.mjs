/**
 * What an API page would show, and an editor would offer, without a description (declarations, members, parameters, type
 * parameters and variants of unions) or without an example (functions, and methods of classes).
 *
 * These need no comment of their own:
 *
 * - A method that overrides or implements a described one: TypeDoc copies the comment, with the parameters.
 * - The parameters of a callback: the comment of the property or parameter that takes it describes the call. Those of an
 *   exported function type need a comment.
 * - A discriminant: its value names the variant of the union, and the variant has a comment.
 * - What belongs to a constant, such as a machine: the compiler infers its type. The same holds for the arguments of a generic
 *   type, which TypeDoc writes out for `typeof machine`.
 *
 * One example of a class is enough for all its methods. Interfaces need none: many are for a host to implement.
 */
import { Comment, ReflectionKind } from 'typedoc';

/** What has a heading or a row of its own. */
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
const PARAMETERS = [ReflectionKind.Parameter, ReflectionKind.TypeParameter];

/**
 * Each by its entry point and its name. The header of a file describes no declaration in it.
 *
 * @param {import('typedoc').ProjectReflection} project
 * @param {readonly string[]} headers the header comments of the sources
 */
export function undocumentedIn(project, headers) {
  const rejected = new Set(['', ...headers.map(inOneLine)]);
  return Object.values(project.reflections)
    .filter((reflection) => !isInferred(reflection))
    .flatMap((reflection) => [
      ...partsOf(reflection)
        .filter(({ text }) => rejected.has(inOneLine(text)))
        .map(({ name }) => `${reflection.getFriendlyFullName()}${name} has no doc comment`),
      ...(needsExample(reflection) ? [`${reflection.getFriendlyFullName()} has no example`] : []),
    ]);
}

/** Methods with a symbol as name are called by the language. */
function needsExample({ kind, name, signatures = [], parent }) {
  const isMethod =
    kind === ReflectionKind.Method && parent.kindOf(ReflectionKind.Class) && !name.startsWith('[');
  if (kind !== ReflectionKind.Function && !isMethod) return false;
  return ![parent, ...signatures].some(({ comment }) => comment?.getTag('@example') !== undefined);
}

/**
 * A required member whose type is one literal, in a variant of a union.
 *
 * @param {import('typedoc').Reflection} reflection
 */
export function isDiscriminant(reflection) {
  if (!reflection.kindOf(ReflectionKind.Property) || reflection.flags.isOptional) return false;
  return reflection.type?.type === 'literal' && isVariant(reflection.parent);
}

/** The texts that a reflection needs, each with what follows its name in a message. */
function partsOf(reflection) {
  if (reflection.kindOf(PARAMETERS)) {
    return isCallback(reflection.parent) ? [] : [{ name: '', text: summaryOf(reflection.comment) }];
  }
  if (!reflection.kindOf(DESCRIBED) || isDiscriminant(reflection)) return [];
  return [...textsOf(reflection).map((text) => ({ name: '', text })), ...variantsOf(reflection)];
}

/** Overloads are described one by one; a property that holds a function has a comment of its own. */
function textsOf({ comment, signatures, getSignature, type }) {
  const called = type?.type === 'reflection' ? type.declaration.signatures : undefined;
  const comments = signatures?.map((signature) => signature.comment) ?? [
    getSignature?.comment ?? comment ?? called?.[0]?.comment,
  ];
  return comments.map(summaryOf);
}

/** The variants of an alias that differ by their members. */
function variantsOf({ type, kind }) {
  if (kind !== ReflectionKind.TypeAlias || type?.type !== 'union') return [];
  const variants = type.types.flatMap((variant, index) =>
    literalsIn(variant).length === 0
      ? []
      : [
          {
            name: `, variant ${index + 1},`,
            text: Comment.combineDisplayParts(type.elementSummaries?.[index]),
          },
        ],
  );
  return variants.length > 1 ? variants : [];
}

/** Whether an object type is a variant of a union, or a part of one. */
function isVariant(literal) {
  if (!literal.kindOf(ReflectionKind.TypeLiteral)) return false;
  const { type } = literal.parent;
  return type?.type === 'union' && type.types.some((variant) => literalsIn(variant).includes(literal));
}

/** The object types that are written out in a type, by itself or as parts of an intersection. */
function literalsIn(type) {
  if (type.type === 'intersection') return type.types.flatMap(literalsIn);
  return type.type === 'reflection' && type.declaration.children !== undefined ? [type.declaration] : [];
}

/** Whether a signature is the one of a function that a property, a parameter or a union takes. */
function isCallback({ parent: called }) {
  if (called === undefined || !called.kindOf(ReflectionKind.TypeLiteral)) return false;
  const owner = called.parent;
  return !owner.kindOf(ReflectionKind.TypeAlias) || owner.type?.declaration !== called;
}

function isInferred(reflection) {
  const { parent } = reflection;
  if (parent === undefined) return false;
  if (parent.kindOf(ReflectionKind.Variable) || isInferred(parent)) return true;
  return reflection.kindOf(ReflectionKind.TypeLiteral) && !isWrittenIn(parent.type, reflection);
}

/** Whether an object or function type is a part of a type, other than as an argument of a generic one. */
function isWrittenIn(type, literal) {
  if (type === undefined) return false;
  const { declaration, types = [], elements = [], elementType, target } = type;
  if (declaration === literal) return true;
  const parts = [...types, ...elements, elementType, type.type === 'reference' ? undefined : target];
  return parts.some((part) => isWrittenIn(part, literal));
}

function summaryOf(comment) {
  return Comment.combineDisplayParts(comment?.summary);
}

function inOneLine(text) {
  return text.replaceAll(/\s+/g, ' ').trim();
}
