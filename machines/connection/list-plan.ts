/** Which lists of a group are being read, and which have to be read again. Pure. */
import type { ServerList } from './connection.events.js';

/** What is known about a group of lists that are read together. */
export interface ListPlan {
  /** Lists that are being read, or were read last. */
  readonly reading: readonly ServerList[];
  /** Lists whose change the server has announced since that reading began. */
  readonly due: readonly ServerList[];
  /** When the first of these was announced; null if none was. */
  readonly dueSince: number | null;
}

/** No list of the group is due. */
function wholeGroup(lists: readonly ServerList[]): ListPlan {
  return { reading: lists, due: [], dueSince: null };
}

/** The lists that are read together. */
export const LIST_GROUPS = { tools: wholeGroup(['tools']), extras: wholeGroup(['resources', 'prompts']) };

/** Lists that are read together: `tools`, or `extras` for resources and prompts. */
export type ListGroup = keyof typeof LIST_GROUPS;

/** Reads what is due; the whole group if nothing is known to have changed. */
export function beginReading({ due }: ListPlan, group: ListPlan): ListPlan {
  return due.length === 0 ? group : { ...group, reading: due };
}

export function noteChanged(plan: ListPlan, list: ServerList, at: number): ListPlan {
  const due = plan.due.includes(list) ? plan.due : [...plan.due, list];
  return { ...plan, due, dueSince: plan.dueSince ?? at };
}

/** Nothing is due: the whole group is about to be read. */
export function forgetChanged(plan: ListPlan): ListPlan {
  return { ...plan, due: [], dueSince: null };
}
