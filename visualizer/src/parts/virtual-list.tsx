/**
 * A list of any length that renders only its visible items. All items have the same height.
 *
 * Owns which items are visible. Arrow keys, Home and End move through it as the caller says. It is one stop of the Tab
 * key, and names its current item (`aria-activedescendant`), because that item has no focus of its own and may be
 * scrolled away.
 *
 * V1. Browsers limit the height of a box: if all items would be higher than `HIGHEST`, one pixel of the scroll bar
 *     stands for several of the list.
 */
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export interface VirtualListProps {
  readonly count: number;
  readonly itemHeight: number;
  readonly label: string;
  /** The current item, which is scrolled into view; -1 for none. */
  readonly shown: number;
  /**
   * Identity of the current item: if only its index changes, a list that was scrolled away from it stays. Default: its
   * index.
   */
  readonly shownKey?: string;
  /** Default: the current item. */
  readonly isChosen?: (index: number) => boolean;
  /** Whether the text of an item is loaded. Default: true for all. */
  readonly isThere?: (index: number) => boolean;
  /** Whether the end stays visible while the list grows, unless the user has scrolled away from it. */
  readonly staysAtEnd?: boolean;
  /** Called when the user moves to an item by keyboard. */
  readonly onMove: (index: number) => void;
  /** Called when the user clicks on it. Default: like `onMove`. */
  readonly onPick?: (index: number) => void;
  /** Called for Enter, Space or a double click. Default: like `onPick`. */
  readonly onOpen?: (index: number) => void;
  readonly item: (index: number) => ComponentChildren;
  /** Called with the range of rendered items. */
  readonly onRange?: (first: number, last: number) => void;
}

/** Number of items rendered above and below the visible ones. */
const SPARE = 6;
/** Pixels. Above 2^24, positions are no longer whole pixels; the lowest limit of a browser is a little higher. */
const HIGHEST = 16_000_000;

export function VirtualList(props: VirtualListProps) {
  const { count, itemHeight, label, shown, staysAtEnd = false, item, onRange } = props;
  const { onMove, onPick = onMove, onOpen = onPick } = props;
  const { isChosen = (index) => index === shown, isThere = () => true, shownKey = shown } = props;
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const isAtEnd = useRef(true);
  const ledTo = useRef<string | number | undefined>(undefined);
  /** The user has scrolled the current item out of view. */
  const isAway = useRef(false);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    setHeight(element.clientHeight);
    return () => observer.disconnect();
  }, []);

  const total = count * itemHeight;
  /** Pixels of the list for each pixel of the scroll bar. */
  const stretch = Math.max(1, total / HIGHEST);
  /** At the end of the scroll bar, the last item is the lowest visible one. */
  const space = total / stretch + height * (1 - 1 / stretch);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || !staysAtEnd || !isAtEnd.current) return;
    element.scrollTop = space;
  }, [count, staysAtEnd, itemHeight]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null || shown < 0) return;
    const isSame = ledTo.current === shownKey;
    ledTo.current = shownKey;
    if (isSame && isAway.current) return;
    isAway.current = false;
    const start = shown * itemHeight;
    const listTop = element.scrollTop * stretch;
    if (start < listTop) element.scrollTop = start / stretch;
    else if (start + itemHeight > listTop + element.clientHeight)
      element.scrollTop = Math.ceil((start + itemHeight - element.clientHeight) / stretch);
  }, [shown, shownKey, itemHeight, height]);

  const listTop = top * stretch;
  const first = Math.max(0, Math.floor(listTop / itemHeight) - SPARE);
  const last = Math.min(count - 1, Math.ceil((listTop + height) / itemHeight) + SPARE);
  useEffect(() => onRange?.(first, last), [first, last, count]);

  function onKeyDown(event: JSX.TargetedKeyboardEvent<HTMLDivElement>): void {
    if ((event.key === 'Enter' || event.key === ' ') && shown >= 0) {
      event.preventDefault();
      return onOpen(shown);
    }
    const page = Math.max(1, Math.floor(height / itemHeight) - 1);
    // Without a current item, a key moves to a visible one.
    const inSight = staysAtEnd && isAtEnd.current ? count - 1 : Math.ceil(listTop / itemHeight);
    const by = (items: number): number => (shown < 0 ? inSight : shown + items);
    const moves: Record<string, number> = {
      ArrowDown: by(1),
      ArrowUp: by(-1),
      PageDown: by(page),
      PageUp: by(-page),
      Home: 0,
      End: count - 1,
    };
    const move = moves[event.key];
    if (move === undefined || count === 0) return;
    event.preventDefault();
    onMove(Math.max(0, Math.min(count - 1, move)));
  }

  const items = [];
  for (let index = first; index <= last; index += 1) {
    const y = index * itemHeight - listTop + top;
    const style = { transform: `translateY(${y}px)`, height: `${itemHeight}px` };
    items.push(
      <div
        key={index}
        id={`${id}-${index}`}
        class={index === shown ? 'virtual-item at' : 'virtual-item'}
        role="option"
        aria-selected={isChosen(index)}
        {...(!isThere(index) && { 'aria-label': 'Loading' })}
        aria-posinset={index + 1}
        aria-setsize={count}
        style={style}
        onClick={() => onPick(index)}
        onDblClick={() => onOpen(index)}
      >
        {item(index)}
      </div>,
    );
  }
  const isDrawn = first <= shown && shown <= last;
  return (
    <div
      ref={box}
      class="virtual-list"
      role="listbox"
      {...(isDrawn && isThere(shown) && { 'aria-activedescendant': `${id}-${shown}` })}
      aria-label={label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={({ currentTarget }) => {
        setTop(currentTarget.scrollTop);
        const below = shown * itemHeight - currentTarget.scrollTop * stretch;
        if (shown >= 0) isAway.current = below <= -itemHeight || below >= currentTarget.clientHeight;
        isAtEnd.current =
          currentTarget.scrollTop + currentTarget.clientHeight >= currentTarget.scrollHeight - itemHeight;
      }}
    >
      <div class="virtual-space" role="presentation" style={{ height: `${space}px` }}>
        {items}
      </div>
    </div>
  );
}
