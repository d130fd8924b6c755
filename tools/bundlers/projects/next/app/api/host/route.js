import { run } from '../../../run.mjs';

export const dynamic = 'force-dynamic';

export async function GET(request) {
  return Response.json(await run(request.headers.get('x-folder')));
}
