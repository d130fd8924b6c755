/**
 * What the API pages say in addition to the comments of the sources, because it follows from the declarations: the code of
 * an error after each link to its class in `@throws`, and that a member is the discriminant of a union.
 */
import { Comment, ReflectionKind } from 'typedoc';
import { isDiscriminant } from './undocumented.mjs';

/** @param {import('typedoc').ProjectReflection} project */
export function addToModel(project) {
  for (const reflection of Object.values(project.reflections)) {
    if (isUndescribedRow(reflection)) {
      reflection.comment = new Comment([{ kind: 'text', text: 'Discriminant of the union.' }]);
    }
  }
  const comments = Object.values(project.reflections).flatMap(({ comment }) => comment ?? []);
  const tags = new Set(comments.flatMap(({ blockTags }) => blockTags).filter(({ tag }) => tag === '@throws'));
  for (const tag of tags) tag.content = tag.content.flatMap(withCode);
}

/** A variant has a table as soon as one of its members has a comment. */
function isUndescribedRow(reflection) {
  return (
    isDiscriminant(reflection) &&
    !reflection.hasComment() &&
    reflection.parent.children.some((member) => member.hasComment())
  );
}

function withCode(part) {
  const code = part.kind === 'inline-tag' ? codeOf(part.target) : undefined;
  if (code === undefined) return [part];
  return [
    part,
    { kind: 'text', text: ' (' },
    { kind: 'code', text: `\`${code}\`` },
    { kind: 'text', text: ')' },
  ];
}

/** The code of an error class; undefined for anything else. */
function codeOf(target) {
  if (typeof target !== 'object' || !target.kindOf?.(ReflectionKind.Class)) return undefined;
  const type = target.getChildByName('code')?.type;
  return type?.type === 'literal' ? type.value : undefined;
}
