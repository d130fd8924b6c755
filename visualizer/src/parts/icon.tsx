/** A small line icon, 16 by 16. Its parent element has the label. */
export function Icon({ path }: { path: string }) {
  return (
    <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" class="icon-picture">
      <path d={path} />
    </svg>
  );
}
