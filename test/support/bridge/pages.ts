import type { RequestListener } from 'node:http';

/** A cursor that must be encoded in a query. */
const CURSOR_PREFIX = 'after "é"&=#/+%2F ';

/** Serves pages of `count` records with a cursor that must be encoded in a query. */
export function answerPages(count: number): RequestListener {
  return (request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://provider');
    const limit = Number(searchParams.get('limit'));
    const cursor = searchParams.get('cursor') ?? '';
    const start = cursor === '' ? 0 : Number(cursor.slice(CURSOR_PREFIX.length));
    response.setHeader('content-type', 'application/json');
    if (Number.isNaN(start)) {
      response.statusCode = 500;
      response.end('{"detail":"not a cursor of mine"}');
      return;
    }
    const end = Math.min(start + limit, count);
    const records = Array.from({ length: end - start }, (_, index) => ({ id: start + index }));
    const next_cursor = end < count ? `${CURSOR_PREFIX}${end}` : null;
    response.end(JSON.stringify({ records, next_cursor }));
  };
}

/** The same in a file of kind `local`. */
export function localPages(count: number): string {
  return `
const PREFIX = ${JSON.stringify(CURSOR_PREFIX)};
export default async ({ kind, entity, limit, cursor }) => {
  if (kind !== 'admin_list' || entity !== 'rows') return { status: 500, body: {} };
  const start = cursor === null ? 0 : Number(cursor.slice(PREFIX.length));
  const end = Math.min(start + limit, ${count});
  const records = Array.from({ length: end - start }, (_, index) => ({ id: start + index }));
  return { status: 200, body: { records, next_cursor: end < ${count} ? PREFIX + end : null } };
};
`;
}
