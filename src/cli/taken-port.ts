/** A port that somebody else has: then nothing is wrong with the command line, and the command has failed. */

/** As the promise, but rejects with an error that is none of the configuration where the port is taken. */
export async function opened<T>(service: Promise<T>): Promise<T> {
  return service.catch((error: unknown) => {
    throw isPortTaken(error) ? new Error(error.message, { cause: error }) : error;
  });
}

function isPortTaken(error: unknown): error is Error {
  const cause: unknown = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && (cause as NodeJS.ErrnoException).code === 'EADDRINUSE';
}
