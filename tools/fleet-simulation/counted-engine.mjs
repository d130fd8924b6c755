/** An engine that counts its operations, and what they carry, by kind. */
const COUNTED = [
  'get',
  'put',
  'remove',
  'watch',
  'acquire',
  'renew',
  'release',
  'publish',
  'subscribe',
  'take',
];

export function countedEngine(engine) {
  let counts = {};
  const note = (kind, bytes = 0) => {
    const kept = (counts[kind] ??= { count: 0, bytes: 0 });
    kept.count += 1;
    kept.bytes += bytes;
  };
  const counted = Object.fromEntries(
    COUNTED.map((kind) => [
      kind,
      (...given) => {
        note(kind, kind === 'put' || kind === 'publish' ? Buffer.byteLength(given[1]) : 0);
        // What an engine sends to each listener.
        if (kind === 'watch' || kind === 'subscribe') {
          const [names, hear] = given;
          return engine[kind](names, (name, text) => {
            note(kind === 'watch' ? 'change heard' : 'message heard', Buffer.byteLength(text ?? ''));
            hear(name, text);
          });
        }
        return engine[kind](...given);
      },
    ]),
  );
  return {
    engine: {
      ...counted,
      get isUp() {
        return engine.isUp;
      },
      close: () => engine.close(),
      answer: (...given) => engine.answer(...given),
      ask: (...given) => engine.ask(...given),
      append: (...given) => engine.append(...given),
      read: (...given) => engine.read(...given),
      drop: (...given) => engine.drop(...given),
    },
    /** The counts since the last call. */
    take() {
      const taken = counts;
      counts = {};
      return taken;
    },
  };
}
