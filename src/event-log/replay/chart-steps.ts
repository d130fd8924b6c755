/**
 * The structure of a chart: which transitions an event may take in a state, and which states they exit and enter. All
 * of that depends on the chart alone, so it is computed once for each set of active states and kept. Derived from the
 * nodes of an XState machine after the algorithm of SCXML (W3C, appendix D), without the rest of XState. Runs in a
 * browser.
 *
 * Owns structure. Does not own guards, actions and contexts (`folded-actor.ts`). It does not support history states:
 * charts with them are refused.
 */
import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition, StateValue } from 'xstate';

type Node = AnyStateNode;
export type Transition = AnyTransitionDefinition;
/** In XState's form: a name, a name with parameters, or a function. */
export type Action = Node['entry'][number];

/** A set of active nodes. Equal sets are the same object. */
export interface ActiveStates {
  readonly value: StateValue;
  readonly nodes: ReadonlySet<Node>;
  /** Whether the chart has ended. */
  readonly isEnd: boolean;
  /** For every innermost node, transitions without an event, from the inside out. */
  readonly always: readonly (readonly Transition[])[];
  readonly plans: Map<string, Plan>;
  readonly steps: Map<Transition | string, Step>;
}

/** The candidates for an event: the transitions of the regions, else the first of `own` that is allowed. */
export interface Plan {
  readonly regions: readonly Plan[];
  readonly own: readonly Transition[];
}

export interface Step {
  /** In the order of execution. */
  readonly actions: readonly Action[];
  /** For compound states that have reached their final state. */
  readonly raised: readonly string[];
  readonly to: ActiveStates;
}

/** Maximum number of event types with a plan for one set; a log may contain any number of others. */
const MAX_PLANS = 500;

export class ChartSteps {
  readonly #places = new Map<string, ActiveStates>();
  readonly #numbers = new Map<Transition, number>();
  readonly #root: Node;

  constructor(machine: AnyStateMachine) {
    this.#root = machine.root;
  }

