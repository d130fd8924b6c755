/** The list of keys, above the page until it is closed. */
import { useEffect, useRef } from 'preact/hooks';
import { usePage, usePageContext } from '../state/page-context.js';
import { KEYS, keySign } from '../state/keys.js';

export function KeysHelp() {
  const { state } = usePageContext();
  const { hasKeysHelp } = usePage();
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (hasKeysHelp && dialog.current?.open === false) dialog.current.showModal();
  }, [hasKeysHelp]);
  if (!hasKeysHelp) return null;
  return (
    <dialog
      ref={dialog}
      class="keys-help"
      aria-labelledby="keys-title"
      onClose={() => state.change({ hasKeysHelp: false })}
      onClick={({ target, currentTarget }) => {
        if (target === currentTarget) currentTarget.close();
      }}
    >
      <form method="dialog" class="keys-head">
        <h2 id="keys-title">Keys</h2>
        <button type="submit" class="icon" aria-label="Close the list of keys">
          ✕
        </button>
      </form>
      <div class="keys-body">
        {KEYS.map(({ place, keys }) => (
          <section key={place}>
            <h3>{place}</h3>
            <dl>
              {keys.map(([signs, effect]) => (
                <div key={effect}>
                  <dt>
                    {signs.map((each) => (
                      <kbd key={each}>{keySign(each)}</kbd>
                    ))}
                  </dt>
                  <dd>{effect}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </dialog>
  );
}