  /** The set of those nodes, which are all active ones. */
  place(nodes: Iterable<Node>): ActiveStates {
    const active = [...new Set(nodes)].sort((a, b) => a.order - b.order);
    const key = active.map(({ order }) => order).join(' ');
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const set = new Set(active);
    const place: ActiveStates = {
      value: valueOf(this.#root, set),
      nodes: set,
      isEnd: isDone(this.#root, set),
      always: active
        .filter(isInnermost)
        .map((node) => [node, ...ancestorsOf(node)].flatMap(({ always = [] }) => always))
        .filter(({ length }) => length > 0),
      plans: new Map(),
      steps: new Map(),
    };
    this.#places.set(key, place);
    return place;
  }

  plan(place: ActiveStates, type: string): Plan {
    const known = place.plans.get(type);
    if (known !== undefined) return known;
    const plan = planOf(this.#root, place.nodes, type);
    if (place.plans.size === MAX_PLANS) place.plans.clear();
    place.plans.set(type, plan);
    return plan;
  }

  /** Whether any state of the chart takes events of that type. */
  knows(type: string): boolean {
    return this.#root.machine.events.some(
      (descriptor: string) => descriptor === type || covers(descriptor, type),
    );
  }

  /** The combined effect of those transitions. At least one. */
  step(place: ActiveStates, transitions: readonly Transition[]): Step {
    const [first] = transitions;
    const key =
      transitions.length === 1 && first !== undefined
        ? first
        : transitions.map((transition) => this.#numberOf(transition)).join(' ');
    const known = place.steps.get(key);
    if (known !== undefined) return known;
    const step = this.#newStep(place, withoutConflicts(transitions, place.nodes));
    place.steps.set(key, step);
    return step;
  }

  #numberOf(transition: Transition): number {
    const number = this.#numbers.get(transition) ?? this.#numbers.size;
    this.#numbers.set(transition, number);
    return number;
  }

  #newStep(place: ActiveStates, transitions: readonly Transition[]): Step {
    const left = exitSet(transitions, place.nodes).sort((a, b) => b.order - a.order);
    const entered = new Set<Node>();
    for (const transition of transitions) enter(transition, entered);
    const coming = [...entered].sort((a, b) => a.order - b.order);
    const active = new Set([...place.nodes].filter((node) => !left.includes(node)));
    for (const node of coming) active.add(node);
    const to = this.place(active);
    const last = to.isEnd ? [...to.nodes].sort((a, b) => b.order - a.order) : [];
    return {
      actions: [
        ...left.flatMap(({ exit }) => exit),
        ...transitions.flatMap(({ actions }) => actions),
        ...coming.flatMap(({ entry }) => entry),
        ...last.flatMap(({ exit }) => exit),
      ],
      raised: coming.flatMap(({ type, parent }) =>
        type === 'final' && parent !== undefined ? [`xstate.done.state.${parent.id}`] : [],
      ),
      to,
    };
  }
}

function childrenOf(node: Node): Node[] {
  return Object.values(node.states);
}

/** A state with regions is done when all of them are (SCXML, `isInFinalState`). */
function isDone(node: Node, active: ReadonlySet<Node>): boolean {
  const children = childrenOf(node);
  return node.type === 'parallel'
    ? children.every((region) => isDone(region, active))
    : children.some((child) => child.type === 'final' && active.has(child));
}

function isInnermost({ type }: Node): boolean {
  if (type === 'history') throw new Error('a chart with history cannot be folded');
  return type === 'atomic' || type === 'final';
}

/** From the inside out, the root last. */
function ancestorsOf(node: Node): Node[] {
  return node.parent === undefined ? [] : [node.parent, ...ancestorsOf(node.parent)];
}

function isBelow(node: Node, above: Node): boolean {
  return ancestorsOf(node).includes(above);
}

function valueOf(node: Node, active: ReadonlySet<Node>): StateValue {
  const below = childrenOf(node).filter((child) => active.has(child));
  const [only] = below;
  if (node.type === 'compound' && only !== undefined && isInnermost(only)) return only.key;
  return Object.fromEntries(below.map((child) => [child.key, valueOf(child, active)]));
}

function planOf(node: Node, active: ReadonlySet<Node>, type: string): Plan {
  const own = candidates(node, type);
  const below = childrenOf(node).filter((child) => active.has(child));
  const plans = below.map((child) => planOf(child, active, type));
  if (node.type === 'parallel') return { regions: plans, own };
  const [inner] = plans;
  return inner === undefined ? { regions: [], own } : { regions: inner.regions, own: [...inner.own, ...own] };
}

/** The transitions for exactly that event first, then those for wildcards, the narrowest first. */
function candidates(node: Node, type: string): readonly Transition[] {
  const wider = [...node.transitions.keys()]
    .filter((descriptor) => descriptor !== type && covers(descriptor, type))
    .sort((a, b) => b.length - a.length);
  return [type, ...wider].flatMap((descriptor) => node.transitions.get(descriptor) ?? []);
}

function covers(descriptor: string, type: string): boolean {
  if (descriptor === '*') return true;
  return descriptor.endsWith('.*') && `${type}.`.startsWith(descriptor.slice(0, -1));
}

/** Of two transitions that exit the same node, the inner one is taken, else the first. */
function withoutConflicts(transitions: readonly Transition[], active: ReadonlySet<Node>): Transition[] {
  let taken: Transition[] = [];
  for (const transition of new Set(transitions)) {
    const left = exitSet([transition], active);
    const rivals = taken.filter((other) => exitSet([other], active).some((node) => left.includes(node)));
    if (rivals.some((rival) => !isBelow(transition.source, rival.source))) continue;
    taken = [...taken.filter((other) => !rivals.includes(other)), transition];
  }
  return taken;
}

function exitSet(transitions: readonly Transition[], active: ReadonlySet<Node>): Node[] {
  const left = new Set<Node>();
  for (const transition of transitions) {
    const domain = domainOf(transition);
    if (domain === undefined) continue;
    if (transition.reenter && transition.source === domain) left.add(domain);
    for (const node of active) if (isBelow(node, domain)) left.add(node);
  }
  return [...left];
}

/** The innermost node that stays active around everything that is exited and entered; undefined if there is none. */
function domainOf({ target: targets = [], source, reenter }: Transition): Node | undefined {
  const [first, ...rest] = targets as readonly Node[];
  if (first === undefined) return undefined;
  const isInside = (node: Node): boolean => node === source || isBelow(node, source);
  if (!reenter && [first, ...rest].every(isInside)) return source;
  const others = [...rest, source];
  const common = ancestorsOf(first).find((above) => others.every((node) => isBelow(node, above)));
  if (common === undefined && reenter) throw new Error('a chart that re-enters its root cannot be folded');
  return common ?? source.machine.root;
}

function enter(transition: Transition, entered: Set<Node>): void {
  const domain = domainOf(transition);
  if (domain === undefined) return;
  const targets = (transition.target ?? []) as readonly Node[];
  for (const target of targets) {
    if (transition.source !== target || target !== domain || transition.reenter) entered.add(target);
    enterBelow(target, entered);
  }
  for (const target of targets) {
    const between = ancestorsOf(target).filter((node) => isBelow(node, domain));
    for (const node of between) entered.add(node);
    for (const node of [...between, domain]) if (node.type === 'parallel') enterOtherRegions(node, entered);
  }
}

function enterBelow(node: Node, entered: Set<Node>): void {
  if (node.type === 'compound') {
    if (node.initial.actions.length > 0) throw new Error('a chart with initial actions cannot be folded');
    for (const first of node.initial.target) {
      for (const between of ancestorsOf(first)) if (isBelow(between, node)) entered.add(between);
      entered.add(first);
      enterBelow(first, entered);
    }
  } else if (node.type === 'parallel') enterOtherRegions(node, entered);
}

function enterOtherRegions(node: Node, entered: Set<Node>): void {
  for (const region of childrenOf(node)) {
    if ([...entered].some((other) => isBelow(other, region))) continue;
    entered.add(region);
    enterBelow(region, entered);
  }
}
